"""Servers as processes of their own, on loopback, for benchmarks and tests: above all the app."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
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


def await_answer(
    url: str, process: subprocess.Popen[bytes], log: Path, *, seconds: float = 60
) -> None:
    """Wait until the address answers with success.

    Raises:
        RuntimeError: the process ended, or did not answer in time; with the end of its log.
    """
    last = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < last:
        try:
            urllib.request.urlopen(url, timeout=2).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    why = "ended" if process.poll() is not None else f"did not answer in {seconds:g} s"
    raise RuntimeError(f"The server {why}: {log.read_text(errors='replace')[-2000:]}")


def end(process: subprocess.Popen[bytes], seconds: float = 10) -> None:
    """Ask a process to end, and end it where it has not after that time."""
    process.terminate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(seconds)


@contextmanager
def served(home: Path, env: Mapping[str, str] | None = None) -> Iterator[str]:
    """The address of the app while the block runs; its log is `server.log` in `home`."""
    port, log_path = free_port(), home / "server.log"
    options = ("--server.headless=true", "--server.fileWatcherType=none")
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "app.py", *options, f"--server.port={port}"],
            cwd=ROOT,
            env={**os.environ, **(env or {}), "TRACERT_HOME": str(home / "data")},
            stdout=log,
            stderr=log,
        )
    try:
        await_answer(f"http://127.0.0.1:{port}/_stcore/health", process, log_path)
        yield f"http://127.0.0.1:{port}"
    finally:
        end(process)


def browser() -> str | None:
    """The path of an installed Chromium; None where Playwright's own has to do."""
    found = os.environ.get("TRACERT_BROWSER")
    return found or next(filter(None, map(shutil.which, _BROWSERS)), None)
