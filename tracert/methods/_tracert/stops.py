"""How a walk of Tracert-RAG ends: the reason, in plain words, and what to change."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Final

from tracert.methods._tracert.corridor import counted
from tracert.methods._tracert.settings import TracertRagSettings
from tracert.methods._tracert.walk import Decision, TracertWalk
from tracert.trace import Stop, StopReason

#: Decimals that a float64 about 1 has.
_MOST_DIGITS: Final = 16


def reached(walk: TracertWalk) -> Stop:
    """The goal was entered."""
    return Stop(
        StopReason.GOAL_REACHED, f"The walk entered the goal after {counted(len(walk.path))}."
    )


def empty_corridor(walk: TracertWalk) -> Stop:
    """No passage lies within the radius, or there is none at all."""
    nearest = walk.nearest_to_query()
    if nearest is None:
        return Stop(
            StopReason.EMPTY_CORRIDOR,
            "The corpus holds no passage.",
            "Load a document with text in it.",
        )
    radius, paper = walk.corridor.radius, walk.corridor.paper_radius
    remedy = f"Turn {_named('strict')} off, so that the radius widens to the nearest passages."
    if paper > 1e-6:
        remedy = (
            f"Turn {_named('strict')} off, so that the radius widens to the nearest passages, or "
            f"raise {_named('radius_scale')} to at least {_up(nearest / paper)}."
        )
    return Stop(
        StopReason.EMPTY_CORRIDOR,
        "No passage lies within the radius {}; the nearest is at {}.".format(
            *_apart(radius, nearest)
        ),
        remedy,
    )


def dead_end(walk: TracertWalk, decision: Decision, settings: TracertRagSettings) -> Stop:
    """No unvisited neighbour is left."""
    nearest = walk.nearest_left(decision)
    where = f"after {counted(len(walk.path))}" if walk.path else "at the question"
    goal = None if decision.goal_locked else decision.goal_distance
    if nearest is None and goal is None:
        return Stop(
            StopReason.DEAD_END,
            f"The corridor has no further passage {where}, and the goal may be entered after "
            f"{settings.min_passages} only.",
            f"Raise {_named('radius_scale')}, or lower {_named('min_passages')} to "
            f"{max(len(walk.path), 1)}.",
        )
    if nearest is None or (goal is not None and goal < nearest):
        least, what = decision.goal_distance, "the goal"
    else:
        least, what = nearest, "the nearest unvisited passage"
    delta = "no delta" if decision.delta is None else f"delta {decision.delta:.3f}"
    return Stop(
        StopReason.DEAD_END,
        f"The walk ends {where}: nothing unvisited lies within {delta}, and the goal is at "
        f"{decision.goal_distance:.3f}.",
        f"Raise {_named('delta')} to at least {_up(least)}, the distance of {what}.",
    )


def out_of_hops(walk: TracertWalk, settings: TracertRagSettings) -> Stop:
    """All moves are made, and the goal is not entered."""
    moves = "its only move" if settings.max_hops == 1 else f"its {settings.max_hops} moves"
    return Stop(
        StopReason.MAX_HOPS,
        f"The walk made {moves}; the goal is at {walk.distance_to_goal:.3f}.",
        f"Raise {_named('max_hops')} to walk on, or {_named('alpha')} to pull the walk towards the "
        "goal.",
    )


def _apart(one: float, other: float) -> tuple[str, str]:
    """Two unequal numbers with as many decimals, three at least, as tell them apart."""
    digits = 3
    while f"{one:.{digits}f}" == f"{other:.{digits}f}" and digits < _MOST_DIGITS:
        digits += 1
    return f"{one:.{digits}f}", f"{other:.{digits}f}"


def _named(name: str) -> str:
    """A setting by what its control is called, and by its name where that is another."""
    label = next(
        str(each.metadata["label"]) for each in fields(TracertRagSettings) if each.name == name
    )
    return name if label.lower() == name else f"{label} ({name})"


def _up(value: float) -> str:
    """The value to three places, rounded up, so that following the advice is enough."""
    return f"{math.ceil(value * 1000.0 - 1e-6) / 1000.0:.3f}"
