"""Is a text plainly not English? A hint for the page, made of common words and scripts."""

from __future__ import annotations

import re
from typing import Final

#: Frequent function words of English that hardly any other written language shares. Left out
#: are those that are words elsewhere too, such as 'in', 'a', 'an', 'so', 'me', 'on' or 'was'.
_WORDS: Final = frozenset(
    (
        *("the", "of", "and", "to", "that", "it", "is", "for", "with", "as", "his", "be", "at"),
        *("by", "had", "not", "are", "but", "from", "or", "have", "they", "which", "you", "were"),
        *("her", "she", "their", "there", "been", "this", "would", "when", "who", "what", "its"),
        *("if", "than", "into", "them", "could", "other", "has", "how", "these", "should", "my"),
    )
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_LATIN: Final = re.compile(r"[A-Za-zÀ-ɏ]")
#: Share of function words: English prose has 0.30 to 0.45 of these, other languages under 0.06,
#: tables and lists of names in English 0.05 to 0.2.
_SHARE: Final = 0.08
_FEW_WORDS: Final = 20
#: How much is read: three slices of this many characters, so that a preface does not decide.
_SLICE: Final = 6_000


def is_english(text: str) -> bool:
    """False where the text is plainly in another language, True where it is or may be English.

    Two signs are read: whether the letters are Latin, and the share of English function words.
    Texts of fewer than 20 words, code and tables have too few of either and count as English,
    unless their letters are of another script: the question is whether to warn a person that
    an English model will fare badly, and a warning should be right. Mixed texts go by what
    prevails in a slice each from beginning, middle and end. Scots, or English cut into lists
    of bare nouns over many pages, may be judged wrongly.
    """
    sample = _sample(text)
    words = _WORD.findall(sample)
    letters = sum(character.isalpha() for character in sample)
    if letters == 0:
        return True
    if len(_LATIN.findall(sample)) * 2 < letters:
        return False
    if len(words) < _FEW_WORDS:
        return True
    common = sum(word.lower() in _WORDS for word in words)
    return common >= _SHARE * len(words)


def _sample(text: str) -> str:
    if len(text) <= 3 * _SLICE:
        return text
    middle = (len(text) - _SLICE) // 2
    return " ".join((text[:_SLICE], text[middle : middle + _SLICE], text[-_SLICE:]))
