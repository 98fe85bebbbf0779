"""The tables 1 and 2 of the Tracert-RAG paper on Pride and Prejudice, beside what it published.

    python -m benchmarks.source_tables BOOK.txt [--out FILE] [--embedder NAME]
        [--model NAME --base-url URL] [--judge NAME] [--record FILE | --replay FILE]

BOOK.txt is the novel as plain text. Each method indexes it and answers five multi-hop questions
of the project's own (benchmarks/pride_questions.jsonl). Without a model answers are extracts, the
graph of entities is made offline, and the judge's table says that no model was set. With one it
writes goals, graph and answers, and judges, or another does by --judge.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tracert.commands.models import add_model_options, chosen_model
from tracert.corpus.chunking import Chunking
from tracert.embedding.registry import embedder
from tracert.evaluation.judged import Judged, as_markdown, judge_all, judged
from tracert.home import home
from tracert.language.base import ChatModel
from tracert.language.client import OpenAIChat
from tracert.language.prices import dollars, load
from tracert.methods.graph_rag.index import forget_graphs
from tracert.methods.registry import method
from tracert.trace import Cost, Trace, Value
from tracert.workspace import Workspace

QUESTIONS: Final = Path(__file__).with_name("pride_questions.jsonl")
#: As in section 3.2 of the paper.
CHUNKING: Final = Chunking(500, 100)
#: Passages of each method; the walk of tracert_rag ends by itself.
BUDGET: Final = 8
METHODS: Final[Mapping[str, Mapping[str, Value]]] = {
    "graph_rag": {"k": BUDGET},
    "tracert_rag": {},
    "treehop": {"k": BUDGET},
    "native_rag": {"k": BUDGET},
}
#: Table 2: indexing, five questions with their answers, and a question, in seconds.
PUBLISHED_SECONDS: Final = {
    "graph_rag": (11788.01, 463.04, 92.6),
    "tracert_rag": (147.08, 56.89, 11.37),
    "native_rag": (163.79, 29.98, 5.99),
}
#: Table 1: wins, then comprehensiveness, engagement, depth, clarity, overall.
PUBLISHED_SCORES: Final[Mapping[str, tuple[int, tuple[float, ...]]]] = {
    "graph_rag": (2, (8.2, 7.4, 8.2, 7.4, 7.75)),
    "tracert_rag": (3, (8.2, 8.0, 7.8, 8.2, 8.05)),
    "native_rag": (0, (6.6, 6.2, 6.6, 7.0, 6.65)),
}
_ABSENT: Final = "not in the paper"


@dataclass(frozen=True, slots=True)
class Measured:
    """One method: seconds of indexing, seconds of each question, and its runs."""

    index: float
    index_cost: Cost
    seconds: tuple[float, ...]
    traces: tuple[Trace, ...]

    @property
    def passages(self) -> float:
        """The mean number of passages that an answer was written from."""
        return statistics.mean(len(trace.result.evidence) for trace in self.traces)

    @property
    def cost(self) -> Cost:
        """Calls and tokens of the questions together."""
        total = Cost()
        for trace in self.traces:
            total = total.plus(replace(trace.cost, seconds={}))
        return total


def questions() -> list[str]:
    """The five questions."""
    lines = QUESTIONS.read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["question"] for line in lines if line.strip()]


def indexing(book: Path, embedder_name: str, repeats: int) -> float:
    """Seconds from the file to a corpus that can be asked: the median of some runs.

    The embedder is loaded before. Every method but Graph RAG needs this and nothing more.
    """
    chosen = embedder(embedder_name)
    chosen.embed(["to load it"])
    runs = []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            begun = time.perf_counter()
            _indexed(Path(folder), book, embedder_name)
            runs.append(time.perf_counter() - begun)
    return statistics.median(runs)


def _indexed(folder: Path, book: Path, embedder_name: str) -> Workspace:
    space = Workspace(folder)
    space.index([book], "book", chunking=CHUNKING, embedder=embedder(embedder_name))
    space.open("book")
    return space


def measure(
    name: str,
    space: Workspace,
    model: ChatModel | None,
    settings: Mapping[str, Value],
    repeats: int,
    base: float,
) -> Measured:
    """Ask the questions of an indexed book.

    `base` are the seconds that its indexing took; Graph RAG adds the making of its graph. A
    question's seconds are the median of `repeats` runs, each prepared anew.
    """
    asked = questions()
    index, making = base, Cost()
    if name == "graph_rag":
        forget_graphs()
        made = _ask(space, name, asked[0], model, settings).cost
        again = _ask(space, name, asked[0], model, settings).cost
        index += sum(value for key, value in made.seconds.items() if key.startswith("index_"))
        making = Cost(
            {},
            made.model_calls - again.model_calls,
            made.prompt_tokens - again.prompt_tokens,
            made.completion_tokens - again.completion_tokens,
        )
    else:
        _ask(space, name, asked[0], None, settings)  # what is loaded once is no question's
    seconds, traces = [], []
    for question in asked:
        runs = []
        for _ in range(repeats):
            begun = time.perf_counter()
            trace = _ask(space, name, question, model, settings)
            runs.append(time.perf_counter() - begun)
        seconds.append(statistics.median(runs))
        traces.append(trace)
    return Measured(index, making, tuple(seconds), tuple(traces))


def _ask(
    space: Workspace,
    name: str,
    question: str,
    model: ChatModel | None,
    settings: Mapping[str, Value],
) -> Trace:
    return space.ask(
        question,
        corpus="book",
        method=name,
        settings=settings,
        model=model,
        with_map=False,
        fresh=True,
    )


# --- the tables -------------------------------------------------------------------------------


def table(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """A Markdown table; the first row is its head, the first `left` columns are text."""
    head, *body = rows
    rule = ["---"] * left + ["---:"] * (len(head) - left)
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *body))


def seconds_table(measured: Mapping[str, Measured]) -> str:
    """Table 2, the published seconds beside."""
    rows = [
        (
            "Method",
            "Indexing (s)",
            "published",
            "Five questions (s)",
            "published",
            "A question (s)",
            "published",
            "Passages",
            "Calls to index",
            "Calls to answer",
        )
    ]
    for name, each in measured.items():
        published = PUBLISHED_SECONDS.get(name)
        index, five, one = (
            (f"{published[0]:,.2f}", f"{published[1]:.2f}", f"{published[2]:g}")
            if published
            else (_ABSENT,) * 3
        )
        rows.append(
            (
                method(name).title,
                f"{each.index:.2f}",
                index,
                f"{sum(each.seconds):.3f}",
                five,
                f"{statistics.mean(each.seconds):.3f}",
                one,
                f"{each.passages:.1f}",
                f"{each.index_cost.model_calls:,}",
                f"{each.cost.model_calls:,}",
            )
        )
    return table(rows)


def published_scores() -> str:
    """Table 1 as published."""
    head = ("Method", "Win", "Comprehensiveness", "Engagement", "Depth", "Clarity", "Overall")
    rows = [
        (method(name).title, str(wins), *(f"{score:g}" for score in scores))
        for name, (wins, scores) in PUBLISHED_SCORES.items()
    ]
    return table([head, *rows])


def ratios(measured: Mapping[str, Measured]) -> str:
    """The paper's two comparisons with Graph RAG, theirs and ours."""
    ours, theirs = measured["tracert_rag"], measured["graph_rag"]
    return (
        f"Graph RAG takes {theirs.index / ours.index:.1f} times as long to index as Tracert-RAG "
        f"here ({11788.01 / 147.08:.0f} times in the paper) and "
        f"{sum(theirs.seconds) / sum(ours.seconds):.1f} times as long a question "
        f"({92.6 / 11.37:.1f} times by the paper's table, which its text gives as about 6)."
    )


