"""What a person does with notes, in a real browser with the network cut."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.steps import STAGE, enter, settle, too_wide
from tracert.knowledge.graph import open_graph
from tracert.trace import Trace

NOTES = {
    "entry_points/House.md": (
        "# House\n\nsummary: The rooms of the lighthouse and its people\nparent:\n"
        "children: [rooms/Lamp.md, rooms/Cellar.md]\nrelated: []\n"
        "key_points: [The lamp room, The cellar]\n\n## Content\n\nThe house stands on Skarholm.\n"
    ),
    "rooms/Lamp.md": (
        "# Lamp room\n\nsummary: The lamp, its oil and its keeper Ingrid Falk\n"
        "parent: entry_points/House.md\nchildren: []\nrelated: [rooms/Cellar.md]\n"
        "key_points: [Ingrid Falk kept the lamp]\n\n## Content\n\n"
        "Ingrid Falk filled the lamp with oil from the [cellar](../rooms/Cellar.md). "
        "<script>window.pwned = 1</script> ![x](http://198.51.100.7/x.png)\n"
    ),
    "rooms/Cellar.md": (
        "# Cellar\n\nsummary: Barrels of oil and herring\nparent: entry_points/House.md\n"
        "children: []\nrelated: []\nkey_points: [Forty barrels]\n\n## Content\n\n"
        "Forty barrels of oil lay in the cellar.\n"
    ),
}


def open_stage(page: Any, server: Any) -> Any:
    page.goto(f"{server.url}/trailgraph")
    settle(page)
    stage = page.locator(STAGE)
    stage.wait_for()
    page.wait_for_selector(f"{STAGE}[data-revision]")
    settle(page)
    return stage


def question(page: Any, text: str) -> None:
    field = page.get_by_label("Question", exact=True)
    shown = page.locator(STAGE)
    before = shown.get_attribute("data-revision") if shown.count() else ""
    enter(page, field, text)
    page.locator(f"{STAGE}:not([data-revision='{before}'])").wait_for()
    settle(page)


@pytest.fixture
def notes_zip(tmp_path: Path) -> Path:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, text in NOTES.items():
            archive.writestr(path, text)
    file = tmp_path / "skarholm.zip"
    file.write_bytes(buffer.getvalue())
    return file


def drawn(page: Any, stage: Any, least: int, most: int) -> int:
    """Wait until the tree draws so many points, and say how many; a page at work draws anew."""
    settle(page)
    count = "(box) => box.stage.points.get().filter((point) => !point.hidden).length"
    page.wait_for_function(
        f"([box, least, most]) => {{ const n = ({count})(box); return least <= n && n <= most; }}",
        arg=[stage.element_handle(), least, most],
    )
    return int(stage.evaluate(count))


def test_the_tree_hides_what_is_not_revealed(page: Any, server: Any) -> None:
    stage = open_stage(page, server)
    drawn(page, stage, 81, 81)  # 80 notes and the question
    stage.get_by_role("button", name="Only what is revealed").click()
    some = drawn(page, stage, 2, 80)
    stage.focus()
    page.keyboard.press("Home")
    drawn(page, stage, 1, 1)
    page.keyboard.press("ArrowRight")
    drawn(page, stage, 2, some)


def test_a_step_moves_transcript_and_note(page: Any, server: Any) -> None:
    stage = open_stage(page, server)
    question(page, "Who gave Faraday the terms anode, cathode and ion?")
    stage.focus()
    page.keyboard.press("Home")
    page.get_by_text("Nothing was called yet").wait_for()
    page.keyboard.press("ArrowRight")
    page.locator(".cards .call").first.wait_for()
    assert page.locator(".cards .call").count() == 1
    page.keyboard.press("End")
    page.get_by_text("Opened by the walk").wait_for()


def test_a_zip_is_loaded_asked_and_its_note_opened(page: Any, server: Any, notes_zip: Path) -> None:
    open_stage(page, server)
    page.get_by_role("button", name="Load notes").click()
    page.locator("input[type=file]").first.set_input_files(str(notes_zip))
    page.get_by_role("button", name="Open them").click()
    settle(page)
    page.get_by_text("3 notes, 5 links, no faults").wait_for()
    question(page, "Who filled the lamp with oil?")
    page.wait_for_selector(f"{STAGE}[data-revision]")
    yes = page.get_by_role("button", name="Yes, open it")
    if yes.count():
        yes.click()
        settle(page)
    page.get_by_text("Opened by the walk").wait_for()
    page.locator(
        "[data-testid=stMarkdownContainer]", has_text="Ingrid Falk filled"
    ).first.wait_for()
    # The link in the text is a click away, and nothing that the note says has run.
    page.locator(".cards button.row", has_text="Cellar").first.click()
    page.locator("[data-testid=stText]", has_text="rooms/Cellar.md").first.wait_for()
    page.get_by_role("button", name="Read the whole note").click()
    page.get_by_text("Forty barrels of oil lay in the cellar.").first.wait_for()
    assert page.evaluate("() => window.pwned") is None
    assert page.locator("img[src*='198.51']").count() == 0


def test_a_person_walks_and_sees_both_trails(page: Any, server: Any) -> None:
    open_stage(page, server)
    page.get_by_text("You are the agent").click()
    page.get_by_text("You stand at the question").wait_for()
    assert page.locator(STAGE).count() == 0
    for _ in range(2):
        page.get_by_role("button", name="Go to this note").click()
        settle(page)
    page.get_by_role("button", name="Stop and compare").click()
    page.get_by_text("You took 2 hops").wait_for()
    stage = page.locator(STAGE)
    stage.wait_for()
    page.wait_for_selector(f"{STAGE}[data-revision]")
    assert len(stage.evaluate("(box) => box.stage.data.overlay.moves")) == 2
    assert "Your trail" in stage.locator(".legend").inner_text()


def test_a_trace_of_notes_is_saved_and_opens_again(page: Any, server: Any, tmp_path: Path) -> None:
    open_stage(page, server)
    with page.expect_download() as caught:
        page.get_by_role("button", name="Save trace").click()
    file = tmp_path / "trace.json"
    caught.value.save_as(file)
    trace = Trace.from_json(file.read_text(encoding="utf-8"))
    assert len(json.loads(str(trace.steps[0].values["outline"]))) == 80
    page.get_by_role("button", name="Open trace").click()
    page.locator("input[type=file]").last.set_input_files(str(file))
    page.get_by_text("Shown from the file alone").wait_for()
    settle(page)
    page.wait_for_selector(f"{STAGE}[data-revision]")
    assert len(page.locator(STAGE).evaluate("(box) => box.stage.data.nodes")) == 81


def test_notes_of_a_document_are_saved_as_a_zip_that_opens(
    page: Any, server: Any, tmp_path: Path
) -> None:
    open_stage(page, server)
    page.get_by_role("button", name="Load notes").click()
    page.get_by_role("tab", name="From a document").click()
    page.get_by_label("A document of the Library").click()
    page.get_by_role("option").first.click()
    settle(page)
    page.get_by_role("button", name="Make notes").click()
    page.get_by_role("button", name="Save as a zip").wait_for()
    page.keyboard.press("Escape")
    settle(page)
    with page.expect_download() as caught:
        page.get_by_role("button", name="Save as a zip").click()
    file = tmp_path / "made.zip"
    caught.value.save_as(file)
    with zipfile.ZipFile(file) as archive:
        archive.extractall(tmp_path / "made")
        names = archive.namelist()
    graph = open_graph(tmp_path / "made", data=tmp_path / "data")
    assert sorted(graph.notes) == sorted(names)
    assert graph.report.unresolved == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone(chromium: Any, server: Any, theme: str) -> None:
    context = chromium.new_context(viewport={"width": 420, "height": 900}, color_scheme=theme)
    page = context.new_page()
    open_stage(page, server)
    over = too_wide(page)
    context.close()
    assert over <= 0
