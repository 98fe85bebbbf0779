"""Loading in a real browser: a locked file asks for its password, a zip is read file by file."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests.corpus.pdfs import pdf as made
from tests.e2e.steps import enter

WAIT = 60_000
WORDS = "\n".join(["Ingrid Falk built the lighthouse at Skarholm in the year 1871."] * 20)
SECRET = "lamp-oil-1902"


def open_library(page: Any, server: Any) -> None:
    page.goto(f"{server.url}/library")
    expect(page.get_by_role("heading", name="Add documents")).to_be_visible(timeout=WAIT)


def hand_in(page: Any, corpus: str, *files: Path) -> None:
    """Upload files, name the corpus, press the button."""
    page.locator("input[type=file]").first.set_input_files([str(path) for path in files])
    # The name is proposed by that of the first file, in a field of its own.
    name = page.get_by_label("Name of the corpus").first
    expect(name).to_have_value(files[0].stem, timeout=WAIT)
    enter(page, name, corpus)
    button = page.get_by_role("button", name=re.compile("^Index [0-9]+ document"))
    expect(button).to_be_enabled(timeout=WAIT)
    button.click()


def test_a_locked_pdf_is_read_with_its_password(page: Any, server: Any, tmp_path: Path) -> None:
    path = tmp_path / "logbook.pdf"
    path.write_bytes(made([WORDS], user_password=SECRET))
    open_library(page, server)
    hand_in(page, "Logbook", path)
    field = page.get_by_role("textbox", name="Password")
    expect(field).to_be_visible(timeout=WAIT)
    expect(field).to_have_attribute("type", "password")
    field.fill("not it")
    page.get_by_role("button", name="Read with the password").click()
    # Another, empty field: what was typed is not kept in the page.
    expect(field).to_have_value("", timeout=WAIT)
    expect(page.get_by_text("A file is protected by a password")).to_be_visible(timeout=WAIT)
    field.fill(SECRET)
    page.get_by_role("button", name="Read with the password").click()
    expect(page.get_by_text("Logbook now has")).to_be_visible(timeout=WAIT)
    expect(page.get_by_text("protected by a password")).to_have_count(0, timeout=WAIT)
    expect(page.get_by_role("heading", name="Logbook")).to_be_visible(timeout=WAIT)
    assert SECRET not in server.log.read_text(errors="replace")
    assert SECRET not in page.content()
    assert SECRET not in page.url


def test_a_zip_is_read_file_by_file_and_its_bad_files_stop_nothing(
    page: Any, server: Any, tmp_path: Path
) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("harbour/lamp.md", f"# The lamp\n\n{WORDS}")
        archive.writestr("harbour/page.html", f"<html><body><h1>Page</h1><p>{WORDS}x</body></html>")
        archive.writestr("harbour/broken.pdf", b"%PDF-1.7 nothing")
        archive.writestr("../outside.md", b"# Out")
    path = tmp_path / "harbour.zip"
    path.write_bytes(out.getvalue())
    open_library(page, server)
    hand_in(page, "Harbour", path)
    expect(page.get_by_text("Harbour now has")).to_be_visible(timeout=WAIT)
    expect(page.get_by_text("2 indexed, 2 not read")).to_be_visible(timeout=WAIT)
    expect(page.get_by_role("heading", name="Harbour")).to_be_visible(timeout=WAIT)


def test_the_limits_are_on_the_settings_page(page: Any, server: Any) -> None:
    page.goto(f"{server.url}/settings")
    expect(page.get_by_role("heading", name="Reading files")).to_be_visible(timeout=WAIT)
    field = page.get_by_label("Seconds that reading a file may take")
    field.fill("45")
    field.press("Tab")
    page.get_by_role("button", name="Use these limits").click()
    expect(page.get_by_text("These limits are in force.")).to_be_visible(timeout=WAIT)
    expect(field).to_have_value("45", timeout=WAIT)
