"""The Chroma server goes away under the app, and comes back, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests.chroma_server import KEY, ChromaServer

ROOT = Path(__file__).resolve().parents[2]
LONG = 120_000
#: Pages that show something of a corpus; the others go on without the store.
OF_A_CORPUS = ("", "treehop", "baselines", "compare", "library", "inspect", "trailgraph")
OTHERS = ("settings",)


def idle(page: Any) -> None:
    ready = page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]')
    expect(ready).to_be_visible(timeout=LONG)


def test_every_page_says_it_in_a_sentence_and_goes_on_when_it_is_back(
    own_chroma: ChromaServer, fresh_server: Any, page: Any
) -> None:
    page.goto(f"{fresh_server.url}/library")
    expect(page.get_by_text("The Long Spark").first).to_be_visible(timeout=LONG)
    own_chroma.kill()
    said = page.get_by_text("The Chroma server of CHROMA_URL did not do as asked")
    for name in OF_A_CORPUS:
        page.goto(f"{fresh_server.url}/{name}")
        expect(said.first).to_be_visible(timeout=LONG)
        assert "Traceback" not in page.inner_text("body")
    for name in OTHERS:
        page.goto(f"{fresh_server.url}/{name}")
        expect(page.get_by_role("heading").first).to_be_visible(timeout=LONG)
        idle(page)
        assert "Traceback" not in page.inner_text("body")
    page.goto(fresh_server.url)
    expect(said.first).to_be_visible(timeout=LONG)
    own_chroma.start()
    page.get_by_role("button", name="Try again").click()
    expect(said).to_have_count(0, timeout=LONG)
    expect(page.get_by_label("Question").first).to_be_visible(timeout=LONG)
    assert KEY not in fresh_server.log.read_text(encoding="utf-8", errors="replace")
    assert KEY not in page.content()
