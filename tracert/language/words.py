"""The words of a text that carry meaning, for scores that count words."""

from __future__ import annotations

import re
from typing import Final

WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_STOP_WORDS: Final = (
    "a about after all also an and any are as at be because been before being between both but "
    "by can could did do does doing done during each else ever every few first for from further "
    "had has have having he her here him his how i if in into is it its just kind last like "
    "made make many me more most much my no nor not now of off on once one only or other our "
    "out over own same she should so some such than that the their them then there these they "
    "this those through to too two under until up upon us very was we were what when where "
    "which while who whom whose why will with would you your "
)
STOP: Final = frozenset(_STOP_WORDS.split())
#: Endings taken off, each from words of at least so many letters, and what takes their place.
_ENDINGS: Final = (
    ("ies", 5, "y"),
    ("sses", 6, "ss"),
    ("xes", 5, "x"),
    ("ches", 6, "ch"),
    ("shes", 6, "sh"),
    ("ing", 6, ""),
    ("ed", 5, ""),
    ("s", 4, ""),
)


def terms(text: str) -> list[str]:
    """The words of a text in order, without stop words, in lower case and stemmed."""
    words = (match.group().lower().replace("’", "'") for match in WORD.finditer(text))
    return [stem(word) for word in words if word not in STOP and len(word) > 1]


def stem(word: str) -> str:
    """An English word without its commonest endings: a light stemmer, not Porter's.

    >>> [stem(word) for word in ("batteries", "walking", "invented", "coils", "piles", "glass")]
    ['battery', 'walk', 'invent', 'coil', 'pil', 'glass']
    """
    word = word.removesuffix("'s")
    for ending, least, instead in _ENDINGS:
        if len(word) >= least and word.endswith(ending) and not word.endswith("ss"):
            word = word.removesuffix(ending) + instead
            break
    return word.removesuffix("e") if len(word) > 3 else word