def differences(
    book: Path, chunks: int, embedder_name: str, model: str | None, repeats: int
) -> str:
    """What differs from the paper, in a list."""
    size = len(book.read_text(encoding="utf-8", errors="replace"))
    graph = (
        "made with the model, within its limits of calls"
        if model
        else "made offline out of capitalised names, without a model"
    )
    answers = (
        f"written by {model}"
        if model
        else "extracts, without a model, so that no second is spent on writing; the paper's are "
        "written by a language model and its seconds hold that"
    )
    lines = (
        f"Corpus: the same novel, {size:,} characters, {chunks:,} passages of 500 characters with "
        "100 in common.",
        "Questions: five of the project's own; the paper does not list its five.",
        f"Embedder: {embedder_name} on this machine; the paper names text-embedding-ada-002.",
        f"Answers: {answers}.",
        f"Graph RAG: the project's own implementation, its graph {graph}; the paper runs the one "
        "introduced by Microsoft Research, for which it reports about three hours.",
        f"Store: Chroma in the process; the paper names Milvus. Machine: {os.cpu_count()} cores, "
        f"{platform.system()} {platform.machine()}, Python {platform.python_version()}; the paper "
        "names none.",
        "Indexing: cutting, embedding and storing are the same for all methods here, so they were "
        "timed together (a median); Graph RAG adds its graph, timed once.",
        f"A question's seconds: the median of {repeats} run(s), from the question to the answer, "
        "after one to warm up.",
        "TreeHop is not in the paper's tables.",
    )
    return "\n".join(f"- {line}" for line in lines)


