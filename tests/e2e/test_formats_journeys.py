"""A Word file, slides, a book and a web page of one's own, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import docx
import pptx
import pytest
from playwright.sync_api import expect

from tests.corpus.test_epub import entry, epub
from tests.e2e.steps import enter, settle

LONG = " It was told in the village for many years, by the old and by the young, in every winter."
HOSTILE = "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Four files about four things, each with a name for the place where its thing is told."""
    word = docx.Document()
    word.add_heading("Village", 0)
    word.add_heading("The mill", 1)
    word.add_paragraph("The miller ground rye." + LONG * 8)
    word.add_heading("The barn", 1)
    word.add_paragraph(("Anselm carried the sacks to the barn." + LONG) * 8)
    word.save(str(tmp_path / "Mill.docx"))
    deck = pptx.Presentation()
    for title, body in (("Bridge", "The bridge was built of oak"), ("Lamp", "The lamp burned oil")):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text_frame.text = f"{body}.{LONG * 6}"
    deck.save(str(tmp_path / "Talk.pptx"))
    (tmp_path / "Book.epub").write_bytes(
        epub(
            {"a.xhtml": f"<p>The fiddler played at weddings.{LONG * 6}</p>"},
            nav=entry("I", "a.xhtml"),
        )
    )
    escaped = HOSTILE.replace("<", "&lt;")
    (tmp_path / "Page.html").write_text(
        f"<!DOCTYPE html><title>The well</title>{HOSTILE}<h1>Water</h1>"
        f"<p>The well was dug by hand. {escaped}{LONG * 6}</p>",
        encoding="utf-8",
    )
    return [str(path) for path in sorted(tmp_path.iterdir())]


def ask(page: Any, question: str) -> None:
    field = page.get_by_placeholder("Ask something that needs")
    enter(page, field, question)
    page.wait_for_selector("section.stage[data-revision]")
    settle(page)


def test_files_as_people_have_them_are_loaded_and_asked(
    page: Any, server: Any, files: list[str]
) -> None:
    page.goto(f"{server.url}/library")
    page.wait_for_selector("[data-testid=stApp]")
    settle(page)
    page.locator("input[type=file]").first.set_input_files(files)
    expect(page.get_by_role("button", name="Index 4 documents")).to_be_enabled(timeout=60_000)
    settle(page)
    enter(page, page.get_by_label("Name of the corpus"), "Four kinds")
    page.get_by_role("button", name="Index 4 documents").click()
    expect(page.get_by_text("Four kinds now has")).to_be_visible(timeout=120_000)
    settle(page)
    card = page.locator("[class*=st-key-shelf]", has_text="Four kinds").last
    card.get_by_role("button", name="Ask").click()
    # Each question's own passage is found, and its place is told as its kind has it.
    for question, place in (
        ("What did the lamp burn?", "Talk.pptx, slide 2, Lamp"),
        ("Who carried the sacks to the barn?", "Mill.docx, Village › The barn"),
        ("Where did the fiddler play?", "Book.epub, The Book › I"),
        ("Who dug the well?", "Page.html, The well › Water"),
    ):
        ask(page, question)
        expect(page.get_by_text(place).first).to_be_visible(timeout=60_000)
    # What a page would have run is text here, or nothing.
    assert page.evaluate("() => window.pwned") is None
    assert page.locator("img[src=x]").count() == 0
