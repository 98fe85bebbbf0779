"""The inspector in a real browser: read a passage, walk to a neighbour, cut anew, take a store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings
from playwright.sync_api import expect

from tests.e2e.steps import enter, settle
from tracert.embedding.registry import embedder

LONG = 120_000
NASTY = "<img src=x onerror='window.ran=1'><script>window.ran=1</script> twisted \u202e text"


def to_view(page: Any, name: str) -> None:
    page.get_by_test_id("stButtonGroup").get_by_text(name, exact=True).first.click()
    settle(page)


def number(page: Any, label: str) -> Any:
    return page.get_by_test_id("stMetric").filter(has_text=label)


def test_from_the_library_to_a_passage_to_its_neighbour_and_to_another_cut(
    fresh_server: Any, page: Any
) -> None:
    page.goto(f"{fresh_server.url}/library")
    page.get_by_role("button", name="Inspect").first.click()
    expect(page.get_by_role("heading", name="Inspect a corpus")).to_be_visible(timeout=LONG)
    expect(page.get_by_text("12 documents, 263 passages")).to_be_visible(timeout=LONG)

    # The first passage in its source; a click on the nearest one goes there.
    here = page.locator(".passage .here")
    expect(here).to_contain_text("Amber is the hardened resin", timeout=LONG)
    near = page.locator(".cards button.row").nth(2)
    expect(near).to_be_visible(timeout=LONG)
    target = near.get_attribute("data-node")
    title = near.locator(".body").inner_text().splitlines()[0].rstrip("…")[:40]
    near.click()
    expect(here).to_contain_text(" ".join(title.split()[1:5]), timeout=LONG)
    assert target
    first = page.locator(".cards button.row").first
    expect(first).not_to_have_attribute("data-node", target, timeout=LONG)

    # The search narrows the table.
    enter(page, page.get_by_label("Search the passages"), "lighthouse")
    expect(page.get_by_text("of 263. Select a row")).to_be_visible(timeout=LONG)

    to_view(page, "Lengths")
    expect(page.locator(".js-plotly-plot")).to_be_visible(timeout=LONG)
    expect(number(page, "Longest")).to_contain_text("500", timeout=LONG)

    to_view(page, "Look-alikes")
    expect(page.get_by_text("No two passages have the same text")).to_be_visible(timeout=LONG)

    # Another cut: told first, done by the button.
    to_view(page, "Another cut")
    expect(number(page, "Passages")).to_contain_text("263", timeout=LONG)
    size = page.get_by_role("slider", name="Chunk size")
    size.focus()
    size.press("PageUp")
    expect(number(page, "Passages")).not_to_contain_text("263", timeout=LONG)
    settle(page)
    button = page.get_by_role("button", name="Re-index into")
    expect(button).to_be_enabled(timeout=LONG)
    promised = button.inner_text().split("into ")[1].split(" ")[0]
    button.click()
    said = page.get_by_text(f"The Long Spark now has {promised} passages")
    expect(said).to_be_visible(timeout=LONG)
    expect(page.get_by_text(f"12 documents, {promised} passages")).to_be_visible(timeout=LONG)


def test_a_collection_with_hostile_texts_is_opened_asked_and_inspected(
    fresh_server: Any, page: Any, tmp_path: Path
) -> None:
    client: Any = chromadb.PersistentClient(
        str(tmp_path / "theirs"), settings=Settings(anonymized_telemetry=False)
    )
    texts = [NASTY, *(f"The keeper of light {n} trimmed the wick at dusk." for n in range(12))]
    client.create_collection("keepers", embedding_function=None).add(
        ids=[str(at) for at in range(len(texts))],
        documents=texts,
        embeddings=embedder("wordllama").embed(texts),
        metadatas=[{"source": f"/srv/<b>{at % 2}</b>.txt"} for at in range(len(texts))],
    )
    client.close()

    page.goto(f"{fresh_server.url}/library")
    page.get_by_text("Open a Chroma collection").click()
    folder = page.get_by_label("Folder of the Chroma store")
    expect(folder).to_be_visible(timeout=LONG)
    enter(page, folder, str(tmp_path / "theirs"))
    look = page.get_by_role("button", name="Look inside")
    expect(look).to_be_enabled(timeout=LONG)
    look.click()
    expect(page.get_by_text("13 rows with vectors of 256 numbers")).to_be_visible(timeout=LONG)
    page.get_by_role("button", name="Open 13 rows as a corpus").click()
    expect(page.get_by_text("keepers now has 13 passages")).to_be_visible(timeout=LONG)

    card = page.locator('[data-testid="stVerticalBlock"]').filter(has_text="Chroma collection")
    expect(card.first).to_be_visible(timeout=LONG)
    page.goto(f"{fresh_server.url}/inspect")
    chooser = page.get_by_role("combobox", name="Corpus")
    expect(chooser).to_be_visible(timeout=LONG)
    chooser.click()
    page.get_by_role("option", name="keepers").click()
    expect(page.get_by_text("from Chroma collection keepers")).to_be_visible(timeout=LONG)
    expect(page.locator(".passage .here")).to_contain_text("onerror=", timeout=LONG)
    settle(page)
    assert page.evaluate("window.ran") is None
    assert "/srv" not in page.inner_text("body")
