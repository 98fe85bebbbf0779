"""What is known to be right: the gold passages of the built-in questions, found by quotation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import streamlit as st

from tracert.evaluation.quoted import Gold, QuotedQuestion, found_of, gold_of, read_questions
from tracert.methods.base import Embed, parse_settings
from tracert.methods.first_stage import Ranking, rank
from tracert.methods.treehop import TreeHopSettings, alone_flags, model_for, retrieve
from tracert.snapshot import Snapshot
from tracert.trace import Value
from tracert.ui import resources

#: The most passages that any settings return: 100 in all, or 20 at each of 5 hops.
DEEPEST: Final = 100


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """The questions that a corpus answers, their gold chunks, and their vectors, shape (n, d)."""

    questions: tuple[QuotedQuestion, ...]
    gold: tuple[Gold, ...]
    vectors: npt.NDArray[np.float32]

    def of(self, question: str) -> Gold | None:
        """The gold of a question; None where it is not known."""
        texts = [one.question for one in self.questions]
        return self.gold[texts.index(question)] if question in texts else None


@dataclass(frozen=True, slots=True)
class Recall:
    """Mean recall over the known questions, and plain top-k's at the same number of passages."""

    hops: float
    plain: float
    questions: int


def known(snapshot: Snapshot, embed: Embed) -> Known | None:
    """The built-in questions, where this corpus holds their passages."""
    path = resources.questions_file()
    if path is None:
        return None
    return _known(snapshot.info.fingerprint, snapshot.record.identity, str(path), snapshot, embed)


@st.cache_resource(max_entries=4, show_spinner=False)
def _known(
    fingerprint: str,  # noqa: ARG001 the key
    identity: str,  # noqa: ARG001 the key
    path: str,
    _snapshot: Snapshot,
    _embed: Embed,
) -> Known | None:
    documents = {one.name for one in _snapshot.record.documents}
    asked = [
        one
        for one in read_questions(Path(path))
        if documents.issuperset(passage.document for passage in one.passages)
    ]
    if not asked:
        return None
    texts = {
        one.name: _snapshot.document_text(one.fingerprint) for one in _snapshot.record.documents
    }
    chunks = _snapshot.chunks(range(len(_snapshot.ids)))
    pairs = [(one, gold_of(one, texts, chunks)) for one in asked]
    sound = [(one, gold) for one, gold in pairs if gold]
    if not sound:
        return None
    vectors = _embed([one.question for one, _ in sound])
    return Known(tuple(one for one, _ in sound), tuple(gold for _, gold in sound), vectors)


def recall(snapshot: Snapshot, these: Known, settings: Mapping[str, Value]) -> Recall:
    """TreeHop with these settings on every known question, all at once.

    Raises:
        SettingError: the weights cannot be read or are for vectors of another length.
    """
    named = tuple(sorted(settings.items()))
    return _recall(snapshot.info.fingerprint, snapshot.record.identity, named, snapshot, these)


@st.cache_data(max_entries=64, show_spinner=False)
def _recall(
    fingerprint: str,
    identity: str,  # noqa: ARG001 the key
    settings: tuple[tuple[str, Value], ...],
    _snapshot: Snapshot,
    _these: Known,
) -> Recall:
    snapshot, these = _snapshot, _these
    chosen = parse_settings(TreeHopSettings, dict(settings))
    model = model_for(chosen, snapshot.info.embedder, snapshot.info.dimension)
    texts = [one.question for one in these.questions]
    ranked = _ranked(fingerprint, snapshot.record.identity, chosen.first_stage, snapshot, these)
    first = None if chosen.first_stage == "dense" else ranked
    alone = alone_flags(texts, chosen)
    found = retrieve(model, these.vectors, snapshot.matrix, chosen, alone, first)
    ours, plain = [], []
    for gold, one, baseline in zip(these.gold, found, ranked, strict=True):
        ours.append(found_of(gold, _ids(snapshot, one.rows)))
        plain.append(found_of(gold, _ids(snapshot, baseline.rows[: len(one.rows)].tolist())))
    return Recall(float(np.mean(ours)), float(np.mean(plain)), len(texts))


@st.cache_resource(max_entries=8, show_spinner=False)
def _ranked(
    fingerprint: str,  # noqa: ARG001 the key
    identity: str,  # noqa: ARG001 the key
    stage: str,
    _snapshot: Snapshot,
    _these: Known,
) -> list[Ranking]:
    """The first stage of every known question, as deep as any settings look."""
    return [
        rank(_snapshot, one.question, vector, stage, DEEPEST)
        for one, vector in zip(_these.questions, _these.vectors, strict=True)
    ]


def _ids(snapshot: Snapshot, rows: Sequence[int]) -> list[str]:
    return [snapshot.ids[row] for row in rows]
