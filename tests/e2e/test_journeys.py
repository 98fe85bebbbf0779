"""What a person does, in a real browser with the network cut."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.steps import STAGE, enter, revision, settle, step, too_wide
from tracert.trace import Trace

HOSTILE = (
    "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'> </script> "
    '**stars** [link](javascript:alert(1)) $x^2$ :red[red] href="x" &lt;tag&gt;'
)


def open_page(page: Any, server: Any, path: str = "") -> None:
    page.goto(f"{server.url}/{path}")
    page.wait_for_selector("[data-testid=stApp]")
    settle(page)


def open_stage(page: Any, server: Any) -> Any:
    open_page(page, server)
    stage = page.locator(STAGE)
    stage.wait_for()
    page.wait_for_selector(f"{STAGE}[data-revision]")
    page.wait_for_selector(".js-plotly-plot")
    settle(page)
    return stage


def last_step(stage: Any) -> int:
    return int(stage.evaluate("(box) => box.stage.lastStep()"))


def drawn_path(page: Any) -> int:
    """The number of passages of the path that the map shows."""
    return int(
        page.evaluate(
            """() => { const found = document.querySelector('.js-plotly-plot').data
                .find((layer) => layer.name === 'Path'); return found ? found.x.length : 0; }"""
        )
    )


def wait_path(page: Any, count: int) -> None:
    page.wait_for_function(
        """(n) => { const layer = document.querySelector('.js-plotly-plot').data
            .find((one) => one.name === 'Path'); return (layer ? layer.x.length : 0) === n; }""",
        arg=count,
    )


def order_at(stage: Any, index: int) -> dict[str, int]:
    return dict(stage.evaluate("(box, i) => box.stage.data.frames[i].order", index))


def test_opens_on_a_path_that_is_already_there(page: Any, server: Any) -> None:
    stage = open_stage(page, server)
    assert step(stage) == last_step(stage) > 1
    assert "walk" in stage.locator(".say").inner_text()
    assert page.locator(".prose .cite").count() >= 1
    order = order_at(stage, step(stage))
    wait_path(page, len(order))
    assert "Showing" in stage.locator(".count").inner_text()


def test_keys_move_graph_and_map_together(page: Any, server: Any) -> None:
    stage = open_stage(page, server)
    stage.focus()
    page.keyboard.press("Home")
    assert step(stage) == 0  # at once: no server run lies between
    wait_path(page, 0)
    page.keyboard.press("ArrowRight")
    assert step(stage) == 1
    wait_path(page, len(order_at(stage, 1)))
    page.keyboard.press("End")
    assert step(stage) == last_step(stage)
    page.keyboard.press("ArrowLeft")
    assert step(stage) == last_step(stage) - 1
    wait_path(page, len(order_at(stage, step(stage))))


def test_play_runs_to_the_end_and_stops(page: Any, server: Any) -> None:
    stage = open_stage(page, server)
    stage.locator("select").select_option("4")
    stage.locator("button.play").click()
    page.wait_for_function("() => document.querySelector('.js-plotly-plot') !== null", timeout=5000)
    stage.evaluate(
        """(box) => new Promise((done) => { const look = () => !box.stage.timer
            && box.stage.step === box.stage.lastStep() ? done(true) : setTimeout(look, 50);
            look(); })"""
    )
    assert step(stage) == last_step(stage)


def test_a_click_on_a_node_selects_its_passage_everywhere(page: Any, server: Any) -> None:
    stage = open_stage(page, server)
    order = order_at(stage, step(stage))
    wanted = next(id for id, number in order.items() if number == 1)
    place = stage.evaluate(
        """(box, id) => { const s = box.stage; const at = s.network.canvasToDOM(
            s.network.getPositions([id])[id]); const r = s.canvas.getBoundingClientRect();
            return [r.left + at.x, r.top + at.y]; }""",
        wanted,
    )
    page.mouse.click(*place)
    page.get_by_text("Passage 1 ·").wait_for()
    assert stage.get_attribute("data-selected") == wanted
    page.wait_for_selector(f'button.row[data-node="{wanted}"][aria-pressed="true"]')


def test_a_point_on_the_map_selects_its_passage(page: Any, server: Any) -> None:
    stage = open_stage(page, server)
    # PCA is there at once and stays: UMAP might be ready, and be drawn, just before the click.
    page.get_by_role("radio", name="PCA").click()
    page.get_by_text("PCA map").wait_for()
    settle(page)
    # The point of the path that lies freest, since another may lie over one on the same spot.
    place, id, number = page.evaluate(
        """() => { const plot = document.querySelector('.js-plotly-plot');
            const { xaxis, yaxis } = plot._fullLayout;
            const box = plot.querySelector('.plotly .nsewdrag').getBoundingClientRect();
            const at = (layer, i) => [box.left + xaxis.d2p(layer.x[i]),
                box.top + yaxis.d2p(layer.y[i])];
            const all = plot.data.filter((one) => one.customdata).flatMap((one) =>
                one.customdata.map(([id], i) => [id, at(one, i)]));
            const path = plot.data.find((one) => one.name === 'Path');
            const free = path.customdata.map(([id], i) => { const [x, y] = at(path, i);
                const near = all.filter(([other]) => other !== id)
                    .map(([, [a, b]]) => Math.hypot(a - x, b - y));
                return [Math.min(...near), [x, y], id, i + 1]; });
            return free.sort((a, b) => b[0] - a[0])[0].slice(1); }"""
    )
    page.mouse.move(*place)
    page.mouse.click(*place)
    page.get_by_text(f"Passage {number} ·").wait_for()
    page.wait_for_selector(f'{STAGE}[data-selected="{id}"]')
    assert stage.get_attribute("data-selected") == id


def test_search_selects_and_escape_closes(page: Any, server: Any) -> None:
    stage = open_stage(page, server)
    search = stage.locator("input[type=search]")
    label = stage.evaluate("(box) => box.stage.data.nodes.find((n) => n.kind === 'chunk').label")
    search.fill(str(label).split()[1])
    stage.locator("[role=option]").first.wait_for()
    search.press("Enter")
    assert stage.get_attribute("data-selected") not in ("", None)
    assert search.input_value() == ""


def test_a_setting_moved_redraws_the_graph(page: Any, server: Any) -> None:
    stage = open_stage(page, server)
    before = revision(stage)
    slider = page.get_by_role("slider", name="Alpha")
    slider.focus()
    slider.press("ArrowRight")
    page.wait_for_function(
        """([s, old]) => { const find = (root) => root.querySelector(s) ?? [...root
            .querySelectorAll('*')].map((e) => e.shadowRoot && find(e.shadowRoot)).find(Boolean);
            const box = find(document); return box && box.dataset.revision !== old; }""",
        arg=[STAGE, before],
    )
    settle(page)
    assert revision(stage) != before


def test_a_fresh_server_takes_the_address_of_a_page(page: Any, fresh_server: Any) -> None:
    """Without `tracert.ui.frame` Streamlit would run the page without app.py here."""
    open_page(page, fresh_server, "library")
    page.get_by_role("heading", name="Library").wait_for()
    page.get_by_role("link", name="Tracert", exact=False).first.wait_for()
    assert page.get_by_text("tracert rag", exact=True).count() == 0


def test_a_pdf_of_ones_own_is_loaded_and_asked(page: Any, server: Any, pdf: Path) -> None:
    open_page(page, server, "library")
    page.locator("input[type=file]").first.set_input_files(str(pdf))
    page.get_by_role("button", name="Index 1 document").wait_for()
    settle(page)
    enter(page, page.get_by_label("Name of the corpus"), "My own")
    page.get_by_role("button", name="Index 1 document").click()
    page.get_by_text("My own now has").wait_for()
    settle(page)
    card = page.locator("[class*=st-key-shelf]", has_text="My own").last
    card.get_by_role("button", name="Ask").click()
    enter(page, page.get_by_placeholder("Ask something that needs"), "Who built the lighthouse?")
    page.wait_for_selector(f"{STAGE}[data-revision]")
    settle(page)
    page.locator(".passage", has_text="Skarholm").wait_for()


def test_a_trace_is_saved_and_opens_again(page: Any, server: Any, tmp_path: Path) -> None:
    stage = open_stage(page, server)
    path = [*order_at(stage, step(stage))]
    with page.expect_download() as caught:
        page.get_by_role("button", name="Save trace").click()
    file = tmp_path / "trace.json"
    caught.value.save_as(file)
    trace = Trace.from_json(file.read_text(encoding="utf-8"))
    assert [id for id in trace.result.path if id in path] == path
    page.get_by_role("button", name="Open trace").click()
    page.locator("input[type=file]").first.set_input_files(str(file))
    page.get_by_text("Shown from the file alone").wait_for()
    settle(page)
    page.wait_for_selector(f"{STAGE}[data-revision]")
    wait_path(page, len(path))
    page.get_by_role("button", name="Close").click()
    page.get_by_placeholder("Ask something that needs").wait_for()


def test_a_hostile_document_shows_as_text(page: Any, server: Any, tmp_path: Path) -> None:
    file = tmp_path / "<b>hostile<b>.txt"
    paragraphs = [f"{HOSTILE} Paragraph {n} speaks of amber and of glass." for n in range(30)]
    file.write_text("\n\n".join(paragraphs), encoding="utf-8")
    open_page(page, server, "library")
    page.locator("input[type=file]").first.set_input_files(str(file))
    page.get_by_role("button", name="Index 1 document").wait_for()
    settle(page)
    enter(page, page.get_by_label("Name of the corpus"), "<i>bad</i> *name*")
    page.get_by_role("button", name="Index 1 document").click()
    page.get_by_text("now has").wait_for()
    settle(page)
    card = page.locator("[class*=st-key-shelf]", has_text="<i>bad</i>").last
    card.get_by_role("button", name="Ask").click()
    enter(page, page.get_by_placeholder("Ask something that needs"), "What speaks of amber? <b>")
    page.wait_for_selector(f"{STAGE}[data-revision]")
    settle(page)
    page.locator(".passage", has_text="<script>window.pwned").wait_for()
    for key in ("Home", "ArrowRight", "End"):
        page.locator(STAGE).focus()
        page.keyboard.press(key)
    settle(page)
    assert page.evaluate("() => window.pwned") is None
    assert page.locator("img[src=x]").count() == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone(chromium: Any, server: Any, theme: str) -> None:
    context = chromium.new_context(viewport={"width": 420, "height": 900}, color_scheme=theme)
    page = context.new_page()
    open_stage(page, server)
    over = too_wide(page)
    context.close()
    assert over <= 0


def test_the_picture_of_the_readme(page: Any, server: Any, tmp_path: Path) -> None:
    """The picture is made anew each time, and put into the tree where README_PICTURE says so."""
    stage = open_stage(page, server)
    page.get_by_text("UMAP map; question and goal").wait_for(timeout=240_000)
    settle(page)
    stage.focus()
    page.keyboard.press("ArrowLeft")
    wait_path(page, len(order_at(stage, step(stage))))
    settle(page)
    page.set_viewport_size({"width": 1440, "height": 1060})
    stage.evaluate(
        "(box) => { box.blur(); box.stage.fit(false); return new Promise((done) => "
        "requestAnimationFrame(() => requestAnimationFrame(done))); }"
    )
    target = Path(os.environ.get("README_PICTURE", tmp_path / "screenshot.png"))
    page.screenshot(path=str(target))
    assert target.stat().st_size > 50_000
