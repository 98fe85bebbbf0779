"""A limit on what a language model may cost, and a meter of what it did cost."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Final

from tracert.errors import BudgetError, SettingError
from tracert.language.base import ChatModel, Message, OnText, Reply, Tool
from tracert.trace import Cost

#: English text has about four characters a token with the usual tokenizers; the estimate
#: stands in where a provider counts nothing.
CHARACTERS_PER_TOKEN: Final = 4


def estimate_tokens(messages: Sequence[Message], reply: Reply | None = None) -> int:
    """The tokens of a conversation, guessed from its length; never less than one."""
    length = sum(
        len(message.content) + sum(len(call.arguments) for call in message.tool_calls)
        for message in messages
    )
    if reply is not None:
        length += len(reply.text) + sum(len(call.arguments) for call in reply.tool_calls)
    return max(1, -(-length // CHARACTERS_PER_TOKEN))


class Budget:
    """At most so many calls and so many tokens, shared by all who hold it; thread-safe.

    `reserve` is asked before a call is sent and counts the call at once, so that threads
    cannot overrun the limit of calls together. Tokens are known after the reply only: a call
    that begins within the budget may end above it, and the next one is refused. A provider
    that counts no tokens is charged `estimate_tokens`; `estimated` tells that this happened.
    """

    def __init__(self, calls: int | None = None, tokens: int | None = None) -> None:
        """Args are limits; None sets none.

        Raises:
            SettingError: a negative limit.
        """
        for name, value in (("calls", calls), ("tokens", tokens)):
            if value is not None and value < 0:
                raise SettingError(f"The budget of {name} is {value}. Pass 0 or more, or none.")
        self._calls, self._tokens = calls, tokens
        self._used_calls = self._used_tokens = 0
        self._estimated = False
        self._lock = threading.Lock()

    @property
    def calls(self) -> int:
        """The calls sent so far."""
        with self._lock:
            return self._used_calls

    @property
    def tokens(self) -> int:
        """The tokens used so far, prompt and reply together."""
        with self._lock:
            return self._used_tokens

    @property
    def estimated(self) -> bool:
        """Whether some of `tokens` are guessed from the length of the text."""
        with self._lock:
            return self._estimated

    def reserve(self) -> None:
        """Count one call, or refuse it.

        Raises:
            BudgetError: the calls or the tokens are used up.
        """
        with self._lock:
            if self._calls is not None and self._used_calls >= self._calls:
                raise BudgetError(
                    f"The budget of {self._calls} model calls is used up. Raise it in the "
                    "settings to go on with the model."
                )
            if self._tokens is not None and self._used_tokens >= self._tokens:
                raise BudgetError(
                    f"The budget of {self._tokens} tokens is used up ({self._used_tokens} used). "
                    "Raise it in the settings to go on with the model."
                )
            self._used_calls += 1

    def charge(self, tokens: int, *, estimated: bool = False) -> None:
        """Count the tokens of a reply that has come."""
        with self._lock:
            self._used_tokens += tokens
            self._estimated = self._estimated or estimated


class Meter:
    """A chat model that passes everything on and adds up what it cost.

    `cost` has the seconds under `stage`, every call that was answered, and the tokens by the
    provider's own count (0 from a provider that counts none).
    """

    def __init__(self, model: ChatModel, stage: str) -> None:
        self._model = model
        self._stage = stage
        self._cost = Cost()
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The name of the model behind."""
        return self._model.name

    @property
    def cost(self) -> Cost:
        """What the calls so far have cost, failed calls with their seconds."""
        with self._lock:
            return self._cost

    def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        max_tokens: int = 800,
        on_text: OnText | None = None,
    ) -> Reply:
        """The reply of the model behind; see `ChatModel.complete`."""
        begun = time.perf_counter()
        spent = Cost()
        try:
            reply = self._model.complete(
                messages, tools=tools, max_tokens=max_tokens, on_text=on_text
            )
            spent = Cost({}, 1, reply.prompt_tokens, reply.completion_tokens)
            return reply
        finally:
            seconds = Cost({self._stage: time.perf_counter() - begun})
            with self._lock:
                self._cost = self._cost.plus(seconds).plus(spent)
