"""Multi-hop questions with gold passages, as JSON lines, plain or gzipped.

A question is a line {id, dataset, question, answer, type, n_hops, hops [{question, answer,
paragraph_index}], support_order, order_source, paragraphs [{title, text, is_supporting}]}; of
these only `question` and `paragraphs` must be there. A pool of passages has a line {title, text}
each. The published files of HotpotQA, 2WikiMultiHopQA, MuSiQue and MultiHop-RAG are read, too,
see `tracert.evaluation.published`, and questions with gold by quotation
(`tracert.evaluation.quoted`).
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tracert.errors import DatasetError
from tracert.evaluation import published
from tracert.evaluation.articles import Article, cut, is_article
from tracert.evaluation.asked import Passage as Passage

#: A file that unpacks to more is refused: it would not fit the memory.
_MAX_BYTES: Final = 2_000_000_000
_REFERENCE: Final = re.compile(r"#(\d+)")


@dataclass(frozen=True, slots=True)
class Hop:
    """A step of a question's decomposition; `paragraph` is an index into its paragraphs."""

    question: str
    answer: str
    paragraph: int | None


@dataclass(frozen=True, slots=True)
class Item:
    """A question with its paragraphs; `supporting` are the indices of the gold ones.

    `order` are gold paragraphs in the order of the chain, `order_source` who says so. `notes` are
    the paths of the gold notes in order, where the row names any.
    """

    id: str
    dataset: str
    question: str
    answer: str
    type: str
    n_hops: int
    hops: tuple[Hop, ...]
    order: tuple[int, ...]
    order_source: str
    paragraphs: tuple[Passage, ...]
    supporting: tuple[int, ...]
    notes: tuple[str, ...] = ()

    def edges(self) -> tuple[tuple[int, int], ...]:
        """Which gold paragraph leads to which: pairs of indices into `paragraphs`.

        - A comparison has none: its passages stand side by side.
        - A bridge comparison of order A, B, X, Y is two chains, A to X and B to Y.
        - Where hops name earlier answers as '#1', the names are the edges (MuSiQue).
        - Else the order is one chain. An order that is not known gives none.
        """
        if self.type == "comparison" or self.order_source in {"unknown", "parallel_comparison"}:
            return ()
        if self.type == "bridge_comparison":
            if len(self.order) != 4:
                return ()
            a, b, x, y = self.order
            return ((a, x), (b, y))
        named = tuple(self._named_edges())
        return named or tuple(zip(self.order, self.order[1:], strict=False))

    def _named_edges(self) -> Iterator[tuple[int, int]]:
        for place, hop in enumerate(self.hops):
            for match in _REFERENCE.finditer(hop.question):
                before = int(match[1]) - 1
                if 0 <= before < place:
                    start = self.hops[before].paragraph
                    if start is not None and hop.paragraph is not None:
                        yield start, hop.paragraph

    def depths(self) -> dict[int, int]:
        """For each gold paragraph, how many hops from the question it lies, from 1.

        The longest way along `edges`; a gold paragraph that no edge enters is of depth 1. Edges
        that run in a circle are left out.
        """
        depth = dict.fromkeys(self.supporting, 1)
        edges = self.edges()
        for _ in range(len(depth)):
            for start, end in edges:
                if start in depth and end in depth and depth[end] <= depth[start] < len(depth):
                    depth[end] = depth[start] + 1
        return depth


@dataclass(frozen=True, slots=True)
class Read:
    """The sound questions of a file, and a sentence for each row that is none, naming its line."""

    items: tuple[Item, ...]
    faults: tuple[str, ...]


def read_data(path: Path) -> Read:
    """The questions of a file; a row that is wrong is named, and the rest goes on.

    Raises:
        DatasetError: the file cannot be read, or not one row is a question.
    """
    items: list[Item] = []
    faults: list[str] = []
    for line, data in _lines(path):
        try:
            items.append(_item_of(data, f"{path.name}, line {line}"))
        except DatasetError as error:
            faults.append(str(error))
    if not items:
        raise DatasetError(
            faults[0] if faults else f"{path.name} holds no question. Name a file with a line each."
        )
    return Read(tuple(items), tuple(faults))


def read_items(path: Path) -> list[Item]:
    """The questions of a file, all of which have to be sound; `read_data` is more patient.

    Raises:
        DatasetError: the file cannot be read or a line is no question; the text names the line.
    """
    return [_item_of(data, f"{path.name}, line {line}") for line, data in _lines(path)]


@dataclass(frozen=True, slots=True)
class PoolFile:
    """The passages of a pool by row, and the articles that they were cut from, if any."""

    passages: tuple[Passage, ...]
    articles: tuple[Article, ...] = ()


def read_pool(path: Path) -> PoolFile:
    """A pool: a line a passage, or whole articles (`tracert.evaluation.articles`).

    Raises:
        DatasetError: the file cannot be read or a line is no passage; the text names the line.
    """
    rows = [
        (_object(data, where), where)
        for line, data in _lines(path)
        for where in [f"{path.name}, line {line}"]
    ]
    if not rows:
        raise DatasetError(f"{path.name} holds no passage. Name a file with a line a passage.")
    if is_article(rows[0][0]):
        passages, articles = cut(rows)
        return PoolFile(tuple(passages), tuple(articles))
    return PoolFile(tuple(_passage(data, where) for data, where in rows))


