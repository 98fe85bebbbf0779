"""Does the endpoint work? One sentence, for the button in the settings and for the terminal."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Final

from tracert.errors import ModelError
from tracert.language.base import Message
from tracert.language.client import OpenAIChat

#: Enough for a word and for the thoughts of a model that thinks before it writes.
_TOKENS: Final = 400
#: How many of an endpoint's models a message names.
_NAMED: Final = 6


def check_connection(chat: OpenAIChat) -> str:
    """A sentence that says the model answers, after one tiny call.

    The list of models is asked for first, since it costs nothing and tells a wrong name from
    a wrong address. Some endpoints have none; then the call alone decides.

    Raises:
        ModelError: what is wrong, and what to do about it.
    """
    offered = _offered(chat)
    if offered and chat.name not in offered and f"{chat.name}:latest" not in offered:
        raise ModelError(
            f"The endpoint {chat.base_url} answers, but has no model named {chat.name!r}; it "
            f"offers: {_some(chat.name, offered)}."
        )
    chat.complete([Message("user", "Answer with the one word: yes")], max_tokens=_TOKENS)
    return f"The model {chat.name!r} at {chat.base_url} answers."


def _offered(chat: OpenAIChat) -> list[str]:
    try:
        return chat.models()
    except ModelError:
        # No list is no fault: the call that follows says what is wrong, if anything is.
        return []


def _some(wanted: str, offered: Sequence[str]) -> str:
    """The names nearest to the one wanted, then the first ones, and how many there are."""
    near = difflib.get_close_matches(wanted, offered, n=_NAMED, cutoff=0.4)
    named = (near + [name for name in offered if name not in near])[:_NAMED]
    rest = len(offered) - len(named)
    return ", ".join(named) + (f" and {rest} more" if rest else "")
