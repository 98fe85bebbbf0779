"""TreeHop: the question's vector moves from hop to hop, without a language model.

Li et al., 'TreeHop: Generate and Filter Next Query Embeddings Efficiently for Multi-hop
Question Answering', 2025. The update is in `gates`, the search and its pruning in `retrieval`,
the settings and the paper's values in `settings`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from tracert.errors import SettingError
from tracert.hosting import hosting
from tracert.methods.asking import corpus_of, embedded
from tracert.methods.base import Outcome, Question, Resources, Walk, settings_values
from tracert.methods.first_stage import rank
from tracert.methods.treehop import record
from tracert.methods.treehop.comparison import compares
from tracert.methods.treehop.gates import ForgetRule, QueryModel
from tracert.methods.treehop.retrieval import retrieve, width
from tracert.methods.treehop.settings import AUTO, FORGET_RULE, TreeHopSettings
from tracert.methods.treehop.weights import load, shipped
from tracert.trace import Cost


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """The question, its vector, shape (d,), and whether it compares two things."""

    question: str
    vector: npt.NDArray[np.float32]
    comparison: bool
    cost: Cost


class TreeHop:
    """TreeHop as a method of the registry."""

    name = "treehop"
    title = "TreeHop"
    summary = (
        "Moves the question's vector: what a passage has resolved is forgotten, what it brings "
        "is added, and the moved query searches again. No language model takes part."
    )
    needs: Literal["corpus", "knowledge"] = "corpus"
    settings_type = TreeHopSettings

    def prepare(self, question: Question, resources: Resources) -> Prepared:
        """Embed the question.

        Raises:
            SettingError: the question is empty.
            EmbedderError: the question could not be embedded.
        """
        text, vector, cost = embedded(question, resources)
        return Prepared(text, vector, compares(text), cost)

    def walk(self, prepared: Prepared, settings: TreeHopSettings, resources: Resources) -> Walk:
        """One step a query: what it found, what was kept and what pruned.

        Raises:
            CorpusError: no corpus was passed in.
            SettingError: the weights cannot be read or are for vectors of another length.
        """
        corpus = corpus_of(resources, self.name)
        model = model_for(settings, corpus.info.embedder, corpus.info.dimension)
        alone = settings.leave_comparisons and prepared.comparison
        first = None
        if settings.first_stage != "dense":
            stage, count = settings.first_stage, width(settings)
            first = [rank(corpus, prepared.question, prepared.vector, stage, count)]
        vectors = prepared.vector[None]
        found = retrieve(model, vectors, corpus.matrix, settings, [alone], first)[0]
        yield from record.steps(found, corpus, settings, model.name)
        return Outcome(
            info=corpus.info,
            nodes=record.nodes(prepared.question, found, corpus),
            path=record.path(found, corpus),
            evidence=tuple(corpus.ids[row] for row in found.rows),
            stop=record.stop(found, settings, corpus.info.size, alone=alone),
            settings=settings_values(settings),
        )


def model_for(settings: TreeHopSettings, embedder: str, dimension: int) -> QueryModel:
    """The model that the settings name, for vectors of this embedder and length.

    Raises:
        SettingError: the weights cannot be read or are for vectors of another length.
    """
    if settings.model == FORGET_RULE:
        return ForgetRule(settings.gamma)
    if settings.model != AUTO and hosting().public:
        raise SettingError("Files of the host's machine are not read in this app. Use model=auto.")
    path = shipped(embedder) if settings.model == AUTO else Path(settings.model)
    if path is None:
        return ForgetRule(settings.gamma)
    model = load(path)
    if model.dimension is not None and model.dimension != dimension:
        raise SettingError(
            f"The weights {path.name} are for vectors of {model.dimension} numbers, the corpus "
            f"has {dimension}. Index it with the embedder of the weights, or use "
            f"model={FORGET_RULE}."
        )
    return model


def alone_flags(questions: Sequence[str], settings: TreeHopSettings) -> list[bool]:
    """For each question, whether it is searched with once only (see `retrieve`)."""
    return [settings.leave_comparisons and compares(question) for question in questions]