def read_passages(path: Path) -> list[Passage]:
    """The passages of a pool, by row.

    Raises:
        DatasetError: as `read_pool`.
    """
    return list(read_pool(path).passages)


def gold_rows(item: Item, rows: Mapping[Passage, int]) -> dict[int, int]:
    """Supporting paragraph to the row of the pool whose title and text equal it, where there is."""
    return {
        paragraph: rows[item.paragraphs[paragraph]]
        for paragraph in item.supporting
        if item.paragraphs[paragraph] in rows
    }


def rows_by_passage(passages: Sequence[Passage]) -> dict[Passage, int]:
    """The first row of each passage; a passage that stands twice is one passage."""
    rows: dict[Passage, int] = {}
    for row, passage in enumerate(passages):
        rows.setdefault(passage, row)
    return rows


# --- reading ------------------------------------------------------------------------------


def _lines(path: Path) -> Iterator[tuple[int, object]]:
    """The JSON values of a file with their line, or their place in a file that is one list.

    Text that is no JSON comes as it is, for `_object` to refuse.
    """
    try:
        raw = path.read_bytes()
        if raw[:2] == b"\x1f\x8b":
            with gzip.open(path) as file:
                raw = file.read(_MAX_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DatasetError(
            f"{path} cannot be read ({error}). Name a file of JSON lines."
        ) from error
    if len(raw) > _MAX_BYTES:
        raise DatasetError(f"{path.name} is larger than {_MAX_BYTES / 1e9:.0f} GB. Split it.")
    lines = _elements(raw) if raw.lstrip()[:1] == b"[" else raw.splitlines()
    for number, line in enumerate(lines, start=1):
        if not isinstance(line, bytes):
            yield number, line
        elif line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError):
                yield number, line


def _elements(raw: bytes) -> list[Any]:
    """The objects of a file that is one JSON list; one that is not goes on as lines."""
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        return raw.splitlines()
    return data if isinstance(data, list) else raw.splitlines()


def _object(data: object, where: str) -> Mapping[str, Any]:
    if isinstance(data, bytes):
        raise DatasetError(f"{where} is not JSON. Every line has to be one JSON object.")
    if not isinstance(data, dict):
        raise DatasetError(f"{where} is not a JSON object.")
    return data


def _item_of(data: object, where: str) -> Item:
    """A row of any form.

    Raises:
        DatasetError: it is no question.
    """
    given = _object(data, where)
    try:
        row = published.row(given)
    except (KeyError, TypeError, ValueError) as error:
        raise DatasetError(
            f"{where}: the row is damaged near {str(error)[:80]!r}. Download the file again."
        ) from error
    return _item(row, where)


def _passage(data: Mapping[str, Any], where: str) -> Passage:
    title, text = data.get("title", ""), data.get("text")
    if not isinstance(text, str) or not isinstance(title, str):
        raise DatasetError(f"{where}: a passage needs 'text' and may have 'title', both texts.")
    return Passage(title, text)


def _item(data: Mapping[str, Any], where: str) -> Item:
    question, paragraphs = data.get("question"), data.get("paragraphs")
    if not isinstance(question, str) or not question.strip():
        raise DatasetError(f"{where}: 'question' is missing or empty.")
    if not isinstance(paragraphs, list) or not all(isinstance(each, dict) for each in paragraphs):
        raise DatasetError(f"{where}: 'paragraphs' has to be a list of objects.")
    passages = tuple(_passage(each, where) for each in paragraphs)
    supporting = tuple(
        place for place, each in enumerate(paragraphs) if each.get("is_supporting") is True
    )
    size = len(passages)
    order = tuple(_index(each, size, where) for each in data.get("support_order") or [])
    hops = tuple(_hop(each, size, where) for each in data.get("hops") or [])
    n_hops = data.get("n_hops", len(supporting))
    if isinstance(n_hops, bool) or not isinstance(n_hops, int):
        raise DatasetError(f"{where}: 'n_hops' has to be a whole number.")
    return Item(
        id=str(data.get("id", where)),
        dataset=str(data.get("dataset", "")),
        # As a method asks it: a blank at its end would move the vectors of some embedders.
        question=question.strip(),
        answer=str(data.get("answer", "")),
        type=str(data.get("type", "")),
        n_hops=n_hops,
        hops=hops,
        order=tuple(each for each in order if each is not None),
        order_source=str(data.get("order_source", "")),
        paragraphs=passages,
        supporting=supporting,
        notes=_paths(data.get("notes"), where),
    )


def _paths(data: object, where: str) -> tuple[str, ...]:
    if data is None:
        return ()
    if not isinstance(data, list) or not all(isinstance(each, str) for each in data):
        raise DatasetError(f"{where}: 'notes' has to be a list of paths.")
    return tuple(dict.fromkeys(data))


def _hop(data: object, size: int, where: str) -> Hop:
    if not isinstance(data, dict):
        raise DatasetError(f"{where}: a hop has to be an object.")
    return Hop(
        str(data.get("question") or ""),
        str(data.get("answer") or ""),
        _index(data.get("paragraph_index"), size, where),
    )


def _index(value: object, size: int, where: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < size:
        raise DatasetError(f"{where}: {value!r} is no index of one of its {size} paragraphs.")
    return value
