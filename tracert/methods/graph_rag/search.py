"""Scores of entities, neighbours, communities and passages for one question.

Local search, after GraphRAG's (Edge et al., 'From Local to Global: A Graph RAG Approach to
Query-Focused Summarization', 2024, and its published implementation), in numbers of our own:

    entity     TERM * term(e) + mean over its passages d of cos(v_q, v_d)
    neighbour  the same sum + LINK * weight(e, n) / the largest weight of e's ties
    passage    cos(v_q, v_d) + MENTION * (1 - prod over chosen e in d of (1 - w_e))

term(e) is the share of idf of e's name that the question holds; w_e is the score of e over the
best entity's score, halved for a neighbour. So a passage that names several chosen entities
stands above one that names one, and none counts for more than `MENTION` cosines. The constants
were chosen on the training questions of 2WikiMultiHopQA, MuSiQue and HotpotQA.

Global search rates communities by cos(v_q, summary) + the share of idf of the question that
their summary holds; a language model may rate instead. Passages of the communities chosen are
taken in turn, each community's in the order of cos(v_q, v_d).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from tracert.language.words import terms
from tracert.methods.exact import Reals, Rows
from tracert.methods.graph_rag.graph import Community, Graph

TERM: Final = 0.5
LINK: Final = 0.5
MENTION: Final = 0.2
#: What an entity counts that is a neighbour of a chosen one only.
NEIGHBOUR: Final = 0.5

Idf = Callable[[str], float]


class View:
    """A graph with what is looked up in it at each question; threads may share it."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        sizes = [len(entity.rows) for entity in graph.entities]
        self._starts = np.concatenate(([0], np.cumsum(sizes[:-1]))).astype(np.intp)
        self._sizes = np.array(sizes, dtype=np.float64)
        self._rows = np.array([row for e in graph.entities for row in e.rows], dtype=np.intp)
        self._named: dict[str, list[int]] = defaultdict(list)
        self._terms = [tuple(dict.fromkeys(terms(entity.key))) for entity in graph.entities]
        for place, held in enumerate(self._terms):
            for term in held:
                self._named[term].append(place)
        self.ties: dict[int, list[int]] = defaultdict(list)
        for place, relation in enumerate(graph.relations):
            self.ties[relation.source].append(place)
            self.ties[relation.target].append(place)
        #: The first community of each level; those of a level stand together.
        self.first: dict[int, int] = {}
        for place, community in enumerate(graph.communities):
            self.first.setdefault(community.level, place)

    def strength(self, entity: int) -> float:
        """The weight of all relations of an entity."""
        return sum(self.graph.relations[tie].weight for tie in self.ties.get(entity, ()))

    def entities(self, question: str, cosines: Reals, idf: Idf) -> tuple[Reals, Reals]:
        """The term part and the mean cosine of each entity, both of shape (entities,)."""
        share = np.zeros(len(self._terms))
        if not len(share):
            return share, share.copy()
        asked = set(terms(question))
        near = {place for term in asked for place in self._named.get(term, ())}
        for place in near:
            weights = {term: idf(term) for term in self._terms[place]}
            held = sum(weight for term, weight in weights.items() if term in asked)
            share[place] = held / (sum(weights.values()) or 1.0)
        mean = np.add.reduceat(cosines[self._rows], self._starts) / self._sizes
        return share, mean

    def neighbours(self, chosen: Sequence[int], scores: Reals) -> dict[int, tuple[float, int, int]]:
        """The entities tied to the chosen ones: score, the chosen entity, the relation."""
        relations, taken = self.graph.relations, set(chosen)
        found: dict[int, tuple[float, int, int]] = {}
        for entity in chosen:
            ties = self.ties.get(entity, [])
            largest = max((relations[tie].weight for tie in ties), default=1.0)
            for tie in ties:
                relation = relations[tie]
                other = relation.target if relation.source == entity else relation.source
                if other in taken:
                    continue
                score = float(scores[other]) + LINK * relation.weight / largest
                if other not in found or score > found[other][0]:
                    found[other] = (score, entity, tie)
        return found

    def mentions(self, weights: dict[int, float], size: int) -> tuple[Reals, dict[int, int]]:
        """What naming these entities adds to each of `size` rows, and the weightiest in each row.

        The rows that name none of them are missing from the second.
        """
        missing = np.ones(size)
        parent: dict[int, int] = {}
        for entity, weight in sorted(weights.items(), key=lambda item: (-item[1], item[0])):
            rows = self.graph.entities[entity].rows
            missing[list(rows)] *= 1.0 - weight
            for row in rows:
                parent.setdefault(row, entity)
        return MENTION * (1.0 - missing), parent


def mention_weights(chosen: Sequence[int], near: Sequence[int], scores: Reals) -> dict[int, float]:
    """What a mention of each chosen entity and of each neighbour counts, from 0 to 1."""
    best = max((float(scores[entity]) for entity in chosen), default=1.0)
    if best <= 0.0:
        best = 1.0

    def weight(entity: int) -> float:
        return min(max(float(scores[entity]) / best, 0.0), 1.0)

    weights = {entity: NEIGHBOUR * weight(entity) for entity in near}
    return weights | {entity: weight(entity) for entity in chosen}


def community_terms(communities: Sequence[Community], question: str, idf: Idf) -> Reals:
    """The share of idf of the question that each community's title and summary hold."""
    weights = {term: idf(term) for term in set(terms(question))}
    total = sum(weights.values()) or 1.0
    return np.array(
        [
            sum(weights.get(term, 0.0) for term in set(terms(f"{c.title} {c.summary}"))) / total
            for c in communities
        ]
    )


def in_turn(groups: Sequence[Rows], count: int) -> list[tuple[int, int]]:
    """(group, row) taken from the groups in turn, no row twice, at most `count`.

    >>> in_turn([np.array([4, 5]), np.array([4, 6])], 3)
    [(0, 4), (1, 6), (0, 5)]
    """
    left = [list(map(int, group)) for group in groups]
    taken: dict[int, int] = {}
    while len(taken) < count and any(left):
        for place, rows in enumerate(left):
            while rows and rows[0] in taken:
                rows.pop(0)
            if rows and len(taken) < count:
                taken[rows.pop(0)] = place
    return [(place, row) for row, place in taken.items()]
