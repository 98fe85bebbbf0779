"""What Tracert-RAG's goal, alpha, delta and hop limit do on the built-in questions.

Four figures a setting: passages in the corridor and on the path (medians), the share of walks
that reach the goal, and the share of gold passages on the path. Beside them, plain top-k's
share of gold at the same number of passages, question by question. A chunk is gold where it
holds most of the quotation. The table for the README comes first.

    python -m benchmarks.tune_tracert [--embedder wordllama]

`tracert_goals.jsonl` holds a goal a question in the paper's form, as a person types it who knows
roughly what the text tells and does not name the answer.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tracert.corpus.chunking import Chunking, chunk
from tracert.corpus.loaders import load_document
from tracert.corpus.model import Chunk
from tracert.corpus.sentences import sentence_spans
from tracert.embedding.registry import embedder
from tracert.evaluation.quoted import Gold, found_of, known_gold, read_questions
from tracert.language.goal_text import GoalText, read_goal
from tracert.language.offline import BACKGROUND, FEEDBACK, Rarity, predict_goal_offline
from tracert.methods.base import Resources, collect, parse_settings
from tracert.methods.exact import Vectors, even_rows, unit
from tracert.methods.tracert_rag import Prepared, TracertRag
from tracert.trace import CorpusInfo, Cost, StopReason, Trace, Value

ROOT = Path(__file__).resolve().parent.parent
KNOWLEDGE = ROOT / "knowledge"
METHOD = TracertRag()

Array = npt.NDArray[np.float32]


class MemoryCorpus:
    """A corpus that lies in memory."""

    def __init__(self, chunks: list[Chunk], matrix: Array, embedder_name: str) -> None:
        self._chunks = chunks
        self.matrix = matrix
        self.ids = [each.id for each in chunks]
        self.info = CorpusInfo("built-in", "", embedder_name, matrix.shape[1], len(chunks))

    def chunks(self, rows: Sequence[int]) -> list[Chunk]:
        """The chunks of these rows."""
        return [self._chunks[row] for row in rows]


@dataclass(frozen=True)
class Case:
    """A question, its vector and, for each gold passage, the ids of the chunks that hold it."""

    id: str
    question: str
    vector: Array
    gold: Gold


class Bench:
    """The built-in document and its questions under one embedder."""

    def __init__(self, name: str) -> None:
        self.embed = embedder(name).embed
        paths = sorted((KNOWLEDGE / "document").glob("*.md"))
        documents = [load_document(path.read_bytes(), path.name) for path in paths]
        chunks = [each for document in documents for each in chunk(document, Chunking())]
        self.corpus = MemoryCorpus(chunks, self.embed([each.text for each in chunks]), name)
        self.resources = Resources(self.embed, self.corpus)
        texts = {document.name: document.text for document in documents}
        asked = read_questions(KNOWLEDGE / "questions.jsonl")
        vectors = self.embed([each.question for each in asked])
        self.cases = [
            Case(each.id, each.question, vector, known_gold(each, texts, chunks))
            for each, vector in zip(asked, vectors, strict=True)
        ]
        typed = (ROOT / "benchmarks/tracert_goals.jsonl").read_text(encoding="utf-8").splitlines()
        self.typed = {each["id"]: each["goal"] for each in map(json.loads, typed)}

    def nearest(self, case: Case, count: int) -> list[int]:
        """Rows of plain top-k."""
        rows, _ = Vectors(self.corpus.matrix).nearest(unit(case.vector), count)
        return [int(row) for row in rows]

    def found(self, case: Case, evidence: Iterable[str]) -> float:
        """The share of the gold passages that the evidence holds."""
        return found_of(case.gold, list(evidence))

    def texts(self, rows: Iterable[int]) -> list[str]:
        """The texts of these rows."""
        return [each.text for each in self.corpus.chunks(list(rows))]

    def walk(self, case: Case, goal: GoalText | Array, **settings: Value) -> Trace:
        """One walk; a goal may be a vector without a text."""
        text = goal if isinstance(goal, GoalText) else GoalText("", "", "(a vector)", "offline")
        vector = self.embed([goal.text])[0] if isinstance(goal, GoalText) else goal
        prepared = Prepared(case.question, text, "", case.vector, vector, Cost())
        chosen = parse_settings(METHOD.settings_type, {"candidates_kept": 1, **settings})
        walk = METHOD.walk(prepared, chosen, self.resources)
        return collect(walk, method=METHOD.name, question=case.question)


# --- goals --------------------------------------------------------------------------------


Predictor = Callable[[Bench, Case], "GoalText | Array"]


def default_goal(bench: Bench, case: Case) -> GoalText:
    """The offline predictor as it is."""
    spread = even_rows(len(bench.corpus.ids), BACKGROUND).tolist()
    passages = bench.texts(bench.nearest(case, FEEDBACK))
    return predict_goal_offline(case.question, passages, Rarity.of(bench.texts(spread)))


def typed_goal(bench: Bench, case: Case) -> GoalText:
    """Concept and explanation as a person types them."""
    return read_goal(bench.typed[case.id], "typed")


def question_and_terms(bench: Bench, case: Case) -> GoalText:
    """The question and the new terms, as RM3 expands a query."""
    goal = default_goal(bench, case)
    return GoalText("", "", f"{case.question} {goal.text}", "offline")


def bare_terms(bench: Bench, case: Case) -> GoalText:
    """The terms alone, without a sentence around them."""
    goal = default_goal(bench, case)
    listed = goal.explanation.rpartition(" tells of ")[2].rstrip(".").replace(" and ", ", ")
    return GoalText("", goal.concept, listed, "offline")


def best_sentence(bench: Bench, case: Case) -> GoalText:
    """The sentence of the nearest passages that holds most of the new terms."""
    terms = set(bare_terms(bench, case).text.replace(":", ",").split(", "))
    sentences = [
        text[start:end]
        for text in bench.texts(bench.nearest(case, FEEDBACK))
        for start, end in sentence_spans(text)
        if end - start > 40
    ]
    best = max(sentences, key=lambda text: sum(term in text for term in terms))
    return GoalText("", "", best, "offline")


def mean_of_passages(bench: Bench, case: Case) -> Array:
    """The mean of the nearest passages."""
    mean = bench.corpus.matrix[bench.nearest(case, FEEDBACK)].mean(axis=0)
    return unit(mean).astype(np.float32)


def best_without_question(bench: Bench, case: Case) -> Array:
    """norm(c - 0.2 q), c the nearest passage."""
    nearest = bench.corpus.matrix[bench.nearest(case, 1)[0]]
    return unit(nearest - 0.2 * case.vector).astype(np.float32)


PREDICTORS: dict[str, Predictor] = {
    "new terms in a sentence (default)": default_goal,
    "new terms alone": bare_terms,
    "question and new terms (RM3)": question_and_terms,
    "sentence with most new terms": best_sentence,
    "mean of 10 passages": mean_of_passages,
    "norm(c - 0.2 q)": best_without_question,
    "typed, concept and explanation": typed_goal,
}


# --- tables -------------------------------------------------------------------------------

HEAD = (
    "| setting | corridor | widened | path | goal reached | dead end "
    "| gold on path | plain top-k, same number |\n|---|---|---|---|---|---|---|---|"
)


def row(bench: Bench, label: str, goals: Sequence[GoalText | Array], **settings: Value) -> str:
    """A line of the table: medians of counts, means of shares."""
    corridor, widened, path, reached, dead, gold, plain = [], [], [], [], [], [], []
    for case, goal in zip(bench.cases, goals, strict=True):
        trace = bench.walk(case, goal, **settings)
        evidence = trace.result.evidence
        values = trace.steps[0].values
        corridor.append(float(values["passages"] or 0.0))
        widened.append("radius_note" in values)
        path.append(len(evidence))
        reached.append(trace.result.stop.reason is StopReason.GOAL_REACHED)
        dead.append(trace.result.stop.reason is StopReason.DEAD_END)
        gold.append(bench.found(case, evidence))
        nearest = bench.nearest(case, len(evidence))
        plain.append(bench.found(case, [bench.corpus.ids[each] for each in nearest]))
    return (
        f"| {label} | {np.median(corridor):.0f} | {np.mean(widened):.0%} | {np.median(path):.1f} "
        f"| {np.mean(reached):.0%} | {np.mean(dead):.0%} | {np.mean(gold):.3f} "
        f"| {np.mean(plain):.3f} |"
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--embedder", default="wordllama")
    bench = Bench(parser.parse_args().embedder)
    goals = {
        name: [predict(bench, case) for case in bench.cases] for name, predict in PREDICTORS.items()
    }
    default = goals[next(iter(PREDICTORS))]
    typed = goals["typed, concept and explanation"]

    print(f"{len(bench.cases)} questions, {len(bench.corpus.ids)} chunks, {bench.corpus.info}\n")
    print(HEAD)
    print(row(bench, "as delivered, offline goal", default))
    print(row(bench, "as delivered, typed goal", typed))
    print("\nGoal predictors, otherwise as delivered\n\n" + HEAD)
    for name in PREDICTORS:
        print(row(bench, name, goals[name]))
    print("\nThe paper's radius, strict\n\n" + HEAD)
    for name in PREDICTORS:
        print(row(bench, name, goals[name], strict=True))
    print("\nalpha and hop limit, offline goal\n\n" + HEAD)
    for hops in (4, 6, 8):
        for alpha in (0.0, 0.1, 0.3, 0.5, 1.0):
            print(row(bench, f"{alpha}, {hops}", default, alpha=alpha, max_hops=hops))
    print("\nalpha, typed goal\n\n" + HEAD)
    for alpha in (0.1, 0.3, 0.5, 1.0):
        print(row(bench, f"{alpha}", typed, alpha=alpha))
    print("\nFewest passages before the goal, and the paper's plain rule\n\n" + HEAD)
    for fewest in (1, 2, 3):
        print(row(bench, f"min_passages {fewest}", default, min_passages=fewest))
    print(row(bench, "direct_edge", default, direct_edge=True))
    print("\ndelta given instead of the bottleneck\n\n" + HEAD)
    for delta in (0.4, 0.5, 0.55, 0.6, 0.7):
        print(row(bench, f"{delta}", default, delta=delta))
    print("\nStart from the best after passages of plain top-k\n\n" + HEAD)
    for seeds in (2, 3, 5, 8):
        for hops in (2, 5):
            label = f"{seeds} passages, then at most {hops} moves"
            print(row(bench, label, default, start="best", seed_passages=seeds, max_hops=hops))


if __name__ == "__main__":
    main()
