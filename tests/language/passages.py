"""Traces with a given evidence, cut from one text as the chunker cuts."""

from __future__ import annotations

from collections.abc import Sequence

from tracert.trace import (
    CorpusInfo,
    Node,
    NodeKind,
    Result,
    Source,
    Stop,
    StopReason,
    Trace,
)


def passage(text: str, start: int, end: int, document: str = "book.txt") -> Node:
    """The slice of a document as a node."""
    source = Source(document, 3, ("Chapter 1", "The ring"), start, end)
    return Node(
        f"{document}:{start}", NodeKind.CHUNK, text[start : start + 20], text[start:end], source
    )


def whole(text: str, document: str) -> Node:
    """A document of one passage."""
    return passage(text, 0, len(text), document)


def trace(question: str, evidence: Sequence[Node]) -> Trace:
    """A trace that found this evidence, in this order."""
    query = Node("query", NodeKind.QUERY, "question", question)
    return Trace(
        method="native_rag",
        question=question,
        settings={},
        seed=0,
        corpus=CorpusInfo("book", "f" * 64, "wordllama", 256, 9),
        nodes=(query, *evidence),
        steps=(),
        result=Result(
            ("query",), tuple(node.id for node in evidence), Stop(StopReason.HOPS_DONE, "Done.")
        ),
    )
