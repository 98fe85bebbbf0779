"""TrailGraph in words: what was offered, what was chosen, and why not the others."""

from __future__ import annotations

import json

from tracert.render.frames import Frame, last
from tracert.render.numbers import count, plain
from tracert.render.palette import CHOSEN, CONSIDERED, OUTSIDE, REFUSED, VISITED
from tracert.render.words.base import Column, Formula, Rule
from tracert.trace import NodeKind, Step, StopReason, Trace


class TrailGraphWords:
    """See `tracert.render.words.base.Words`."""

    rules = (
        Rule("chosen", "Chosen", "The best on offer: the walk goes there.", CHOSEN),
        Rule("lower_score", "Lower score", "On offer, but another note scored more.", CONSIDERED),
        Rule("visited", "Visited", "The walk was there already.", VISITED),
        Rule("below_threshold", "Below threshold", "Scores too low to be followed.", REFUSED),
        Rule("not_offered", "Not offered", "No note on offer has this path.", OUTSIDE),
    )
    columns = (Column("score", "Score", "How well the note fits the question, 0 to 100.", 1),)
    chapters = (
        "TrailGraph walks a graph of notes as a person reads a wiki: it enters somewhere, looks at "
        "summaries, key points and links, scores what it sees from 0 to 100, and follows the best. "
        "Only a note that scores high enough is opened and read in full. Where nothing is good "
        "enough it turns back, and at the end it names the closest note."
    )

    def caption(self, trace: Trace, frame: Frame) -> str:
        """See `Words.caption`."""
        if frame.step is None:
            size = count(trace.corpus.size, "note")
            return f"The question is asked of {size}; none of them has been seen yet."
        said = _move(trace, frame.step)
        if frame.index == last(trace):
            stop = trace.result.stop
            # That a note was opened is the move itself, and need not be said twice.
            opened = frame.step.action == "focus" and stop.reason is StopReason.ANSWERED
            message = "" if opened else stop.message
            said = " ".join(part for part in (said, message, stop.remedy) if part)
        return said

    def formula(self, trace: Trace, frame: Frame, id: str | None) -> Formula | None:  # noqa: ARG002
        """None: a score is explained by its reason, not by one equation."""
        return None


def _move(trace: Trace, step: Step) -> str:
    here = _called(trace, step.source)
    if step.target is None and step.action == "turn_back":
        return _refused(step)
    if step.action == "fallback":
        return f"No note is sure enough. The closest is {_scored(trace, step)}."
    if step.action == "focus":
        return f"{_scored(trace, step)} is opened: its content is read.{_why(step)}"
    if step.target is None:
        offered = sum(step.counts.values())
        if not offered:
            return f"{_upper(here)} offers nothing to follow.{_why(step)}"
        offers = f"{_upper(here)} offers {count(offered, 'note')}; the trail ends here."
        return f"{offers}{_left(step)}"
    if step.action == "entry":
        start = f"The walk enters at {_scored(trace, step)}."
    elif step.action == "turn_back":
        start = f"The walk turns back and goes on from {_scored(trace, step)}."
    else:
        start = f"From {here} the walk goes to {_scored(trace, step)}."
    return f"{start}{_why(step)}{_left(step)}"


def _refused(step: Step) -> str:
    """A call of the model that led nowhere: a path of its own, or one that cannot be read."""
    invented = next((item.id for item in step.candidates if item.rule == "not_offered"), None)
    if invented is not None:
        offered = sum(step.counts.values()) - 1
        return (
            f"The model asks for “{invented[:120]}”, none of the {count(offered, 'note')} on offer."
        )
    try:
        shown = json.loads(str(step.values.get("shown") or "{}"))
    except ValueError:
        shown = {}
    error = shown.get("error") if isinstance(shown, dict) else None
    return f"The model's call cannot be used. {error or ''}".strip()


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _called(trace: Trace, id: str) -> str:
    node = trace.node(id)
    return "the question" if node.kind is NodeKind.QUERY else f"“{node.label}”"


def _scored(trace: Trace, step: Step) -> str:
    """The target with the score that it was chosen by."""
    if step.target is None:
        return ""
    chosen = next((item for item in step.candidates if item.id == step.target), None)
    score = chosen.values.get("score") if chosen is not None else step.values.get("score")
    name = _called(trace, step.target)
    return name if score is None else f"{name} ({plain(score, 0)} of 100)"


def _why(step: Step) -> str:
    """The reason given for the chosen note."""
    chosen = next((item for item in step.candidates if item.id == step.target), None)
    reason = chosen.reason if chosen is not None else str(step.values.get("shown") or "")
    return f" {_upper(reason)}." if reason else ""


def _left(step: Step) -> str:
    """How many others there were, by rule."""
    # A model that walks by itself scores only what it visits.
    walked = "asked_view" in step.values
    names = {
        "lower_score": ("was not chosen", "were not chosen") if walked else ("scored lower",) * 2,
        "visited": ("was visited before", "were visited before"),
        "below_threshold": ("scored too low to follow",) * 2,
        "not_offered": ("was not on offer", "were not on offer"),
    }
    parts = [
        f"{step.counts[rule]:,} {words[step.counts[rule] != 1]}"
        for rule, words in names.items()
        if step.counts.get(rule)
    ]
    return f" Of the others {', '.join(parts)}." if parts else ""
