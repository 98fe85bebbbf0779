"""A walk over six notes, made by hand, for the tests of the tree, the ladder and the transcript.

    hub ── a ── leaf      other      far
     └──── b

The question enters at `hub` (80), sees `a` (90) and `b` (40), goes to `a`, sees `leaf` (97) and
opens it. `other` and `far` are entry points of their own; only `other` was offered.
"""

from __future__ import annotations

import numpy as np

from tracert.trace import (
    Candidate,
    CorpusInfo,
    Node,
    NodeKind,
    Result,
    Source,
    Step,
    Stop,
    StopReason,
    Trace,
)

TITLES = {"hub.md": "Hub", "a.md": "A", "b.md": "B", "leaf.md": "Leaf", "other.md": "Other"}


def _weighed(id: str, score: float, rule: str) -> Candidate:
    return Candidate(id, rule == "chosen", rule, f"{score:g}", {"score": score})


def _step(index: int, action: str, source: str, target: str | None, hop: float, *items) -> Step:
    counts = {rule: sum(item.rule == rule for item in items) for rule in {i.rule for i in items}}
    values = {"hop": hop, "score": None, "view": "focused" if action == "focus" else "exploration"}
    return Step(index, action, source, target, values, counts, items)


def note_trace(*, opened: bool = True, text: str = "The leaf says it.") -> Trace:
    """The walk; without `opened` it ends in a fallback to `leaf`."""
    steps = [
        _step(
            0,
            "entry",
            "query",
            "hub.md",
            1,
            _weighed("hub.md", 80, "chosen"),
            _weighed("other.md", 70, "lower_score"),
            _weighed("b.md", 40, "below_threshold"),
        ),
        _step(
            1,
            "explore",
            "hub.md",
            "a.md",
            1,
            _weighed("a.md", 90, "chosen"),
            _weighed("b.md", 40, "below_threshold"),
        ),
        _step(2, "explore", "a.md", "leaf.md", 2, _weighed("leaf.md", 97, "chosen")),
        _step(
            3,
            "focus" if opened else "fallback",
            "leaf.md",
            "leaf.md",
            3,
            _weighed("leaf.md", 97, "chosen"),
        ),
    ]
    vector = np.array([1.0, 0.0], dtype=np.float32)
    nodes = [Node("query", NodeKind.QUERY, "Question", "What does it say?", vector=vector)]
    for path, title in TITLES.items():
        source = Source(path, None, (title,), 0, len(text)) if path == "leaf.md" else None
        body = text if path == "leaf.md" else f"About {title}."
        nodes.append(Node(path, NodeKind.NOTE, title, body, source if opened else None))
    reason = StopReason.ANSWERED if opened else StopReason.FALLBACK
    return Trace(
        method="trailgraph",
        question="What does it say?",
        settings={
            "entry": "search",
            "entries": 2,
            "explore_threshold": 60.0,
            "answer_threshold": 95.0,
        },
        seed=0,
        corpus=CorpusInfo("notes", "f", "toy", 2, 6),
        nodes=tuple(nodes),
        steps=tuple(steps),
        result=Result(
            ("query", "hub.md", "a.md", "leaf.md"), ("leaf.md", "a.md"), Stop(reason, "It ended.")
        ),
    )
