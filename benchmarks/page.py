"""How fast the page is: cold start, and from a setting moved to the graph redrawn.

Run: python benchmarks/page.py [--moves 30] [--browser /usr/bin/chromium]
Needs Playwright and a Chromium. The server gets a data folder of its own, so the cold start
includes indexing the built-in document. Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

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


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _start(home: Path, port: int) -> subprocess.Popen[bytes]:
    options = ["--server.headless=true", "--server.fileWatcherType=none"]
    log = (home / "server.log").open("wb")
    return subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", *options, f"--server.port={port}"],
        cwd=ROOT,
        env=os.environ | {"TRACERT_HOME": str(home / "data")},
        stdout=log,
        stderr=log,
    )


def _healthy(port: int, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=1).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.02)
        else:
            return
    raise SystemExit("The server did not come up.")


def _settle(page: Any) -> None:
    page.wait_for_function(
        "() => document.querySelector('[data-testid=stApp]').dataset.testScriptState"
        " === 'notRunning'"
    )


def measure(browser: str, moves: int) -> dict[str, Any]:
    """Cold start in seconds; redraws in milliseconds."""
    from playwright.sync_api import sync_playwright

    home = Path(tempfile.mkdtemp(prefix="tracert-page-"))
    port = _free_port()
    begun = time.monotonic()
    server = _start(home, port)
    try:
        _healthy(port)
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
            page = chromium.new_page(viewport={"width": 1440, "height": 1000})
            page.set_default_timeout(120_000)
            page.goto(f"http://127.0.0.1:{port}")
            stage = page.locator("section.stage[data-revision]")
            stage.wait_for()
            cold = time.monotonic() - begun
            page.wait_for_selector(".js-plotly-plot")
            _settle(page)
            page.get_by_text("UMAP map").wait_for(timeout=600_000)
            _settle(page)
            stage.evaluate("(box) => { globalThis.benchmarkStage = box; }")
            slider = page.get_by_role("slider", name="Alpha")
            times = []
            for move in range(moves):
                slider.focus()
                page.evaluate(f"void (globalThis.benchmarkSeen = ({_WATCH})())")
                page.keyboard.press("ArrowRight" if move % 20 < 10 else "ArrowLeft")
                times.append(page.evaluate("globalThis.benchmarkSeen"))
                _settle(page)
            chromium.close()
    finally:
        server.terminate()
        server.wait(10)
        shutil.rmtree(home, ignore_errors=True)
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
    parser.add_argument("--browser", default=shutil.which("chromium") or "/usr/bin/chromium")
    given = parser.parse_args()
    print(json.dumps(measure(given.browser, given.moves)))


if __name__ == "__main__":
    main()
