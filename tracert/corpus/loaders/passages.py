"""Files of passages, one a row: CSV and JSONL with a text, and perhaps a title and a vector.

A row is a passage and stays one (`tracert.corpus.chunking`): its text is in the document as it is
in the file, behind an empty line, and its title is the heading. A row that is none is named by its
line, and the rest goes on.
"""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tracert.corpus.chunking import GAP, LONGEST
from tracert.corpus.encoding import SAMPLE, clean, decode, head
from tracert.corpus.loaders.base import Content, Limits
from tracert.corpus.loaders.text import read_text
from tracert.corpus.model import Mark, Vectors
from tracert.errors import DocumentError

#: What the fields are called, the first that is there counts; small letters.
_TEXT: Final = ("text", "passage", "content", "contents", "body", "paragraph", "paragraph_text")
_TITLE: Final = ("title", "heading")
_VECTOR: Final = ("vector", "embedding")
_EMBEDDER: Final = ("embedder", "embedding_model")
_DELIMITERS: Final = ",;\t|"
_MAX_TITLE: Final = 200
#: So many rows of a file may be wrong; with more it is no file of passages.
_MOST_WRONG: Final = 10_000
_MOST_NAMED: Final = 8
#: Rows of a file without a telling name that are looked at to know it.
_LOOKED_AT: Final = 5
_NUMBERS: Final = re.compile(r"[\s,;]+")
_MOST_NUMBERS: Final = 100_000


@dataclass(frozen=True, slots=True)
class _Row:
    """A row as it is in the file, or what is wrong with it; `line` counts from 1."""

    line: int
    fields: Mapping[str, Any]
    problem: str = ""


class JsonlLoader:
    """One JSON object a line, with a field for the text."""

    kind = "jsonl"
    title = "JSONL of passages"
    suffixes = (".jsonl", ".ndjson")

    def recognises(self, data: bytes, name: str) -> bool:
        """Whether the first lines are objects with a text; by its name, whether one is any."""
        decoded = decode(head(data, SAMPLE))
        if decoded is None:
            return False
        first = list(itertools.islice(_objects(decoded.text), _LOOKED_AT))
        if name.lower().endswith(self.suffixes):
            return any(not row.problem for row in first)
        sound = [_text_of(row.fields) is not None for row in first]
        # The last line of the sample may be cut; one object alone is a file of settings.
        whole = sound if len(data) <= SAMPLE else sound[:-1]
        return len(whole) >= 2 and all(whole)

    def load(self, data: bytes, name: str, limits: Limits) -> Content:
        """The passages, in order; see the module."""
        text, warnings = _read(data, name, limits)
        return _content(_objects(text), name, limits, warnings)


class CsvLoader:
    """A table with a header that names a column for the text; the delimiter is found."""

    kind = "csv"
    title = "CSV of passages"
    suffixes = (".csv", ".tsv")

    def recognises(self, data: bytes, name: str) -> bool:
        """Whether the first row names a column 'text', or one of its other names, beside others.

        In a file with another name that must be a column for a title or a vector, too.
        """
        decoded = decode(head(data, SAMPLE))
        if decoded is None:
            return False
        found = _header(clean(decoded.text))
        if found is None:
            return False
        names = found[1]
        known = any(name in names for name in (*_TITLE, *_VECTOR))
        return name.lower().endswith(self.suffixes) or (known and len(names) > 1)

    def load(self, data: bytes, name: str, limits: Limits) -> Content:
        """The passages, in order; see the module."""
        text, warnings = _read(data, name, limits)
        return _content(_records(text, limits), name, limits, warnings)


def _read(data: bytes, name: str, limits: Limits) -> tuple[str, tuple[str, ...]]:
    """The whole file as text: the bound on characters is one on the passages in it."""
    return read_text(data, name, replace(limits, max_characters=limits.max_bytes))


def _content(rows: Iterator[_Row], name: str, limits: Limits, warnings: Sequence[str]) -> Content:
    parts: list[str] = []
    marks: list[Mark] = []
    vectors: list[npt.NDArray[np.float32] | None] = []
    embedders: set[str] = set()
    wrong: list[tuple[int, str]] = []
    said = [*warnings]
    length = long = 0
    for row in rows:
        text, problem = _text_of(row.fields), row.problem
        if not problem and text is None:
            problem = "no text"
        if problem or text is None:
            wrong.append((row.line, problem))
            if len(wrong) > _MOST_WRONG:
                said.append(f"Reading of {name} ended at line {row.line}: too many wrong rows.")
                break
            continue
        start = length + len(GAP) * bool(parts)
        if start + len(text) > limits.max_characters:
            said.append(
                f"{name} is too long to read whole; the rows from line {row.line} on are left "
                "out. Split it into several files."
            )
            break
        title = " ".join(clean(_written(row.fields, _TITLE)).split())[:_MAX_TITLE]
        parts.append(text)
        marks.append(Mark(start, None, (title,) if title else ()))
        length = start + len(text)
        long += len(text) > LONGEST
        given = _given(row.fields, _VECTOR)
        vector = None if given in (None, "") else _vector(given)
        if given not in (None, "") and vector is None:
            wrong.append((row.line, "a vector that is no list of numbers; it is made anew"))
        vectors.append(vector)
        if vector is not None:
            embedders.add(_written(row.fields, _EMBEDDER).strip())
    if not parts:
        raise DocumentError(_nothing(name, wrong))
    if wrong:
        said.append(_wrong(name, wrong))
    if long:
        said.append(
            f"{long:,} of its passages are longer than {LONGEST:,} characters and are cut as other "
            "texts are."
        )
    matrix, remark = _matrix(vectors, embedders, name)
    return Content(
        text=GAP.join(parts),
        marks=tuple(marks),
        warnings=(*said, *([remark] if remark else [])),
        vectors=matrix,
    )


