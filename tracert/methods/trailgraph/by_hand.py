"""The walk of a person who stands in for the model: the same tool, the same rules.

The person is shown what the model would be shown, and gives what the model would give: the
next note, a score and a reason. The calls so far are replayed from the start each time, so
that nothing but they has to be kept between two of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from tracert.errors import ModelError
from tracert.knowledge.opened import OpenGraph
from tracert.language.base import Message, OnText, Reply, Tool, ToolCall
from tracert.methods.base import Outcome, Walk, collect, settings_values
from tracert.methods.trailgraph.agent_walk import AgentWalk
from tracert.methods.trailgraph.method import Prepared
from tracert.methods.trailgraph.record import EXPLORATION, Recorder
from tracert.methods.trailgraph.settings import TrailGraphSettings
from tracert.methods.trailgraph.tool import NAME
from tracert.trace import Step, Stop, Trace

_STOPPED: Final = "You stopped here."


@dataclass(frozen=True, slots=True)
class HandCall:
    """One call of the tool by a person."""

    node: str
    score: float
    reason: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class HandWalk:
    """Where a person's walk stands.

    `at` is the note in hand (None before the first call); `offered` are the notes that may be
    chosen next, `before` those that were offered earlier; `turned_to` is the entry point that
    the walk was sent back to by the last call. `over` tells that no call is left.
    """

    trace: Trace
    at: str | None
    offered: tuple[str, ...]
    before: tuple[str, ...]
    visited: Mapping[str, float]
    turned_to: str | None
    hops: int
    over: bool


class _Person:
    """A `ChatModel` that says what the person chose, call by call."""

    name = "a person"

    def __init__(self, calls: Sequence[HandCall]) -> None:
        self._calls = list(calls)
        self._said = 0

    def complete(
        self,
        messages: Sequence[Message],  # noqa: ARG002 the person has read them
        *,
        tools: Sequence[Tool] = (),  # noqa: ARG002
        max_tokens: int = 800,  # noqa: ARG002
        on_text: OnText | None = None,  # noqa: ARG002
    ) -> Reply:
        """The next call.

        Raises:
            ModelError: the person has made no further call.
        """
        if self._said == len(self._calls):
            raise ModelError(_STOPPED)
        call = self._calls[self._said]
        self._said += 1
        arguments: dict[str, Any] = {
            "node": call.node,
            "view": EXPLORATION,
            "score": call.score,
            "reason": call.reason,
        }
        return Reply("", (ToolCall(f"hand_{self._said}", NAME, json.dumps(arguments)),))


def walk_by_hand(
    opened: OpenGraph,
    prepared: Prepared,
    settings: TrailGraphSettings,
    calls: Sequence[HandCall],
) -> HandWalk:
    """The walk that these calls make; the question is walked whole, never split."""
    settings = replace(settings.in_force, max_rounds=len(calls) + 1)
    recorder = Recorder(opened, settings.candidates_kept)
    agent = AgentWalk(prepared.asked, opened, _Person(calls), prepared.offline, settings, recorder)
    walk = _walk(agent, opened, prepared, settings, recorder)
    trace = collect(walk, method="trailgraph", question=prepared.asked.text)
    tool = agent.tool
    return HandWalk(
        trace=_spoken(trace),
        at=next((visit.node for visit in reversed(tool.visits) if visit.node in opened.row), None),
        offered=tool.on_offer,
        before=tuple(path for path in tool.offered if path not in tool.on_offer),
        visited=dict(tool.visited),
        turned_to=tool.visits[-1].turned_to if tool.visits else None,
        hops=tool.hops,
        over=tool.stop() is not None,
    )


def _walk(
    agent: AgentWalk,
    opened: OpenGraph,
    prepared: Prepared,
    settings: TrailGraphSettings,
    recorder: Recorder,
) -> Walk:
    part = yield from agent.run()
    evidence = part.best[: settings.evidence]
    way = tuple(agent.tool.visited)
    recorder.name([*way, *evidence])
    return Outcome(
        info=opened.info,
        nodes=recorder.nodes(prepared.asked),
        path=("query", *way),
        evidence=evidence,
        stop=part.stop,
        settings={**settings_values(settings), "scoring": "person"},
    )


def _spoken(trace: Trace) -> Trace:
    """The trace with the person where the walk speaks of the model."""
    stop = trace.result.stop
    message = stop.message.replace("The model gave", "You gave")
    message = message.removesuffix(" Did you mean that?")
    remedy = "" if _STOPPED in message else stop.remedy
    result = replace(trace.result, stop=Stop(stop.reason, message, remedy))
    return replace(trace, result=result, steps=tuple(_step(step) for step in trace.steps))


def _step(step: Step) -> Step:
    items = tuple(
        replace(item, reason=item.reason.replace("the model", "the person"))
        for item in step.candidates
    )
    return replace(step, candidates=items)
