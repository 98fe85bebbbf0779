"""What every method does with a question first: check it, embed it, find the corpus."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from tracert.corpus.model import Corpus
from tracert.errors import CorpusError, SettingError
from tracert.methods.base import Question, Resources
from tracert.trace import Cost


def question_text(question: Question) -> str:
    """The question without the space around it.

    Raises:
        SettingError: nothing is left.
    """
    text = question.text.strip()
    if not text:
        raise SettingError("The question is empty. Type one.")
    return text


def embedded(question: Question, resources: Resources) -> tuple[str, npt.NDArray[np.float32], Cost]:
    """The question's text, its vector of shape (d,), and what embedding it cost.

    Raises:
        SettingError: the question is empty.
        EmbedderError: the question could not be embedded.
    """
    text = question_text(question)
    begun = time.perf_counter()
    vector = resources.embed([text])[0]
    return text, vector, Cost({"embed": time.perf_counter() - begun})


def corpus_of(resources: Resources, method: str) -> Corpus:
    """The corpus that was passed in to the method of that name.

    Raises:
        CorpusError: there is none.
    """
    if resources.corpus is None:
        raise CorpusError(f"{method} searches a corpus. Name one with --corpus.")
    return resources.corpus
