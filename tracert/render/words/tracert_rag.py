"""Tracert-RAG in words: corridor, edges, costs and the greedy choice."""

from __future__ import annotations

import math

from tracert.render.frames import Frame, last
from tracert.render.numbers import apart, count, plain
from tracert.render.palette import CHOSEN, CONSIDERED, OUTSIDE, REFUSED, VISITED
from tracert.render.words.base import Column, Formula, Rule, called, quoted
from tracert.trace import Candidate, NodeKind, Step, Trace

GENERAL = r"\mathrm{cost}(u,v)=\underbrace{1-\cos(v_u,v_v)}_{\text{distance}}+\alpha\,D(u\to v,v_g)"


class TracertWords:
    """See `tracert.render.words.base.Words`."""

    rules = (
        Rule("chosen", "Chosen", "The unvisited neighbour of lowest cost.", CHOSEN),
        Rule("dearer", "Dearer", "A neighbour, but another one cost less.", CONSIDERED),
        Rule("no_edge", "No edge", "Farther from the node in hand than delta.", REFUSED),
        Rule("visited", "Visited", "Already on the path; the walk never turns back.", VISITED),
        Rule(
            "outside_radius",
            "Outside",
            "Farther from the question than the radius.",
            OUTSIDE,
            near=False,
        ),
    )
    columns = (
        Column("cost", "Cost", "Distance plus alpha times penalty. The lowest wins."),
        Column("distance", "Distance", "Cosine distance from the node in hand to this passage."),
        Column("penalty", "Penalty", "0 is straight towards the goal, 1 sideways, 2 backwards."),
        Column("distance_to_query", "To question", "Cosine distance to the question."),
    )
    chapters = (
        "Tracert-RAG guesses where the answer lies (the goal), keeps the passages that are no "
        "farther from the question than the goal is (the corridor), and walks from the question "
        "to the goal: at each step to the unvisited neighbour that costs least, where a cost is "
        "the distance to it plus a penalty for turning away from the goal."
    )

    def caption(self, trace: Trace, frame: Frame) -> str:
        """See `Words.caption`."""
        if frame.step is None:
            return _opening(trace)
        said = _move(trace, frame, frame.step)
        if frame.index == last(trace):
            stop = trace.result.stop
            said = " ".join(part for part in (said, stop.message, stop.remedy) if part)
        return said

    def formula(self, trace: Trace, frame: Frame, id: str | None) -> Formula | None:
        """See `Words.formula`."""
        if frame.step is None:
            return None
        item = frame.candidate(id)
        if item is None or item.rule == "visited":
            item = frame.candidate(frame.chosen) or next(iter(frame.step.candidates), None)
        if item is None or item.values.get("cost") is None:
            return None
        alpha = plain(frame.step.values.get("alpha"), 2)
        distance, penalty, cost = (
            plain(item.values.get(key)) for key in ("distance", "penalty", "cost")
        )
        filled = rf"{distance}+{alpha}\times{penalty}=\mathbf{{{cost}}}"
        name = called(trace, frame, item.id)
        return Formula(GENERAL, filled, f"From {called(trace, frame, frame.step.source)} to {name}")


def _opening(trace: Trace) -> str:
    stop = trace.result.stop
    if not trace.steps:
        return " ".join(part for part in (stop.message, stop.remedy) if part)
    first = trace.steps[0]
    radius = plain(first.values.get("radius"))
    outside = first.counts.get("outside_radius", 0)
    inside = trace.corpus.size - outside
    if not inside:
        held = f"none of the {count(trace.corpus.size, 'passage')}"
    else:
        held = f"{count(inside, 'passage')} of {trace.corpus.size:,}"
    begins = "with passages of plain top-k" if first.action == "start" else "at the question"
    return (
        f"The question and the goal are placed. The corridor, all that lies within {radius} of "
        f"the question, holds {held}, and the walk starts {begins}."
    )


def _move(trace: Trace, frame: Frame, step: Step) -> str:
    here = called(trace, frame, step.source)
    if step.target is None:
        return _nowhere(trace, here, step)
    if step.action == "start":
        return _start(trace, step)
    chosen = frame.candidate(step.target)
    there = called(trace, frame, step.target)
    paid = math.inf if chosen is None else _cost(chosen)
    second = _runner_up(step)
    cost, next_ = apart(paid, math.inf if second is None else _cost(second))
    open_ = step.counts.get("chosen", 0) + step.counts.get("dearer", 0)
    quote = quoted(trace, step.target)
    said = f"From {here} the walk moves to {there}{', ' + quote + ',' if quote else ''}"
    said += f" for a cost of {cost}" if math.isfinite(paid) else ""
    if open_ == 1:
        return said + ", the only neighbour left."
    said += f", the lowest of {open_:,} neighbours"
    if second is not None and cost == next_:
        said += "; the next would have cost the same, and a tie goes to the first in the text"
    elif second is not None:
        said += f"; the next would have cost {next_}"
    return said + "."


def _start(trace: Trace, step: Step) -> str:
    taken = step.counts.get("chosen", 0)
    quote = quoted(trace, str(step.target))
    if taken == 1:
        return f"Plain top-k takes the passage nearest to the question, {quote}: the walk goes on."
    return (
        f"Plain top-k takes the {count(taken, 'passage')} nearest to the question. The walk goes "
        f"on from the nearest of them, {quote}."
    )


def _nowhere(trace: Trace, here: str, step: Step) -> str:
    """Why there is no move: an empty corridor, nothing left in it, or nothing within delta."""
    goals = {node.id for node in trace.nodes if node.kind is NodeKind.GOAL}
    locked = any(item.id in goals and item.rule == "no_edge" for item in step.candidates)
    far = step.counts.get("no_edge", 0) - locked
    if not far and not step.counts.get("visited", 0):
        return f"From {here} there is no way on: the corridor holds no passage."
    if not far:
        return f"From {here} there is no way on: every passage of the corridor is visited."
    left = f"{count(far, 'unvisited passage')} {'is' if far == 1 else 'are'}"
    delta = step.values.get("delta")
    if delta is None:
        return f"From {here} no edge leads on, since there is no delta; {left} left."
    return f"From {here} no edge leads on: {left} left, farther than delta {plain(delta)}."


def _runner_up(step: Step) -> Candidate | None:
    dearer = [item for item in step.candidates if item.rule == "dearer"]
    return min(dearer, key=_cost, default=None)


def _cost(item: Candidate) -> float:
    cost = item.values.get("cost")
    return float(cost) if isinstance(cost, float | int) else math.inf
