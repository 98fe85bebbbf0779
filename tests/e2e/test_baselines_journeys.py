"""What a person does on the Baselines page, in a real browser with the network cut."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.steps import STAGE, enter, settle
from tests.servers import ChatServer
from tracert.language.judge import CRITERIA
from tracert.trace import Trace

#: The graph of a text is made before its page is drawn, in many slices of a busy machine.
LONG = 240_000


@pytest.fixture
def model() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


def open_page(page: Any, server: Any, name: str) -> Any:
    page.goto(f"{server.url}/baselines?method={name}")
    stage = page.locator(f"{STAGE}[data-revision]")
    expect(stage).to_be_visible(timeout=LONG)
    settle(page)
    return stage


def data(stage: Any) -> dict[str, Any]:
    return dict(stage.evaluate("(box) => box.stage.data"))


def redrawn(stage: Any, before: str) -> dict[str, Any]:
    """What the stage draws once it is another graph than that of the revision before."""
    expect(stage).not_to_have_attribute("data-revision", before, timeout=LONG)
    return data(stage)


def name_model(page: Any, server: Any, model: ChatServer) -> None:
    """Use the scripted model from the Settings page on, in this session."""
    page.goto(f"{server.url}/settings")
    page.get_by_text("llama.cpp, vLLM or another").click()
    url = page.get_by_label("Base URL")
    # The form of the provider before stands beside the new one until the run has ended.
    old = page.locator("input[aria-label='Base URL'][value*='api.openai.com']")
    expect(old).to_have_count(0, timeout=LONG)
    expect(url).to_have_count(1, timeout=LONG)
    expect(url).to_have_value(re.compile("8080"), timeout=LONG)
    settle(page)
    url.fill(model.url)
    page.get_by_label("Model", exact=True).fill("tiny")
    page.get_by_role("button", name="Use these settings").click()
    expect(page.get_by_text("Model tiny at")).to_be_visible(timeout=LONG)


def test_plain_top_k_is_a_fan_and_each_first_stage_is_a_click_away(page: Any, server: Any) -> None:
    stage = open_page(page, server, "native_rag")
    made = data(stage)
    assert made["layered"] is True
    assert made["groups"] == []
    before = made["revision"]
    page.get_by_text("Words (BM25)").click()
    middle = redrawn(stage, before)["revision"]
    expect(stage.locator(".say")).to_contain_text("(BM25)", timeout=LONG)
    settle(page)
    page.get_by_text("Both (hybrid)").click()
    redrawn(stage, middle)
    expect(stage.locator(".say")).to_contain_text("both rankings", timeout=LONG)
    expect(page.get_by_text("The answer", exact=True)).to_be_visible(timeout=LONG)


def test_the_communities_are_circles_that_can_be_walked_through(page: Any, server: Any) -> None:
    stage = open_page(page, server, "graph_rag")
    made = data(stage)
    assert made["groups"]
    ids = {node["id"] for node in made["nodes"]}
    assert {group["id"] for group in made["groups"]} <= ids
    expect(page.get_by_text("Made offline: an entity is a capitalised name")).to_be_visible(
        timeout=LONG
    )
    expect(page.get_by_text("Model calls", exact=True)).to_be_visible(timeout=LONG)
    # The circles are drawn: on the canvas a point of a circle's rim differs from the paper.
    assert stage.evaluate(
        """(box) => {
            const { stage } = box;
            const { x, y, r } = stage.data.groups[0];
            const canvas = box.querySelector('canvas');
            const at = stage.network.canvasToDOM({ x: x + r * 0.6, y: y + r * 0.6 });
            const ratio = canvas.width / canvas.clientWidth;
            const context = canvas.getContext('2d');
            const read = (x, y) => String(context.getImageData(x * ratio, y * ratio, 1, 1).data);
            return read(at.x, at.y) !== read(2, 2); }"""
    )
    stage.focus()
    page.keyboard.press("Home")
    expect(stage).to_have_attribute("data-step", "0", timeout=LONG)
    page.keyboard.press("ArrowRight")
    expect(stage.locator(".say")).to_contain_text("entities nearest to the question", timeout=LONG)
    page.keyboard.press("End")
    expect(stage.locator(".say")).to_contain_text("passages", timeout=LONG)


def test_a_level_and_the_global_search_show_other_communities(page: Any, server: Any) -> None:
    stage = open_page(page, server, "graph_rag")
    before = data(stage)["revision"]
    page.get_by_text("Global", exact=True).click()
    made = redrawn(stage, before)
    assert "communities" in made["frames"][1]["say"]
    expect(page.get_by_text("Chosen by their summaries")).to_be_visible(timeout=LONG)
    settle(page)
    page.get_by_text(re.compile(r"^1 · \d+$")).click()
    made = redrawn(stage, made["revision"])
    assert all(group["id"].startswith("community:1:") for group in made["groups"])
    # A community clicked in the list is selected in the graph, and its summary is shown.
    settle(page)
    row = page.locator(".cards button.row").first
    row.click()
    expect(stage).to_have_attribute("data-selected", re.compile("^community:1:"), timeout=LONG)
    expect(page.get_by_text("Its summary", exact=True)).to_be_visible(timeout=LONG)


def test_a_saved_graph_walk_opens_again_without_its_corpus(
    page: Any, server: Any, tmp_path: Path
) -> None:
    open_page(page, server, "graph_rag")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save trace").click()
    saved = tmp_path / "trace.json"
    waiting.value.save_as(saved)
    trace = Trace.from_json(saved.read_bytes())
    assert trace.method == "graph_rag"
    page.get_by_role("button", name="Open trace").click()
    page.locator("input[type=file]").last.set_input_files(saved)
    expect(page.get_by_text("Shown from the file alone")).to_be_visible(timeout=LONG)
    expect(page.get_by_text(re.compile(r"The graph: \d+ entities"))).to_be_visible(timeout=LONG)
    stage = page.locator(f"{STAGE}[data-revision]")
    expect(stage).to_have_count(1, timeout=LONG)
    assert data(stage)["groups"]
    settle(page)
    page.get_by_role("button", name="Close").first.click()
    expect(page.get_by_text("Shown from the file alone")).to_have_count(0, timeout=LONG)


def test_each_rewritten_question_is_shown(page: Any, server: Any) -> None:
    stage = open_page(page, server, "iterative_rewrite")
    assert data(stage)["branches"] is True
    assert "Rewritten question" in stage.locator(".legend").inner_text()
    expect(page.get_by_text("The questions asked")).to_be_visible(timeout=LONG)
    expect(page.get_by_text("made of words, without a model").first).to_be_visible(timeout=LONG)
    second = page.locator(".cards button.row").nth(1)
    second.click()
    expect(stage).to_have_attribute("data-selected", "hop:1", timeout=LONG)


def test_no_call_is_made_before_a_person_agrees(
    page: Any, fresh_server: Any, model: ChatServer
) -> None:
    model.say("entity | Michael Faraday | He bound books.")
    name_model(page, fresh_server, model)
    page.get_by_role("link", name="Baselines").click()
    page.get_by_text("Graph RAG", exact=True).click()
    expect(page.get_by_text("Made offline: an entity is a capitalised")).to_be_visible(timeout=LONG)
    expect(page.locator(f"{STAGE}[data-revision]")).to_be_visible(timeout=LONG)
    settle(page)
    page.get_by_text("Let tiny read").click()
    reading = page.get_by_role("spinbutton", name="Calls for reading")
    expect(reading).to_be_visible(timeout=LONG)
    settle(page)
    enter(page, reading, "2")
    expect(page.get_by_text(re.compile("called up to 42 times"))).to_be_visible(timeout=LONG)
    settle(page)
    summaries = page.get_by_role("spinbutton", name="Calls for summaries")
    enter(page, summaries, "1")
    expect(page.get_by_text(re.compile("called up to 3 times"))).to_be_visible(timeout=LONG)
    assert model.calls == []
    settle(page)
    page.get_by_role("button", name="Make the graph with up to 3 calls").click()
    expect(page.get_by_text(re.compile(r"The model read \d+ of")).first).to_be_visible(timeout=LONG)
    assert len(model.calls) == 3


def test_answers_are_judged_on_the_compare_page(
    page: Any, fresh_server: Any, model: ChatServer
) -> None:
    letters = "ABCDEFGHIJ"
    marks = {letter: dict.fromkeys(CRITERIA, 9 - place % 9) for place, letter in enumerate(letters)}
    model.say(json.dumps(marks | {"best": "A"}))
    name_model(page, fresh_server, model)
    page.get_by_role("link", name="Compare").click()
    judge = page.get_by_role("button", name="Let tiny judge")
    expect(judge).to_be_visible(timeout=LONG)
    settle(page)
    judge.click()
    # This judge likes what stands first, and so names two winners.
    expect(page.get_by_text("The rounds disagree")).to_be_visible(timeout=LONG)
    expect(page.get_by_text(re.compile("a score moved by"))).to_be_visible(timeout=LONG)
    assert len(model.calls) == 2


def test_a_price_is_typed_and_kept(page: Any, fresh_server: Any) -> None:
    page.goto(f"{fresh_server.url}/settings")
    expect(page.get_by_text("Prices", exact=True)).to_be_visible(timeout=LONG)
    page.get_by_role("button", name="Keep these prices").click()
    expect(page.get_by_text("The prices are kept.")).to_be_visible(timeout=LONG)
    kept = fresh_server.home / "data" / "prices.json"
    assert json.loads(kept.read_text())["prices"]["gpt-4o"]["prompt"] == 2.5
