"""An answer without a model: the best sentences of the evidence, each with its passage.

Sentences are whole. A passage of fixed length starts and ends in the middle of one, so the
pieces at its edges are left out, unless a neighbouring passage of the evidence completes them.

score(s) = w(q, s) + ALIKE * cos(q, s) + BRIDGE * w(c, s) + KIND * k(s) - LOOSE * l(s)

where w(a, s) is the share of the weight of a's terms that s holds, a term weighing
log(1 + n / its number of sentences) among the n sentences of the evidence; cos is the
embedder's, 0 without one; c are the names in the sentences chosen before, so
that the second sentence continues the first instead of repeating it; k is 1 where s holds the
kind of thing asked for (a name for 'who', a year for 'when', a number for 'how many'); l is 1
where s begins with a word that points to a sentence left out ('He', 'This'). Terms of the
question that are covered already count half. Of every note that a walk opened the best sentence
is taken first, since the walk is sure of that note. This is a heuristic of ours, not a published
method; the weights were chosen on the built-in questions by the share of the answer's terms
in the extract, and differences between neighbouring values were small.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tracert.corpus.sentences import sentence_spans
from tracert.language.words import WORD, terms
from tracert.trace import Answer, Node, NodeKind, Sentence, Trace

Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]

NOTE: Final = "These are sentences of the passages found, not an answer written for the question."
NOTHING: Final = "No passage was found, so there is nothing to answer from."
NO_SENTENCE: Final = "The passages found hold no whole sentence; their text is shown as it is."

MOST: Final = 4
#: Beyond the second sentence, one that scores less than this share of the first is left out.
_ENOUGH: Final = 0.25
#: The weight of the cosine of question and sentence.
_ALIKE: Final = 0.4
#: The weight of what ties a sentence to those chosen before.
_BRIDGE: Final = 0.35
#: What the kind of thing asked for adds, and what a dangling first word takes away.
_KIND, _LOOSE = 0.15, 0.1
#: The longest sentence of an extract and the fewest words of one.
_LONGEST, _SHORTEST = 500, 4
#: Where more of the words than this begin with a capital or a digit, they are names and titles.
_CAPITALS: Final = 0.6
#: At most so many sentences are embedded: the evidence of a long walk is cut there.
_EMBEDDED: Final = 200

_FULL_STOP: Final = re.compile(r"[.!?…。！？][\"'”’»)\]*_]*\Z")
#: Endings of files of passages. A trace does not tell what kind of file a document was.
_OF_PASSAGES: Final = (".csv", ".tsv", ".jsonl", ".ndjson")
_OPENING: Final = re.compile(r"[\"'“‘«(\[*_#\s]*[A-Z0-9]")
_NEW_PARAGRAPH: Final = re.compile(r"[^\S\n]*\n[^\S\n]*\n")
_DANGLING: Final = re.compile(r"(?:He|She|It|They|His|Her|Its|Their|This|That|These|Those|One)\b")
_ASKS_NUMBER: Final = re.compile(r"\bhow (?:many|much|long|far)\b", re.IGNORECASE)
_ASKS_TIME: Final = re.compile(r"\bwhen\b|\b(?:which|what) year\b", re.IGNORECASE)
_ASKS_NAME: Final = re.compile(r"\b(?:who|whose|whom)\b", re.IGNORECASE)
_YEAR: Final = re.compile(r"\b[12]\d{3}\b")
_MARKS: Final = re.compile(r"^\s*(?:[-*+•>]|\d{1,3}[.)]|#{1,6})\s+|\*\*|__|`")


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A whole sentence, with the passage it stands in and its place among all."""

    text: str
    node: str
    order: int
    terms: frozenset[str]
    names: frozenset[str]


def extract(trace: Trace, embed: Embed | None = None, most: int = MOST) -> Answer:
    """The best sentences of the evidence, at most `most`, in the order of the evidence."""
    evidence = [trace.node(id) for id in trace.result.evidence]
    if not evidence:
        return Answer((), "extract", NOTHING)
    candidates = _candidates(evidence)
    if not candidates:
        shown = tuple(
            Sentence(f"… {' '.join(node.text.split())} …", (node.id,)) for node in evidence[:1]
        )
        return Answer(shown, "extract", NO_SENTENCE)
    opened = [node.id for node in evidence if node.kind is NodeKind.NOTE and node.source]
    chosen = _choose(trace.question, candidates, embed, most, opened)
    sentences = tuple(Sentence(candidate.text, (candidate.node,)) for candidate in chosen)
    return Answer(sentences, "extract", NOTE)


