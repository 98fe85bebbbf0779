"""Names in a text without a language model: runs of words with a capital.

What it finds, and what it does not:

- A name is a run of words with a capital, joined by 'of', 'the', 'de', 'van' and their like, by
  initials and by titles ('Duke of Devonshire', 'J. J. Thomson', 'Mrs. Bennet'). Concepts in
  small letters ('the battery') are no entities; in a text that names nobody there is no graph.
- Two names without a comma between them run together ('In London Michael Faraday'). Such a run is
  taken apart where it stands once and both parts stand elsewhere on their own.
- The first word of a sentence has a capital anyway. It counts as a name where the corpus writes
  it with a capital inside sentences more often than without one.
- Nothing says what kind of thing a name is, or that 'he' is a person named before.
- English capitals are assumed: in German every noun would be a name.
- Two entities are related where they stand in one sentence; how they are related is not known.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from tracert.corpus.model import Chunk
from tracert.corpus.sentences import sentence_spans
from tracert.language.words import STOP, WORD

#: The longest name, in words.
_MOST_WORDS: Final = 8
#: How often both parts of a run must stand elsewhere, so that it is taken apart.
_ALONE: Final = 2
#: Longest sentence kept for summaries, in characters.
_LONGEST: Final = 320

#: Small words inside a name; 'the', 'la' and 'der' only behind another of them.
JOINING: Final = frozenset({"of", "de", "du", "des", "van", "von"})
_SECOND: Final = frozenset({"the", "la", "der", "den"})
_TITLES: Final = (
    "mr mrs ms miss dr sir lady lord captain colonel professor count countess duke duchess "
    "madame monsieur master mistress aunt uncle king queen prince princess st"
)
TITLES: Final = frozenset(_TITLES.split())
_NOT_NAMES: Final = (
    "january february march april may june july august september october november december "
    "monday tuesday wednesday thursday friday saturday sunday chapter volume section figure "
    "table page"
)
_TIMES: Final = frozenset(_NOT_NAMES.split())
#: A name behind one of these is where something is.
_LOCATING: Final = re.compile(r"\b(?:in|at|near|into|towards)\s+\Z", re.IGNORECASE)
_ROMAN: Final = re.compile(r"[IVXLC]+")
#: What may stand between two words of one name.
_GAP: Final = re.compile(r"[^\S\n]*\n?[^\S\n]*|-|\.[^\S\n]*\n?[^\S\n]*")
#: What ends a sentence before a word: a capital behind it proves nothing.
_BEFORE_FIRST: Final = re.compile(
    r"(?:^|[.!?:;…“\"‘(\[*_>|]|\n[^\S\n]*\n|[-–—]{1,2})[\s\"'“‘(\[*_#>-]*\Z"
)
_HEADING: Final = re.compile(r"^[^\S\n]{0,3}\#{1,6}[^\S\n].*$", re.MULTILINE)
_WHOLE: Final = re.compile(r"[\"'“‘(]*[A-Z0-9].*[.!?…][\"'”’)]*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Mention:
    """A name as it stands in a passage: `text[start:end]` of the passage of that row.

    `located` tells that 'in' or its like stands before it, as before a place.
    """

    row: int
    start: int
    end: int
    name: str
    located: bool = False


@dataclass(frozen=True, slots=True)
class NamedSentence:
    """A sentence of a passage and the names in it; `whole` tells that it is not cut."""

    row: int
    text: str
    names: tuple[str, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    end: int
    first: bool

    @property
    def lower(self) -> str:
        return self.text.lower()


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of words with a capital in a passage, not yet judged."""

    row: int
    words: tuple[_Word, ...]


def find_names(chunks: Sequence[Chunk]) -> list[Mention]:
    """The names in the passages of a corpus, in order; row i is `chunks[i]`."""
    runs: list[_Run] = []
    small: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    for row, chunk in enumerate(chunks):
        cut = row + 1 < len(chunks) and (
            chunks[row + 1].document_fingerprint == chunk.document_fingerprint
        )
        words = _words(chunk.text)
        for word in words:
            if not word.text[0].isupper():
                small[word.lower] += 1
            elif not word.first:
                inside[word.lower] += 1
        runs += _runs(row, chunk.text, words, cut)
    judged = [found for run in runs if (found := _judge(run, small, inside)) is not None]
    return [_mention(run, chunks[run.row].text) for run in _taken_apart(judged, chunks)]


def named_sentences(chunks: Sequence[Chunk], mentions: Iterable[Mention]) -> list[NamedSentence]:
    """The sentences that hold a name, each once though passages overlap, in order."""
    found: list[NamedSentence] = []
    seen: set[tuple[str, int, tuple[str, ...]]] = set()
    for row, group in groupby(mentions, key=lambda mention: mention.row):
        chunk = chunks[row]
        spans = sentence_spans(chunk.text)
        starts = [start for start, _ in spans]
        inside: dict[int, list[Mention]] = {}
        for mention in group:
            inside.setdefault(max(bisect_right(starts, mention.start) - 1, 0), []).append(mention)
        for place, held in inside.items():
            start, end = spans[place]
            # The first name's place in the document tells a sentence that two passages share.
            names = tuple(dict.fromkeys(mention.name for mention in held))
            key = (chunk.document_fingerprint, chunk.start + held[0].start, names)
            if key in seen:
                continue
            seen.add(key)
            text = " ".join(chunk.text[start:end].split())
            whole = (start > 0 or chunk.start == 0) and _WHOLE.fullmatch(text) is not None
            found.append(NamedSentence(row, text, names, whole and len(text) <= _LONGEST))
    return found


