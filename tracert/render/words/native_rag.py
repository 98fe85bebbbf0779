"""Plain top-k in words: everything is ranked once by its similarity to the question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tracert.render.frames import Frame
from tracert.render.numbers import count, plain
from tracert.render.palette import CHOSEN, REFUSED
from tracert.render.words.base import Column, Formula, Rule, called
from tracert.trace import Trace


class NativeWords:
    """See `tracert.render.words.base.Words`."""

    rules = (
        Rule("kept", "Kept", "Among the k most similar to the question.", CHOSEN),
        Rule("below_k", "Below k", "Less similar than the k that were kept.", REFUSED, near=False),
    )
    columns = (
        Column("fused", "Fused", "1 / (60 + rank) summed over both rankings.", 4),
        Column("bm25", "BM25", "How telling the words are that the passage shares.", 2),
        Column("similarity", "Similarity", "Cosine of the angle to the question."),
        Column("dense_rank", "Rank by vectors", "The place by similarity, from 1.", 0),
        Column("bm25_rank", "Rank by words", "The place by BM25, from 1.", 0),
    )
    chapters = (
        "Plain top-k compares the question with every passage once and returns the most similar "
        "ones. Nothing moves: a passage that only a first finding would lead to is missed."
    )

    def caption(self, trace: Trace, frame: Frame) -> str:
        """See `Words.caption`."""
        size = count(trace.corpus.size, "passage")
        if frame.step is None:
            return f"The question is placed among {size}."
        how = _BY[_stage(trace)]
        kept = count(len(trace.result.evidence), "passage")
        said = f"All {size} are ranked {how}; the first {kept} are kept."
        stop = trace.result.stop
        if stop.remedy:
            said = f"{said} {stop.message} {stop.remedy}"
        return said

    def formula(self, trace: Trace, frame: Frame, id: str | None) -> Formula | None:
        """See `Words.formula`."""
        if frame.step is None or not frame.step.candidates:
            return None
        item = frame.candidate(id) or frame.step.candidates[0]
        general, filled = _filled(_stage(trace), item.values)
        return Formula(general, filled, f"From the question to {called(trace, frame, item.id)}")


#: How a caption tells what ranks, by the first stage.
_BY: Final = {
    "dense": "by similarity to the question",
    "bm25": "by the telling words that they share with the question (BM25)",
    "hybrid": "by their places in both rankings, by similarity and by words (BM25)",
}


def _stage(trace: Trace) -> str:
    """The first stage in force; a trace from anywhere counts as plain where it says another."""
    stage = str(trace.settings.get("first_stage") or "dense")
    return stage if stage in _BY else "dense"


def _filled(stage: str, values: Mapping[str, float | str | None]) -> tuple[str, str]:
    """The deciding equation and the same with these numbers."""
    if stage == "bm25":
        general = r"\mathrm{BM25}(q,d)=\sum_{t\in q\cap d}\mathrm{idf}(t)\cdot\mathrm{tf}_{d}(t)"
        return general, rf"\mathrm{{BM25}}=\mathbf{{{plain(values.get('bm25'), 2)}}}"
    if stage == "hybrid":
        over = r"r\in\{\text{vectors},\text{words}\}"
        general = rf"\mathrm{{RRF}}(d)=\sum_{{{over}}}\frac{{1}}{{60+\mathrm{{rank}}_r(d)}}"
        parts = [
            rf"\frac{{1}}{{60+{plain(rank, 0)}}}"
            for rank in (values.get("dense_rank"), values.get("bm25_rank"))
            if rank is not None
        ]
        return general, "+".join(parts) + rf"=\mathbf{{{plain(values.get('fused'), 4)}}}"
    general = r"\mathrm{similarity}(q,d)=\cos(v_q,v_d)=v_q\cdot v_d"
    return general, rf"v_q\cdot v_d=\mathbf{{{plain(values.get('similarity'))}}}"
