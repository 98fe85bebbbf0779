"""What a chat model is to the rest of Tracert: messages in, one reply out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model asks for; `arguments` is the raw text, valid JSON or not."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation; `tool_call_id` ties a tool's result to its call."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the model may call; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said and what it used, by the provider's own count."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    finish: str = "stop"


#: Called with each piece of text as it arrives.
OnText = Callable[[str], None]


class ChatModel(Protocol):
    """A language model behind whatever provider. Errors are `ModelError`s, nothing else."""

    @property
    def name(self) -> str:
        """The model's name as the provider knows it."""
        ...

    def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        max_tokens: int = 800,
        on_text: OnText | None = None,
    ) -> Reply:
        """The reply to a conversation.

        Raises:
            BudgetError: the allowed calls or tokens are used up; nothing was sent.
            ModelError: no usable reply; the text says what is wrong and what to do.
        """
        ...
