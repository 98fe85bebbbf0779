"""From what was extracted to a graph with communities.

Communities are those of Louvain's method (Blondel et al., 'Fast unfolding of communities in
large networks', 2008) at resolution 1, as networkx has it, with a fixed seed: the partitions
that it passes through, from the coarsest on, are the levels. GraphRAG uses Leiden, which also
keeps each community connected. An entity related to no other belongs to no community.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

from tracert.methods.graph_rag.aliases import merge
from tracert.methods.graph_rag.graph import Entity, Relation
from tracert.methods.graph_rag.names import Mention, NamedSentence

SEED: Final = 0
#: Names in one sentence beyond which it is a list, whose pairs say nothing.
_MOST_NAMES: Final = 12
#: Characters of a quotation that stands for a relation.
_QUOTED: Final = 240


@dataclass(frozen=True, slots=True)
class Said:
    """A relation that a model read out of a passage, between two names."""

    source: str
    target: str
    row: int
    text: str


@dataclass(slots=True)
class Extraction:
    """What was read in the passages: names, sentences with names, and a model's statements.

    `read` are the rows that a model read: there its statements are the relations, elsewhere
    sharing a sentence is one.
    """

    mentions: list[Mention]
    sentences: list[NamedSentence]
    said: list[Said] = field(default_factory=list)
    described: dict[str, str] = field(default_factory=dict)
    read: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Links:
    """Entities without communities, their relations, and the entity of each name."""

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    of_name: dict[str, int]


@dataclass(slots=True)
class _Tie:
    weight: float = 0.0
    rows: dict[int, None] = field(default_factory=dict)
    said: str = ""
    quoted: str = ""


def link(extraction: Extraction) -> Links:
    """Entities in the order of their keys, and their relations.

    A sentence with m entities adds 1 / (m - 1) to each pair, so that it adds 1 to each entity's
    ties to all others together; a model's statement adds 1 to its pair.
    """
    keys = merge((mention.name, mention.located) for mention in extraction.mentions)
    rows: dict[str, dict[int, None]] = defaultdict(dict)
    written: dict[str, Counter[str]] = defaultdict(Counter)
    for mention in extraction.mentions:
        key = keys[mention.name]
        if key:
            rows[key][mention.row] = None
            written[key][mention.name] += 1
    order = {key: index for index, key in enumerate(sorted(rows))}
    described = {keys[name]: text for name, text in extraction.described.items() if name in keys}
    entities = tuple(
        Entity(
            key,
            _label(written[key]),
            tuple(sorted(written[key])),
            tuple(sorted(rows[key])),
            (),
            described.get(key, ""),
        )
        for key in order
    )
    of_name = {name: order[key] for name, key in keys.items() if key}
    return Links(entities, _relations(extraction, of_name), of_name)


def communities(size: int, relations: Sequence[Relation]) -> list[list[list[int]]]:
    """The communities of at least two entities at each level, the coarsest level first."""
    import networkx

    graph = networkx.Graph()
    graph.add_nodes_from(range(size))
    graph.add_weighted_edges_from((r.source, r.target, r.weight) for r in relations)
    if not relations:
        return []
    partitions = networkx.community.louvain_partitions(graph, weight="weight", seed=SEED)
    strength = dict(graph.degree(weight="weight"))
    levels = []
    for partition in reversed(list(partitions)):
        found = [
            sorted(members, key=lambda member: (-strength[member], member))
            for members in partition
            if len(members) > 1
        ]
        levels.append(sorted(found, key=lambda members: (-len(members), members)))
    return levels


def _label(written: Counter[str]) -> str:
    """The name written most often, the longer one of equals."""
    return min(written, key=lambda name: (-written[name], -len(name), name))


def _relations(extraction: Extraction, of_name: dict[str, int]) -> tuple[Relation, ...]:
    ties: dict[tuple[int, int], _Tie] = defaultdict(_Tie)
    for sentence in extraction.sentences:
        held = sorted({of_name[name] for name in sentence.names if name in of_name})
        if sentence.row in extraction.read or not 1 < len(held) <= _MOST_NAMES:
            continue
        for pair in combinations(held, 2):
            tie = ties[pair]
            tie.weight += 1.0 / (len(held) - 1)
            tie.rows[sentence.row] = None
            if not tie.quoted and sentence.whole:
                tie.quoted = sentence.text[:_QUOTED]
    for said in extraction.said:
        ends = sorted({of_name[name] for name in (said.source, said.target) if name in of_name})
        if len(ends) == 2:
            tie = ties[ends[0], ends[1]]
            tie.weight += 1.0
            tie.rows[said.row] = None
            tie.said = tie.said or said.text[:_QUOTED]
    return tuple(
        Relation(pair[0], pair[1], tie.weight, tuple(sorted(tie.rows)), tie.said or tie.quoted)
        for pair, tie in sorted(ties.items())
    )
