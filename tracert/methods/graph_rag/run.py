"""What one walk of graph_rag works with: the graph, the question's cosines, what was named."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from tracert.corpus.model import Corpus
from tracert.home import home
from tracert.methods._replies import Replies
from tracert.methods.base import Resources
from tracert.methods.bm25 import term_index
from tracert.methods.exact import Reals, Rows, Vectors, ranked, unit
from tracert.methods.graph_rag.graph import Graph
from tracert.methods.graph_rag.index import Limits, graph_of
from tracert.methods.graph_rag.record import Named, Values, community_id
from tracert.methods.graph_rag.search import Idf, View
from tracert.methods.graph_rag.settings import GraphRagSettings
from tracert.recent import Recent
from tracert.trace import Cost

Vector = npt.NDArray[np.float32]

_VIEWS: Final[Recent[View]] = Recent(4)
#: Passages beyond those shown whose place is made sure of in float64.
_MARGIN: Final = 50


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """The question, its vector (d,), and a model's ratings for it so far."""

    question: str
    vector: Vector
    replies: Replies
    cost: Cost


@dataclass(slots=True, eq=False)
class Run:
    """What one walk works with."""

    prepared: Prepared
    settings: GraphRagSettings
    resources: Resources
    corpus: Corpus
    view: View
    level: int
    cosines: Reals
    idf: Idf
    first: Values
    named: Named = field(default_factory=Named)
    summaries: dict[int, Vector] = field(default_factory=dict)
    path: list[str] = field(default_factory=lambda: ["query"])
    evidence: list[str] = field(default_factory=list)
    cost: Cost = field(default_factory=Cost)
    index: int = 0

    @property
    def graph(self) -> Graph:
        """The graph that is walked."""
        return self.view.graph

    @property
    def shown(self) -> int:
        """How many candidates a step names beyond those kept."""
        return self.settings.candidates_kept

    def next_index(self) -> int:
        """The index of the step in hand; the next call gives the next step's."""
        self.index += 1
        return self.index - 1

    def best_rows(self, rows: Rows, bonus: Reals, count: int) -> tuple[Rows, Reals, Reals]:
        """The best `count` of these rows by cosine and bonus: rows, scores, cosines, exact.

        The float32 cosines choose a few more than `count`, float64 ranks them; ties within
        1e-9 go to the row that stands first in the text.
        """
        rough = self.cosines[rows] + bonus
        short = np.argsort(-rough, kind="stable")[: count + _MARGIN]
        vectors, query = Vectors(self.corpus.matrix), unit(self.prepared.vector)
        exact = 1.0 - vectors.distances(rows[short], query)
        scores = exact + bonus[short]
        order = ranked(-scores, rows[short])[:count]
        return rows[short][order], scores[order], exact[order]

    def values(self) -> Values:
        """The values of the step in hand: the level, and of the first step the graph's."""
        values: Values = {"level": float(self.level), **self.first}
        self.first = {}
        return values

    def community(self, entity: int) -> int | None:
        """The community of an entity at the level in hand."""
        held = self.graph.entities[entity].communities
        return held[self.level] if held else None

    def community_name(self, entity: int) -> str | None:
        """The id of that community's node; the step's nodes name it."""
        found = self.community(entity)
        return None if found is None else community_id(self.view, found)


def begin(
    prepared: Prepared, settings: GraphRagSettings, resources: Resources, corpus: Corpus
) -> Run:
    """Everything for a walk; the graph is made where it is not there."""
    limits = Limits(settings.reading_calls, settings.summary_calls)
    begun = time.perf_counter()
    graph, made = graph_of(corpus, resources.model, limits, resources.folder or home())
    spent = time.perf_counter() - begun
    view = _VIEWS.get((corpus.info.fingerprint, id(graph)), lambda: View(graph))
    level = min(settings.level, max(graph.levels - 1, 0))
    query = unit(prepared.vector)
    cosines = 1.0 - Vectors(corpus.matrix).approximate(query)
    run = Run(
        prepared,
        settings,
        resources,
        corpus,
        view,
        level,
        cosines,
        term_index(corpus).idf,
        _about(graph, settings),
    )
    if made.seconds:
        # Making the graph stands under stages of its own, so it is taken out of the walk's time.
        run.cost = made.plus(Cost({"walk": -spent}))
    return run


def _about(graph: Graph, settings: GraphRagSettings) -> Values:
    """What the first step tells of the graph."""
    read = f"a model read {graph.read} of {graph.passages} passages" if graph.read else "offline"
    values: Values = {
        "search": settings.search,
        "entities": float(len(graph.entities)),
        "relations": float(len(graph.relations)),
        "communities": float(len(graph.communities)),
        "levels": float(graph.levels),
        "extraction": read,
        "index_seconds": graph.seconds,
        "index_model_calls": float(graph.cost.model_calls),
        "index_tokens": float(graph.cost.prompt_tokens + graph.cost.completion_tokens),
    }
    if graph.notes:
        values["index_note"] = " ".join(graph.notes)
    return values
