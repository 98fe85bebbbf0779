"""Every exchange with a model kept, and answered again later without a key.

A recording is a JSON object with the schema `tracert.recording/1` and a list of exchanges:
what was sent, what came back. It holds no key and no address. The same conversation may be
held several times with different replies; they are replayed in the order recorded, the last
one from then on.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from tracert.errors import ModelError
from tracert.language.base import ChatModel, Message, OnText, Reply, Tool, ToolCall
from tracert.trace import ModelReply, Replies, Trace

SCHEMA: Final = "tracert.recording/1"
#: A recording larger than this is refused before it is parsed.
MAX_BYTES: Final = 100_000_000
#: A trace names its schema within so many of its first bytes.
_HEAD: Final = 200
_ROLES: Final = frozenset({"system", "user", "assistant", "tool"})


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call: what was sent and what came back."""

    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]
    reply: Reply

    @property
    def key(self) -> str:
        """The hash of what was sent."""
        return exchange_key(self.messages, self.tools)


@dataclass(frozen=True, slots=True)
class Recording:
    """The exchanges with one model, in order."""

    model: str
    exchanges: tuple[Exchange, ...]

    def to_json(self, *, indent: int | None = None) -> str:
        """The recording as JSON text."""
        data = {
            "schema": SCHEMA,
            "model": self.model,
            "exchanges": [
                {
                    "key": exchange.key,
                    "messages": [asdict(message) for message in exchange.messages],
                    "tools": [asdict(tool) for tool in exchange.tools],
                    "reply": asdict(exchange.reply),
                }
                for exchange in self.exchanges
            ],
        }
        return json.dumps(data, ensure_ascii=False, indent=indent)

    @staticmethod
    def from_json(text: str | bytes) -> Recording:
        """Read a recording back.

        Raises:
            ModelError: the text is no recording, is damaged, too large or of another version.
        """
        if len(text) > MAX_BYTES:
            raise ModelError(
                f"The recording has {len(text) / 1e6:.0f} MB; at most {MAX_BYTES / 1e6:.0f} MB "
                "are read. Record fewer questions in one file."
            )
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise ModelError(
                f"This file is no recording of the schema {SCHEMA!r}. Open one that this "
                "version of Tracert wrote."
            )
        try:
            exchanges = tuple(_exchange(entry) for entry in data["exchanges"])
            return Recording(_text(data["model"]), exchanges)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(
                f"The recording is damaged near {str(error)[:120]!r}. Record the run again."
            ) from error


def exchange_key(messages: Sequence[Message], tools: Sequence[Tool] = ()) -> str:
    """A hash of a conversation and its tools, stable across processes and versions.

    SHA-256 over JSON with sorted keys. The names of the calls' ids, which a provider draws
    at random, count by their order only, so that a replayed run finds its later turns.
    """
    order: dict[str, str] = {}

    def numbered(id: str | None) -> str | None:
        return None if id is None else order.setdefault(id, f"call:{len(order)}")

    data = {
        "messages": [
            {
                "role": message.role,
                "content": message.content,
                "tool_calls": [
                    [numbered(call.id), call.name, call.arguments] for call in message.tool_calls
                ],
                "tool_call_id": numbered(message.tool_call_id),
            }
            for message in messages
        ],
        "tools": [[tool.name, tool.description, tool.parameters] for tool in tools],
    }
    text = json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Recorder:
    """A chat model that keeps every answered exchange of the model behind it; thread-safe."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._exchanges: list[Exchange] = []
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The name of the model behind."""
        return self._model.name

    @property
    def recording(self) -> Recording:
        """What was recorded so far."""
        with self._lock:
            return Recording(self.name, tuple(self._exchanges))

    @property
    def replies(self) -> Replies:
        """The replies so far as a trace keeps them: what was sent is named by its hash."""
        with self._lock:
            return Replies(self.name, tuple(_kept(exchange) for exchange in self._exchanges))

    def keep(self, messages: Sequence[Message], reply: Reply) -> None:
        """Record a reply that was given before and is used again in place of a call."""
        with self._lock:
            self._exchanges.append(Exchange(tuple(messages), (), reply))

    def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        max_tokens: int = 800,
        on_text: OnText | None = None,
    ) -> Reply:
        """The reply of the model behind; see `ChatModel.complete`."""
        reply = self._model.complete(messages, tools=tools, max_tokens=max_tokens, on_text=on_text)
        with self._lock:
            self._exchanges.append(Exchange(tuple(messages), tuple(tools), reply))
        return reply


