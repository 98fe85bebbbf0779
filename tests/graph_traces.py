"""Traces of graph_rag and of plain top-k for the tests of pictures and pages: a small real walk."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tests.methods.toy import ToyCorpus, ToyEmbedder
from tracert.methods.base import Question, Resources, collect, parse_settings
from tracert.methods.registry import method
from tracert.trace import Map, Trace

TEXTS = (
    "In those days Mara Quill met Ned Ash.",
    "We know that Ned Ash lived with Ola Birk.",
    "Later on Zed Orr wrote to Yan Poe.",
    "Then came Yan Poe again.",
    "nothing is named here at all",
    "The pupils of Mara Quill were Ola Birk and Ned Ash.",
)
ASKED = "What became of Mara Quill?"


def baseline_trace(name: str, *, with_map: bool = True, model: Any = None, **more: Any) -> Trace:
    """A run of a method over six sentences in the plane; two communities of names."""
    corpus = ToyCorpus([(9, 3), (1, 9), (1, 8), (0, 9), (9, 1), (8, 4)], list(TEXTS))
    chosen = method(name)
    with TemporaryDirectory() as folder:
        embed = ToyEmbedder({ASKED: (1, 0)}, 2)
        resources = Resources(embed, corpus, model, folder=Path(folder))
        prepared = chosen.prepare(Question(ASKED), resources)
        settings = parse_settings(chosen.settings_type, {"k": 2, **more})
        walk = chosen.walk(prepared, settings, resources)
        trace = collect(walk, method=name, question=ASKED, prepared=prepared.cost)
    if not with_map:
        return trace
    spots = {node.id: (float(at), float(at % 3)) for at, node in enumerate(trace.nodes)}
    return trace.with_map(Map("pca", 0, spots, np.zeros((6, 2), np.float32)))