def answers_of(measured: Mapping[str, Measured]) -> list[tuple[str, dict[str, str]]]:
    """The questions with the answers of all methods."""
    made = []
    for place, question in enumerate(questions()):
        answers = {}
        for name, each in measured.items():
            answer = each.traces[place].result.answer
            answers[name] = "" if answer is None else answer.text
        made.append((question, answers))
    return made


def scores_table(report: Judged | None, failures: Sequence[tuple[str, str]], model: str) -> str:
    """Table 1 by our judge, or why there is none."""
    if report is not None:
        return as_markdown(report, {name: method(name).title for name in METHODS})
    why = failures[0][1] if failures else "there were no answers to judge."
    return f"The judge {model} gave no judgement on any of the questions: {why}"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, judge where a model is set, and print or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("book", type=Path)
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--repeats", type=int, default=0, help="5 offline, 1 with a model")
    parser.add_argument("--judge", metavar="NAME", help="the judge, where it is not --model")
    parser.add_argument("--reading-calls", type=int, default=200)
    parser.add_argument("--summary-calls", type=int, default=40)
    parser.add_argument("--out", type=Path)
    add_model_options(parser)
    given = parser.parse_args(argv)
    with chosen_model(given) as model:
        text = report(given, model)
    if given.out is not None:
        given.out.write_text(text + "\n", encoding="utf-8")
    print(text)
    return 0


def report(given: argparse.Namespace, model: ChatModel | None) -> str:
    """The whole text."""
    repeats = given.repeats or (5 if model is None else 1)
    base = indexing(given.book, given.embedder, max(repeats, 3))
    measured = {}
    with tempfile.TemporaryDirectory() as folder:
        space = _indexed(Path(folder), given.book, given.embedder)
        for name, settings in METHODS.items():
            more: dict[str, Value] = dict(settings)
            if name == "graph_rag":
                more["reading_calls"] = given.reading_calls
                more["summary_calls"] = given.summary_calls
            measured[name] = measure(name, space, model, more, repeats, base)
    chunks = measured["native_rag"].traces[0].corpus.size
    asked = None if model is None else model.name
    parts = [
        "# The tables of the Tracert-RAG paper, measured again",
        f"Made by `python -m benchmarks.source_tables {given.book.name}`"
        + (f" with `--model {asked}`." if asked else ", without a language model."),
        "## Table 2: seconds",
        seconds_table(measured),
        ratios(measured),
        "## Table 1: the judge",
    ]
    if model is None:
        parts.append(
            "No model was set, so no answer was written or judged: this column stays empty. Run it "
            "with `--model` and `--base-url` to fill it. The paper's judge was GPT-4o:"
        )
    else:
        parts += [_judged(given, model, measured), "The paper's own, by GPT-4o, asked once:"]
    parts += [
        published_scores(),
        "## What differs from the paper",
        differences(given.book, chunks, given.embedder, asked, repeats),
    ]
    return "\n\n".join(parts)


def _judged(given: argparse.Namespace, model: ChatModel, measured: Mapping[str, Measured]) -> str:
    """The judge's table, and what the questions cost by the table of prices."""
    judging = model
    if given.judge is not None:
        judging = OpenAIChat(given.judge, given.base_url, timeout=given.timeout)
    made, failed = judge_all(answers_of(measured), judging)
    paid = []
    for name, each in measured.items():
        spent = dollars(each.index_cost.plus(each.cost), model.name, load(home()))
        cost = "unknown price" if spent is None else f"${spent:.4f}"
        paid.append(f"{method(name).title} {cost}")
    said = scores_table(judged(made, failed), failed, judging.name)
    return f"{said}\n\nCost of index and answers by the table of prices: {'; '.join(paid)}."


if __name__ == "__main__":
    raise SystemExit(main())
