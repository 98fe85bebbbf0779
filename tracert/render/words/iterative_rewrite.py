"""Iterative rewriting in words: what each search asked, who wrote it, and what it brought."""

from __future__ import annotations

from tracert.render.frames import Frame, last
from tracert.render.numbers import count, plain
from tracert.render.palette import CHOSEN, REFUSED, VISITED
from tracert.render.words.base import Column, Formula, Rule, called, quoted
from tracert.trace import Step, Trace


class RewriteWords:
    """See `tracert.render.words.base.Words`."""

    rules = (
        Rule("kept", "Kept", "Among the best of this search, and not found before.", CHOSEN),
        Rule("found_before", "Found before", "A search before this one kept it.", VISITED),
        Rule("below_k", "Below k", "Scores less than those that were kept.", REFUSED, near=False),
    )
    columns = (
        Column("score", "Score", "What ranks it in this search."),
        Column("similarity", "Similarity", "Cosine of the angle to the text of this search."),
    )
    chapters = (
        "Iterative rewriting searches with the question, has it written anew from what was found, "
        "and searches again with the new text. A passage that the question does not name can so "
        "be reached, for a call of the language model a round; without a model the new text is "
        "made of words of the passages."
    )

    def caption(self, trace: Trace, frame: Frame) -> str:
        """See `Words.caption`."""
        stop = trace.result.stop
        if frame.step is None:
            said = f"The question is placed among {count(trace.corpus.size, 'passage')}."
        else:
            said = f"{_search(trace, frame.step)} {_brought(trace, frame.step)}"
        if frame.index == last(trace):
            said = " ".join(part for part in (said, stop.message, stop.remedy) if part)
        return said

    def formula(self, trace: Trace, frame: Frame, id: str | None) -> Formula | None:
        """See `Words.formula`."""
        if frame.step is None or not frame.step.candidates:
            return None
        item = frame.candidate(id) or frame.step.candidates[0]
        stage = str(trace.settings.get("first_stage") or "dense")
        name = r"\cos" if stage == "dense" else rf"\mathrm{{{stage}}}"
        here = called(trace, frame, frame.step.source)
        return Formula(
            rf"\mathrm{{score}}(d)={name}(q_i,d)",
            rf"\mathrm{{score}}(d)=\mathbf{{{plain(item.values.get('score'))}}}",
            f"From {here} to {called(trace, frame, item.id)}",
        )


def _search(trace: Trace, step: Step) -> str:
    number = f"Search {step.index + 1}"
    if step.values.get("rewrite_source") == "question":
        return f"{number} asks with the question itself."
    how = "by the language model" if step.values.get("rewrite_source") == "model" else "offline"
    text = " ".join(trace.node(step.source).text.split())
    note = step.values.get("rewrite_note")
    said = f"{number} asks with a text written {how}: “{text}”."
    return f"{said} {note}" if note else said


def _brought(trace: Trace, step: Step) -> str:
    kept = step.counts.get("kept", 0)
    if step.target is None or not kept:
        return "It brings nothing that was not found before."
    new = " new" if step.index else ""
    best = quoted(trace, step.target)
    if kept == 1:
        return f"It keeps one{new} passage, {best}."
    return f"It keeps {kept:,}{new} passages, the best of them {best}."
