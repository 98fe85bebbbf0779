"""Links, exports and two runs, in a real browser with the network cut."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import networkx as nx
import pytest

from tests import toy_traces
from tests.e2e.steps import STAGE, settle
from tracert.render.export.page import to_page
from tracert.trace import Trace

ROOT = Path(__file__).resolve().parents[2]
SLOW = 120_000


def visit(page: Any, server: Any, path: str) -> Any:
    page.goto(f"{server.url}/{path}")
    page.wait_for_selector(f"{STAGE}[data-revision]", timeout=SLOW)
    settle(page)
    return page.locator(STAGE).first


def keep_still(page: Any) -> None:
    """Choose PCA: UMAP might be ready, and the page be drawn anew, in the middle of a download."""
    page.get_by_role("radio", name="PCA").click()
    page.get_by_text("PCA map").wait_for()
    settle(page)


def share(page: Any) -> None:
    page.get_by_role("button", name="Share and export").click()
    page.get_by_label("Link to what this page shows").wait_for()


def download(page: Any, name: str, to: Path) -> Path:
    with page.expect_download(timeout=SLOW) as caught:
        page.get_by_role("button", name=name, exact=True).click()
    caught.value.save_as(to)
    return to


@pytest.fixture
def offline(chromium: Any) -> Any:
    """A page for files, with no network at all; the test fails on any script that fails."""
    context = chromium.new_context(
        viewport={"width": 1440, "height": 1000}, offline=True, accept_downloads=True
    )
    page = context.new_page()
    page.set_default_timeout(SLOW)
    asked: list[str] = []
    failed: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: failed.append(str(error)))
    yield page
    context.close()
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert failed == []


# --- links ------------------------------------------------------------------------------------


def test_a_link_opens_settings_and_step_also_on_a_fresh_server(
    page: Any, fresh_server: Any
) -> None:
    """The first session of a process enters a page by app.py, which must not lose the link."""
    stage = visit(
        page, fresh_server, "treehop?question=Who+made+the+first+pile%3F&set.k=5&set.hops=3&step=1"
    )
    page.wait_for_selector(f'{STAGE}[data-step="1"]')
    asked = page.get_by_role("textbox", name="Question", exact=True)
    assert asked.input_value() == "Who made the first pile?"
    assert page.get_by_role("slider", name="Passages in all").input_value() == "5"
    # The link that is offered follows the player.
    stage.locator("button.last").click()
    settle(page)
    share(page)
    field = page.get_by_label("Link to what this page shows")
    page.wait_for_function(
        "(input) => !input.value.includes('step=')", arg=field.element_handle(), timeout=SLOW
    )
    address = field.input_value()
    assert address.startswith(f"{fresh_server.url}/treehop?")
    assert "set.k=5" in address
    assert "set.hops=3" in address
    # Whoever opens it sees the same walk.
    found = "(box) => box.stage.data.frames.at(-1).order"
    order = stage.evaluate(found)
    page.goto(address)
    page.wait_for_selector(f"{STAGE}[data-revision]", timeout=SLOW)
    assert page.locator(STAGE).evaluate(found) == order


def test_the_link_is_copied(page: Any, server: Any) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit(page, server, "?set.alpha=0.9")
    share(page)
    page.get_by_role("button", name="Copy link").click()
    page.get_by_text("Copied.").wait_for()
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied == page.get_by_label("Link to what this page shows").input_value()
    assert "set.alpha=0.9" in copied


def test_a_hostile_link_shows_its_words_as_text(page: Any, server: Any) -> None:
    bad = quote("<script>window.pwned=1</script><img src=x onerror=window.pwned=1>")
    visit(page, server, f"?question={bad}&set.alpha={bad}&set.{bad}=1&step={bad}&at={bad}&x={bad}")
    page.get_by_text("A setting of the link is left out").first.wait_for()
    page.goto(f"{server.url}/?corpus={bad}&question={bad}&at=abcd")
    page.get_by_text("This link asks for a corpus that is not here").wait_for()
    settle(page)
    page.get_by_role("link", name="Load it").wait_for()
    page.get_by_role("button", name="Ask what is here").click()
    page.wait_for_selector(f"{STAGE}[data-revision]", timeout=SLOW)
    assert page.evaluate("() => window.pwned") is None
    assert page.locator("img[src=x]").count() == 0


# --- exports ----------------------------------------------------------------------------------


def test_a_run_taken_along_plays_without_the_app_and_without_a_network(
    page: Any, server: Any, offline: Any, tmp_path: Path
) -> None:
    stage = visit(page, server, "?set.alpha=0.8")
    keep_still(page)
    order = stage.evaluate("(box) => box.stage.data.frames.at(-1).order")
    share(page)
    file = download(page, "The run as a web page", tmp_path / "run.html")
    text = download(page, "The path as Markdown", tmp_path / "run.md").read_text("utf-8")
    graph = download(page, "The graph as GraphML", tmp_path / "run.graphml").read_bytes()
    assert text.startswith("# ")
    assert set(order) <= set(nx.read_graphml(io.BytesIO(graph)).nodes)

    offline.goto(file.as_uri())
    offline.wait_for_selector(f"{STAGE}[data-revision]")
    shown = offline.locator(STAGE)
    assert shown.evaluate("(box) => box.stage.data.frames.at(-1).order") == order
    # The player moves the graph, the map, the table and the words together.
    shown.locator("button.first").click()
    offline.wait_for_selector(f'{STAGE}[data-step="0"]')
    offline.wait_for_function("() => !document.querySelector('svg .way')")
    shown.locator("select").select_option("4")
    shown.locator("button.play").click()
    offline.wait_for_function(
        """() => { const stage = document.querySelector('section.stage').stage;
            return !stage.timer && stage.step === stage.lastStep(); }"""
    )
    last = shown.evaluate("(box) => box.stage.lastStep()")
    offline.wait_for_function(f"() => document.querySelectorAll('.path li')[{last}].matches('.on')")
    offline.wait_for_selector("svg .way", state="attached")
    offline.wait_for_selector("tbody tr")
    # A citation, a row and a point of the map open their passage.
    offline.locator(".prose .cite").first.click()
    assert offline.locator(".panel .text").first.inner_text().strip()
    trace = download(offline, "Save trace", tmp_path / "again.json").read_text("utf-8")
    assert list(Trace.from_json(trace).result.evidence) == [
        id for id in Trace.from_json(trace).result.evidence if id in order
    ]


def test_a_hostile_run_is_text_in_every_export(offline: Any, tmp_path: Path) -> None:
    bad = toy_traces.HOSTILE + "<!--<script></script>--> \x00 " + "w" * 300
    trace = toy_traces.walk_trace(text=bad, document=bad, question=bad)
    file = tmp_path / "hostile.html"
    file.write_text(to_page(trace), encoding="utf-8")
    for scheme in ("light", "dark"):
        offline.emulate_media(color_scheme=scheme)
        offline.goto(file.as_uri())
        offline.wait_for_selector(f"{STAGE}[data-revision]")
        for name in ("All 4 passages found", "Settings, cost and method"):
            offline.get_by_text(name).click()
        for key in ("Home", "ArrowRight", "End"):
            offline.locator(STAGE).focus()
            offline.keyboard.press(key)
        offline.locator("h1", has_text="<script>window.pwned").wait_for()
        assert offline.evaluate("() => window.pwned") is None
        assert offline.locator("img").count() == 0
        assert offline.locator("main a").count() == 0
        assert offline.evaluate("() => document.documentElement.dataset.theme") == scheme


def test_a_script_put_into_the_file_does_not_run(offline: Any, tmp_path: Path) -> None:
    """The policy binds to the hashes: whatever found its way into the page would not run."""
    page = to_page(toy_traces.walk_trace())
    bad = "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>"
    file = tmp_path / "changed.html"
    file.write_text(page.replace('<main id="page">', f'{bad}<main id="page">'), encoding="utf-8")
    offline.goto(file.as_uri())
    offline.wait_for_selector(f"{STAGE}[data-revision]")
    assert offline.evaluate("() => window.pwned") is None


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_fits_a_phone_and_paper(chromium: Any, tmp_path: Path, theme: str) -> None:
    file = tmp_path / "run.html"
    file.write_text(to_page(toy_traces.walk_trace()), encoding="utf-8")
    context = chromium.new_context(
        viewport={"width": 420, "height": 900}, color_scheme=theme, offline=True
    )
    page = context.new_page()
    page.goto(file.as_uri())
    page.wait_for_selector(f"{STAGE}[data-revision]")
    assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0
    pdf = page.pdf()
    assert pdf.startswith(b"%PDF")
    page.emulate_media(media="print")
    assert page.get_by_role("button", name="Print").is_hidden()
    assert page.locator(".player").is_hidden()
    context.close()


def test_the_picture_is_made_in_the_browser(page: Any, server: Any, tmp_path: Path) -> None:
    stage = visit(page, server, "")
    with page.expect_download() as caught:
        stage.get_by_role("button", name="PNG", exact=True).click()
    file = tmp_path / "graph.png"
    caught.value.save_as(file)
    data = file.read_bytes()
    assert data.startswith(b"\x89PNG")
    wide = int.from_bytes(data[16:20], "big")
    # Twice the width of the graph on the page, and so sharp; the page itself is as it was.
    assert wide == 2 * stage.evaluate("(box) => box.stage.canvas.clientWidth")
    assert page.evaluate("() => devicePixelRatio") == 1


# --- two runs ---------------------------------------------------------------------------------


def test_a_run_is_held_and_the_next_is_laid_over_it(page: Any, server: Any, tmp_path: Path) -> None:
    visit(page, server, "")
    keep_still(page)
    saved = download(page, "Save trace", tmp_path / "a.json")
    page.get_by_role("button", name="Compare runs").click()
    page.get_by_role("button", name="Hold this run as A").click()
    page.get_by_text("This run is held as A").wait_for()
    page.keyboard.press("Escape")
    slider = page.get_by_role("slider", name="Alpha")
    slider.focus()
    slider.press("End")
    page.get_by_text("Asked otherwise: alpha 0.500 → 2.000").wait_for()
    settle(page)
    names = page.evaluate(
        """() => [...document.querySelectorAll('.js-plotly-plot')].flatMap((plot) =>
            plot.data.map((layer) => layer.name))"""
    )
    assert {"Both", "A alone", "Found by both"} & set(names)
    # A saved trace of the run, opened again, is the run that is held.
    page.get_by_role("button", name="Open trace").click()
    page.locator("[data-testid=stPopoverBody] input[type=file]").last.set_input_files(str(saved))
    page.get_by_text("Shown from the file alone").wait_for()
    page.get_by_text("This run is held as A").wait_for()


def test_an_opened_run_is_run_again_here(page: Any, server: Any, tmp_path: Path) -> None:
    visit(page, server, "")
    keep_still(page)
    saved = download(page, "Save trace", tmp_path / "a.json")
    data = json.loads(saved.read_text("utf-8"))
    reply = {"key": "k", "text": "<b>What the model said</b>", "calls": [], "finish": "stop"}
    data["replies"] = {
        "model": "some-model",
        "replies": [reply | {"prompt_tokens": 1, "completion_tokens": 2}],
    }
    saved.write_text(json.dumps(data), encoding="utf-8")
    page.get_by_role("button", name="Open trace").click()
    page.locator("[data-testid=stPopoverBody] input[type=file]").last.set_input_files(str(saved))
    page.get_by_text("Shown from the file alone").wait_for()
    settle(page)
    page.get_by_role("button", name="1 reply of the model").click()
    page.get_by_text("<b>What the model said</b>").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Run it again here").click()
    page.get_by_text(re.compile("Both found the same|This run is held as A")).first.wait_for()