def _matrix(
    vectors: Sequence[npt.NDArray[np.float32] | None], embedders: set[str], name: str
) -> tuple[Vectors | None, str]:
    """The vectors of the rows as one matrix, and a sentence where they cannot be used."""
    sizes = Counter(len(vector) for vector in vectors if vector is not None)
    if not sizes:
        return None, ""
    if len(sizes) > 1 or len(embedders) > 1:
        what = "of different lengths" if len(sizes) > 1 else "of different embedders"
        return None, f"The vectors in {name} are {what}, so they are made anew."
    (size,) = sizes
    rows = np.full((len(vectors), size), np.nan, dtype=np.float32)
    for row, vector in zip(rows, vectors, strict=True):
        if vector is not None:
            row[:] = vector
    return Vectors(rows, next(iter(embedders))), ""


def _nothing(name: str, wrong: Sequence[tuple[int, str]]) -> str:
    why = f" Line {wrong[0][0]} has {wrong[0][1]}." if wrong else ""
    return f"{name} holds no passage.{why} Give each row a field 'text' with something in it."


def _wrong(name: str, wrong: Sequence[tuple[int, str]]) -> str:
    named = "; ".join(f"line {line} has {problem}" for line, problem in wrong[:_MOST_NAMED])
    more = f" and {len(wrong) - _MOST_NAMED:,} more" if len(wrong) > _MOST_NAMED else ""
    return f"Not every row of {name} is a whole passage: {named}{more}."


# --- fields -------------------------------------------------------------------------------


def _given(fields: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _written(fields: Mapping[str, Any], names: Sequence[str]) -> str:
    found = _given(fields, names)
    return str(found) if isinstance(found, str | int | float) else ""


def _text_of(fields: Mapping[str, Any]) -> str | None:
    """The text of a row as a document holds it; None where there is none."""
    found = _given(fields, _TEXT)
    text = clean(found) if isinstance(found, str) else ""
    return text if text.strip() else None


def _vector(given: Any) -> npt.NDArray[np.float32] | None:
    """A list of finite numbers, written as JSON or with blanks, commas or semicolons between."""
    if isinstance(given, str):
        given = _NUMBERS.split(given.strip().strip("[]()").strip())
    elif not isinstance(given, list) or not all(type(each) in (int, float) for each in given):
        return None
    if not 0 < len(given) <= _MOST_NUMBERS:
        return None
    try:
        # A number too large for float32 becomes infinite, which is refused below.
        with np.errstate(over="ignore"):
            found = np.array([float(each) for each in given]).astype(np.float32)
    except (ValueError, OverflowError):
        return None
    return found if bool(np.isfinite(found).all()) and bool(found.any()) else None


# --- JSONL --------------------------------------------------------------------------------


def _objects(text: str) -> Iterator[_Row]:
    for line, written in enumerate(text.split("\n"), start=1):
        if not written.strip():
            continue
        try:
            found = json.loads(written)
        except (ValueError, RecursionError):
            yield _Row(line, {}, "no JSON")
            continue
        if isinstance(found, dict):
            yield _Row(line, {name.lower(): value for name, value in found.items()})
        else:
            yield _Row(line, {}, "no JSON object")


# --- CSV ----------------------------------------------------------------------------------

_sizes: Final = Lock()


@contextmanager
def _large_fields(most: int) -> Iterator[None]:
    """Let a field be so long; the module keeps one bound for all, so it is put back."""
    with _sizes:
        before = csv.field_size_limit(most)
        try:
            yield
        finally:
            csv.field_size_limit(before)


def _header(text: str) -> tuple[str, list[str]] | None:
    """The delimiter and the column names, where a column is named as one for the text."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    best: tuple[str, list[str]] | None = None
    for delimiter in _DELIMITERS:
        try:
            with _large_fields(len(first) + 1):
                cells = next(csv.reader([first], delimiter=delimiter, strict=True), [])
        except csv.Error:
            continue
        names = [cell.strip().lower() for cell in cells]
        if any(name in names for name in _TEXT) and (best is None or len(names) > len(best[1])):
            best = delimiter, names
    return best


def _records(text: str, limits: Limits) -> Iterator[_Row]:
    """The rows below the header; a row that is wrong ends with its line.

    So a quotation mark that is never closed costs its own row and no other.
    """
    found = _header(text)
    if found is None:
        return
    delimiter, names = found
    lines = text.split("\n")
    at = next(number for number, line in enumerate(lines) if line.strip()) + 1
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        cells, after = _record(lines, at, delimiter, limits)
        if len(cells) == len(names):
            yield _Row(at + 1, dict(zip(names, cells, strict=True)))
            at = after
        else:
            problem = f"{len(cells)} of {len(names)} fields" if cells else "quotation marks amiss"
            yield _Row(at + 1, {}, problem)
            at += 1


def _record(lines: Sequence[str], at: int, delimiter: str, limits: Limits) -> tuple[list[str], int]:
    """The cells of the record that begins at a line, none if it is wrong; the line behind it."""
    if '"' not in lines[at]:
        return lines[at].split(delimiter), at + 1
    with _large_fields(limits.max_characters):
        reader = csv.reader(
            (line + "\n" for line in itertools.islice(lines, at, None)),
            delimiter=delimiter,
            strict=True,
        )
        try:
            cells = next(reader)
        except csv.Error:
            return [], at + 1
    # A cell of several lines keeps its line ends; the record's own is no part of it.
    return cells, at + reader.line_num
