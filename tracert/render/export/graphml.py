"""A run as GraphML: every node and every judged candidate with its numbers, for other tools.

The graph is a directed multigraph. Nodes are those of the trace; edges are the moves of the
walk (`kind` move) and, from the node in hand to each candidate of a step, its verdict (`kind`
candidate) with the rule and the numbers. XML cannot hold control characters or halves of
surrogate pairs; they are left out, and what is not known has no attribute.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from tracert.render.frames import frame, last
from tracert.render.network import moves_of
from tracert.render.words import title
from tracert.trace import Node, Trace

if TYPE_CHECKING:
    import networkx

#: What XML 1.0 does not allow.
_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    """The text without what XML 1.0 cannot hold."""
    return _NOT_XML.sub("", text)


def to_graphml(trace: Trace) -> str:
    """The trace as a GraphML document."""
    import networkx as nx

    out = io.BytesIO()
    nx.write_graphml_xml(graph(trace), out, encoding="utf-8", named_key_ids=False)
    return out.getvalue().decode("utf-8")


def graph(trace: Trace) -> networkx.MultiDiGraph:
    """The trace as a networkx graph, with attributes that GraphML can hold."""
    import networkx as nx

    made = nx.MultiDiGraph(
        **_known(
            {
                "method": trace.method,
                "question": trace.question,
                "corpus": trace.corpus.name,
                "fingerprint": trace.corpus.fingerprint,
                "embedder": trace.corpus.embedder,
                "stop": trace.result.stop.reason.value,
                **{f"setting_{name}": value for name, value in trace.settings.items()},
            }
        )
    )
    names = _names(trace)
    order = frame(trace, last(trace)).order
    rank = {id: number for number, id in enumerate(trace.result.evidence, start=1)}
    for node in trace.nodes:
        made.add_node(names[node.id], **_node(trace, node, order, rank))
    made_by = _steps_of_moves(trace)
    for number, (source, target) in enumerate(moves_of(trace), start=1):
        if source != target and source in names and target in names:
            values = {"kind": "move", "order": number, "step": made_by.get((source, target))}
            made.add_edge(names[source], names[target], key=f"m{number}", **_known(values))
    number = 0
    for step in trace.steps:
        for item in step.candidates:
            number += 1
            values = {
                "kind": "candidate",
                "step": step.index,
                "kept": item.kept,
                "rule": item.rule,
                "reason": item.reason,
                **{f"value_{name}": value for name, value in item.values.items()},
            }
            made.add_edge(names[step.source], names[item.id], key=f"c{number}", **_known(values))
    return made


def _steps_of_moves(trace: Trace) -> dict[tuple[str, str], int]:
    """The step in which each move was made first."""
    made: dict[tuple[str, str], int] = {}
    for step in trace.steps:
        kept = [item.id for item in step.candidates if item.kept]
        for target in (step.target, *kept):
            if target is not None:
                made.setdefault((step.source, target), step.index)
    return made


def _names(trace: Trace) -> dict[str, str]:
    """The ids as XML can hold them, each still another."""
    made: dict[str, str] = {}
    taken: set[str] = set()
    for node in trace.nodes:
        name, number = xml_text(node.id), 1
        while name in taken:
            number += 1
            name = f"{xml_text(node.id)} ({number})"
        taken.add(name)
        made[node.id] = name
    return made


def _node(
    trace: Trace, node: Node, order: Mapping[str, int], rank: Mapping[str, int]
) -> dict[str, Any]:
    source = node.source
    place = trace.map.positions.get(node.id) if trace.map is not None else None
    return _known(
        {
            "label": title(node),
            "kind": node.kind.value,
            "text": node.text,
            "path_number": order.get(node.id),
            "evidence_rank": rank.get(node.id),
            "document": source.document if source else None,
            "page": source.page if source else None,
            "heading_path": " › ".join(source.heading_path) if source else None,
            "start": source.start if source else None,
            "end": source.end if source else None,
            "map_x": place[0] if place else None,
            "map_y": place[1] if place else None,
        }
    )


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    """What is known, as GraphML can hold it: text, whole numbers, numbers, yes and no."""
    made: dict[str, Any] = {}
    for name, value in values.items():
        if value is None or (isinstance(value, float) and not math.isfinite(value)):
            continue
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**31:
            value = float(value)
        made[xml_text(name)] = xml_text(value) if isinstance(value, str) else value
    return made
