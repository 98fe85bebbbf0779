"""Two app processes with one Chroma server: indexed in the one, asked in the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.chroma_server import ChromaServer
from tests.e2e.steps import enter, settle

LONG = 120_000


@pytest.fixture
def chroma(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChromaServer]:
    """A Chroma server that both processes are told of before they start."""
    server = ChromaServer(tmp_path / "chroma")
    server.start()
    monkeypatch.setenv("CHROMA_URL", server.url)
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture
def two(chroma: ChromaServer, fresh_server: Any, tmp_path: Path) -> Iterator[tuple[Any, Any]]:
    """Two processes with data folders of their own, as on two machines."""
    other = tmp_path / "other"
    other.mkdir()
    second = type(fresh_server)(other)
    try:
        second.wait()
        yield fresh_server, second
    finally:
        second.stop()


def test_what_one_indexes_the_other_asks_renames_and_sees_gone(
    two: tuple[Any, Any], page: Any, pdf: Path
) -> None:
    one, other = two
    page.goto(f"{one.url}/library")
    page.locator("input[type=file]").first.set_input_files(str(pdf))
    page.get_by_role("button", name="Index 1 document").wait_for()
    settle(page)
    enter(page, page.get_by_label("Name of the corpus").first, "Harbour")
    page.get_by_role("button", name="Index 1 document").click()
    expect(page.get_by_text("Harbour now has")).to_be_visible(timeout=LONG)

    # The other process has opened before and knows of it at the next look.
    page.goto(f"{other.url}/library")
    card = page.locator("[class*=st-key-shelf]", has_text="Harbour").last
    expect(card).to_be_visible(timeout=LONG)
    card.get_by_role("button", name="Ask").click()
    question = page.get_by_placeholder("Ask something that needs")
    enter(page, question, "Who built the lighthouse?")
    page.wait_for_selector("section.stage[data-revision]", timeout=LONG)
    settle(page)
    expect(page.locator(".passage", has_text="Skarholm").first).to_be_visible(timeout=LONG)

    # Deleted in the one, it is gone in the other.
    page.goto(f"{one.url}/library")
    card = page.locator("[class*=st-key-shelf]", has_text="Harbour").last
    card.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete it").click()
    expect(page.locator("[class*=st-key-shelf]", has_text="Harbour")).to_have_count(0, timeout=LONG)
    page.goto(f"{other.url}/library")
    expect(page.get_by_text("The Long Spark").first).to_be_visible(timeout=LONG)
    expect(page.locator("[class*=st-key-shelf]", has_text="Harbour")).to_have_count(0, timeout=LONG)
