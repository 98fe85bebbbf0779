"""What follows an answer: 'yes' opens the note that was the closest; anything else is new."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from tracert.knowledge.opened import OpenGraph
from tracert.methods.trailgraph.record import FOCUSED, Judged, Recorder
from tracert.methods.trailgraph.scoring.base import Asked, Score
from tracert.trace import NodeKind, Result, Stop, StopReason, Trace

#: Ways to say yes and no more, in some languages.
_WORDS: Final = (
    *("yes", "y", "yeah", "yep", "yup", "sure", "ok", "okay", "right", "correct", "exactly"),
    *("please", "yes please", "please do", "do it", "open", "open it", "that one", "that's it"),
    *("yes that one", "i did", "yes i did", "go on", "ja", "jawohl", "genau", "bitte", "oui"),
    *("si", "sí", "sì", "sim", "tak", "да", "是", "はい"),
)
_YES: Final = frozenset(_WORDS)


def is_yes(text: str) -> bool:
    """Whether the text says no more than yes."""
    words = re.sub(r"[^\w'’ ]+", " ", text.casefold()).replace("’", "'")
    return " ".join(words.split()) in _YES


def pending(trace: Trace) -> str | None:
    """The note that a 'yes' would open: the closest one of a walk that opened none."""
    if trace.method != "trailgraph" or trace.result.stop.reason is StopReason.ANSWERED:
        return None
    return trace.result.evidence[0] if trace.result.evidence else None


def confirmed(trace: Trace, opened: OpenGraph) -> Trace:
    """The trace after a 'yes': the closest note opened, its content in its node.

    The trace is returned as it is where nothing is pending.

    Raises:
        KnowledgeError: the note's file cannot be read any more.
    """
    path = pending(trace)
    if path is None:
        return trace
    query = next(node for node in trace.nodes if node.kind is NodeKind.QUERY)
    last = trace.steps[-1] if trace.steps else None
    value = last.values.get("score") if last is not None and last.target == path else None
    score = float(value) if isinstance(value, int | float) else None
    recorder = Recorder(opened, kept=1, index=len(trace.steps))
    recorder.content(path)
    judged = Judged(
        path,
        Score(score, f"{score:g}") if score is not None else None,
        "chosen",
        "the person said yes",
    )
    hop = float(last.values.get("hop") or 0) if last is not None else 0.0
    step = recorder.step(
        "focus", path, path, [judged], {"hop": hop, "score": score, "view": FOCUSED}
    )
    vector = query.vector if query.vector is not None else opened.vector(path)
    node = recorder.nodes(Asked(query.text, vector))[1]
    nodes = tuple(node if other.id == path else other for other in trace.nodes)
    title = opened.note(path).title
    stop = Stop(StopReason.ANSWERED, f"'{title}' was opened, since the person said yes ({path}).")
    way = trace.result.path if path in trace.result.path else (*trace.result.path, path)
    result = Result(way, trace.result.evidence, stop)
    return replace(trace, nodes=nodes, steps=(*trace.steps, step), result=result)


class Session:
    """One conversation: remembers the closest note of the last walk, and nothing else."""

    def __init__(
        self, ask: Callable[[str], Trace], opened: OpenGraph, last: Trace | None = None
    ) -> None:
        """Take how a question is asked, the graph, and the walk before, if there was one."""
        self._ask = ask
        self._opened = opened
        self._last = last

    def say(self, text: str) -> Trace:
        """A question, or a 'yes' to the last walk's closest note."""
        if self._last is not None and pending(self._last) is not None and is_yes(text):
            trace = confirmed(self._last, self._opened)
        else:
            trace = self._ask(text)
        self._last = trace
        return trace
