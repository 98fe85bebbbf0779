"""Native RAG: the k chunks most similar to the question (plain top-k), the baseline.

    evidence = the k chunks d of largest cos(v_q, v_d)

With the setting `first_stage` BM25 or the fusion of both ranks instead of the cosine; see
`tracert.methods.first_stage`. BM25 never keeps a chunk that shares no word with the question.

Lewis et al., 'Retrieval-Augmented Generation for Knowledge-Intensive NLP Tasks', 2020, and
section 2.1 of the Tracert-RAG paper. The search is exact: no approximate index. Ties within
1e-9 are broken by position in the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tracert.corpus.model import Corpus
from tracert.methods.asking import corpus_of, embedded
from tracert.methods.base import (
    Outcome,
    Question,
    Resources,
    Walk,
    candidates_setting,
    setting,
    settings_values,
)
from tracert.methods.exact import Rows
from tracert.methods.first_stage import DECIDES, Ranking, first_stage_setting, rank
from tracert.trace import Candidate, Cost, Node, NodeKind, Step, Stop, StopReason


@dataclass(frozen=True, slots=True)
class NativeRagSettings:
    """How many chunks are kept, and how many a trace names."""

    k: int = setting(5, "How many passages are kept.", low=1, high=50, step=1, label="Passages")
    candidates_kept: int = candidates_setting()
    first_stage: str = first_stage_setting()


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """The question and its vector, shape (d,)."""

    question: str
    vector: npt.NDArray[np.float32]
    cost: Cost


class NativeRag:
    """Plain top-k as a method of the registry."""

    name = "native_rag"
    title = "Native RAG (plain top-k)"
    summary = (
        "Takes the passages most similar to the question and nothing else. It is the baseline "
        "that every other method has to beat at the same number of passages."
    )
    needs: Literal["corpus", "knowledge"] = "corpus"
    settings_type = NativeRagSettings

    def prepare(self, question: Question, resources: Resources) -> Prepared:
        """Embed the question.

        Raises:
            SettingError: the question is empty.
            EmbedderError: the question could not be embedded.
        """
        return Prepared(*embedded(question, resources))

    def walk(self, prepared: Prepared, settings: NativeRagSettings, resources: Resources) -> Walk:
        """One step: rank all chunks, keep k.

        Raises:
            CorpusError: no corpus was passed in.
        """
        corpus = corpus_of(resources, self.name)
        shown = max(settings.k, settings.candidates_kept)
        ranking = rank(corpus, prepared.question, prepared.vector, settings.first_stage, shown)
        kept = min(settings.k, len(ranking.rows))
        ids = [corpus.ids[row] for row in ranking.rows]
        yield Step(
            index=0,
            action="rank",
            source="query",
            target=ids[0] if ids else None,
            values={"k": float(settings.k)},
            counts={"kept": kept, "below_k": len(corpus.ids) - kept},
            candidates=_candidates(ids, ranking, kept),
        )
        evidence = tuple(ids[:kept])
        return Outcome(
            info=corpus.info,
            nodes=_nodes(prepared, corpus, ranking.rows),
            path=("query", *evidence),
            evidence=evidence,
            stop=_stop(kept, settings, len(corpus.ids)),
            settings=settings_values(settings),
        )


def _candidates(ids: list[str], ranking: Ranking, kept: int) -> tuple[Candidate, ...]:
    if not ids:
        return ()
    limit = float(ranking.scores[kept - 1])
    what = DECIDES[ranking.stage][1]
    reasons = (f"{what} at least {limit:.4f}", f"{what} below {limit:.4f}, the k-th")
    return tuple(
        Candidate(
            id,
            place < kept,
            "kept" if place < kept else "below_k",
            reasons[place >= kept],
            values,
        )
        for place, (id, values) in enumerate(zip(ids, ranking.values, strict=True))
    )


def _nodes(prepared: Prepared, corpus: Corpus, rows: Rows) -> tuple[Node, ...]:
    query = Node("query", NodeKind.QUERY, "Question", prepared.question, vector=prepared.vector)
    block = np.array(corpus.matrix[rows])
    chunks = corpus.chunks(rows.tolist())
    return (query, *(chunk.node(vector) for chunk, vector in zip(chunks, block, strict=True)))


def _stop(kept: int, settings: NativeRagSettings, size: int) -> Stop:
    if size == 0:
        return Stop(
            StopReason.EMPTY_CORRIDOR,
            "The corpus holds no passage.",
            "Load a document with text in it.",
        )
    if kept < settings.k and kept < size:
        return Stop(
            StopReason.NOTHING_NEW,
            f"{kept} of the {size} passages share a word with the question; {settings.k} were "
            "asked for.",
            "Ask in the words of the text, or choose the first stage dense or hybrid.",
        )
    if kept < settings.k:
        return Stop(
            StopReason.HOPS_DONE,
            f"All {kept} passages of the corpus were kept; {settings.k} were asked for.",
        )
    how = {
        "dense": "most similar to the question",
        "bm25": "that share the most telling words with the question",
        "hybrid": "that stand highest by similarity and by words together",
    }[settings.first_stage]
    return Stop(StopReason.HOPS_DONE, f"The {kept} passages {how} were kept.")
