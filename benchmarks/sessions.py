"""Ten browser sessions at once: how long a moved setting takes until the graph is drawn anew.

    python benchmarks/sessions.py [--sessions 10] [--moves 12]

Starts the app on loopback with a data folder of its own, opens that many browsers on the Tracert
page, lets each move the slider Alpha in turn with all others, a move a second or so as people do,
and prints the median and the 95th percentile of the time from the key to the new graph, beside
the same of one session alone in the same run. Needs the browser of the tests.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
STAGE = "section.stage[data-revision]"
SEED = 7


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--moves", type=int, default=12)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        process, url = _started(home)
        try:
            alone = _measured(url, 1, chosen.moves)
            together = _measured(url, chosen.sessions, chosen.moves)
        finally:
            process.terminate()
            process.wait(30)
    print(json.dumps({"alone": _summed(alone), "together": _summed(together)}, indent=2))


def _started(home: str) -> tuple[subprocess.Popen[bytes], str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    options = (
        "--server.headless=true",
        "--server.fileWatcherType=none",
        "--server.address=127.0.0.1",
        f"--server.port={port}",
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", *options],
        cwd=ROOT,
        env={**os.environ, "TRACERT_HOME": home, "TRACERT_PUBLIC": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):
                return process, url
        except OSError:
            time.sleep(0.1)
    process.kill()
    raise SystemExit("The app did not start.")


def _measured(url: str, sessions: int, moves: int) -> list[float]:
    """Seconds of every move. A thread a session, since Playwright's objects stay on one."""
    seconds: list[float] = []
    ready = threading.Barrier(sessions)
    threads = [
        threading.Thread(target=_session, args=(url, moves, number, ready, seconds))
        for number in range(sessions)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seconds


def _session(
    url: str, moves: int, number: int, ready: threading.Barrier, seconds: list[float]
) -> None:
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = os.environ.get("TRACERT_BROWSER") or next(filter(None, map(shutil.which, names)), None)
    pause = random.Random(SEED + number)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found or playwright.chromium.executable_path, args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.set_default_timeout(120_000)
        page.goto(url)
        slider = page.get_by_role("slider", name="Alpha")
        slider.wait_for()
        page.wait_for_selector(STAGE)
        ready.wait()
        for move in range(moves):
            time.sleep(pause.uniform(0.5, 2.0))
            seconds.append(_move(page, slider, "ArrowRight" if move % 2 == 0 else "ArrowLeft"))
        browser.close()


def _move(page: Any, slider: Any, key: str) -> float:
    before = page.locator(STAGE).first.get_attribute("data-revision")
    slider.focus()
    begun = time.perf_counter()
    slider.press(key)
    page.wait_for_selector(f"section.stage:not([data-revision='{before}'])")
    return time.perf_counter() - begun


def _summed(seconds: list[float]) -> dict[str, float]:
    spent = np.array(seconds) * 1e3
    return {
        "moves": len(seconds),
        "median_ms": round(float(np.median(spent))),
        "p95_ms": round(float(np.quantile(spent, 0.95))),
    }


if __name__ == "__main__":
    main()
