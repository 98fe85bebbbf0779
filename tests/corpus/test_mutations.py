"""Some dozens of damaged documents; `benchmarks/mutations.py` does thousands."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import mutations
from benchmarks.mutations import KINDS, Outcome, damaged, run
from tests.corpus.documents import packed, parts_of
from tests.corpus.odd_worker import PROGRAM, SIGN
from tests.corpus.pdfs import pdf
from tracert.corpus.apart import Parser
from tracert.corpus.loaders import Limits

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_DOCUMENT = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
DOCX = packed(
    {
        "[Content_Types].xml": f'<Types xmlns="{_TYPES}"><Default Extension="xml" '
        'ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_RELATIONS}"><Relationship Id="r" '
        f'Type="{_DOCUMENT}" Target="word/document.xml"/></Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{_WORD}"><w:body>'
        + "".join(f"<w:p><w:r><w:t>Line {n} of it</w:t></w:r></w:p>" for n in range(40))
        + "</w:body></w:document>",
    }
)
FILES = {
    "a.pdf": pdf(["One page", "Another page"], outline=[("One", 0, 0)]),
    "b.pdf": pdf(["Locked"], user_password="key"),
    "c.docx": DOCX,
    "d.html": b"<html><body><h1>Head</h1>" + b"<p>Some words &amp; more." * 40 + b"</body></html>",
    "e.csv": b"title,text\n" + b'a,"some words, more"\n' * 40,
    "f.jsonl": b'{"title": "a", "text": "some words"}\n' * 40,
    "g.md": b"# Head\n\nSome *words*.\n\n" * 20,
    "h.zip": packed({"a.txt": b"words", "b.pdf": pdf(["In it"])}),
}


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    return sorted(tmp_path.iterdir())


def check(found: list[Outcome]) -> None:
    for each in found:
        assert not each.dead, each
        if each.said:
            assert each.said.endswith("."), each
            assert "\n" not in each.said, each


def test_damaged_documents_end_in_text_or_in_a_sentence(files: list[Path]) -> None:
    found, most = run(files, 64, seed=3)
    check(found)
    assert most < mutations.BOUNDS.max_memory
    tally = Counter(each.result for each in found)
    assert tally["text"] > 0
    assert tally["refused"] > 0
    assert {each.kind for each in found} == set(KINDS)


def test_the_same_seed_damages_alike_and_another_does_not() -> None:
    def bytes_of(seed: int) -> list[bytes]:
        rng = random.Random(seed)
        return [damaged(data, list(FILES.values()), rng)[0] for data in FILES.values()]

    assert bytes_of(1) == bytes_of(1)
    assert bytes_of(1) != bytes_of(2)


@pytest.mark.parametrize("kind", KINDS)
def test_damage_reaches_what_lies_in_a_zip(kind: str) -> None:
    sound = parts_of(DOCX)
    hit = set()
    for seed in range(30):
        found = parts_of(mutations._inside(DOCX, [b"of another"], random.Random(seed), kind))
        differs = [name for name in sound if found[name] != sound[name]]
        # One part is hit; what is set in or zeroed may be what was there.
        assert len(differs) <= 1
        hit |= set(differs)
    assert hit == set(sound)


@pytest.mark.parametrize("order", ["hang", "eat", "die"])
def test_a_death_would_be_counted(order: str) -> None:
    # The benchmark's exit status hangs on this.
    with Parser(Limits(max_seconds=1, max_memory=150_000_000), program=PROGRAM) as parser:
        assert mutations.outcome(parser, SIGN + order.encode(), "a.odd", "cut").dead
        assert not mutations.outcome(parser, SIGN + b"well", "a.odd", "cut").dead


@pytest.mark.shared
def test_each_of_other_peoples_documents_once(shared: Path) -> None:
    documents = sorted((shared / "data" / "documents").glob("*/*"))
    found, _ = run(documents, len(documents), seed=11)
    assert len(found) == 46
    check(found)