def _words(text: str) -> list[_Word]:
    """The words of a passage without its markdown headings, and whether each begins a sentence."""
    headings = [match.span() for match in _HEADING.finditer(text)]
    words: list[_Word] = []
    for match in WORD.finditer(text):
        start, end = match.span()
        if any(low <= start < high for low, high in headings):
            continue
        before = text[max(0, start - 12) : start]
        first = start == 0 or (
            _BEFORE_FIRST.search(before) is not None and not _after_title(words, text, start)
        )
        words.append(_Word(match.group(), start, end, first))
    return words


def _after_title(words: Sequence[_Word], text: str, start: int) -> bool:
    """Whether the word behind a full stop goes on a name: 'Mr. Darcy', 'J. Thomson'."""
    if not words or text[words[-1].end : start].strip() != ".":
        return False
    last = words[-1]
    return last.lower in TITLES or (len(last.text) == 1 and last.text.isupper())


def _runs(row: int, text: str, words: Sequence[_Word], cut: bool) -> list[_Run]:
    runs: list[list[_Word]] = []
    joining: list[_Word] = []
    for word in words:
        open_run = runs[-1] if runs and runs[-1] else None
        reach = (joining or open_run or [word])[-1]
        joined = open_run is not None and _joined(text, reach, word)
        if _is_name(word):
            if joined and open_run is not None and len(open_run) < _MOST_WORDS:
                open_run += [*joining, word]
            else:
                runs.append([word])
            joining = []
        elif joined and (word.text in JOINING or (joining and word.text in _SECOND)):
            joining.append(word)
        else:
            joining = []
            runs.append([])
    # The last word of a passage that goes on elsewhere may be half a word.
    return [_Run(row, tuple(run)) for run in runs if run and not (cut and run[-1].end == len(text))]


def _joined(text: str, last: _Word, word: _Word) -> bool:
    gap = text[last.end : word.start]
    if _GAP.fullmatch(gap) is None or last.text.endswith(("'s", "’s")):
        return False
    if not gap.strip():
        return True
    initial = len(last.text) == 1 and last.text.isupper()
    return gap == "-" or initial or last.lower in TITLES


def _is_name(word: _Word) -> bool:
    """A capital first, and no long word in capitals throughout, as headings have."""
    text = word.text
    return text[0].isupper() and not (len(text) > 4 and text.isupper())


def _judge(run: _Run, small: Counter[str], inside: Counter[str]) -> _Run | None:
    """The run without what only looks like a name; None where nothing is left."""
    words = list(run.words)
    while words and _only_first(words, small, inside):
        words.pop(0)
    while words and (words[-1].lower in STOP or words[-1].text in JOINING | _SECOND):
        words.pop()
    if all(word.lower in _TIMES | TITLES for word in words):
        return None
    if len(words) == 1 and (
        len(words[0].text) < 2 or _ROMAN.fullmatch(words[0].text) or words[0].text.isdigit()
    ):
        return None
    return _Run(run.row, tuple(words))


def _only_first(words: Sequence[_Word], small: Counter[str], inside: Counter[str]) -> bool:
    """Whether the first word of a run is no part of the name."""
    word, more = words[0], len(words) > 1
    if word.lower in STOP or word.lower.split("'")[0].split("’")[0] in STOP:
        return True
    if word.text in JOINING | _SECOND or (word.lower in _TIMES and more):
        return True
    if not word.first or (word.lower in TITLES and more):
        return False
    # A word that the corpus never writes small may open a name of several words.
    return inside[word.lower] <= small[word.lower] and not (more and not small[word.lower])


def _taken_apart(runs: Sequence[_Run], chunks: Sequence[Chunk]) -> list[_Run]:
    """Each run that stands once in the corpus as its two parts, where both stand elsewhere."""
    places: dict[str, set[tuple[str, int]]] = {}
    for run in runs:
        chunk = chunks[run.row]
        place = (chunk.document_fingerprint, chunk.start + run.words[0].start)
        places.setdefault(_text(run.words), set()).add(place)
    out: list[_Run] = []
    for run in runs:
        cut = _cut(run.words, places) if len(places[_text(run.words)]) == 1 else None
        parts = (run.words,) if cut is None else (run.words[: cut[0]], run.words[cut[1] :])
        out += [_Run(run.row, part) for part in parts]
    return out


def _cut(
    words: tuple[_Word, ...], places: Mapping[str, set[tuple[str, int]]]
) -> tuple[int, int] | None:
    """Where the first part ends and the second begins, between them only joining words."""
    for end in range(1, len(words)):
        begin = end
        while begin < len(words) and words[begin].text in JOINING | _SECOND:
            begin += 1
        parts = (_text(words[:end]), _text(words[begin:]))
        if all(len(places.get(part, ())) >= _ALONE for part in parts):
            return end, begin
    return None


def _text(words: Sequence[_Word]) -> str:
    """The name that these words are, without a possessive ending."""
    parts = [word.text for word in words]
    if parts:
        parts[-1] = parts[-1].removesuffix("'s").removesuffix("’s")
    return " ".join(parts)


def _mention(run: _Run, text: str) -> Mention:
    start, last = run.words[0].start, run.words[-1]
    end = last.end - (2 if last.text.endswith(("'s", "’s")) else 0)
    located = _LOCATING.search(text[max(0, start - 10) : start]) is not None
    return Mention(run.row, start, end, _text(run.words), located)
