"""Files of passages: each row one passage, its text exact, wrong rows named by line."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracert.corpus.chunking import LONGEST, Chunking, chunk
from tracert.corpus.encoding import clean
from tracert.corpus.loaders import Limits, load_document
from tracert.corpus.model import Document
from tracert.errors import DocumentError


def jsonl(*rows: object) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def texts(document: Document, chunking: Chunking | None = None) -> list[str]:
    """The texts of the passages, each compared with the document's slice."""
    found = chunk(document, chunking or Chunking(5, 1))
    for each in found:
        assert each.text == document.text[each.start : each.end]
    return [each.text for each in found]


def headings(document: Document) -> list[tuple[str, ...]]:
    return [each.heading_path for each in chunk(document, Chunking(5, 1))]


def test_jsonl_each_row_is_a_passage_under_its_title() -> None:
    data = jsonl({"title": "Rings", "text": "Two coils."}, {"text": "One\n\nmore "}, {"Text": "c"})
    document = load_document(data, "a.jsonl")
    assert document.kind == "jsonl"
    assert texts(document) == ["Two coils.", "One\n\nmore ", "c"]
    assert headings(document) == [("Rings",), (), ()]
    assert document.warnings == ()
    assert document.vectors is None


def test_csv_quoted_cells_keep_their_line_ends_and_delimiters() -> None:
    data = b'id,title,text\n1,Rings,"Two, ""coils""\nof wire."\n\n2,,plain\n'
    document = load_document(data, "a.csv")
    assert document.kind == "csv"
    assert texts(document) == ['Two, "coils"\nof wire.', "plain"]
    assert headings(document) == [("Rings",), ()]
    assert document.warnings == ()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_delimiter_encoding_and_line_ends_are_found(
    delimiter: str, encoding: str, end: str
) -> None:
    rows = [["Title", "Text"], ["Größe", "Über die Brücke; schön, oder?"], ["b", "Ärger | mehr"]]
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator=end).writerows(rows)
    document = load_document(out.getvalue().encode(encoding), "a.csv")
    assert texts(document) == [rows[1][1], rows[2][1]]
    assert headings(document) == [("Größe",), ("b",)]


@pytest.mark.parametrize("cell", ['=HYPERLINK("http://x")', "+1+1", "-2", "@SUM(A1)", "\t=1"])
def test_a_formula_is_text(cell: str) -> None:
    out = io.StringIO()
    csv.writer(out).writerows([["title", "text"], ["x", cell], ["y", "z"]])
    assert texts(load_document(out.getvalue().encode(), "a.csv")) == [cell, "z"]


def test_wrong_rows_are_named_by_line_and_the_rest_goes_on() -> None:
    lines = [
        '{"text": "one"}',
        "{broken",
        '["no object"]',
        "",
        '{"title": "no text"}',
        '{"text": "   "}',
        '{"text": 5}',
        "[" * 100_000,
        '{"text": "two"}',
    ]
    document = load_document("\n".join(lines).encode(), "a.jsonl")
    assert texts(document) == ["one", "two"]
    (warning,) = document.warnings
    for line in (2, 3, 5, 6, 7, 8):
        assert f"line {line} has" in warning
    assert "line 4" not in warning


def test_csv_rows_of_another_length_and_stray_quotes_cost_themselves_alone() -> None:
    lines = [
        "title,text",
        "a,one",
        "b,too,many",
        "few",
        'c,"never closed',
        "d,two",
        'e,"bad" quote',
        "f,three",
    ]
    document = load_document("\n".join(lines).encode(), "a.csv")
    assert texts(document) == ["one", "two", "three"]
    (warning,) = document.warnings
    for line in (3, 4, 5, 7):
        assert f"line {line} has" in warning


def test_many_wrong_rows_are_counted_not_listed() -> None:
    document = load_document(b'{"text": "one"}\n' + b"x\n" * 100, "a.jsonl")
    (warning,) = document.warnings
    assert warning.endswith("and 92 more.")
    assert len(warning) < 600


def test_nothing_to_read_is_a_sentence() -> None:
    with pytest.raises(DocumentError, match=r"a\.csv holds no passage.*'text'"):
        load_document(b"title,text\na,\nb,\n", "a.csv")
    for data, name in ((b"text\n", "a.csv"), (b'{"other": 1}\n', "a.jsonl")):
        with pytest.raises(DocumentError, match="no passage"):
            load_document(data, name)


@pytest.mark.parametrize(
    ("data", "name", "kind"),
    [
        (b"a,b\n1,2\n", "a.csv", "text"),
        (b"text,b\n1,2\n", "notes.txt", "text"),
        (b"title,text\n1,2\n", "notes.txt", "csv"),
        (b"text,embedding\n1,2\n", "notes", "csv"),
        (b'{"text": "one"}', "settings.json", "text"),
        (b'{"text": "one"}', "a.jsonl", "jsonl"),
        (b'{"text": "one"}\n{"text": "two"}', "a", "jsonl"),
        (b'{"text": "one"}\n{"other": "two"}', "a", "text"),
        (b"The text, as it stands, is prose.\nMore.", "a.txt", "text"),
    ],
)
def test_kind_by_content(data: bytes, name: str, kind: str) -> None:
    assert load_document(data, name).kind == kind


