"""The Chroma server goes away under the app, and comes back, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.chroma_server import ChromaServer

ROOT = Path(__file__).resolve().parents[2]
KEY = "ck-secret-0123456789"
LONG = 120_000
#: Pages that show something of a corpus; the others go on without the store.
OF_A_CORPUS = ("", "treehop", "baselines", "compare", "library", "inspect", "trailgraph")
OTHERS = ("settings",)


@pytest.fixture
def chroma(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChromaServer]:
    """A server that the app is told of before it starts."""
    server = ChromaServer(tmp_path / "chroma")
    server.start()
    monkeypatch.setenv("CHROMA_URL", server.url)
    monkeypatch.setenv("CHROMA_API_KEY", KEY)
    try:
        yield server
    finally:
        server.kill()


def idle(page: Any) -> None:
    ready = page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]')
    expect(ready).to_be_visible(timeout=LONG)


def test_every_page_says_it_in_a_sentence_and_goes_on_when_it_is_back(
    chroma: ChromaServer, fresh_server: Any, page: Any
) -> None:
    page.goto(f"{fresh_server.url}/library")
    expect(page.get_by_text("The Long Spark").first).to_be_visible(timeout=LONG)
    chroma.kill()
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
    chroma.start()
    page.get_by_role("button", name="Try again").click()
    expect(said).to_have_count(0, timeout=LONG)
    expect(page.get_by_label("Question").first).to_be_visible(timeout=LONG)
    assert KEY not in fresh_server.log.read_text(encoding="utf-8", errors="replace")
    assert KEY not in page.content()
