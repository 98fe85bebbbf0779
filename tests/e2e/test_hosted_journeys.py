"""Strangers in one app, in real browsers: each finds one's own, and nobody else's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Server
from tests.e2e.steps import enter, settle
from tests.oidc import PEOPLE, provider, secrets_file
from tracert.workspace import Workspace

TEXT = "The lamp at {0} was lit by {0} alone. {0} wrote a letter home about the lamp. " * 12
LONG = 60_000


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A public app with a provider to sign in with."""
    home = tmp_path_factory.mktemp("hosted")
    secret = home / "secrets.toml"
    with provider() as one:
        server = Server(home, env={"TRACERT_PUBLIC": "1"}, options=[f"--secrets.files={secret}"])
        # The address of the app is known once it has its port; secrets are read at the first use.
        secret.write_text(secrets_file(one, server.url))
        try:
            server.wait()
            yield server
        finally:
            server.stop()


@pytest.fixture
def visitor(chromium: Any) -> Iterator[Any]:
    """Makes pages of browsers that know nothing of each other."""
    contexts: list[Any] = []

    def new() -> Any:
        context = chromium.new_context(viewport={"width": 1280, "height": 1000})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(LONG)
        return page

    yield new
    for context in contexts:
        context.close()


def load(page: Any, name: str, text: str) -> None:
    """Paste a text into a corpus of that name; the page is at the Library."""
    page.get_by_role("tab", name="Paste").click()
    enter(page, page.get_by_label("Name of the text"), f"{name}.txt")
    page.get_by_label("Text", exact=True).fill(text)
    page.get_by_label("Text", exact=True).press("Control+Enter")
    # The field is another one once its proposal has changed; both stand there for a moment.
    page.wait_for_function(
        """(name) => { const named = [...document.querySelectorAll(
               'input[aria-label="Name of the corpus"]')].map((field) => field.value);
               return named.length === 1 && named[0] === name; }""",
        arg=name,
    )
    settle(page)
    page.get_by_role("button", name="Index 1 document").click()
    page.get_by_role("heading", name=name, exact=True).wait_for()


def signed_in(page: Any, server: Server, person: str) -> None:
    page.goto(f"{server.url}/library")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name=PEOPLE[person]).click()
    page.wait_for_url(f"{server.url}/**")
    page.goto(f"{server.url}/library")
    page.get_by_text(f"{PEOPLE[person]}, what you load here is yours alone").wait_for()


def missing(page: Any, server: Server, corpus: str) -> None:
    """A link to that corpus says that it is not here, and shows no passage of it."""
    page.goto(f"{server.url}/?{urlencode({'corpus': corpus, 'question': 'Who lit the lamp?'})}")
    page.get_by_text("The question of the link").wait_for()
    expect(page.get_by_text("wrote a letter home")).to_have_count(0)


def test_two_people_who_sign_in_cannot_read_each_others_corpora(
    visitor: Any, hosted: Server
) -> None:
    ada, ben = visitor(), visitor()
    signed_in(ada, hosted, "ada")
    load(ada, "Ada's own", TEXT.format("Skarholm"))
    signed_in(ben, hosted, "ben")
    ben.get_by_text("Shared by the host").first.wait_for()
    expect(ben.get_by_text("Ada's own")).to_have_count(0)
    # By name, by fingerprint and by the id of the store: as what is not there.
    heads = [each for each in Workspace(hosted.home / "data").store.everyones() if each.owner]
    record = next(each for each in heads if each.name == "Ada's own")
    for corpus in (record.name, record.fingerprint, record.id, record.parts[0]):
        missing(ben, hosted, corpus)
    # One's own is there after a reload, and from another browser.
    again = visitor()
    signed_in(again, hosted, "ada")
    again.get_by_role("heading", name="Ada's own", exact=True).wait_for()


def test_a_visitor_who_signed_nowhere_loses_what_was_loaded_with_the_tab(
    visitor: Any, hosted: Server
) -> None:
    page = visitor()
    page.goto(f"{hosted.url}/library")
    page.get_by_text("belongs to this browser tab alone").wait_for()
    load(page, "A guest's text", TEXT.format("Bergen"))
    stranger = visitor()
    missing(stranger, hosted, "A guest's text")
    stranger.goto(f"{hosted.url}/library")
    stranger.get_by_text("belongs to this browser tab alone").wait_for()
    expect(stranger.get_by_text("A guest's text")).to_have_count(0)


def test_signing_out_leaves_nothing_on_the_screen(visitor: Any, hosted: Server) -> None:
    page = visitor()
    signed_in(page, hosted, "ben")
    load(page, "Ben's own", TEXT.format("Bergen"))
    settle(page)
    page.get_by_role("button", name="Sign out").click()
    # The way out leads over the server, which takes the cookie, to the first page.
    page.wait_for_url(lambda url: "library" not in url)
    page.get_by_role("link", name="Library").wait_for()
    page.goto(f"{hosted.url}/library")
    page.get_by_text("belongs to this browser tab alone").wait_for()
    expect(page.get_by_text("Ben's own")).to_have_count(0)


def test_no_page_of_a_public_app_asks_for_a_path_or_shows_one(
    visitor: Any, hosted: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    page = visitor()
    where = str(Path(hosted.home))
    for name in ("library", "settings", "trailgraph", "evaluate"):
        page.goto(f"{hosted.url}/{name}")
        page.get_by_text("Tracert").first.wait_for()
        settle(page)
        assert where not in page.content(), name
        for label in ("Base URL", "Folder of notes", "Folder of the Chroma store", "Key"):
            expect(page.get_by_label(label, exact=False)).to_have_count(0)
