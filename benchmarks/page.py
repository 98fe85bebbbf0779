"""How fast the page is: cold start, and from a setting moved to the graph redrawn.

Run: python -m benchmarks.page [--moves 30] [--browser /usr/bin/chromium]
Needs Playwright and a Chromium. The server gets a data folder of its own, so the cold start
includes indexing the built-in document. Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.serving import browser as browser_here
from benchmarks.serving import served

#: Installed before the page loads: notes when the graph of a new revision has been drawn.
_WATCH = """
() => new Promise((done) => {
  const box = globalThis.benchmarkStage;
  const old = box.dataset.revision;
  const begun = performance.now();
  new MutationObserver((_, seen) => {
    if (box.dataset.revision === old) return;
    seen.disconnect();
    requestAnimationFrame(() => done(performance.now() - begun));
  }).observe(box, { attributes: true });
})
"""


def settle(page: Any) -> None:
    """Wait until the script has run."""
    page.wait_for_function(
        "() => document.querySelector('[data-testid=stApp]').dataset.testScriptState"
        " === 'notRunning'"
    )


def opened(page: Any, url: str) -> None:
    """Go to the Tracert page and wait for its graph."""
    page.set_default_timeout(120_000)
    page.goto(url)
    page.locator("section.stage[data-revision]").wait_for()


def moved(page: Any, key: str) -> float:
    """Milliseconds from a key at the slider Alpha until the new graph is drawn."""
    page.locator("section.stage[data-revision]").first.evaluate(
        "(box) => { globalThis.benchmarkStage = box; }"
    )
    page.get_by_role("slider", name="Alpha").focus()
    page.evaluate(f"void (globalThis.benchmarkSeen = ({_WATCH})())")
    page.keyboard.press(key)
    return float(page.evaluate("globalThis.benchmarkSeen"))


def measure(browser: str | None, moves: int) -> dict[str, Any]:
    """Cold start in seconds; redraws in milliseconds."""
    from playwright.sync_api import sync_playwright

    with (
        tempfile.TemporaryDirectory(prefix="tracert-page-") as home,
        sync_playwright() as playwright,
    ):
        # The browser runs before the clock does, as a person's would.
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1440, "height": 1000})
        begun = time.monotonic()
        with served(Path(home)) as url:
            opened(page, url)
            cold = time.monotonic() - begun
            page.wait_for_selector(".js-plotly-plot")
            settle(page)
            page.get_by_text("UMAP map").wait_for(timeout=600_000)
            settle(page)
            keys = ["ArrowRight" if move % 20 < 10 else "ArrowLeft" for move in range(moves)]
            times = []
            for key in keys:
                times.append(moved(page, key))
                settle(page)
        chromium.close()
    times.sort()
    return {
        "cold_start_s": round(cold, 2),
        "redraw_ms": {
            "median": round(statistics.median(times)),
            "p95": round(times[int(0.95 * (len(times) - 1))]),
            "moves": moves,
        },
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=30)
    parser.add_argument("--browser", default=browser_here())
    given = parser.parse_args()
    print(json.dumps(measure(given.browser, given.moves)))


if __name__ == "__main__":
    main()