# --- whole sentences ----------------------------------------------------------------------


@dataclass(slots=True)
class _Stretch:
    """Passages of one document that touch or overlap, put together again."""

    start: int
    text: str
    parts: list[tuple[int, int, Node, int]]

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def _candidates(evidence: Sequence[Node]) -> list[_Candidate]:
    """The whole sentences of the passages, each once, in the order of the evidence."""
    snapped = _snapped(evidence)
    found: list[tuple[int, int, str, str]] = []
    for stretch in _stretches(evidence):
        for start, end in _whole(stretch, snapped):
            text = _plain(stretch.text[start:end])
            if not _readable(text):
                continue
            order, node = _home(stretch, start, end)
            found.append((order, stretch.start + start, node, text))
    seen: set[str] = set()
    candidates: list[_Candidate] = []
    for _order, _start, node, text in sorted(found, key=lambda item: item[:2]):
        if text in seen:
            continue
        seen.add(text)
        candidates.append(
            _Candidate(text, node, len(candidates), frozenset(terms(text)), _names(text))
        )
    return candidates


def _stretches(evidence: Sequence[Node]) -> list[_Stretch]:
    """The passages joined where their offsets say that they touch and their texts agree."""
    stretches: list[_Stretch] = []
    placed = [(order, node) for order, node in enumerate(evidence)]
    placed.sort(key=lambda item: _place(item[1]))
    document: str | None = None
    for order, node in placed:
        source = node.source
        if source is None or source.end - source.start != len(node.text):
            stretches.append(_Stretch(0, node.text, [(0, len(node.text), node, order)]))
            document = None
            continue
        last = stretches[-1] if stretches and document == source.document else None
        if last is not None and source.start <= last.end:
            shared = last.text[source.start - last.start :]
            if node.text.startswith(shared) or shared.startswith(node.text):
                last.text += node.text[len(shared) :]
                last.parts.append((source.start, source.end, node, order))
                continue
        stretches.append(
            _Stretch(source.start, node.text, [(source.start, source.end, node, order)])
        )
        document = source.document
    return stretches


def _place(node: Node) -> tuple[str, int]:
    return (node.source.document, node.source.start) if node.source else ("", -1)


def _snapped(evidence: Sequence[Node]) -> bool:
    """Whether the passages are cut at sentences, so that their edges are whole.

    A trace does not tell how its corpus was chunked. Two passages of one length are of
    a fixed length; otherwise all must begin and end as sentences do.
    """
    texts = [node.text.strip() for node in evidence if node.kind is NodeKind.CHUNK]
    lengths = Counter(len(node.text) for node in evidence if node.kind is NodeKind.CHUNK)
    return (
        len(texts) > 1
        and max(lengths.values()) == 1
        and all(_OPENING.match(text) and _FULL_STOP.search(text) for text in texts)
    )


def _whole(stretch: _Stretch, snapped: bool) -> list[tuple[int, int]]:
    """The spans of the sentences that are not cut by the edges of the stretch."""
    text = stretch.text
    spans = sentence_spans(text)
    if not spans:
        return []
    is_note = all(
        node.kind is NodeKind.NOTE or node.source is None
        for _start, _end, node, _order in stretch.parts
    )
    is_row = all(_is_row(node) for _start, _end, node, _order in stretch.parts)
    open_start = stretch.start > 0 and not is_row and _NEW_PARAGRAPH.match(text) is None
    if open_start and not snapped and not is_note:
        # A first piece of one word may be the end of an abbreviation ('Mr.' cut to 'r.'), and
        # then the second piece goes on with the same sentence.
        spans = spans[1 if " " in text[slice(*spans[0])] else 2 :]
    # What follows the stretch is unknown: a sentence begun behind it shows whether the last
    # full stop ends a sentence or an abbreviation.
    probe = sentence_spans(text + " The")
    ends_whole = bool(_FULL_STOP.search(text.rstrip())) and probe[-1][0] >= len(text)
    if spans and not ends_whole and not is_note:
        spans = spans[:-1]
    return spans


def _is_row(node: Node) -> bool:
    """Whether a passage is a row of a file of passages, which begins where its sentence does."""
    named = "" if node.source is None else node.source.document.lower()
    return named.endswith(_OF_PASSAGES) and _OPENING.match(node.text) is not None


