"""The knowledge graph of a corpus: entities, relations, communities in levels; to and from JSON.

Rows are those of the corpus. Level 0 has the largest communities; each further level divides
those of the level before it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from tracert.errors import StoreError
from tracert.trace import Cost

SCHEMA: Final = "tracert.graph/1"


@dataclass(frozen=True, slots=True)
class Entity:
    """Someone or something that the text names.

    `key` names it everywhere, `name` is how the text mostly writes it. `communities` has the
    index of its community at each level, None where it belongs to none.
    """

    key: str
    name: str
    aliases: tuple[str, ...]
    rows: tuple[int, ...]
    communities: tuple[int | None, ...]
    description: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """Two entities (indices, the smaller first) that the text brings together.

    `weight` adds up over sentences; `text` says how they are related, or quotes a sentence.
    """

    source: int
    target: int
    weight: float
    rows: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Community:
    """Entities more tied to one another than to the rest; `members` by weight, largest first."""

    level: int
    members: tuple[int, ...]
    title: str
    summary: str
    source: str


@dataclass(frozen=True, slots=True)
class Graph:
    """All of it, and what it cost to make, whenever that was.

    `read` is the number of passages that a model read, the rest the offline extractor.
    `notes` are sentences for the person.
    """

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    communities: tuple[Community, ...]
    levels: int
    passages: int
    read: int
    cost: Cost
    notes: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """How long it took to make."""
        return sum(self.cost.seconds.values())

    def to_json(self) -> str:
        """The graph as JSON text."""
        return json.dumps({"schema": SCHEMA, **asdict(self)}, ensure_ascii=False, allow_nan=False)

    @staticmethod
    def from_json(text: str) -> Graph:
        """Read a graph back.

        Raises:
            StoreError: the text is no such graph, or is damaged.
        """
        try:
            data = json.loads(text)
            if data["schema"] != SCHEMA:
                raise ValueError(data["schema"])
            graph = _graph(data)
            _check(graph)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise StoreError(
                f"The saved knowledge graph is damaged ({str(error)[:80]}). Delete it; it is made "
                "again."
            ) from error
        return graph


def _graph(data: Mapping[str, Any]) -> Graph:
    return Graph(
        entities=tuple(
            Entity(
                str(each["key"]),
                str(each["name"]),
                tuple(map(str, each["aliases"])),
                tuple(map(int, each["rows"])),
                tuple(None if index is None else int(index) for index in each["communities"]),
                str(each["description"]),
            )
            for each in data["entities"]
        ),
        relations=tuple(
            Relation(
                int(each["source"]),
                int(each["target"]),
                float(each["weight"]),
                tuple(map(int, each["rows"])),
                str(each["text"]),
            )
            for each in data["relations"]
        ),
        communities=tuple(
            Community(
                int(each["level"]),
                tuple(map(int, each["members"])),
                str(each["title"]),
                str(each["summary"]),
                str(each["source"]),
            )
            for each in data["communities"]
        ),
        levels=int(data["levels"]),
        passages=int(data["passages"]),
        read=int(data["read"]),
        cost=Cost(
            {str(stage): float(value) for stage, value in data["cost"]["seconds"].items()},
            int(data["cost"]["model_calls"]),
            int(data["cost"]["prompt_tokens"]),
            int(data["cost"]["completion_tokens"]),
        ),
        notes=tuple(map(str, data["notes"])),
    )


def _check(graph: Graph) -> None:
    """Every index points somewhere, so that a damaged file fails here and not in a walk."""
    entities, communities = range(len(graph.entities)), range(len(graph.communities))
    rows = range(graph.passages)
    for entity in graph.entities:
        if len(entity.communities) != graph.levels or not entity.rows:
            raise ValueError(entity.key)
        if not all(row in rows for row in entity.rows):
            raise ValueError(entity.key)
        if not all(index is None or index in communities for index in entity.communities):
            raise ValueError(entity.key)
    for relation in graph.relations:
        if relation.source not in entities or relation.target not in entities:
            raise ValueError(f"relation {relation.source} {relation.target}")
    for community in graph.communities:
        if not all(member in entities for member in community.members):
            raise ValueError(community.title)
