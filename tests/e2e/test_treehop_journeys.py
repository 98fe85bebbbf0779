"""What a person does on the TreeHop page, in a real browser with the network cut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.steps import STAGE, enter, settle, step, too_wide
from tracert.trace import Trace


def open_treehop(page: Any, server: Any) -> Any:
    page.goto(f"{server.url}/treehop")
    page.wait_for_selector(f"{STAGE}[data-revision]")
    page.wait_for_selector(".js-plotly-plot", timeout=120_000)
    settle(page)
    return page.locator(STAGE)


def parts(stage: Any) -> list[int]:
    return list(stage.evaluate("(box) => box.stage.data.parts"))


def layer(page: Any, name: str) -> int:
    return int(
        page.evaluate(
            """(name) => { for (const plot of document.querySelectorAll('.js-plotly-plot')) {
                const found = plot.data.find((one) => one.name === name);
                if (found) return found.x.length; } return 0; }""",
            name,
        )
    )


def wait_layer(page: Any, name: str, count: int) -> None:
    page.wait_for_function(
        """([name, n]) => { let size = 0;
            for (const plot of document.querySelectorAll('.js-plotly-plot')) {
                const found = plot.data.find((one) => one.name === name);
                if (found) size = found.x.length; } return size === n; }""",
        arg=[name, count],
    )


def wait_tree(page: Any, *, hops: int, kept: int) -> None:
    """Wait until the stage draws a walk of so many hops that kept so many passages in all."""
    page.wait_for_function(
        """([selector, hops, kept]) => {
            const find = (root) => root.querySelector(selector) ?? [...root.querySelectorAll("*")]
                .map((one) => one.shadowRoot && find(one.shadowRoot)).find(Boolean);
            const data = find(document)?.stage?.data;
            return data && Math.max(...data.parts) === hops
                && Object.keys(data.frames.at(-1).order).length === kept;
        }""",
        arg=[STAGE, hops, kept],
        timeout=60_000,
    )


def leave_for_tracert(page: Any) -> None:
    page.get_by_role("link", name="Tracert").first.click(delay=100)  # as long as a hand presses
    page.wait_for_url(lambda url: "treehop" not in url)
    page.get_by_role("slider", name="Alpha").wait_for()
    page.wait_for_selector(f"{STAGE}[data-revision]")
    settle(page)


def test_it_opens_on_a_tree_with_gates_and_gold(page: Any, server: Any) -> None:
    stage = open_treehop(page, server)
    assert max(parts(stage)) == 2
    kinds = stage.evaluate("(box) => box.stage.data.nodes.map((node) => node.kind)")
    assert kinds.count("query") == 1
    assert kinds.count("hop") >= 1
    assert "Hop 2" in stage.locator(".say").inner_text()
    page.get_by_text("words whose vectors are nearest").wait_for()
    page.get_by_text("Recall of the hops").wait_for()
    assert layer(page, "Top-k") == layer(page, "Kept") > 1


def test_page_keys_step_hop_by_hop_and_arrows_inside_a_hop(page: Any, server: Any) -> None:
    stage = open_treehop(page, server)
    of = parts(stage)
    stage.focus()
    page.keyboard.press("Home")
    wait_layer(page, "Kept", 0)
    page.keyboard.press("PageDown")
    assert step(stage) == of.index(1)
    page.keyboard.press("PageDown")
    assert step(stage) == len(of) - 1
    page.keyboard.press("PageUp")
    assert step(stage) == of.index(1)
    page.keyboard.press("ArrowRight")
    assert step(stage) == of.index(2)
    assert stage.locator(".at").inner_text().startswith("Hop 2")
    wait_layer(page, "Moved q ≈", of.count(2))


def test_the_buttons_of_a_hop_are_there_and_only_here(page: Any, server: Any) -> None:
    stage = open_treehop(page, server)
    stage.locator("button.before").click()
    assert step(stage) == parts(stage).index(1)
    stage.locator("button.after").click()
    assert step(stage) == len(parts(stage)) - 1
    leave_for_tracert(page)
    # The stage of the page that was left may stay a moment beside the new one.
    expect(page.locator(f"{STAGE} button.before:visible")).to_have_count(0, timeout=60_000)
    expect(page.locator(STAGE)).to_have_count(1, timeout=60_000)


def test_a_player_that_is_left_while_it_plays_says_no_more(page: Any, server: Any) -> None:
    """What it said after the click on the link would draw the old page into the new one."""
    stage = open_treehop(page, server)
    stage.locator("select").select_option("4")
    stage.focus()
    page.keyboard.press("Home")
    stage.locator("button.play").click()
    leave_for_tracert(page)
    expect(page.locator(STAGE)).to_have_count(1, timeout=60_000)
    expect(page.locator(f"{STAGE} button.after:visible")).to_have_count(0, timeout=60_000)


def test_a_query_that_is_selected_shows_how_the_gates_made_it(page: Any, server: Any) -> None:
    stage = open_treehop(page, server)
    made = stage.evaluate(
        "(box) => box.stage.data.nodes.filter((n) => n.kind === 'hop').map((n) => [n.id, n.name])"
    )
    id, name = made[-1]
    stage.evaluate("(box, id) => box.stage.select(id)", id)
    page.get_by_text(f"The run searched with it as {name}").wait_for()
    page.get_by_text(f"Query {name} was made with").wait_for()
    assert stage.get_attribute("data-selected") == id


def test_a_setting_moved_and_the_papers_settings_redraw_the_tree(page: Any, server: Any) -> None:
    """What is drawn tells, since a map that is fitted meanwhile draws the graph anew as well."""
    open_treehop(page, server)
    paper = page.get_by_role("button", name="As in the paper")
    best = page.get_by_role("button", name="Measured best")
    slider = page.get_by_role("slider", name="Hops")
    slider.focus()
    slider.press("ArrowRight")
    wait_tree(page, hops=3, kept=8)
    settle(page)
    paper.click()
    expect(paper).to_be_disabled(timeout=60_000)
    wait_tree(page, hops=2, kept=10)  # five a hop
    settle(page)
    best.click()
    expect(best).to_be_disabled(timeout=60_000)
    wait_tree(page, hops=2, kept=8)


def test_the_question_goes_along_from_page_to_page(page: Any, server: Any) -> None:
    open_treehop(page, server)
    field = page.get_by_placeholder("Ask something that needs")
    enter(page, field, "Who taught Michael Faraday?")
    page.get_by_role("link", name="Tracert").first.click()
    page.wait_for_url(lambda url: "treehop" not in url)
    page.wait_for_selector(f"{STAGE}[data-revision]")
    settle(page)
    assert field.input_value() == "Who taught Michael Faraday?"
    page.get_by_role("link", name="TreeHop").first.click()
    page.wait_for_url("**/treehop*")
    page.wait_for_selector(f"{STAGE}[data-revision]")
    settle(page)
    assert field.input_value() == "Who taught Michael Faraday?"


def test_a_trace_is_saved_and_replays_with_its_gates(
    page: Any, server: Any, tmp_path: Path
) -> None:
    stage = open_treehop(page, server)
    count = len(parts(stage))
    with page.expect_download() as caught:
        page.get_by_role("button", name="Save trace").click()
    file = tmp_path / "trace.json"
    caught.value.save_as(file)
    trace = Trace.from_json(file.read_text(encoding="utf-8"))
    assert (trace.method, len(trace.steps)) == ("treehop", count - 1)
    page.get_by_role("button", name="Open trace").click()
    page.locator("input[type=file]").first.set_input_files(str(file))
    page.get_by_text("Shown from the file alone").wait_for()
    settle(page)
    page.wait_for_selector(f"{STAGE}[data-revision]")
    page.get_by_text("words whose vectors are nearest").wait_for()
    page.get_by_text("Only the hops found").wait_for()
    page.get_by_role("button", name="Close").click()
    page.get_by_placeholder("Ask something that needs").wait_for()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone(chromium: Any, server: Any, theme: str) -> None:
    context = chromium.new_context(viewport={"width": 420, "height": 900}, color_scheme=theme)
    page = context.new_page()
    open_treehop(page, server)
    over = too_wide(page)
    context.close()
    assert over <= 0
