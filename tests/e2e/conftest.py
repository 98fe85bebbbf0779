"""A real server and a real browser; the browser has no network but this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from benchmarks.serving import await_answer, end, free_port

ROOT = Path(__file__).resolve().parents[2]
LOCAL = {"localhost", "127.0.0.1", "::1", None}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(str(item.fspath)).is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.browser)


#: What a page shows, and what stands in its fields (a password's field is left out).
_SHOWN = """() => [
    location.href, document.body.innerText.replace(/\\n+/g, '\\n').slice(0, 6000),
    ...[...document.querySelectorAll('input:not([type=password]), textarea')]
        .map((field) => `[${field.ariaLabel}] = ${field.value}`),
    ...[...document.querySelectorAll('[data-test-script-state]')]
        .map((app) => `script: ${app.dataset.testScriptState}`),
].join('\\n')"""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Beside a journey that failed stands what its page showed at that moment."""
    report = yield
    page = getattr(item, "funcargs", {}).get("page")
    if report.when == "call" and report.failed and page is not None and not page.is_closed():
        report.sections.append(("the page", page.evaluate(_SHOWN)))
    return report


def _no_browser(reason: str) -> None:
    """Skip where there is no browser, but never in CI: a suite that skips there proves nothing."""
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(reason)
    pytest.skip(reason)


class Server:
    """`streamlit run app.py` with a data folder of its own; the log goes to a file."""

    def __init__(
        self, home: Path, *, env: Mapping[str, str] | None = None, options: Sequence[str] = ()
    ) -> None:
        self.port = free_port()
        self.home, self.log = home, home / "server.log"
        self.url = f"http://127.0.0.1:{self.port}"
        names = ("OPENAI_API_KEY", "OPENROUTER_API_KEY", "TRACERT_MODEL", "TRACERT_BASE_URL")
        clean = {name: value for name, value in os.environ.items() if name not in names}
        options = (
            *options,
            "--server.headless=true",
            "--server.fileWatcherType=none",
            "--server.address=127.0.0.1",
            f"--server.port={self.port}",
        )
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "streamlit", "run", "app.py", *options],
                cwd=ROOT,
                env={**clean, **(env or {}), "TRACERT_HOME": str(home / "data")},
                stdout=log,
                stderr=log,
            )

    def wait(self) -> None:
        """Wait until it is healthy."""
        await_answer(f"{self.url}/_stcore/health", self.process, self.log)

    def stop(self) -> None:
        """End it."""
        end(self.process)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for the journeys of a file: what those of another file load is not in its lists."""
    one = Server(tmp_path_factory.mktemp("e2e"))
    try:
        one.wait()
        yield one
    finally:
        one.stop()


@pytest.fixture
def fresh_server(tmp_path: Path) -> Iterator[Server]:
    """A server that nobody has looked at yet."""
    one = Server(tmp_path)
    try:
        one.wait()
        yield one
    finally:
        one.stop()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _no_browser("Playwright is not installed: pip install -r requirements-dev.txt")
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    found = os.environ.get("TRACERT_BROWSER") or next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as playwright:
        path = found or playwright.chromium.executable_path
        if not Path(path).is_file():
            _no_browser("There is no Chromium. Set TRACERT_BROWSER to one, or install it.")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A page with the network cut; the test fails on any request beyond this machine."""
    context = chromium.new_context(viewport={"width": 1440, "height": 1100}, accept_downloads=True)
    beyond: list[str] = []
    errors: list[str] = []

    def guard(route: Any) -> None:
        if urlsplit(route.request.url).hostname in LOCAL:
            route.continue_()
        else:
            beyond.append(route.request.url)
            route.abort()

    context.route("**/*", guard)
    one = context.new_page()
    one.on("pageerror", lambda error: errors.append(str(error)))
    one.set_default_timeout(60_000)
    yield one
    context.close()
    assert beyond == [], "the page asked the network"
    assert errors == [], "the page's scripts failed"


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    """A PDF of one page, written by hand: a lighthouse, its builder and the builder's teacher."""
    lines = [
        "The lighthouse at Skarholm was built by Ingrid Falk in 1871.",
        "Ingrid Falk learned to grind lenses from Anders Holm in Bergen.",
        "Anders Holm kept a shop of clocks beside the harbour of Bergen.",
        "The lamp of the lighthouse burned oil until the year 1902.",
        "A storm broke the gallery of the tower in the winter of 1880.",
        "Fishermen of Skarholm paid for the new gallery with herring.",
    ] * 4
    shown = "\n".join(f"({line}) Tj T*" for line in lines)
    stream = f"BT /F1 11 Tf 14 TL 50 780 Td\n{shown}\nET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    data, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    data += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (
        len(objects) + 1,
        start,
    )
    path = tmp_path / "lighthouse.pdf"
    path.write_bytes(data)
    return path
