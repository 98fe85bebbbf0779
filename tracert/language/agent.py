"""A loop in which a model calls tools until it is done. It knows nothing about the tools.

Providers without tool calls get the same protocol as JSON in plain text: the tools are
described in words, the model replies with one JSON object, results come back as messages of
the user. Whatever a model does wrong is told to it as the result of its call; what the
provider does wrong ends the run with a sentence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Literal, Protocol

from tracert.errors import BudgetError, ModelError
from tracert.language.base import ChatModel, Message, OnText, Reply, Tool, ToolCall

#: At most so many calls of one reply are run.
MOST_CALLS: Final = 8
_TOKENS: Final = 1000
_TOOLS_REFUSED: Final = re.compile(r"\b(?:tools?|functions?|tool_choice)\b", re.IGNORECASE)
_THOUGHTS: Final = re.compile(r"<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_BY_TEXT: Final = """\
You have these tools:
{tools}

To call one, reply with one JSON object and nothing else, such as
{{"tool": "{name}", "arguments": {{...}}}}
The result comes in the next message. When you need no tool any more, reply in plain text.\
"""


class AgentTool(Protocol):
    """A tool as the loop sees it. An instance belongs to one run."""

    @property
    def schema(self) -> Tool:
        """Name, description and parameters for the model."""
        ...

    @property
    def disabled(self) -> bool:
        """Whether the tool is offered no more."""
        ...

    def run(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The result of a call, fit for JSON. Wrong arguments give a result that says so."""
        ...

    def stop(self) -> str | None:
        """Why the run must end after this call, None if it may go on."""
        ...


class EndReason(StrEnum):
    """Why an agent's run ended."""

    ANSWERED = "answered"
    TOOL = "tool"
    ROUNDS = "rounds"
    BUDGET = "budget"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Turn:
    """One call of a tool: what the model sent, what was made of it and what it got back."""

    call: ToolCall
    arguments: Mapping[str, Any]
    result: Mapping[str, Any]
    understood: bool


@dataclass(frozen=True, slots=True)
class AgentEnd:
    """How the run ended: why, the model's last words, and a sentence for the person."""

    reason: EndReason
    text: str
    message: str


def run_agent(
    model: ChatModel,
    tools: Sequence[AgentTool],
    messages: Sequence[Message],
    *,
    rounds: int,
    protocol: Literal["auto", "tools", "text"] = "auto",
    on_text: OnText | None = None,
) -> Generator[Turn, None, AgentEnd]:
    """Run the loop, yielding each call of a tool; raises no `ModelError`.

    Args:
        model: who decides.
        tools: what it may call; a disabled tool is not offered.
        messages: the conversation so far, the system's message first.
        rounds: how often the model is asked at most.
        protocol: 'tools' or 'text'; 'auto' begins with tools and goes over to text where the
            provider refuses them or the model's first reply calls none.
        on_text: gets the model's text as it comes.
    """
    talk = _Talk(model, tools, list(messages), by_text=protocol == "text", on_text=on_text)
    asked = 0
    while asked < rounds:
        first = asked == 0
        asked += 1
        try:
            reply = talk.ask()
        except BudgetError as error:
            return AgentEnd(EndReason.BUDGET, "", str(error))
        except ModelError as error:
            if first and protocol == "auto" and _TOOLS_REFUSED.search(str(error)):
                talk.by_text, protocol, asked = True, "text", 0
                continue
            return AgentEnd(EndReason.FAILED, "", str(error))
        calls = reply.tool_calls or _calls_in(reply.text, [tool.schema.name for tool in tools])
        if not calls:
            if first and protocol == "auto" and not talk.by_text:
                talk.by_text, protocol = True, "text"
                continue
            return AgentEnd(EndReason.ANSWERED, reply.text.strip(), "The model called no tool.")
        talk.said(reply, calls)
        for call in calls:
            turn, tool = talk.run(call)
            yield turn
            why = tool.stop() if tool is not None else None
            if why is not None:
                return AgentEnd(EndReason.TOOL, reply.text.strip(), why)
    return AgentEnd(
        EndReason.ROUNDS, "", f"The model was asked {rounds} times and had not come to an end."
    )


