"""The goal of a Tracert walk without a language model: what the nearest passages add.

A term t that the question does not hold is scored over the passages P nearest to the question,
as relevance feedback does (Lavrenko and Croft, 'Relevance-Based Language Models', 2001; the
weight is that of inverse document frequency, Sparck Jones 1972):

    score(t) = |{p in P : t in p}| * log((|B| + 1) / (|{b in B : t in b}| + 1/2))

with B an even sample of the corpus. The best terms are the goal. The question's own terms are
left out, unlike in RM3: with them the goal lies so near the question that the radius of
equation 1 holds no passage. A sentence of the passages, or their mean, as the goal is reached
after one passage and shows nothing. benchmarks/tune_tracert.py has the figures.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from tracert.language.goal_text import GoalText

#: How many passages nearest to the question to pass in, and how many of the whole corpus.
FEEDBACK: Final = 10
BACKGROUND: Final = 64
_TERMS: Final = 7
_IN_CONCEPT: Final = 3

_WORD: Final = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")
_POSSESSIVE: Final = re.compile(r"['’]s?$", re.IGNORECASE)
_SHORTEST: Final = 3
#: Words of English grammar, which no goal is about.
_GRAMMAR: Final = frozenset(
    """
    about above after again against ago all almost along already also although always among and
    another any anyone anything are around aside away back became because become been before
    began behind being below beneath beside besides between beyond both but came can cannot come
    could did does doing done down during each either else enough even ever every everyone
    everything few first for from full further gave get give given goes going gone got had half
    has have having hence her here hers herself him himself his how however indeed instead into
    its itself just keep kept last later least less let like little made make many may me might
    mine more most much must myself near nearly neither never next nobody none nor not nothing
    now off often once one only onto other others ought our ours out over own part perhaps put
    quite rather said same saw say second seemed seen several shall she should since some someone
    something soon still such take taken than that the their theirs them themselves then there
    therefore these they thing things this those though three through thus till together too took
    toward towards two under until unto upon upon use used very was way well went were what
    whatever when where whether which while who whole whom whose why will with within without
    would yes yet you your yours
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


def predict_goal_offline(
    question: str, passages: Sequence[str], background: Sequence[str]
) -> GoalText:
    """A goal of the terms that the nearest passages add to the question.

    Args:
        question: the question.
        passages: the passages nearest to it, nearest first, about `FEEDBACK` of them.
        background: passages spread evenly over the corpus, about `BACKGROUND` of them.

    Returns:
        The paper's form: the concept holds the three best terms, the explanation names the
        next four. Where nothing is added (no passages, say), the explanation is the question.
    """
    asked = {term for term, _ in _terms(question)}
    written: dict[str, str] = {}
    held: Counter[str] = Counter()
    for passage in passages:
        terms = dict(_terms(passage))
        held.update(terms.keys())
        for term, word in terms.items():
            written.setdefault(term, word)
    common = Counter(term for text in background for term in {term for term, _ in _terms(text)})
    scores = {
        term: count * math.log((len(background) + 1) / (common[term] + 0.5))
        for term, count in held.items()
        if term not in asked and term not in _GRAMMAR
    }
    # Sorting is stable: of equal scores the term that stands in the nearer passage comes first.
    best = [written[term] for term in sorted(scores, key=scores.__getitem__, reverse=True)]
    if not best:
        return GoalText(_kind(question), "", " ".join(question.split()), "offline")
    return GoalText(
        _kind(question),
        ", ".join(best[:_IN_CONCEPT]),
        _explanation(best[_IN_CONCEPT:_TERMS]),
        "offline",
    )


def _terms(text: str) -> Iterable[tuple[str, str]]:
    """The words of a text, as compared (lower case, no possessive) and as written."""
    for match in _WORD.finditer(text):
        word = _POSSESSIVE.sub("", match.group())
        if len(word) >= _SHORTEST:
            yield word.lower(), word


def _explanation(terms: Sequence[str]) -> str:
    """A sentence that names the terms; empty where there are none."""
    if not terms:
        return ""
    listed = " and ".join(filter(None, (", ".join(terms[:-1]), terms[-1])))
    return f"The passages nearest to the question also speak of {listed}."


def _kind(question: str) -> str:
    for kind, words in _KINDS:
        if re.search(words, question, re.IGNORECASE):
            return kind
    return "Fact"
