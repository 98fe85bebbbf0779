"""What the baselines find on the built-in questions, and what graph RAG costs before the first.

    python -m benchmarks.baselines [--embedder wordllama] [--book FILE] [--passages 5 10]

For each method the share of gold passages among as many passages as plain top-k is given; where a
method returns fewer, plain top-k is given as few, in the column beside it. A chunk is gold where it
holds most of the quotation. No language model is asked: rewriting and extraction are the offline
ones. With --book the seconds of cutting, embedding and making the graph of that text, too: the
Tracert-RAG paper's corpus is Pride and Prejudice.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tracert.corpus.chunking import Chunking, chunk
from tracert.corpus.loaders import load_document
from tracert.corpus.model import Chunk, Document
from tracert.embedding.base import Embedder
from tracert.embedding.registry import embedder
from tracert.evaluation.quoted import Gold, found_of, known_gold, read_questions
from tracert.methods.base import Question, Resources, collect, parse_settings
from tracert.methods.bm25 import TermIndex
from tracert.methods.graph_rag.index import Limits, graph_of
from tracert.methods.registry import method
from tracert.trace import CorpusInfo, Trace, Value

ROOT = Path(__file__).resolve().parent.parent
METHODS: tuple[tuple[str, str, dict[str, Value]], ...] = (
    ("plain top-k", "native_rag", {}),
    ("BM25", "native_rag", {"first_stage": "bm25"}),
    ("rank fusion", "native_rag", {"first_stage": "hybrid"}),
    ("iterative rewriting", "iterative_rewrite", {}),
    ("iterative rewriting, rank fusion", "iterative_rewrite", {"first_stage": "hybrid"}),
    ("graph RAG, local", "graph_rag", {}),
    ("graph RAG, global", "graph_rag", {"search": "global"}),
)


class MemoryCorpus:
    """A corpus that lies in memory, cut and embedded, with the seconds that each took."""

    def __init__(self, documents: Sequence[Document], embed: Embedder) -> None:
        begun = time.perf_counter()
        self._chunks = [part for document in documents for part in chunk(document, Chunking())]
        cut = time.perf_counter()
        self.matrix = embed.embed([part.text for part in self._chunks])
        self.seconds = {"cut": cut - begun, "embed": time.perf_counter() - cut}
        self.ids = [part.id for part in self._chunks]
        digest = hashlib.sha256("".join([*self.ids, embed.identity]).encode()).hexdigest()
        size = len(self.ids)
        self.info = CorpusInfo("memory", digest, embed.name, self.matrix.shape[1], size)

    def chunks(self, rows: Sequence[int]) -> list[Chunk]:
        """The chunks of these rows."""
        return [self._chunks[row] for row in rows]


@dataclass(frozen=True)
class Case:
    """A question and, for each gold passage, the ids of the chunks that hold it."""

    question: str
    gold: Gold

    def found(self, evidence: Sequence[str]) -> float:
        """The share of the gold passages that the evidence holds."""
        return found_of(self.gold, evidence)


def cases(corpus: MemoryCorpus, documents: Sequence[Document]) -> list[Case]:
    """The built-in questions."""
    texts = {document.name: document.text for document in documents}
    chunks = corpus.chunks(range(len(corpus.ids)))
    return [
        Case(asked.question, known_gold(asked, texts, chunks))
        for asked in read_questions(ROOT / "knowledge/questions.jsonl")
    ]


def ask(case: Case, name: str, settings: Mapping[str, Value], resources: Resources) -> Trace:
    """One question to one method."""
    chosen = method(name)
    prepared = chosen.prepare(Question(case.question), resources)
    values = parse_settings(chosen.settings_type, {**settings, "candidates_kept": 1})
    walk = chosen.walk(prepared, values, resources)
    return collect(walk, method=name, question=case.question)


def interval(differences: npt.NDArray[np.float64]) -> tuple[float, float]:
    """The 95% bootstrap interval of a mean over questions."""
    draws = np.random.default_rng(0).choice(differences, (10_000, len(differences)))
    low, high = np.percentile(draws.mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def compare(asked: Sequence[Case], resources: Resources, k: int) -> None:
    """The table at one number of passages."""
    print(f"\n| at {k} passages | gold found | plain top-k at as many | difference [95%] | ms |")
    print("|---|---|---|---|---|")
    ranked = [ask(case, "native_rag", {"k": 50}, resources).result.evidence for case in asked]
    for title, name, settings in METHODS:
        ask(asked[0], name, {**settings, "k": k}, resources)  # what is made once is not timed
        begun = time.perf_counter()
        traces = [ask(case, name, {**settings, "k": k}, resources) for case in asked]
        seconds = (time.perf_counter() - begun) / len(asked)
        own = np.array([c.found(t.result.evidence) for c, t in zip(asked, traces, strict=True)])
        plain = np.array(
            [
                case.found(nearest[: len(trace.result.evidence)])
                for case, trace, nearest in zip(asked, traces, ranked, strict=True)
            ]
        )
        low, high = interval(own - plain)
        mean = float((own - plain).mean())
        print(
            f"| {title} | {own.mean():.3f} | {plain.mean():.3f} | "
            f"{mean:+.3f} [{low:+.3f}, {high:+.3f}] | {1000 * seconds:.1f} |"
        )


def index(title: str, corpus: MemoryCorpus, folder: Path) -> None:
    """What is made of a corpus before the first question, in seconds."""
    begun = time.perf_counter()
    TermIndex.of_corpus(corpus)
    words = time.perf_counter() - begun
    graph, cost = graph_of(corpus, None, Limits(0, 0), folder)
    stages = ", ".join(f"{stage} {value:.2f}" for stage, value in cost.seconds.items())
    vectors = sum(corpus.seconds.values())
    print(
        f"| {title} | {len(corpus.ids)} | {vectors:.2f} | {words:.2f} | {graph.seconds:.2f} | "
        f"{len(graph.entities)} | {len(graph.relations)} | {len(graph.communities)} in "
        f"{graph.levels} levels | {stages} |"
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--book", type=Path)
    parser.add_argument("--passages", type=int, nargs="+", default=[5, 10])
    given = parser.parse_args()
    embed = embedder(given.embedder)
    embed.embed(["the model is loaded before anything is timed"])
    paths = sorted((ROOT / "knowledge/document").glob("*.md"))
    documents = [load_document(path.read_bytes(), path.name) for path in paths]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(
            "| text | passages | vectors s | words s | graph s | entities | relations | "
            "communities | of the graph's seconds |\n|---|---|---|---|---|---|---|---|---|"
        )
        corpus = MemoryCorpus(documents, embed)
        index("built-in", corpus, folder)
        if given.book is not None:
            book = load_document(given.book.read_bytes(), given.book.name)
            index(given.book.stem, MemoryCorpus([book], embed), folder)
        resources = Resources(embed.embed, corpus, folder=folder)
        asked = cases(corpus, documents)
        for k in given.passages:
            compare(asked, resources, k)


if __name__ == "__main__":
    main()
