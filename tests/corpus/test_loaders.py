"""From bytes to a document: the kind by content, refusals in sentences, the fingerprint."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.documents import check
from tests.corpus.pdfs import pdf
from tracert.corpus.chunking import Chunking, chunk
from tracert.corpus.loaders import LOADERS, Content, Limits, load_document, suffixes, supported
from tracert.corpus.loaders.registry import fingerprint
from tracert.corpus.model import Mark
from tracert.errors import DocumentError

MARKDOWN = b"# Title\n\nSome *text* with a [link](x.md).\n\n## Part\n\nMore.\n"


def refusal(data: bytes, name: str, limits: Limits | None = None) -> str:
    """The sentence with which a file is refused, checked for its form."""
    with pytest.raises(DocumentError) as caught:
        load_document(data, name, limits)
    text = str(caught.value)
    assert name in text
    assert text.endswith(".")
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("data", "name", "kind"),
    [
        (pdf(["Hello"]), "a.pdf", "pdf"),
        (pdf(["Hello"]), "a.txt", "pdf"),
        (pdf(["Hello"]), "noname", "pdf"),
        (b"\n\n" + pdf(["Hello"]), "a.pdf", "pdf"),
        (b"junk before it\n" + pdf(["Hello"]), "a.pdf", "pdf"),
        (b"Just words.", "a.pdf", "text"),
        (b"Just words.", "a.txt", "text"),
        (b"Just words.", "a.md", "text"),
        (b"The header of a PDF is %PDF-1.7, and what follows are objects.", "a.txt", "text"),
        (MARKDOWN, "a.md", "markdown"),
        (MARKDOWN, "a.MARKDOWN", "markdown"),
        (MARKDOWN, "a.txt", "markdown"),
        (MARKDOWN, "", "markdown"),
        (MARKDOWN.decode().encode("utf-16"), "a.md", "markdown"),
        (b"One [link](a.md).", "a.md", "markdown"),
        (b"One [link](a.md).", "a.txt", "text"),
        (b"# a comment\nx = 1\n# another\ny = 2\n", "a.py", "text"),
        (b"a,b\n1,2\n", "a.csv", "text"),
        (b'{"a": [1, 2]}', "a.json", "text"),
        (b"<note>a bit of XML</note>", "a.xml", "text"),
        (b"<!DOCTYPE html><p>Hello", "a.txt", "html"),
        (b"\xef\xbb\xbf<?xml version='1.0'?>\n<!DOCTYPE html><p>Hello", "", "html"),
        (b"<!-- saved --><HTML><body>Hello", "a.md", "html"),
        (b"<p>Hello</p>", "a.htm", "html"),
        (b"<p>Hello</p>", "a.txt", "text"),
        (b"Just words.", "a.html", "text"),
    ],
)
def test_kind_by_content(data: bytes, name: str, kind: str) -> None:
    document = load_document(data, name)
    assert (document.kind, document.name) == (kind, name)
    check(document)


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "empty"),
        (b" \n\t ", "no text"),
        (b"\xef\xbb\xbf\n", "no text"),
        (b"PK\x03\x04" + bytes(50), "zip"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(50), "office"),
        (b"{\\rtf1 Hello}", "rich text"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "picture"),
        (b"\xff\xd8\xff\xe0" + bytes(50), "picture"),
        (b"\x1f\x8b\x08" + bytes(50), "gzip"),
        (b"SQLite format 3\x00" + bytes(50), "database"),
        (b"\x7fELF" + bytes(50), "program"),
        (b"\xef\xbb\xbf<?xml version='1.0'?>\n<!DOCTYPE html>", "no text by itself"),
        (b"<!-- saved --><HTML><body>", "no text by itself"),
        (random.Random(2).randbytes(999), "no text"),
    ],
)
def test_refusals_say_what_it_is_and_what_to_do(data: bytes, word: str) -> None:
    text = refusal(data, "file.bin")
    assert word in text
    assert f"Supported: {supported()}." in text or "Pass a file" in text or "save it as" in text


def test_supported_comes_from_the_registry() -> None:
    assert supported() == ", ".join(loader.title for loader in LOADERS)
    assert {".pdf", ".md", ".txt"} <= set(suffixes())
    assert LOADERS[-1].kind == "text", "plain text takes what nobody else does"


def test_limits() -> None:
    assert "MB" in refusal(b"abc", "a.txt", Limits(max_bytes=2))
    assert "characters" in refusal(b"abc", "a.txt", Limits(max_characters=2))
    assert load_document(b"abc", "a.txt", Limits(max_bytes=3, max_characters=3)).text == "abc"


def test_lost_characters_are_told() -> None:
    data = ("é" * 50).encode() + b"\xff"
    document = load_document(data, "a.txt")
    assert document.text == "é" * 50 + "\ufffd"
    (warning,) = document.warnings
    assert "UTF-8" in warning
    assert load_document(b"fine", "a.txt").warnings == ()


def test_newlines_are_one_sign_and_offsets_fit() -> None:
    document = load_document(b"# A\r\n\r\ntext\r\n\r\n# B\r\ntext", "a.md")
    assert document.text == "# A\n\ntext\n\n# B\ntext"
    assert [document.text[mark.start :].split("\n")[0] for mark in document.marks] == ["# A", "# B"]


def test_fingerprint_is_of_content_alone() -> None:
    first = load_document(MARKDOWN, "a.md")
    assert first.fingerprint == load_document(MARKDOWN, "b.md").fingerprint
    # The encoding and the newlines are no content.
    wide = MARKDOWN.decode().replace("\n", "\r\n").encode("utf-16")
    assert first.fingerprint == load_document(wide, "c.md").fingerprint
    assert first.fingerprint != load_document(MARKDOWN + b".", "a.md").fingerprint


def test_fingerprint_tells_kinds_and_marks_apart() -> None:
    # The same text and marks as two kinds, and the same text with two marks and with one.
    data = b"One [link](a.md)."
    assert load_document(data, "a.md").marks == load_document(data, "a.txt").marks
    assert load_document(data, "a.md").fingerprint != load_document(data, "a.txt").fingerprint
    one = Content("A\n\nB", (Mark(0, 1, ()),), 2)
    marks = [(Mark(0, 1, ()), Mark(3, 2, ())), (Mark(0, 2, ()),), (Mark(0, 1, ("A",)),)]
    prints = {fingerprint("pdf", replace(one, marks=others)) for others in marks}
    assert len(prints | {fingerprint("pdf", one)}) == 4


def test_documents_can_be_pickled() -> None:
    document = load_document(MARKDOWN, "a.md")
    assert pickle.loads(pickle.dumps(document)) == document


@given(st.binary(max_size=400), st.sampled_from(["a.txt", "a.md", "a.pdf", ""]))
def test_any_bytes_give_a_document_or_a_sentence(data: bytes, name: str) -> None:
    try:
        document = load_document(data, name)
    except DocumentError as error:
        assert str(error).strip().endswith(".")
    else:
        check(document)


@pytest.mark.shared
def test_every_file_ends_in_text_or_in_one_sentence(shared: Path) -> None:
    files = sorted(path for path in (shared / "data").rglob("*") if path.is_file())
    files = [path for path in files if path.stat().st_size < 2_000_000 and path.suffix != ".gz"]
    assert len(files) > 1_000
    loaded = 0
    for path in files:
        try:
            document = load_document(path.read_bytes(), path.name)
        except DocumentError as error:
            assert str(error).endswith(".")
            continue
        check(document)
        loaded += 1
    assert loaded > 1_000


@pytest.mark.shared
def test_notes_with_headings_are_markdown(shared: Path) -> None:
    for path in sorted((shared / "data" / "knowledge" / "rust-book").rglob("*.md")):
        document = load_document(path.read_bytes(), path.name)
        if "\n## " in document.text:
            assert document.kind == "markdown"
            assert any(mark.heading_path for mark in document.marks)


@pytest.mark.parametrize("name", ["a.txt", "a.md"])
@pytest.mark.parametrize(
    "text",
    [
        "[" * 300_000,
        "[[" * 150_000 + "]",
        "." * 300_000 + "x",
        "# " + " " * 300_000 + "x",
        "<!-- -->" * 500 + "x",
        "\n" * 300_000 + "x",
        "x\n" + " " * 300_000 + "\n" + "x",
        "`" * 300_000 + "x",
        "**a" * 100_000,
        "CHAPTER 1\n\n" * 30_000,
        "# a\n\n" * 60_000,
        "1 " * 150_000 + "%PDF",
        '."' * 150_000,
    ],
    ids=range(13),
)
def test_text_made_to_stall_a_pattern_does_not(text: str, name: str) -> None:
    # A pattern that backtracks over these would take minutes or for ever.
    document = load_document(text.encode(), name)
    chunks = chunk(document, Chunking(500, 100, sentences=True))
    assert chunks[-1].end == len(document.text)
