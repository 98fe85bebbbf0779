"""What a person does on the Evaluate page, in a real browser with the network cut."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.steps import enter, settle
from tracert.evaluation.datasets import Passage, read_items
from tracert.evaluation.gold_chain import GoldChain, to_jsonl
from tracert.evaluation.runs import Runs

WAIT = 300_000
EVIL = (
    "<img src=x onerror='window.pwned=1'><script>window.pwned=1</script> **b** [l](javascript:"
    "window.pwned=1) $x$ :smile: \u202eright"
)
TEXTS = {
    "coils": "Faraday wound two coils of wire on a ring of iron.",
    "chemist": "Humphry Davy taught the young Faraday at the Royal Institution.",
    "frogs": "Galvani saw the legs of a frog twitch under a spark.",
    "pile": "Volta piled discs of silver and zinc.",
    "cable": "The Atlantic cable carried words under the sea.",
    "lamp": "Edison burned a thread of carbon in a bulb.",
}
PASSAGES = [Passage(name, text) for name, text in TEXTS.items()]


def open_page(page: Any, server: Any, query: str = "") -> None:
    page.goto(f"{server.url}/evaluate{query}")
    page.get_by_role("heading", name="Evaluate", exact=True).wait_for()
    settle(page)


def choose(page: Any, name: str) -> None:
    """One of a row of choices, which Streamlit draws as radios."""
    page.get_by_role("radio", name=name, exact=False).first.click()
    settle(page)


def badge(page: Any, state: str) -> None:
    """Wait until the open run is in this state."""
    found = page.get_by_text(re.compile(rf"^\s*\w+ ?{state}\s*$")).first
    expect(found).to_be_visible(timeout=WAIT)


def upload(page: Any, path: Path) -> None:
    choose(page, "A file")
    page.locator("input[type=file]").first.set_input_files(path)
    page.get_by_text("Take another").wait_for()
    settle(page)


def select_row(page: Any, alt: str, row: int) -> None:
    """Select a row of a table, which is a canvas: its box stands before its first column."""
    named = page.locator(f"[aria-label^='{alt}']")
    found = page.get_by_test_id("stDataFrame").filter(has=named).last
    found.locator("canvas").first.wait_for()
    found.scroll_into_view_if_needed()
    box = found.bounding_box()
    page.mouse.click(box["x"] + 16, box["y"] + 35 * (row + 1) + 18)
    settle(page)


def numbered(count: int) -> str:
    """Many questions over six passages."""
    chains = [
        GoldChain(f"What is number {place} of the coils?", (PASSAGES[place % 6],), type="single")
        for place in range(count)
    ]
    rows = to_jsonl(chains, "many").splitlines()
    first = json.loads(rows[0])
    first["paragraphs"] += [
        {"title": each.title, "text": each.text, "is_supporting": False} for each in PASSAGES[1:]
    ]
    return "\n".join([json.dumps(first), *rows[1:]]) + "\n"


def test_built_in_questions_are_measured_opened_and_taken_along(
    page: Any, server: Any, tmp_path: Path
) -> None:
    open_page(page, server)
    page.get_by_text("40 questions: 26 bridge").wait_for()
    page.get_by_role("button", name="Start", exact=True).click()
    badge(page, "Finished")
    settle(page)
    # Words, the table's caption, and both pictures.
    expect(page.get_by_text("at the same 10 passages").first).to_be_visible(timeout=WAIT)
    expect(page.locator(".js-plotly-plot")).to_have_count(2, timeout=WAIT)
    assert "run=" in page.url
    # A row opens the walk beside plain top-k.
    select_row(page, "The questions with their recall", 1)
    page.get_by_role("heading", name="The question", exact=True).wait_for()
    expect(page.locator("section.stage[data-revision]")).to_have_count(2, timeout=WAIT)
    page.get_by_text("Plain top-k, at as many passages").wait_for()
    # Everything can be taken along.
    made = {}
    for name in ("Report for the browser", "Methods as CSV", "Questions as CSV", "All as JSON"):
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        made[name] = tmp_path / download.value.suggested_filename
        download.value.save_as(made[name])
    data = json.loads(made["All as JSON"].read_text("utf-8"))
    assert [len(one["details"]) for one in data["methods"]] == [40] * 4
    assert len(made["Questions as CSV"].read_text("utf-8").splitlines()) >= 161
    assert made["Methods as CSV"].read_text("utf-8").startswith("Method,Recall")
    page.goto(made["Report for the browser"].as_uri())
    expect(page.get_by_text("TreeHop").first).to_be_visible(timeout=WAIT)


def test_a_run_is_stopped_found_again_after_a_reload_and_resumed(
    page: Any, server: Any, tmp_path: Path
) -> None:
    (tmp_path / "many.jsonl").write_text(numbered(4000))
    open_page(page, server)
    upload(page, tmp_path / "many.jsonl")
    page.get_by_text("4,000 questions: 4,000 single").wait_for()
    page.get_by_role("button", name="Start", exact=True).click()
    badge(page, "Running")
    id = page.url.partition("run=")[2]
    # Another tab, and this one loaded anew, find the run that goes on.
    page.goto(f"{server.url}/evaluate")
    badge(page, "Running")
    page.get_by_text("Asking ·").wait_for(timeout=WAIT)
    page.get_by_role("button", name="Stop", exact=True).click()
    badge(page, "Stopped")
    settle(page)
    assert page.url.partition("run=")[2] == id
    runs = Runs(server.home / "data" / "evaluations")
    before = next(one.lines for one in runs.kept() if one.id == id)
    assert 0 < before < 16_000
    page.get_by_text("questions that every method was asked so far").wait_for()
    # Resumed it asks what is left; nothing is asked twice.
    page.get_by_role("button", name="Resume").click()
    badge(page, "Running")
    page.get_by_text("Asking ·").wait_for(timeout=WAIT)
    page.get_by_role("button", name="Stop", exact=True).click()
    badge(page, "Stopped")
    settle(page)
    kept = next(one for one in runs.kept() if one.id == id)
    assert kept.lines > before
    done = runs.done(kept.head, dict)
    assert len(done.details) == kept.lines
    assert done.damaged == 0
    # It is deleted after a question whether it should be.
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete it").click()
    settle(page)
    page.get_by_role("button", name="Delete it").wait_for(state="hidden", timeout=WAIT)
    settle(page)
    assert id not in [one.id for one in runs.kept()]


def test_a_gold_chain_is_made_saved_and_measured(page: Any, server: Any, tmp_path: Path) -> None:
    open_page(page, server)
    choose(page, "Gold chains")
    field = page.get_by_role("textbox", name="The question of the chain")
    enter(page, field, "Who taught the man who wound two coils on a ring?")
    marks = page.get_by_role("button", name="Mark as gold")
    marks.first.wait_for(timeout=WAIT)
    settle(page)
    marks.first.click()
    down = page.get_by_role("button", name="Down", exact=True)
    down.first.wait_for(timeout=WAIT)
    # Another search leaves the question and the chain as they are.
    other = page.get_by_role("textbox", name="Search for something else")
    enter(page, other, "kwaker, the letter Q and the clerk at Slough")
    page.get_by_text("kwaker").first.wait_for(timeout=WAIT)
    settle(page)
    marks.first.click()
    expect(down.first).to_be_enabled(timeout=WAIT)
    settle(page)
    down.first.click()
    settle(page)
    answer = page.get_by_role("textbox", name="Answer, in short")
    enter(page, answer, "Davy")
    name = page.get_by_role("combobox", name="Set", exact=False).first
    enter(page, name, "My chains")
    page.get_by_role("button", name="Add the chain to the set").click()
    page.get_by_text("My chains now has 1 chain.").wait_for(timeout=WAIT)
    settle(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as JSONL").click()
    path = tmp_path / "chains.jsonl"
    download.value.save_as(path)
    (item,) = read_items(path)
    assert item.question == "Who taught the man who wound two coils on a ring?"
    assert (item.n_hops, item.order, item.answer) == (2, (0, 1), "Davy")
    page.get_by_role("button", name="Evaluate this set").click()
    page.get_by_text("1 question: 1 bridge").wait_for(timeout=WAIT)
    settle(page)
    page.get_by_role("button", name="Start", exact=True).click()
    badge(page, "Finished")
    kept = page.get_by_role("combobox", name="Kept runs")
    expect(kept).to_have_value(re.compile("^My chains on The Long Spark"), timeout=WAIT)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A data set whose every text is markup."""
    evil = Passage(EVIL, f"{EVIL} Edison burned a thread of carbon in a bulb.")
    chains = [
        GoldChain(f"{EVIL} Which thread burned?", (evil, PASSAGES[0]), EVIL, EVIL, tuple(PASSAGES)),
        GoldChain(f"{EVIL} Whose frog twitched?", (PASSAGES[2],), EVIL, EVIL, (evil,)),
    ]
    rows = [json.loads(line) for line in to_jsonl(chains, EVIL).splitlines()]
    for place, row in enumerate(rows):
        row["id"] = f"{place} {EVIL}"
    wrong = {"question": EVIL, "paragraphs": EVIL}
    path = tmp_path / "<b>evil<img src=x onerror=window.pwned=1>.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, wrong]))
    return path


