"""The walk of graph_rag as candidates and nodes of a trace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from tracert.corpus.model import Corpus
from tracert.methods.graph_rag.graph import Graph
from tracert.methods.graph_rag.search import View
from tracert.trace import Candidate, Node, NodeKind

Values = dict[str, float | str | None]
#: Relations told in the text of an entity.
_TOLD: Final = 5


@dataclass(frozen=True, slots=True)
class Considered:
    """Something considered in a step: which it is, by which rule, with which numbers."""

    item: int
    rule: str
    values: Values


def candidates(
    considered: Iterable[Considered], id_of: Callable[[int], str], reasons: Mapping[str, str]
) -> tuple[Candidate, ...]:
    """The candidates of a step, in the order given."""
    return tuple(
        Candidate(id_of(each.item), each.rule == "kept", each.rule, reasons[each.rule], each.values)
        for each in considered
    )


@dataclass(slots=True)
class Named:
    """What the steps of a walk have named so far."""

    entities: dict[int, None] = field(default_factory=dict)
    communities: dict[int, None] = field(default_factory=dict)
    rows: dict[int, None] = field(default_factory=dict)


def entity_id(graph: Graph, entity: int) -> str:
    """The id of an entity's node."""
    return f"entity:{graph.entities[entity].key}"


def community_id(view: View, community: int) -> str:
    """The id of a community's node: its level, and its place in it, both from 0."""
    level = view.graph.communities[community].level
    return f"community:{level}:{community - view.first[level]}"


def nodes(
    question: str,
    vector: npt.NDArray[np.float32],
    named: Named,
    view: View,
    corpus: Corpus,
    summaries: Mapping[int, npt.NDArray[np.float32]],
) -> tuple[Node, ...]:
    """The question and all that the steps named.

    An entity's vector is the mean of its passages', at length 1; a community's is its
    summary's, where one was made.
    """
    query = Node("query", NodeKind.QUERY, "Question", question, vector=vector)
    graph = view.graph
    entities = tuple(
        Node(
            entity_id(graph, entity),
            NodeKind.ENTITY,
            graph.entities[entity].name,
            _entity_text(entity, view),
            vector=_mean(corpus.matrix, graph.entities[entity].rows),
        )
        for entity in named.entities
    )
    communities = tuple(
        Node(
            community_id(view, community),
            NodeKind.COMMUNITY,
            graph.communities[community].title,
            graph.communities[community].summary,
            vector=summaries.get(community),
        )
        for community in named.communities
    )
    rows = sorted(named.rows)
    block = np.array(corpus.matrix[rows]) if rows else ()
    chunks = (chunk.node(row) for chunk, row in zip(corpus.chunks(rows), block, strict=True))
    return (query, *entities, *communities, *chunks)


def _entity_text(entity: int, view: View) -> str:
    """What the graph knows of an entity, in a few lines."""
    graph = view.graph
    each = graph.entities[entity]
    others = [alias for alias in each.aliases if alias != each.name]
    lines = [each.description] if each.description else []
    if others:
        lines.append(f"Also: {', '.join(others)}.")
    lines.append(f"Named in {len(each.rows)} passages.")
    ties = sorted(view.ties.get(entity, ()), key=lambda tie: (-graph.relations[tie].weight, tie))
    for tie in ties[:_TOLD]:
        relation = graph.relations[tie]
        other = relation.target if relation.source == entity else relation.source
        told = f": {relation.text}" if relation.text else ""
        lines.append(f"With {graph.entities[other].name} ({relation.weight:.1f}){told}")
    return "\n".join(lines)


def _mean(matrix: npt.NDArray[np.float32], rows: Iterable[int]) -> npt.NDArray[np.float32] | None:
    mean = matrix[list(rows)].astype(np.float64).mean(axis=0)
    length = float(np.linalg.norm(mean))
    return None if length < 1e-6 else (mean / length).astype(np.float32)
