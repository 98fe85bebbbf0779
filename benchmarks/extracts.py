"""How much of the answer the extract holds, on the built-in questions.

Run: python -m benchmarks.extracts
The evidence of a question is its gold passages among five others of plain top-k: three before
them, two after. Told are the mean share of the answer's terms (without stop words, stemmed) in
the sentences chosen, the share of questions with all of them, and what the whole sentences of
the evidence hold at most. Prints JSON.
"""

from __future__ import annotations

import json
import statistics
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tracert.corpus.sentences import sentence_spans
from tracert.embedding.registry import embedder
from tracert.language.extract import Embed, extract
from tracert.language.words import terms
from tracert.snapshot import Snapshot
from tracert.trace import Result, Stop, StopReason, Trace
from tracert.workspace import BUILTIN, Workspace, builtin_folder

ROOT = Path(__file__).resolve().parent.parent


def evidence(question: Mapping[str, Any], snapshot: Snapshot, embed: Embed) -> list[int]:
    """The rows of the gold passages, the nearest others around them."""
    chunks = snapshot.chunks(range(snapshot.info.size))
    gold = []
    for passage in question["passages"]:
        start = (builtin_folder() or ROOT).joinpath(passage["document"]).read_text("utf-8")
        at = start.index(passage["quote"])
        middle = at + len(passage["quote"]) // 2
        gold.append(
            min(
                (row for row, chunk in enumerate(chunks) if chunk.document == passage["document"]),
                key=lambda row: abs((chunks[row].start + chunks[row].end) / 2 - middle),
            )
        )
    nearest = np.argsort(-(snapshot.matrix @ embed([question["question"]])[0])).tolist()
    return list(dict.fromkeys([*nearest[:3], *gold, *nearest[3:5]]))


def share(answer: str, text: str) -> float:
    """The share of the answer's terms in the text."""
    wanted = set(terms(answer))
    return len(wanted & set(terms(text))) / len(wanted) if wanted else 1.0


def main() -> None:
    """Measure and print."""
    embed = embedder("wordllama").embed
    lines = (ROOT / "knowledge" / "questions.jsonl").read_text("utf-8").splitlines()
    found: dict[str, list[float]] = {"with similarity": [], "by words": [], "at most": []}
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(folder)
        workspace.ensure_builtin()
        snapshot = workspace.open(BUILTIN)
        for line in lines:
            question = json.loads(line)
            chunks = snapshot.chunks(evidence(question, snapshot, embed))
            nodes = tuple(chunk.node() for chunk in chunks)
            trace = Trace(
                "native_rag",
                question["question"],
                {},
                0,
                snapshot.info,
                nodes,
                (),
                Result((), tuple(node.id for node in nodes), Stop(StopReason.HOPS_DONE, "")),
            )
            everything = " ".join(
                node.text[start:end] for node in nodes for start, end in sentence_spans(node.text)
            )
            found["with similarity"].append(share(question["answer"], extract(trace, embed).text))
            found["by words"].append(share(question["answer"], extract(trace).text))
            found["at most"].append(share(question["answer"], everything))
    report = {
        name: {
            "terms": round(statistics.mean(values), 3),
            "whole answers": round(statistics.mean(value == 1.0 for value in values), 3),
        }
        for name, values in found.items()
    }
    print(json.dumps({"questions": len(lines), **report}, indent=2))


if __name__ == "__main__":
    main()