def harmless(page: Any) -> None:
    assert page.evaluate("window.pwned") is None
    assert page.evaluate("document.querySelectorAll('img[src=x], a[href^=javascript]').length") == 0


def test_a_hostile_data_set_is_text_everywhere(
    page: Any, server: Any, hostile: Path, tmp_path: Path
) -> None:
    open_page(page, server)
    upload(page, hostile)
    page.get_by_text("could not be read; the rest goes on").click()
    page.get_by_text("line 3").first.wait_for()
    harmless(page)
    page.get_by_role("button", name="Start", exact=True).click()
    badge(page, "Finished")
    settle(page)
    harmless(page)
    select_row(page, "The questions with their recall", 0)
    page.get_by_role("heading", name="The question", exact=True).wait_for()
    asked = page.get_by_test_id("stText").filter(has_text="Which thread burned?")
    expect(asked.filter(has_text="window.pwned=1").first).to_be_visible(timeout=WAIT)
    expect(page.locator("section.stage[data-revision]")).to_have_count(2, timeout=WAIT)
    harmless(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Report for the browser").click()
    report = tmp_path / "report.html"
    download.value.save_as(report)
    page.goto(report.as_uri())
    expect(page.get_by_text("window.pwned=1", exact=False).first).to_be_attached(timeout=WAIT)
    harmless(page)