class Replayer:
    """A chat model that answers from a recording: no key, no network; thread-safe."""

    def __init__(self, recording: Recording | Replies) -> None:
        """Answer from a recording, or from the replies that a trace carries."""
        self._name = recording.model
        self._replies: dict[str, list[Reply]] = {}
        for key, reply in _by_key(recording):
            self._replies.setdefault(key, []).append(reply)
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The name of the model that was recorded."""
        return self._name

    def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        max_tokens: int = 800,  # noqa: ARG002 the reply is what it was
        on_text: OnText | None = None,
    ) -> Reply:
        """The reply that was recorded; `on_text` gets it in one piece.

        Raises:
            ModelError: this exchange was not recorded.
        """
        with self._lock:
            replies = self._replies.get(exchange_key(messages, tools))
            if not replies:
                last = " ".join(messages[-1].content.split())[:60] if messages else ""
                raise ModelError(
                    f"The recording of {self._name!r} has no reply to '{last}'. Ask as it was "
                    "asked when it was recorded, or name a model."
                )
            reply = replies.pop(0) if len(replies) > 1 else replies[0]
        if on_text is not None and reply.text:
            on_text(reply.text)
        return reply


def _kept(exchange: Exchange) -> ModelReply:
    reply = exchange.reply
    return ModelReply(
        exchange.key,
        reply.text,
        tuple((call.id, call.name, call.arguments) for call in reply.tool_calls),
        reply.prompt_tokens,
        reply.completion_tokens,
        reply.finish,
    )


def _by_key(recording: Recording | Replies) -> list[tuple[str, Reply]]:
    if isinstance(recording, Recording):
        return [(exchange.key, exchange.reply) for exchange in recording.exchanges]
    return [
        (
            said.key,
            Reply(
                said.text,
                tuple(ToolCall(*call) for call in said.calls),
                said.prompt_tokens,
                said.completion_tokens,
                said.finish,
            ),
        )
        for said in recording.replies
    ]


def replayer(text: str | bytes) -> Replayer:
    """A model that answers from a recording, or from a trace that carries the replies.

    Raises:
        ModelError: the text is neither, or no model was asked in the run of the trace.
        TraceError: it is a trace, but damaged.
    """
    if b'"tracert.trace/' not in (text.encode() if isinstance(text, str) else text)[:_HEAD]:
        return Replayer(Recording.from_json(text))
    replies = Trace.from_json(text).replies
    if replies is None:
        raise ModelError(
            "This trace holds no replies, since no model was asked in its run. Leave --replay out."
        )
    return Replayer(replies)


# --- from JSON ----------------------------------------------------------------------------


def _exchange(data: Mapping[str, Any]) -> Exchange:
    return Exchange(
        messages=tuple(_message(entry) for entry in data["messages"]),
        tools=tuple(
            Tool(_text(entry["name"]), _text(entry["description"]), dict(entry["parameters"]))
            for entry in data["tools"]
        ),
        reply=_reply(data["reply"]),
    )


def _message(data: Mapping[str, Any]) -> Message:
    role = data["role"]
    if role not in _ROLES:
        raise ValueError(f"role {role!r}")
    id = data.get("tool_call_id")
    return Message(
        role,
        _text(data["content"]),
        _calls(data.get("tool_calls", ())),
        None if id is None else _text(id),
    )


def _reply(data: Mapping[str, Any]) -> Reply:
    return Reply(
        text=_text(data["text"]),
        tool_calls=_calls(data.get("tool_calls", ())),
        prompt_tokens=int(data.get("prompt_tokens", 0)),
        completion_tokens=int(data.get("completion_tokens", 0)),
        finish=_text(data.get("finish", "stop")),
    )


def _calls(data: Iterable[Mapping[str, Any]]) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(_text(call["id"]), _text(call["name"]), _text(call["arguments"])) for call in data
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    return value
