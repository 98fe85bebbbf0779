"""A key that an endpoint repeats in what it says: left out before anyone sees or keeps it.

A reply goes into the answer, the trace, the exports and the recording, so a server that writes
the header it was sent into its reply would put the key into all of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tracert.language.base import OnText, Reply

#: A shorter key is that of a server that wants none, and may be a word of the reply.
SHORTEST: Final = 12
HIDDEN: Final = "[hidden]"


class Veil:
    """Leaves one key out of texts and replies; without a key, or with a short one, out of none."""

    def __init__(self, key: str | None) -> None:
        self._key = key if key is not None and len(key) >= SHORTEST else ""

    def text(self, text: str) -> str:
        """The text without the key."""
        return text.replace(self._key, HIDDEN) if self._key else text

    def reply(self, reply: Reply) -> Reply:
        """The reply without the key, in its text and in the calls of tools."""
        calls = tuple(
            replace(call, name=self.text(call.name), arguments=self.text(call.arguments))
            for call in reply.tool_calls
        )
        return replace(reply, text=self.text(reply.text), tool_calls=calls)

    def over(self, on_text: OnText) -> VeiledPieces:
        """The pieces of a streamed reply without the key, also where it comes in several."""
        return VeiledPieces(self, self._key, on_text)


class VeiledPieces:
    """Passes pieces on, but holds back an end that may be the beginning of the key."""

    def __init__(self, veil: Veil, key: str, on_text: OnText) -> None:
        self._veil, self._key, self._on_text = veil, key, on_text
        self._held = ""

    def __call__(self, piece: str) -> None:
        """Take the next piece."""
        text = self._veil.text(self._held + piece)
        longest = min(len(text), max(0, len(self._key) - 1))
        kept = next((n for n in range(longest, 0, -1) if self._key.startswith(text[-n:])), 0)
        self._held = text[len(text) - kept :]
        if len(text) > kept:
            self._on_text(text[: len(text) - kept])

    def end(self) -> None:
        """Pass on what was held back: the reply has ended."""
        held, self._held = self._held, ""
        if held:
            self._on_text(held)
