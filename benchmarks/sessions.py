"""Ten browser sessions at once: how long a moved setting takes until the graph is drawn anew.

Run: python -m benchmarks.sessions [--sessions 10] [--moves 12]
Starts the app in public mode with a data folder of its own, opens that many browsers on the
Tracert page and lets each move the slider Alpha again and again, half a second to two seconds
after the last redraw, as people do. Prints the median and the 95th percentile, beside the same of
one session alone in the same run. The browsers share the machine with the app.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from benchmarks.page import moved, opened, settle
from benchmarks.serving import browser, served

SEED = 7


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=10)
    parser.add_argument("--moves", type=int, default=12)
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="tracert-sessions-") as home,
        served(Path(home), {"TRACERT_PUBLIC": "1"}) as url,
    ):
        found = {
            "alone": measure(url, 1, given.moves),
            f"{given.sessions} at once": measure(url, given.sessions, given.moves),
        }
    print(json.dumps(found))


def measure(url: str, sessions: int, moves: int) -> dict[str, int]:
    """Milliseconds over all moves of all sessions. A thread each, as Playwright asks."""
    times: list[float] = []
    ready = threading.Barrier(sessions)
    threads = [
        threading.Thread(target=_session, args=(url, moves, number, ready, times))
        for number in range(sessions)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {
        "moves": len(times),
        "median_ms": round(float(np.median(times))),
        "p95_ms": round(float(np.quantile(times, 0.95))),
    }


def _session(
    url: str, moves: int, number: int, ready: threading.Barrier, times: list[float]
) -> None:
    from playwright.sync_api import sync_playwright

    pause = random.Random(SEED + number)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser(), args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1280, "height": 1000})
        opened(page, url)
        settle(page)
        ready.wait()
        for move in range(moves):
            time.sleep(pause.uniform(0.5, 2.0))
            times.append(moved(page, "ArrowRight" if move % 2 == 0 else "ArrowLeft"))
        chromium.close()


if __name__ == "__main__":
    main()
