"""A run as GraphML: it reads back in networkx with all its numbers, whatever the texts hold."""

from __future__ import annotations

import io
import math
import xml.etree.ElementTree as ET

import networkx as nx
import pytest

from tests.hop_traces import hop_trace
from tests.note_traces import note_trace
from tracert.render.export.graphml import graph, to_graphml, xml_text


def read(text: str) -> nx.MultiDiGraph:
    return nx.read_graphml(io.BytesIO(text.encode("utf-8")), force_multigraph=True)


@pytest.fixture(params=["walk", "notes", "hops"])
def trace(request, toys):
    if request.param == "walk":
        return toys.walk_trace()
    if request.param == "notes":
        return note_trace()
    return hop_trace()


def test_it_reads_back_as_it_was_written(trace):
    back, made = read(to_graphml(trace)), graph(trace)
    assert set(back.nodes) == set(made.nodes) == {node.id for node in trace.nodes}
    assert back.number_of_edges() == made.number_of_edges()
    for id, values in made.nodes(data=True):
        assert dict(back.nodes[id]) == values


def test_every_verdict_is_an_edge_with_its_numbers(toys):
    trace = toys.walk_trace()
    back = read(to_graphml(trace))
    for step in trace.steps:
        for item in step.candidates:
            found = [
                values
                for values in back.get_edge_data(step.source, item.id).values()
                if values["kind"] == "candidate" and values["step"] == step.index
            ]
            assert len(found) == 1
            assert found[0]["rule"] == item.rule
            assert found[0]["kept"] is item.kept
            for name, value in item.values.items():
                assert math.isclose(found[0][f"value_{name}"], value)


def test_the_moves_are_the_path(toys):
    trace = toys.walk_trace()
    edges = read(to_graphml(trace)).edges(data=True)
    moves = sorted((v["step"], a, b) for a, b, v in edges if v["kind"] == "move")
    assert [trace.result.path[0], *(b for _, _, b in moves)] == list(trace.result.path)


def test_what_xml_cannot_hold_is_left_out(toys):
    hostile = "\x00\x1b[2J\ud800\ufffe " + toys.HOSTILE
    text = to_graphml(toys.walk_trace(text=hostile, document=hostile, question=hostile))
    ET.fromstring(text)  # well-formed
    back = read(text)
    node = back.nodes["toy:0"]
    assert node["text"] == xml_text(hostile)
    assert "<script>" in node["text"]
    assert not set("\x00\x1b\ud800\ufffe") & set(node["text"])


def test_ids_that_only_xml_makes_equal_stay_apart(toys):
    from dataclasses import replace

    trace = toys.walk_trace()
    twin = replace(trace.nodes[2], id=trace.nodes[2].id + "\x00")
    made = graph(replace(trace, nodes=(*trace.nodes, twin)))
    assert made.number_of_nodes() == len(trace.nodes) + 1


def test_what_is_not_known_has_no_attribute(toys):
    values = read(to_graphml(toys.walk_trace(with_map=False))).nodes["query"]
    assert "map_x" not in values
    assert "page" not in values
