"""Several questions in one: taken apart by the model, or by a simple rule.

The rule: a text is cut behind a question mark, and at 'and' (with or without a comma) or a
semicolon where a question word follows. Each piece must be a question by itself: it begins
with a question word or an auxiliary verb, has three words or more, and none after the first
leans on the one before by a pronoun. If any piece fails, the text stays whole: half
a question finds less than a whole one. The rule knows English only.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from tracert.language.base import ChatModel, Message

#: More questions than this in one text are no longer walked one by one.
MOST: Final = 5
_ASKS: Final = (
    r"(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do|does|did|can|could|has"
    r"|have|had|in which|in what|on which|by whom|to whom|from which|for which)\b"
)
_CUT: Final = re.compile(rf"\?\s+|\s*;\s*(?:and\s+)?(?={_ASKS})|,?\s+and\s+(?={_ASKS})", re.I)
_BEGINS: Final = re.compile(rf"\W*{_ASKS}", re.IGNORECASE)
_LEANS: Final = re.compile(
    r"\b(?:it|its|he|him|his|she|her|hers|they|them|their|theirs|this|that|these|those|there|one"
    r"|ones|former|latter|same)\b",
    re.IGNORECASE,
)
_SYSTEM: Final = """\
You take a text apart into the separate questions that it asks. Each must be complete by \
itself: put names in place of pronouns. A question that needs several steps is still one \
question; a comparison is one question. Keep the language of the text.

Reply with one JSON object and nothing else: {"questions": ["...", "..."]}\
"""
_OBJECT: Final = re.compile(r"\{.*\}", re.DOTALL)


def split(text: str) -> tuple[str, ...]:
    """The questions of a text by the rule; the text alone where it asks one thing.

    >>> split("Who built the first pile, and when was the Leyden jar found?")
    ('Who built the first pile?', 'when was the Leyden jar found?')
    >>> split("Who built the first pile, and what did he build it of?")
    ('Who built the first pile, and what did he build it of?',)
    """
    pieces = [piece.strip(" ,;?\n") for piece in _CUT.split(text)]
    pieces = [piece for piece in pieces if piece]
    sound = all(_BEGINS.match(piece) and len(piece.split()) >= 3 for piece in pieces)
    leaning = any(_LEANS.search(piece) for piece in pieces[1:])
    if not 2 <= len(pieces) <= MOST or not sound or leaning:
        return (text,)
    return tuple(f"{piece}?" for piece in pieces)


def may_be_several(text: str) -> bool:
    """Whether a model is worth asking: there is a place at which the rule would cut."""
    return sum(bool(piece.strip(" ,;?\n")) for piece in _CUT.split(text)) > 1


def split_by_model(text: str, model: ChatModel) -> tuple[str, ...]:
    """The questions as the model takes them apart; the text alone where that fails to parse.

    Raises:
        ModelError: the model gave no reply.
    """
    reply = model.complete([Message("system", _SYSTEM), Message("user", text)], max_tokens=400)
    found = _OBJECT.search(reply.text)
    try:
        data: Any = json.loads(found.group()) if found else None
    except (ValueError, RecursionError):
        data = None
    listed = data.get("questions") if isinstance(data, dict) else None
    questions = [
        " ".join(question.split())
        for question in (listed if isinstance(listed, list) else ())
        if isinstance(question, str) and 3 <= len(question) <= 500
    ]
    return tuple(questions) if 2 <= len(questions) <= MOST else (text,)
