"""Summary and key points for a note that has none: its first sentence, headings, centre.

A note without a sentence (code, lists of embedded notes) is summed up by its headings.

The centrality of a sentence is the mean weight of its terms,

    c(s) = 1 / sqrt(|T_s|) * sum_{t in T_s} log(n_t),   T_s the set of its terms,

where n_t is how many sentences of the note hold t: a cheap form of degree centrality in the
graph of sentences that share words (Erkan and Radev, 'LexRank', JAIR 22, 2004).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from tracert.corpus.sentences import sentence_spans
from tracert.knowledge.markup import headings, paragraphs
from tracert.language.words import terms

#: The longest summary and the longest key point, in characters.
_SUMMARY, _POINT = 220, 180
_HEADINGS, _SENTENCES = 6, 3
#: So much of a long note is looked at, in characters.
_SAMPLE: Final = 20_000
_GENERIC: Final = frozenset({"content", "summary", "overview", "introduction", "contents"})


def digest(text: str, start: int = 0, title: str = "") -> tuple[str, tuple[str, ...]]:
    """A summary (one line) and key points of the content `text[start:]`; '' and () of nothing."""
    content = text[start : start + _SAMPLE]
    found = [line for block in paragraphs(content) for line in _sentences(block)]
    points = [
        cut(words, _POINT)
        for _offset, _level, words in headings(content)
        if words.casefold() != title.casefold() and words.casefold() not in _GENERIC
    ]
    points = list(dict.fromkeys(points))[:_HEADINGS]
    summary = next((line for line in found if len(line.split()) >= 4), found[0] if found else "")
    if not summary:
        summary = ", ".join(points)
    central = [line for line in _central(found) if line != summary][:_SENTENCES]
    return cut(summary, _SUMMARY), (*points, *(cut(line, _POINT) for line in central))


def completed(
    text: str, start: int, title: str, summary: str, points: Sequence[str]
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Summary and key points of a note, made of its content where it lacks them; what was made."""
    made: list[str] = []
    if not summary or not points:
        own_summary, own_points = digest(text, start, title)
        if not summary and own_summary:
            summary = own_summary
            made.append("summary")
        if not points and own_points:
            points = own_points
            made.append("key_points")
    return summary, tuple(points), tuple(made)


def cut(text: str, most: int) -> str:
    """The text on one line, cut at a word where it is longer than `most` characters."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    return line[: most - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def _sentences(block: str) -> list[str]:
    return [block[start:end] for start, end in sentence_spans(block)]


def _central(sentences: Sequence[str]) -> list[str]:
    """The most central sentences in the order of the text, at most `_SENTENCES + 1`."""
    bags = [frozenset(terms(line)) for line in sentences]
    counts = Counter(term for bag in bags for term in bag)
    scored = [
        (sum(math.log(counts[term]) for term in bag) / math.sqrt(len(bag)), -place)
        for place, bag in enumerate(bags)
        if len(bag) >= 4 and re.search(r"[.!?…]\W*\Z", sentences[place])
    ]
    best = sorted(scored, reverse=True)[: _SENTENCES + 1]
    return [sentences[-place] for _score, place in sorted(best, key=lambda item: -item[1])]
