"""The goal of a Tracert walk without a language model: what the nearest passages add.

A term t that the question does not hold is scored over the passages p_0, p_1, ... nearest to
the question, as relevance feedback does (Lavrenko and Croft, 'Relevance-Based Language Models',
2001), with the inverse document frequency (Sparck Jones, 1972) for its rarity:

    score(t) = name(t) * idf(t) * sum over i with t in p_i of 1 / (1 + i / 10)
    idf(t)   = log((|B| + 1) / (|{b in B : t in b}| + 1/2))

where B is an even sample of the corpus and name(t) is 2 for a name, that is a word that stands
with a capital inside a sentence, else 1: who was with whom is what a next passage is found by.
Only terms of at least two passages count, unless there are too few. The best terms are the goal.

The question's own terms are left out, unlike in RM3: with them the goal lies so near the
question that the radius of equation 1 holds no passage. A sentence of the passages, or their
mean, as the goal is reached after one passage and shows nothing. benchmarks/tune_tracert.py has
the figures.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tracert.language.goal_text import GoalText
from tracert.language.words import STOP

#: How many passages nearest to the question to pass in, and how many of the whole corpus.
FEEDBACK: Final = 10
BACKGROUND: Final = 128
_TERMS: Final = 7
_IN_CONCEPT: Final = 3
_NAME: Final = 2.0
_FEWEST_PASSAGES: Final = 2
#: The passage of that rank counts half as much as the nearest.
_HALF: Final = 10

_WORD: Final = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_SHORTEST: Final = 3
#: What stands before a word that begins a sentence, next but one to it.
_SENTENCE_ENDS: Final = frozenset('.!?:;”"\n#*')
#: Words that no goal is about, beside the stop words that all scores leave out.
_EMPTY: Final = STOP | frozenset(
    """
    above again against ago almost along already although always among another anyone
    anything around aside away back became become began behind below beneath beside besides
    beyond came cannot come down either enough even everyone everything full gave get give
    given goes going gone got half hence hers herself himself however indeed instead itself
    keep kept later least less let little may might mine must myself near nearly neither
    never next nobody none nothing often onto others ought ours part perhaps put quite
    rather said saw say second seemed seen several shall since someone something soon still
    take taken theirs themselves therefore thing things though three thus till together took
    toward towards unto use used way well went whatever whether whole within without yes yet
    yours
    """.split()  # noqa: SIM905
)

#: What a question asks for, by its words, the first match counts.
_KINDS: Final = (
    ("Comparison", r"\b(both|earlier|later|older|younger|longer|shorter|than|compare|contrast)\b"),
    ("Person", r"\b(who|whose|whom)\b"),
    ("Time", r"\b(when|what year|which year|how long)\b"),
    ("Place", r"\b(where|what city|which city|what town|which town|which country)\b"),
    ("Reason", r"\bwhy\b"),
    ("Quantity", r"\bhow (many|much|far)\b"),
    ("Manner", r"\bhow\b"),
)


@dataclass(frozen=True, slots=True)
class Rarity:
    """In how many of some passages, spread over a corpus, each term stands."""

    size: int
    counts: Mapping[str, int]

    @staticmethod
    def of(texts: Sequence[str]) -> Rarity:
        """Count the terms of the texts, about `BACKGROUND` of them."""
        counts = Counter(term for text in texts for term in {term for term, _, _ in _terms(text)})
        return Rarity(len(texts), counts)

    def idf(self, term: str) -> float:
        """The inverse document frequency, above 0 for any term."""
        return math.log((self.size + 1.0) / (self.counts.get(term, 0) + 0.5))


def predict_goal_offline(question: str, passages: Sequence[str], rarity: Rarity) -> GoalText:
    """A goal of the terms that the nearest passages add to the question.

    Args:
        question: the question.
        passages: the passages nearest to it, nearest first, about `FEEDBACK` of them.
        rarity: how rare the terms are in the corpus.

    Returns:
        The paper's form: the concept holds the three best terms, the explanation names the
        next four. Where nothing is added (no passages, say), the explanation is the question.
    """
    best = _best_terms(question, passages, rarity)
    if not best:
        return GoalText(_kind(question), "", " ".join(question.split()), "offline")
    return GoalText(
        _kind(question),
        ", ".join(best[:_IN_CONCEPT]),
        _explanation(best[_IN_CONCEPT:_TERMS]),
        "offline",
    )


def _best_terms(question: str, passages: Sequence[str], rarity: Rarity) -> list[str]:
    """The terms as written, best first."""
    asked = {term for term, _, _ in _terms(question)}
    written: dict[str, str] = {}
    names: set[str] = set()
    held: Counter[str] = Counter()
    weight: defaultdict[str, float] = defaultdict(float)
    for rank, passage in enumerate(passages):
        found: set[str] = set()
        for term, word, name in _terms(passage):
            found.add(term)
            if name and term not in names:
                names.add(term)
                written[term] = word
            written.setdefault(term, word)
        for term in found:
            held[term] += 1
            weight[term] += _HALF / (_HALF + rank)
    # `written` keeps the order of the text, so that equal scores always rank the same.
    new = [term for term in written if term not in asked and term not in _EMPTY]
    new = [term for term in new if term in names or not term.endswith("ly")]
    shared = [term for term in new if held[term] >= _FEWEST_PASSAGES]
    scores = {
        term: weight[term] * rarity.idf(term) * (_NAME if term in names else 1.0)
        for term in (shared if len(shared) >= _TERMS else new)
    }
    return [written[term] for term in sorted(scores, key=scores.__getitem__, reverse=True)]


def _terms(text: str) -> Iterable[tuple[str, str, bool]]:
    """The words of a text: as compared, as written, and whether each is a name.

    Compared are words in lower case without a possessive ending.
    """
    for match in _WORD.finditer(text):
        word = match.group()
        if word[-2:] in ("'s", "’s"):
            word = word[:-2]
        if len(word) < _SHORTEST:
            continue
        start = match.start()
        name = word[0].isupper() and start >= 2 and text[start - 2] not in _SENTENCE_ENDS
        yield word.lower(), word, name


def _explanation(terms: Sequence[str]) -> str:
    """A sentence that names the terms; empty where there are none."""
    if not terms:
        return ""
    listed = " and ".join(filter(None, (", ".join(terms[:-1]), terms[-1])))
    return f"It also tells of {listed}."


def _kind(question: str) -> str:
    for kind, words in _KINDS:
        if re.search(words, question, re.IGNORECASE):
            return kind
    return "Fact"
