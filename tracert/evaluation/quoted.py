"""Questions whose gold passages are given by quotation, as in `knowledge/questions.jsonl`.

A quotation survives re-chunking: a chunk is gold where it holds most of it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tracert.corpus.model import Chunk
from tracert.errors import DatasetError


@dataclass(frozen=True, slots=True)
class Quotation:
    """An exact piece of a document, by the document's name."""

    document: str
    text: str


@dataclass(frozen=True, slots=True)
class QuotedQuestion:
    """A question, its answer and its gold passages in the order of the hops."""

    id: str
    question: str
    answer: str
    hops: int
    passages: tuple[Quotation, ...]


#: For each gold passage of a question, the ids of the chunks that hold it; maybe none.
Gold = tuple[frozenset[str], ...]


def read_questions(path: Path) -> list[QuotedQuestion]:
    """The questions of a file of JSON lines."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    return [
        QuotedQuestion(
            str(row.get("id", "")),
            row["question"],
            row["answer"],
            row["hops"],
            tuple(Quotation(each["document"], each["quote"]) for each in row["passages"]),
        )
        for row in rows
    ]


def gold_of(
    question: QuotedQuestion, texts: Mapping[str, str], chunks: Sequence[Chunk]
) -> Gold | None:
    """The gold chunks; None where the documents do not hold all quotations.

    Args:
        question: the question.
        texts: the documents by name.
        chunks: all chunks of the corpus.
    """
    gold = []
    for passage in question.passages:
        start = texts.get(passage.document, "").find(passage.text)
        if start < 0:
            return None
        end = start + len(passage.text)
        gold.append(
            frozenset(
                each.id
                for each in chunks
                if each.document == passage.document
                and 2 * (min(each.end, end) - max(each.start, start)) > end - start
            )
        )
    return tuple(gold)


def known_gold(question: QuotedQuestion, texts: Mapping[str, str], chunks: Sequence[Chunk]) -> Gold:
    """As `gold_of`, of documents that hold all quotations.

    Raises:
        DatasetError: one is not there.
    """
    gold = gold_of(question, texts, chunks)
    if gold is None:
        raise DatasetError(
            f"The documents do not hold all quotations of {question.id}. Correct the question."
        )
    return gold


def found_of(gold: Gold, ids: Collection[str]) -> float:
    """The share of the gold passages of which a chunk was found.

    Raises:
        ValueError: there is no gold, so that no share is defined.
    """
    if not gold:
        raise ValueError("recall needs at least one gold passage")
    there = set(ids)
    return sum(not each.isdisjoint(there) for each in gold) / len(gold)