def test_a_huge_field_is_read_and_cut() -> None:
    huge = "word " * 60_000
    document = load_document(f'title,text\nx,"{huge}"\ny,small\n'.encode(), "a.csv")
    found = texts(document, Chunking(1000, 0))
    # 300,000 characters at 1,000 each, and the small one.
    assert len(found) == 301
    assert "".join(found[:-1]) == huge
    assert found[-1] == "small"
    assert f"longer than {LONGEST:,}" in document.warnings[0]
    assert csv.field_size_limit() == 131_072, "the bound of the module is as it was"


def test_a_passage_of_the_longest_stays_one() -> None:
    rows = [{"text": "a" * LONGEST}, {"text": "b" * (LONGEST + 1)}]
    found = texts(load_document(jsonl(*rows), "a.jsonl"), Chunking(5000, 0))
    assert [len(each) for each in found] == [LONGEST, 5000, 3001]


def test_more_characters_than_the_limit_are_told() -> None:
    rows = [{"text": "x" * 40} for _ in range(5)]
    document = load_document(jsonl(*rows), "a.jsonl", Limits(max_characters=100))
    # Two rows and the gap make 82, a third would make 124.
    assert texts(document) == ["x" * 40] * 2
    assert "from line 3 on" in document.warnings[0]


# --- vectors ------------------------------------------------------------------------------


def vectors(document: Document) -> list[list[float] | None]:
    assert document.vectors is not None
    rows = document.vectors.rows
    return [None if np.isnan(row).any() else row.tolist() for row in rows]


def test_vectors_belong_to_their_rows() -> None:
    rows = [
        {"text": "a", "vector": [1, 0.5], "embedder": "mine"},
        {"text": ""},
        {"text": "b"},
        {"text": "c", "embedding": [0, -2.0], "embedder": "mine"},
    ]
    document = load_document(jsonl(*rows), "a.jsonl")
    assert vectors(document) == [[1.0, 0.5], None, [0.0, -2.0]]
    assert document.vectors is not None
    assert document.vectors.embedder == "mine"


@pytest.mark.parametrize("written", ["[1, 0.5]", "1 0.5", "1; 0.5", "(1,0.5)", " [1 ,0.5 ] "])
def test_a_vector_in_a_cell(written: str) -> None:
    out = io.StringIO()
    csv.writer(out).writerows([["text", "vector"], ["a", written], ["b", ""]])
    assert vectors(load_document(out.getvalue().encode(), "a.csv")) == [[1.0, 0.5], None]


@pytest.mark.parametrize(
    "wrong", [[], ["x"], "one two", [None], [[1, 2]], [float("nan"), 1], [1e300, 1], [True], {}, 0]
)
def test_a_vector_that_is_none_costs_itself_alone(wrong: object) -> None:
    rows = [{"text": "a", "vector": [1, 2]}, {"text": "b", "vector": wrong}]
    document = load_document(jsonl(*rows), "a.jsonl")
    assert texts(document) == ["a", "b"]
    assert vectors(document) == [[1.0, 2.0], None]
    assert "line 2 has a vector" in document.warnings[0]


def test_vectors_that_do_not_fit_together_are_left() -> None:
    lengths = jsonl({"text": "a", "vector": [1, 2]}, {"text": "b", "vector": [1]})
    embedders = jsonl(
        {"text": "a", "vector": [1], "embedder": "x"}, {"text": "b", "vector": [1], "embedder": "y"}
    )
    for data, word in ((lengths, "lengths"), (embedders, "embedders")):
        document = load_document(data, "a.jsonl")
        assert document.vectors is None
        assert word in document.warnings[0]


# --- any rows -----------------------------------------------------------------------------

#: All signs but those of control, of which a short file with many would be taken for no text.
letters = st.characters(exclude_categories=["Cc", "Cs"]) | st.sampled_from("\n\t\"',;")
cells = st.text(letters, max_size=30)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=8))
def test_any_text_comes_out_of_both_as_it_went_in(rows: list[tuple[str, str]]) -> None:
    expected = [clean(text) for _, text in rows if clean(text).strip()]
    data = jsonl(*({"title": title, "text": text} for title, text in rows))
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL).writerows([("title", "text"), *rows])
    table = out.getvalue().encode()
    if not expected:
        for given_, name in ((data, "a.jsonl"), (table, "a.csv")):
            with pytest.raises(DocumentError, match="no passage"):
                load_document(given_, name)
        return
    assert texts(load_document(data, "a.jsonl")) == expected
    assert texts(load_document(table, "a.csv")) == expected


@given(st.binary(max_size=300))
def test_no_bytes_raise_anything_but_a_sentence(data: bytes) -> None:
    for name, start in (("a.jsonl", b'{"text": "a"}\n'), ("a.csv", b"title,text\na,b\n")):
        try:
            document = load_document(start + data, name)
        except DocumentError:
            continue
        assert all(texts(document))