def _home(stretch: _Stretch, start: int, end: int) -> tuple[int, str]:
    """The passage of a sentence: the first of the evidence that holds all of it, or most."""
    absolute = (stretch.start + start, stretch.start + end)

    def rank(part: tuple[int, int, Node, int]) -> tuple[int, int]:
        shared = min(part[1], absolute[1]) - max(part[0], absolute[0])
        return (-max(shared, 0), part[3])

    _start, _end, node, order = min(stretch.parts, key=rank)
    return order, node.id


def _readable(text: str) -> bool:
    """A sentence to quote: not a heading, a table, a scrap or the entry of a bibliography."""
    words = WORD.findall(text)
    capitals = sum(word[0].isupper() or word[0].isdigit() for word in words)
    return (
        len(text) <= _LONGEST
        and len(words) >= _SHORTEST
        and capitals <= _CAPITALS * len(words)
        and _FULL_STOP.search(text) is not None
        and "|" not in text
    )


def _plain(text: str) -> str:
    """The sentence on one line, without marks of a list, a heading or emphasis."""
    return " ".join(_MARKS.sub("", text).split())


# --- choosing -----------------------------------------------------------------------------


def _choose(
    question: str,
    candidates: Sequence[_Candidate],
    embed: Embed | None,
    most: int,
    opened: Sequence[str],
) -> list[_Candidate]:
    counts = Counter(term for candidate in candidates for term in candidate.terms)
    weight = {term: math.log(1 + len(candidates) / count) for term, count in counts.items()}
    asked = {term for term in terms(question) if term in weight}
    total = sum(weight[term] for term in asked) or 1.0
    alike = _similarities(question, candidates, embed)
    chosen: list[_Candidate] = []
    covered: set[str] = set()
    names: set[str] = set()
    first = 0.0

    kind = _kind_asked(question)

    def score(candidate: _Candidate) -> float:
        held = asked & candidate.terms
        share = sum(weight[term] * (0.5 if term in covered else 1.0) for term in held) / total
        bridge = names & candidate.names
        tie = sum(weight[name] for name in bridge) / (sum(weight[name] for name in names) or 1.0)
        value = share + _ALIKE * alike[candidate.order] + _BRIDGE * tie
        if kind is not None and kind(candidate):
            value += _KIND
        if _DANGLING.match(candidate.text):
            value -= _LOOSE
        return value

    left = list(candidates)
    due = [id for id in opened if any(candidate.node == id for candidate in candidates)]
    while left and len(chosen) < most:
        wanted = due.pop(0) if due else None
        open_to = [item for item in left if wanted in (None, item.node)]
        best = max(open_to, key=lambda candidate: (score(candidate), -candidate.order))
        value = score(best)
        if wanted is None and len(chosen) >= 2 and value < _ENOUGH * first:
            break
        first = first or value
        left.remove(best)
        chosen.append(best)
        covered |= asked & best.terms
        names |= best.names - asked
    return sorted(chosen, key=lambda candidate: candidate.order)


def _kind_asked(question: str) -> Callable[[_Candidate], bool] | None:
    """Whether a sentence holds the kind of thing that the question asks for, if it tells."""
    if _ASKS_NUMBER.search(question):
        return lambda candidate: any(map(str.isdigit, candidate.text))
    if _ASKS_TIME.search(question):
        return lambda candidate: _YEAR.search(candidate.text) is not None
    if _ASKS_NAME.search(question):
        asked = frozenset(terms(question))
        return lambda candidate: not candidate.names <= asked
    return None


def _similarities(
    question: str, candidates: Sequence[_Candidate], embed: Embed | None
) -> list[float]:
    """The cosine of each sentence to the question, 0 without an embedder."""
    if embed is None:
        return [0.0] * len(candidates)
    texts = [candidate.text for candidate in candidates[:_EMBEDDED]]
    vectors = embed([question, *texts])
    values = [float(value) for value in vectors[1:] @ vectors[0]]
    return values + [0.0] * (len(candidates) - len(values))


def _names(text: str) -> frozenset[str]:
    """The terms written with a capital inside the sentence: people, places, things."""
    words = [match.group() for match in WORD.finditer(text)]
    return frozenset(
        term for word in words[1:] if word[0].isupper() and len(word) > 2 for term in terms(word)
    )
