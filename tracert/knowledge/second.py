"""Second vectors of a small graph, by an embedder that reads sentences and not words alone.

WordLlama embeds thousands of texts a second and misses a note that a question paraphrases
without a common word. MiniLM finds more of those and is about a hundred times slower, so it is
used beside WordLlama where the texts of a graph are few enough to be embedded while one waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tracert.embedding.base import Embedder
from tracert.embedding.registry import DEFAULT, embedder
from tracert.errors import EmbedderError
from tracert.knowledge.graph import KnowledgeGraph
from tracert.knowledge.vectors import PASSAGE, PASSAGES, NoteVectors, note_vectors

#: The embedder of the second vectors, and how many texts of a graph it embeds at most.
SECOND: Final = "minilm-int8"
TEXTS: Final = 400


@dataclass(frozen=True, slots=True, eq=False)
class Second:
    """The second vectors of a graph, and the embedder that makes those of a question."""

    embedder: Embedder
    vectors: NoteVectors


def second_vectors(graph: KnowledgeGraph, first: Embedder) -> Second | None:
    """The second vectors of a graph whose first are WordLlama's.

    None for a graph of more than `TEXTS` texts, beside another embedder, or where the package of
    the second embedder is missing.

    Raises:
        KnowledgeError: the vectors cannot be saved.
    """
    if first.name != DEFAULT or texts(graph) > TEXTS:
        return None
    other = embedder(SECOND)
    try:
        return Second(other, note_vectors(graph, other))
    except EmbedderError:  # not installed: the first vectors do
        return None


def texts(graph: KnowledgeGraph) -> int:
    """About how many texts its notes are embedded as: a head each, and the passages."""
    return sum(
        1 + min(PASSAGES, (note.end - note.start) // PASSAGE + 1) for note in graph.notes.values()
    )