class _Talk:
    """The conversation, in either protocol."""

    def __init__(
        self,
        model: ChatModel,
        tools: Sequence[AgentTool],
        messages: list[Message],
        *,
        by_text: bool,
        on_text: OnText | None,
    ) -> None:
        self._model = model
        self._tools = {tool.schema.name: tool for tool in tools}
        self._messages = messages
        self._on_text = on_text
        self.by_text = by_text

    def ask(self) -> Reply:
        active = [tool.schema for tool in self._tools.values() if not tool.disabled]
        if not self.by_text:
            return self._model.complete(
                self._messages, tools=active, max_tokens=_TOKENS, on_text=self._on_text
            )
        messages = self._messages
        if active:
            system, *rest = messages
            text = f"{system.content}\n\n{_described(active)}"
            messages = [Message("system", text), *rest]
        return self._model.complete(messages, max_tokens=_TOKENS, on_text=self._on_text)

    def said(self, reply: Reply, calls: Sequence[ToolCall]) -> None:
        """Keep what the model said; every call of a kept message gets a result."""
        if self.by_text or not reply.tool_calls:
            self._messages.append(Message("assistant", reply.text or json.dumps(_object(calls[0]))))
        else:
            self._messages.append(Message("assistant", reply.text, tool_calls=reply.tool_calls))
            for call in reply.tool_calls[MOST_CALLS:]:
                self._answer(call, {"error": f"At most {MOST_CALLS} calls at once are run."})

    def run(self, call: ToolCall) -> tuple[Turn, AgentTool | None]:
        tool = self._tools.get(call.name)
        arguments, wrong = _arguments(call)
        result: Mapping[str, Any]
        if tool is None:
            known = ", ".join(self._tools)
            result = {"error": f"There is no tool {call.name[:60]!r}. Tools: {known}."}
        elif tool.disabled:
            result = {"error": "The tool is not available any more."}
        elif wrong:
            result = {"error": wrong}
        else:
            result = tool.run(arguments)
        understood = tool is not None and not wrong and "error" not in result
        self._answer(call, result)
        return Turn(call, arguments, result, understood), tool

    def _answer(self, call: ToolCall, result: Mapping[str, Any]) -> None:
        text = json.dumps(result, ensure_ascii=False)
        if self.by_text or not self._offers(call):
            self._messages.append(Message("user", f"Result of {call.name[:60]}: {text}"))
        else:
            self._messages.append(Message("tool", text, tool_call_id=call.id))

    def _offers(self, call: ToolCall) -> bool:
        """Whether the call came as a call, so that the protocol wants a tool's message for it."""
        return any(call in message.tool_calls for message in self._messages)


def _arguments(call: ToolCall) -> tuple[Mapping[str, Any], str]:
    """The arguments as an object, and what is wrong with them ('' if nothing)."""
    try:
        data = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return {}, "The arguments are not JSON. Send one JSON object."
    if not isinstance(data, dict):
        return {}, "The arguments are no JSON object. Send one."
    return data, ""


def _described(tools: Sequence[Tool]) -> str:
    lines = [
        f"- {tool.name}: {tool.description} Arguments, as a JSON schema: "
        f"{json.dumps(tool.parameters, ensure_ascii=False)}"
        for tool in tools
    ]
    return _BY_TEXT.format(tools="\n".join(lines), name=tools[0].name)


def _object(call: ToolCall) -> dict[str, str]:
    return {"tool": call.name, "arguments": call.arguments}


def _calls_in(text: str, names: Sequence[str]) -> tuple[ToolCall, ...]:
    """Calls that a model wrote as JSON into its text; only of tools that exist."""
    found: list[ToolCall] = []
    decoder = json.JSONDecoder()
    text = _THOUGHTS.sub("", text)
    place = text.find("{")
    while place != -1 and len(found) < MOST_CALLS:
        try:
            data, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            place = text.find("{", place + 1)
            continue
        name = data.get("tool", data.get("name")) if isinstance(data, dict) else None
        if name in names:
            arguments = data.get("arguments", data.get("parameters", {}))
            raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
            found.append(ToolCall(f"text_{len(found)}", str(name), raw))
        place = text.find("{", end)
    return tuple(found)
