"""What a method is measured on: questions with known passages, and the place they are sought in.

There are three grounds, and one type for all of them:

- a pool of passages (`pool_ground`): a file, or what the rows of the questions bring along;
- a corpus of the library (`corpus_ground`), gold by quotation, see `tracert.evaluation.quoted`;
- a folder of notes (`notes_ground`), gold by path.

Whatever the ground, gold and evidence are ids as a trace has them: 'passage:7' (line 7 of the
pool, counted from 0), a chunk's id, a note's path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from tracert.embedding.base import Embedder
from tracert.errors import DatasetError
from tracert.evaluation.articles import Facts
from tracert.evaluation.asked import Asked, GoldPassage
from tracert.evaluation.datasets import (
    Item,
    Passage,
    PoolFile,
    gold_rows,
    read_data,
    read_pool,
    rows_by_passage,
)
from tracert.evaluation.pool import Pool, pool
from tracert.evaluation.quoted import Quotation, QuotedQuestion, gold_of
from tracert.hosting import hosting
from tracert.knowledge.opened import OpenGraph
from tracert.language.words import terms
from tracert.methods.bm25 import TermIndex
from tracert.methods.exact import ranked
from tracert.methods.first_stage import fuse, rank
from tracert.snapshot import Snapshot, text_of

Kind = Literal["pool", "corpus", "notes"]
OnProgress = Callable[[str, int, int], None]
#: The question, its vector of shape (d,), the first stage and how many: ids, best first.
Nearest = Callable[[str, npt.NDArray[np.float32], str, int], list[str]]

#: How far down both rankings of notes are read for their fusion.
_DEPTH: Final = 1000
#: Plain search is remembered so deep, since every method over a ground is set beside the same.
_REMEMBERED: Final = 100


def _quiet(_what: str, _done: int, _of: int) -> None:
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """Questions, where they are sought, and plain search there.

    Attributes:
        kind: which of the three grounds.
        data: the name of the file of questions, as a report shows it.
        source: the name of the pool's file, of the corpus or of the notes.
        items: the questions that have gold here.
        left_out: how many questions have none and so are not asked.
        faults: the rows that could not be read, a sentence each.
        over: the corpus (pool or snapshot) or the open graph.
        embedder: makes the vectors of questions.
        folder: the data folder, for what methods make once (`Resources.folder`).
        nearest: plain search: ids, best first; bm25 is filled up by vectors where too few
            passages share a word with the question. What it found is remembered.
        text: title and text of an id, for reports.
    """

    kind: Kind
    data: str
    source: str
    items: tuple[Asked, ...]
    left_out: int
    faults: tuple[str, ...]
    over: Any
    embedder: Embedder
    folder: Path
    nearest: Nearest
    text: Callable[[str], tuple[str, str]]

    @property
    def needs(self) -> Literal["corpus", "knowledge"]:
        """What a method must walk to be measured here, see `Method.needs`."""
        return "knowledge" if self.kind == "notes" else "corpus"

    @property
    def size(self) -> int:
        """The passages or notes that are searched."""
        return int(self.over.info.size)


def pool_ground(
    data: Path,
    passages: Path | None,
    embedder: Embedder,
    folder: Path,
    *,
    on_progress: OnProgress = _quiet,
) -> Ground:
    """Questions of a file over a pool of passages.

    Args:
        data: the questions, see `tracert.evaluation.datasets`.
        passages: the pool; None pools what the rows of the questions bring along.
        embedder: makes the vectors of passages and questions.
        folder: the data folder; vectors are kept in its folder `evaluation` between runs.
        on_progress: gets 'embed', how much of how many.

    Raises:
        DatasetError: a file cannot be used, or no question has a gold passage in the pool.
    """
    read = read_data(data)
    file = read_pool(passages) if passages is not None else PoolFile(_brought(read.items))
    kept = file.passages
    source = passages.name if passages is not None else f"the paragraphs of {data.name}"
    if file.articles:
        facts = Facts(file.articles)
        items = [_in_articles(item, facts) for item in read.items]
    else:
        lines: dict[Passage, list[int]] = {}
        for row, passage in enumerate(kept):
            lines.setdefault(passage, []).append(row)
        rows = rows_by_passage(kept)
        items = [_in_pool(item, gold_rows(item, rows), kept, lines) for item in read.items]
    usable = tuple(item for item in items if item.gold)
    if not usable:
        raise DatasetError(
            f"No question of {data.name} has a supporting paragraph in {source}. Name the "
            "pool that belongs to the questions."
        )
    _check_room(len(kept))
    name = (passages or data).stem
    corpus = pool(
        kept,
        name,
        embedder,
        folder / "evaluation",
        lambda done, of: on_progress("embed", done, of),
    )
    return Ground(
        "pool",
        data.name,
        source,
        usable,
        len(items) - len(usable),
        read.faults,
        corpus,
        embedder,
        folder,
        _Remembered(_corpus_nearest(corpus)),
        lambda id: _passage_text(corpus, id),
    )


def _check_room(passages: int) -> None:
    """A visitor of a public app has no more room in a pool than in a corpus."""
    room = hosting().room
    if room is not None and passages > room.passages:
        raise DatasetError(
            f"The pool has {passages:,} passages; in this app a visitor may have "
            f"{room.passages:,}. Pass fewer, or run Tracert on your own machine."
        )


def corpus_ground(snapshot: Snapshot, questions: Path, embedder: Embedder, folder: Path) -> Ground:
    """Questions over a corpus of the library; a gold paragraph is a quotation of a document.

    The document is the one named as its title. Chunks are gold that hold most of the quotation.

    Args:
        snapshot: the corpus, see `Workspace.open`.
        questions: a file in any form that `tracert.evaluation.datasets` reads; of `quoted` or of
            gold chains made by hand, usually.
        embedder: the corpus's own.
        folder: the data folder.

    Raises:
        DatasetError: the file cannot be used, or the corpus holds no question's passages.
    """
    read = read_data(questions)
    documents = snapshot.record.documents
    chunks = {one.name: snapshot.document_chunks(one.fingerprint) for one in documents}
    texts = {name: text_of(parts) for name, parts in chunks.items()}
    items = []
    for item in read.items:
        quotes = [item.paragraphs[place] for place in item.supporting]
        asked = QuotedQuestion(
            item.id,
            item.question,
            item.answer,
            item.n_hops,
            tuple(Quotation(quote.title, quote.text) for quote in quotes),
        )
        near = [part for name in {each.title for each in quotes} for part in chunks.get(name, ())]
        gold = gold_of(asked, texts, near)
        if gold:
            items.append(_in_order(item, [tuple(sorted(group, key=_position)) for group in gold]))
    if not items:
        raise DatasetError(
            f"The corpus {snapshot.info.name!r} holds the gold passages of no question of "
            f"{questions.name}. Choose the corpus that the questions were made for."
        )
    return Ground(
        "corpus",
        questions.name,
        snapshot.info.name,
        tuple(items),
        len(read.items) - len(items),
        read.faults,
        snapshot,
        embedder,
        folder,
        _Remembered(_corpus_nearest(snapshot)),
        lambda id: _chunk_text(snapshot, id),
    )


def notes_ground(graph: OpenGraph, questions: Path, embedder: Embedder, folder: Path) -> Ground:
    """Questions over a folder of notes; gold are the notes that the rows name.

    Plain search ranks the notes by their best passage of 500 characters (dense), by the words of
    title and content (bm25), or by both (hybrid), as `tracert.methods.first_stage` does.

    Args:
        graph: the notes, see `Workspace.open_notes`.
        questions: a file of questions with the field `notes`.
        embedder: the one that the graph was opened with.
        folder: the data folder.

    Raises:
        DatasetError: the file cannot be used, or no question names notes that are there.
    """
    read = read_data(questions)
    items = [
        _note_item(item)
        for item in read.items
        if item.notes and all(path in graph.row for path in item.notes)
    ]
    if not items:
        raise DatasetError(
            f"No question of {questions.name} names notes that are in {graph.info.name!r}. "
            "Choose the notes that the questions were made for."
        )
    return Ground(
        "notes",
        questions.name,
        graph.info.name,
        tuple(items),
        len(read.items) - len(items),
        read.faults,
        graph,
        embedder,
        folder,
        _Remembered(_NoteSearch(graph)),
        lambda id: (graph.note(id).title, graph.graph.content(id)),
    )


# --- gold ---------------------------------------------------------------------------------


def _brought(items: Sequence[Item]) -> tuple[Passage, ...]:
    """The paragraphs of all questions, each once."""
    return tuple(dict.fromkeys(each for item in items for each in item.paragraphs))


def _in_pool(
    item: Item,
    rows: Mapping[int, int],
    kept: Sequence[Passage],
    lines: Mapping[Passage, Sequence[int]],
) -> Asked:
    """The gold by row; two supporting paragraphs of one text are one passage."""
    depths = item.depths()
    wanted = sorted(set(rows.values()))
    place = {row: index for index, row in enumerate(wanted)}
    depth = {row: depths[paragraph] for paragraph, row in rows.items()}
    edges = [
        (place[rows[start]], place[rows[end]])
        for start, end in item.edges()
        if start in rows and end in rows and rows[start] != rows[end]
    ]
    gold = [
        GoldPassage(tuple(f"passage:{line}" for line in lines[kept[row]]), depth[row])
        for row in wanted
    ]
    return _asked(item, gold, edges)


def _in_articles(item: Item, facts: Facts) -> Asked:
    """The gold as the row has it; a fact that stands in no article is left out."""
    held = {
        place: facts.rows(item.paragraphs[place].title, item.paragraphs[place].text)
        for place in item.supporting
    }
    groups = {
        place: tuple(f"passage:{row}" for row in rows) for place, rows in held.items() if rows
    }
    return _of_groups(item, groups)


def _in_order(item: Item, groups: Sequence[tuple[str, ...]]) -> Asked:
    """The gold as the row has it; `groups` belong to `item.supporting`, one each."""
    return _of_groups(item, dict(zip(item.supporting, groups, strict=True)))


def _of_groups(item: Item, groups: Mapping[int, tuple[str, ...]]) -> Asked:
    """The gold in the order of `groups`: the ids of each supporting paragraph."""
    place = {paragraph: index for index, paragraph in enumerate(groups)}
    depths = item.depths()
    gold = [GoldPassage(ids, depths[paragraph]) for paragraph, ids in groups.items()]
    edges = [
        (place[start], place[end]) for start, end in item.edges() if start in place and end in place
    ]
    return _asked(item, gold, edges)


def _note_item(item: Item) -> Asked:
    """The notes in the order of the row; those of a comparison stand side by side."""
    chained = item.type != "comparison"
    gold = [
        GoldPassage((path,), place if chained else 1)
        for place, path in enumerate(item.notes, start=1)
    ]
    edges = list(pairwise(range(len(gold)))) if chained else []
    return _asked(item, gold, edges)


def _asked(item: Item, gold: Sequence[GoldPassage], edges: Sequence[tuple[int, int]]) -> Asked:
    return Asked(
        item.id,
        item.question,
        item.answer,
        item.type,
        item.n_hops,
        tuple(gold),
        tuple(dict.fromkeys(edges)),
    )


def _position(id: str) -> tuple[str, int]:
    document, _, position = id.partition(":")
    return document, int(position)


# --- plain search ---------------------------------------------------------------------------


class _Remembered:
    """A search that is asked the same question for every method; threads may share it."""

    def __init__(self, search: Nearest) -> None:
        self._search = search
        self._known: dict[tuple[str, str], list[str]] = {}

    def __call__(
        self, question: str, vector: npt.NDArray[np.float32], stage: str, count: int
    ) -> list[str]:
        if count > _REMEMBERED:
            return self._search(question, vector, stage, count)
        key = (question, stage)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._search(question, vector, stage, _REMEMBERED)
        return found[:count]


def _corpus_nearest(corpus: Pool | Snapshot) -> Nearest:
    def nearest(
        question: str, vector: npt.NDArray[np.float32], stage: str, count: int
    ) -> list[str]:
        rows: list[int] = rank(corpus, question, vector, stage, count).rows.tolist()
        if len(rows) < min(count, corpus.info.size):
            others = rank(corpus, question, vector, "dense", count).rows.tolist()
            rows = list(dict.fromkeys([*rows, *others]))[:count]
        return [corpus.ids[row] for row in rows]

    return nearest


class _NoteSearch:
    """Plain search over notes, which are no corpus of equal pieces."""

    def __init__(self, graph: OpenGraph) -> None:
        self._graph = graph
        self._words: TermIndex | None = None

    def __call__(
        self, question: str, vector: npt.NDArray[np.float32], stage: str, count: int
    ) -> list[str]:
        rows = np.arange(len(self._graph.paths))
        _, similarities = self._graph.vectors.closest(vector)
        dense = rows[ranked(-similarities.astype(np.float64), rows)]
        if stage != "dense":
            scores = self._index().scores(question)
            words = rows[ranked(-scores, rows)]
            words = words[scores[words] > 0.0]
            if stage == "hybrid":
                dense, _ = fuse((dense[:_DEPTH], words[:_DEPTH]), len(rows))
            else:
                dense = np.array(list(dict.fromkeys([*words.tolist(), *dense.tolist()])), np.intp)
        return [self._graph.paths[row] for row in dense[:count].tolist()]

    def _index(self) -> TermIndex:
        if self._words is None:
            graph = self._graph
            self._words = TermIndex(
                [
                    terms(f"{graph.note(path).title}\n{graph.graph.content(path)}")
                    for path in graph.paths
                ]
            )
        return self._words


def _passage_text(corpus: Pool, id: str) -> tuple[str, str]:
    passage = corpus.passages[int(id.partition(":")[2])]
    return passage.title, passage.text


def _chunk_text(snapshot: Snapshot, id: str) -> tuple[str, str]:
    row = snapshot.ids.row(id)
    if row is None:
        return id, ""
    (chunk,) = snapshot.chunks([row])
    return chunk.document, chunk.text
