"""BM25: passages ranked by the words that they share with the question.

    score(q, d) = sum over t in q of  idf(t) * f(t, d) / (f(t, d) + k1 (1 - b + b |d| / L))
    idf(t)      = ln(1 + (n - n(t) + 0.5) / (n(t) + 0.5))

where f(t, d) is how often term t stands in passage d, |d| the terms of d, L their mean over
the corpus, n the number of passages and n(t) of those that hold t. A term that stands twice in
the question counts twice. Robertson and Zaragoza, 'The Probabilistic Relevance Framework: BM25
and Beyond', 2009, section 3.4, with the idf of Lucene, which is never negative; the factor
k1 + 1 is left out, since it changes no rank. The library is bm25s (Lu, 2024).

Terms are words in lower case without stop words and with common endings taken off
(`tracert.language.words`). On the training questions of 2WikiMultiHopQA, MuSiQue and HotpotQA
(recall at 10, mean of the three) this gives .735, plain words without stop words .734, all
words .721 and the Snowball stemmer .729; k1 0.9 and b 0.4 give .735, k1 1.2 and b 0.75 .731.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from tracert.corpus.model import Corpus
from tracert.language.words import terms
from tracert.methods.exact import Reals
from tracert.recent import Recent

K1: Final = 0.9
B: Final = 0.4
#: Passages read at once while an index is built.
_BLOCK: Final = 2048
#: Indices kept in memory: about 1 kB a passage of 500 characters.
_KEPT: Final = 4


class TermIndex:
    """The BM25 scores of all terms of some texts, computed once; threads may share it."""

    def __init__(self, texts: Sequence[Sequence[str]], k1: float = K1, b: float = B) -> None:
        """Index texts that are cut into terms already; see `of_corpus`."""
        self.size = len(texts)
        self._counts = Counter(term for text in texts for term in set(text))
        self._scores: Any = None
        if self._counts:
            import bm25s

            self._scores = bm25s.BM25(k1=k1, b=b, method="lucene", dtype="float64")
            self._scores.index([list(text) for text in texts], show_progress=False)

    @classmethod
    def of_corpus(cls, corpus: Corpus) -> TermIndex:
        """The index of a corpus's passages, a row a text."""
        texts: list[list[str]] = []
        for start in range(0, len(corpus.ids), _BLOCK):
            rows = range(start, min(start + _BLOCK, len(corpus.ids)))
            texts += [terms(chunk.text) for chunk in corpus.chunks(rows)]
        return cls(texts)

    def scores(self, question: str) -> Reals:
        """The score of every row for a question, shape (n,); 0 where no term is shared."""
        asked = [term for term in terms(question) if term in self._counts]
        if not asked:
            return np.zeros(self.size)
        scores: Reals = self._scores.get_scores(asked)
        return scores

    def idf(self, term: str) -> float:
        """How telling a term (as `tracert.language.words.terms` gives it) is; see the module."""
        held = self._counts.get(term, 0)
        return math.log(1.0 + (self.size - held + 0.5) / (held + 0.5))


_INDICES: Final[Recent[TermIndex]] = Recent(_KEPT)


def term_index(corpus: Corpus) -> TermIndex:
    """The index of a corpus, built once for its fingerprint and kept in memory for a while."""
    info = corpus.info
    return _INDICES.get((info.fingerprint, info.size), lambda: TermIndex.of_corpus(corpus))
