"""A chat model that says what the test wrote down: for code behind the model's boundary."""

from __future__ import annotations

from collections.abc import Sequence

from tracert.language.base import Message, OnText, Reply, Tool


class ScriptedModel:
    """Gives the replies in order (a text stands for a plain reply) and raises the errors."""

    def __init__(self, *script: Reply | str | Exception, name: str = "scripted") -> None:
        self.name = name
        self.asked: list[tuple[Message, ...]] = []
        self._script = list(script)

    def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        max_tokens: int = 800,
        on_text: OnText | None = None,
    ) -> Reply:
        self.asked.append(tuple(messages))
        said = self._script.pop(0)
        if isinstance(said, Exception):
            raise said
        reply = Reply(said, (), 10, 5) if isinstance(said, str) else said
        if on_text is not None:
            on_text(reply.text)
        return reply
