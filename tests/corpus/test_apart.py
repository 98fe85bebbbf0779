"""Parsing in a process of its own: its bounds, its deaths, its silence."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import numpy as np
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.odd_worker import PROGRAM as ODD
from tests.corpus.odd_worker import SIGN
from tests.corpus.pdfs import pdf
from tracert.corpus.apart import Archive, Parser, wire
from tracert.corpus.apart import parser as apart
from tracert.corpus.loaders import Limits, load_document
from tracert.corpus.model import Document, Mark, Vectors
from tracert.errors import CancelledError, DocumentError, PasswordError

ROOT = Path(__file__).resolve().parents[2]
QUICK = Limits(max_seconds=1, max_memory=150_000_000)


def children() -> set[int]:
    return {each.pid for each in psutil.Process().children(recursive=True)}


def refusal(parser: Parser, order: str) -> str:
    with pytest.raises(DocumentError) as caught:
        parser.load(SIGN + order.encode(), "bad.odd")
    text = str(caught.value)
    assert "bad.odd" in text
    assert text.endswith(".")
    assert "\n" not in text
    return text


def text_of(loaded: Document | Archive) -> str:
    assert isinstance(loaded, Document)
    return loaded.text


def test_a_document_comes_back_as_it_would_be_read_here() -> None:
    data = pdf(["One\ntwo", "Drei Äpfel".encode("ascii", "ignore").decode()], outline=[("A", 0, 0)])
    with Parser() as parser:
        assert parser.load(data, "ä/\u202e\ud800.pdf") == load_document(data, "ä/\u202e\ud800.pdf")


@pytest.mark.parametrize(
    ("order", "word"),
    [
        ("hang", "within 1 s"),
        ("sleep", "within 1 s"),
        ("eat", "150 MB of memory"),
        ("eat at once", "150 MB of memory"),
        ("die", "ended the process"),
        ("crash", "ended the process"),
        ("break", "ended the process"),
    ],
)
def test_what_goes_wrong_is_a_sentence_and_the_next_file_is_read(order: str, word: str) -> None:
    before = children()
    with Parser(QUICK, program=ODD) as parser:
        assert word in refusal(parser, order)
        assert text_of(parser.load(SIGN + b"well", "good.odd")) == "read"
    assert children() <= before, "no process stays behind"


def test_memory_is_watched_where_the_system_bounds_none(monkeypatch: pytest.MonkeyPatch) -> None:
    # As on macOS and Windows: the worker's own bound is taken away.
    unbound = ODD.replace("main()", "worker._bound_memory = lambda most: None; main()").replace(
        "import main;", "import main, worker;"
    )
    with Parser(QUICK, program=unbound) as parser:
        assert "150 MB of memory" in refusal(parser, "eat")


def test_one_worker_serves_a_batch() -> None:
    with Parser(program=ODD) as parser:
        first = text_of(parser.load(SIGN + b"process", "a.odd"))
        assert text_of(parser.load(SIGN + b"process", "b.odd")) == first
        assert int(first) != os.getpid()


def test_plain_text_needs_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    # This program would end at once.
    with Parser(program="raise SystemExit(1)") as parser:
        assert text_of(parser.load(b"Just words.", "a.txt")) == "Just words."
        assert text_of(parser.load(b"# Head\n\nwords", "a.md")) == "# Head\n\nwords"
        with pytest.raises(DocumentError, match="no process to read it in"):
            parser.load(pdf(["One"]), "a.pdf")
        monkeypatch.setattr(apart, "IN_PROCESS", 10)
        with pytest.raises(DocumentError, match="no process to read it in"):
            parser.load(b"Just too many words.", "a.txt")


def test_a_print_does_not_enter_the_conversation() -> None:
    with Parser(program=ODD) as parser:
        assert text_of(parser.load(SIGN + b"print", "a.odd")) == "read"


def test_the_worker_gets_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hidden")
    monkeypatch.setenv("CHROMA_API_KEY", "ck-hidden")
    with Parser(program=ODD) as parser:
        found = text_of(parser.load(SIGN + b"environment", "a.odd"))
    assert "PYTHONPATH" in found
    assert "hidden" not in found


def test_a_stop_is_heard_while_a_file_is_parsed() -> None:
    stop = threading.Event()
    before = children()
    timer = threading.Timer(0.5, stop.set)
    timer.start()
    with (
        Parser(Limits(max_seconds=600), program=ODD, cancelled=stop.is_set) as parser,
        pytest.raises(CancelledError),
    ):
        parser.load(SIGN + b"hang", "a.odd")
    timer.join()
    assert children() <= before


def test_parsers_work_on_many_threads_at_once() -> None:
    found: dict[int, str] = {}

    def work(number: int) -> None:
        with Parser() as parser:
            found[number] = text_of(parser.load(pdf([f"Page {number}"]), "a.pdf"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: f"Page {number}" for number in range(4)}


def test_a_worker_ends_with_the_app_that_started_it() -> None:
    code = (
        "import os, sys\n"
        "from tracert.corpus.apart import Parser\n"
        f"parser = Parser(program={ODD!r})\n"
        f"print(parser.load({SIGN!r} + b'process', 'a.odd').text, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    pid = int(done.stdout)
    end = time.monotonic() + 60
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < end, "the worker is still there"
        time.sleep(0.05)


def test_a_zip_goes_on_after_a_file_that_ended_the_worker() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        for name, order in (("a.odd", b"die"), ("b.odd", b"well")):
            packed.writestr(name, SIGN + order)
    with Parser(QUICK, program=ODD) as parser:
        archive = parser.load(out.getvalue(), "z.zip")
        assert isinstance(archive, Archive)
        assert [each.name for each in archive.members] == ["a.odd", "b.odd"]
        assert parser.member(archive, 0) == SIGN + b"die"
        assert "ended the process" in refusal(parser, "die")
        assert parser.member(archive, 1) == SIGN + b"well"


def test_the_password_opens_and_another_one_does_not() -> None:
    data = pdf(["Secret words"], user_password="key of\tall")
    with Parser() as parser:
        with pytest.raises(PasswordError, match="protected by a password"):
            parser.load(data, "a.pdf")
        with pytest.raises(PasswordError, match="not the password"):
            parser.load(data, "a.pdf", "another")
        assert text_of(parser.load(data, "a.pdf", "key of\tall")) == "Secret words"
        # A password that is not needed does no harm.
        assert text_of(parser.load(pdf(["Open"]), "b.pdf", "another")) == "Open"


# --- the frames ---------------------------------------------------------------------------


def frame(head: dict, body: bytes) -> bytes:
    out = io.BytesIO()
    wire.send(out, head, body)
    return out.getvalue()


@given(st.dictionaries(st.text(), st.text()), st.binary())
def test_a_frame_comes_out_as_it_went_in(head: dict[str, str], body: bytes) -> None:
    assert wire.receive(io.BytesIO(frame(head, body)), len(body)) == (head, body)


@given(st.binary(max_size=200))
def test_noise_is_no_frame(noise: bytes) -> None:
    with pytest.raises(wire.WireError):
        wire.receive(io.BytesIO(noise), 100)


@pytest.mark.parametrize(
    "data",
    [
        frame({}, b"123")[:-1],
        frame({}, b"x" * 11),
        struct.pack("<IQ", 1 << 31, 0),
        struct.pack("<IQ", 2, 0) + b"[]",
        struct.pack("<IQ", 2, 0) + b"{{",
        struct.pack("<IQ", 100_000, 0) + b"[" * 100_000,
    ],
)
def test_a_frame_that_is_cut_or_too_large_or_no_object_is_none(data: bytes) -> None:
    with pytest.raises(wire.WireError):
        wire.receive(io.BytesIO(data), 10)


def test_vectors_travel_with_a_document() -> None:
    rows = np.array([[0.5, -1.0], [np.nan, np.nan]], dtype=np.float32)
    marks = (Mark(0, None, ("A",)), Mark(4, 2, ()))
    sent = Document("n", "csv", "aäb\n\U0001f600", marks, "f", 3, ("w",), Vectors(rows, "mine"))
    head, body = wire.packed(sent)
    found = wire.unpacked(*wire.receive(io.BytesIO(frame(head, body)), 1000))
    assert found == sent
    assert found.vectors is not None
    assert found.vectors.embedder == "mine"
    np.testing.assert_array_equal(found.vectors.rows, rows)


@pytest.mark.parametrize(
    "change", [{"text": "x"}, {"marks": [1]}, {"marks": None}, {"vectors": [2, 3, ""]}]
)
def test_a_reply_of_another_form_is_no_document(change: dict) -> None:
    head, body = wire.packed(Document("n", "text", "abc", (Mark(0, None, ()),), "f"))
    with pytest.raises(wire.WireError):
        wire.unpacked(head | change, body)
