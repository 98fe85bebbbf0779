"""What a walk says about itself beside its numbers: its notes, and who wrote its goal."""

from __future__ import annotations

from typing import Final

from tracert.render.numbers import plain
from tracert.trace import NodeKind, Trace

#: Who wrote a goal, by the value goal_source of a trace's first step.
GOAL_SOURCES: Final = {
    "offline": "Offline predictor",
    "model": "Language model",
    "typed": "Typed by hand",
}
#: The parts of a goal in the paper's form.
GOAL_PARTS: Final = ("category", "concept", "explanation")


def notes(trace: Trace, *, delta: bool = False) -> list[str]:
    """The sentences that the first step carries: a widened radius, a model that failed.

    `delta` takes in the note on delta, which the page leaves to the histogram, where its line
    is drawn.
    """
    if not trace.steps:
        return []
    values = trace.steps[0].values
    names = ["goal_note", "radius_note", "corridor_note"] + ["delta_note"] * delta
    return [plain(values[name]) for name in names if values.get(name)]


def goal_source(trace: Trace) -> str:
    """Who wrote the goal, in words; '' where the trace does not say."""
    source = trace.steps[0].values.get("goal_source") if trace.steps else None
    return GOAL_SOURCES.get(str(source), str(source)) if source else ""


def goal_parts(trace: Trace) -> list[str]:
    """Category, concept and explanation of the goal, those that are not empty, one space each.

    A trace that does not tell them apart has one part, the goal's text; one without a goal none.
    """
    values = trace.steps[0].values if trace.steps else {}
    parts = [plain(values.get(f"goal_{name}") or "") for name in GOAL_PARTS]
    if not any(parts):
        parts = [node.text for node in trace.nodes if node.kind is NodeKind.GOAL]
    return [text for text in (" ".join(part.split()) for part in parts) if text]
