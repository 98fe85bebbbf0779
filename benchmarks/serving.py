"""The app as a process of its own for benchmarks: on loopback, with a data folder of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def free_port() -> int:
    """A port that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(home: Path, env: Mapping[str, str] | None = None) -> Iterator[str]:
    """The address of the app while the block runs; its log is `server.log` in `home`."""
    port = free_port()
    options = ("--server.headless=true", "--server.fileWatcherType=none")
    with (home / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "app.py", *options, f"--server.port={port}"],
            cwd=ROOT,
            env={**os.environ, **(env or {}), "TRACERT_HOME": str(home / "data")},
            stdout=log,
            stderr=log,
        )
    try:
        _healthy(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


def browser() -> str | None:
    """The path of an installed Chromium; None where Playwright's own has to do."""
    found = os.environ.get("TRACERT_BROWSER")
    return found or next(filter(None, map(shutil.which, _BROWSERS)), None)


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
