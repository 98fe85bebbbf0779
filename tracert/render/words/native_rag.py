"""Plain top-k in words: everything is ranked once by its similarity to the question."""

from __future__ import annotations

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
    columns = (Column("similarity", "Similarity", "Cosine of the angle to the question."),)
    chapters = (
        "Plain top-k compares the question with every passage once and returns the most similar "
        "ones. Nothing moves: a passage that only a first finding would lead to is missed."
    )

    def caption(self, trace: Trace, frame: Frame) -> str:
        """See `Words.caption`."""
        size = count(trace.corpus.size, "passage")
        if frame.step is None:
            return f"The question is placed among {size}."
        kept = count(len(trace.result.evidence), "passage")
        return f"All {size} are ranked by similarity to the question; the first {kept} are kept."

    def formula(self, trace: Trace, frame: Frame, id: str | None) -> Formula | None:
        """See `Words.formula`."""
        if frame.step is None or not frame.step.candidates:
            return None
        item = frame.candidate(id) or frame.step.candidates[0]
        similarity = plain(item.values.get("similarity"))
        return Formula(
            r"\mathrm{similarity}(q,d)=\cos(v_q,v_d)=v_q\cdot v_d",
            rf"v_q\cdot v_d=\mathbf{{{similarity}}}",
            f"From the question to {called(trace, frame, item.id)}",
        )
