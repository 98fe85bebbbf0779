"""What a person does on the Compare page, in a real browser with the network cut."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.steps import enter, settle

SLOW = 60_000


def open_compare(page: Any, server: Any) -> None:
    page.goto(f"{server.url}/compare")
    page.wait_for_selector(".compare .card")
    page.wait_for_selector(".js-plotly-plot")
    settle(page)


def card(page: Any, name: str) -> Any:
    return page.locator(".board .card").filter(has=page.locator("h4", has_text=name))


def layers(page: Any) -> list[str]:
    return list(
        page.evaluate(
            "() => document.querySelector('.js-plotly-plot').data.map((one) => one.name || '')"
        )
    )


def test_five_methods_on_one_question(page: Any, server: Any) -> None:
    open_compare(page, server)
    expect(page.locator(".board .card")).to_have_count(3, timeout=SLOW)
    for name in ("Rewriting", "Graph RAG"):
        page.get_by_text(name, exact=True).first.click()
        expect(card(page, name)).to_have_count(1, timeout=SLOW)
        settle(page)
    expect(page.locator(".board .card")).to_have_count(5, timeout=SLOW)
    expect(page.locator(".matrix thead th.method")).to_have_count(5, timeout=SLOW)
    # The question opens with gold that the moved queries find at hop 2 and plain top-k misses.
    expect(card(page, "TreeHop").locator(".gold.found", has_text="hop 2")).to_be_visible()
    expect(card(page, "Top-k").locator(".gold.missed")).to_have_count(1)
    # One map for all: a layer a method, by name.
    page.wait_for_function(
        """() => ['Top-k', 'Tracert', 'TreeHop', 'Rewriting', 'Graph RAG'].every((name) =>
            document.querySelector('.js-plotly-plot').data.some((one) => one.name === name))"""
    )
    assert "Gold" in layers(page)


def test_a_click_in_the_matrix_selects_everywhere(page: Any, server: Any) -> None:
    open_compare(page, server)
    row = page.locator(".matrix tr.passage").nth(3)
    name = row.locator(".pick span").inner_text()
    id = row.get_attribute("data-node")
    row.locator("button.pick").click()
    expect(page.locator(f'.matrix tr.chosen[data-node="{id}"]')).to_be_visible(timeout=SLOW)
    # What became of it is told by its title; the map puts the ring where it lies.
    start = name.rstrip("…").split("  ")[0][:25]
    expect(page.get_by_text(f"“{start}").first).to_be_visible(timeout=SLOW)
    page.wait_for_function(
        """() => document.querySelector('.js-plotly-plot').data.some(
            (one) => one.name === 'Selected')"""
    )


def test_the_player_moves_all_paths_and_stops_at_the_end(page: Any, server: Any) -> None:
    open_compare(page, server)
    expect(page.get_by_text("Hop 2 finds:").first).to_be_visible(timeout=SLOW)
    page.get_by_role("button", name="Play", exact=False).first.click()
    expect(page.get_by_text("Hop 1 finds:").first).to_be_visible(timeout=SLOW)
    expect(page.get_by_text("Hop 2 finds:").first).to_be_visible(timeout=SLOW)
    expect(page.get_by_role("button", name="Play", exact=False).first).to_be_visible(timeout=SLOW)


def test_why_not_this_passage_and_the_change_that_keeps_it(page: Any, server: Any) -> None:
    open_compare(page, server)
    # The gold that plain top-k misses, found by some of its words.
    box = page.get_by_placeholder("Why not this passage? Type some of its words")
    enter(page, box, "Carlisle's friend William Nicholson")
    offered = page.locator(".cards button.row").first
    expect(offered).to_be_visible(timeout=SLOW)
    offered.click()
    settle(page)
    page.get_by_role("button", name="Find the smallest change that keeps it").first.click()
    verified = page.get_by_text("Verified by running it").first
    expect(verified).to_be_visible(timeout=120_000)
    settle(page)
    lost = page.get_by_text("not found", exact=True)
    before = lost.count()
    assert before
    page.get_by_role("button", name="Make this change").first.click()
    # With the change made, one method more has found it.
    expect(lost).to_have_count(before - 1, timeout=SLOW)


def test_the_text_beside_the_same_text_as_notes(page: Any, server: Any) -> None:
    open_compare(page, server)
    page.get_by_text("The same text as document and notes").first.click()
    # The notes are indexed and embedded when they are opened first.
    expect(page.get_by_text("As a markdown graph:", exact=False).first).to_be_visible(
        timeout=300_000
    )
    expect(card(page, "TrailGraph")).to_have_count(1, timeout=SLOW)
    for name in ("Tracert", "TreeHop"):
        expect(card(page, name)).to_have_count(1, timeout=SLOW)
    expect(page.locator(".js-plotly-plot")).to_have_count(2, timeout=SLOW)
    settle(page)
    # A gold note that was found is read by a click.
    card(page, "TrailGraph").locator(".gold.found").first.click()
    settle(page)
    expect(page.locator(".board .gold.found[aria-pressed=true]").first).to_be_visible(timeout=SLOW)
    expect(page.get_by_text("The note in its source").first).to_be_visible(timeout=SLOW)


@pytest.mark.parametrize("width", [420, 1440])
def test_the_page_is_no_wider_than_the_window(page: Any, server: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 1000})
    open_compare(page, server)
    wide = page.evaluate(
        "() => document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth"
    )
    assert wide <= 1


def test_from_a_passage_on_another_page_to_why_not_here(page: Any, server: Any) -> None:
    page.goto(server.url)
    page.wait_for_selector("section.stage[data-revision]")
    settle(page)
    field = page.get_by_label("Question").first
    expect(field).not_to_have_value("", timeout=SLOW)
    asked = field.input_value()
    page.get_by_role("button", name="Why, or why not, in other methods?").first.click()
    page.wait_for_selector(".compare .card")
    settle(page)
    assert page.url.split("?")[0].endswith("/compare")
    expect(page.get_by_label("Question").first).to_have_value(asked, timeout=SLOW)
    expect(page.locator(".matrix tr.chosen").first).to_be_visible(timeout=SLOW)
