"""A trace from anyone: shown whole, or refused in one sentence; nothing else comes of it."""

from __future__ import annotations

import copy
import json
import random
from dataclasses import replace

import pytest

from tests.hop_traces import hop_trace
from tests.note_traces import note_trace
from tracert import trace as limits
from tracert.difference import difference
from tracert.errors import TraceError
from tracert.render.difference import figure, in_words, to_dict
from tracert.render.export.graphml import to_graphml
from tracert.render.export.markdown import to_markdown
from tracert.render.export.page import to_page
from tracert.render.opened import open_trace
from tracert.trace import NodeKind, Trace

#: Mutations tried; a few dozen, since each that passes is drawn in every way.
MUTATIONS = 60
STRANGE = [
    None, True, -1, 0, 1e300, 2**60, 3.5, "", "\x00\u202e<b>", [], {}, [[]], {"a": 1}, 10**30,
    "query", "goal", float("nan"), [1, 2],
]  # fmt: skip


@pytest.fixture(scope="module")
def bases(toys) -> list[str]:
    return [
        toys.walk_trace().to_json(vectors=False),
        note_trace().to_json(),
        hop_trace().to_json(vectors=False),
    ]


def places(data, at=()):
    items = data.items() if isinstance(data, dict) else enumerate(data[:30])
    for key, value in items:
        yield (*at, key)
        if isinstance(value, dict | list):
            yield from places(value, (*at, key))


def mutated(text: str, dice: random.Random) -> str:
    data = json.loads(text)
    ids = [node["id"] for node in data["nodes"]]
    for _ in range(dice.randint(1, 3)):
        *way, last = dice.choice(list(places(data)))
        spot = data
        for key in way:
            spot = spot[key]
        act = dice.random()
        if act < 0.5:
            spot[last] = dice.choice(STRANGE)
        elif act < 0.7 and isinstance(spot, list):
            spot.insert(last, copy.deepcopy(spot[last]))
        elif isinstance(spot[last], str):
            spot[last] = dice.choice(ids)
        elif isinstance(spot, dict) and "kind" in spot:
            spot["kind"] = dice.choice(list(NodeKind)).value
    return json.dumps(data)


def test_a_mutated_trace_is_shown_whole_or_refused(bases):
    dice, shown = random.Random(5), 0
    for _ in range(MUTATIONS):
        text = dice.choice(bases)
        try:
            trace = open_trace(mutated(text, dice))
        except TraceError as error:
            assert "\n" not in str(error)
            assert len(str(error)) < 400
            continue
        shown += 1
        for write in (to_page, to_markdown, to_graphml):
            assert write(trace)
        whole = Trace.from_json(text)
        if whole.method == trace.method:
            found = difference(trace, whole)
            assert in_words(found)
            json.dumps(to_dict(found), allow_nan=False)
            figure(found)
    assert 0 < shown < MUTATIONS


@pytest.mark.parametrize(
    ("name", "most"), [("MAX_NODES", 3), ("MAX_STEPS", 2), ("MAX_CANDIDATES", 10)]
)
def test_a_trace_of_too_many_parts_is_refused(toys, monkeypatch, name, most):
    monkeypatch.setattr(limits, name, most)
    with pytest.raises(TraceError, match=rf"\b{most}\b"):
        open_trace(toys.walk_trace().to_json())


def test_more_nodes_than_any_run_has_are_refused(toys):
    data = json.loads(toys.walk_trace().to_json(vectors=False))
    node = {"kind": "chunk", "label": "", "text": "", "source": None}
    data["nodes"] += [{**node, "id": str(number)} for number in range(limits.MAX_NODES)]
    with pytest.raises(TraceError, match="nodes"):
        open_trace(json.dumps(data))


def test_a_trace_that_would_be_drawn_for_minutes_is_refused(toys):
    data = json.loads(toys.walk_trace().to_json(vectors=False))
    step = data["steps"][-1]
    data["steps"] += [{**step, "index": number} for number in range(len(data["steps"]), 900)]
    with pytest.raises(TraceError, match="fewer candidates"):
        open_trace(json.dumps(data))


@pytest.mark.parametrize("opening", ["[", '{"nodes":', '{"schema": "tracert.trace/1", "nodes": [['])
def test_a_file_nested_without_end_is_refused(opening):
    with pytest.raises(TraceError):
        open_trace(opening * 200_000)


@pytest.mark.parametrize("number", ["9" * 30, "9" * 5000, "1e999", "NaN", "-Infinity"])
def test_numbers_that_are_none_are_refused(toys, number):
    text = toys.walk_trace().to_json().replace(f'"size": {toys.CHUNKS}', f'"size": {number}', 1)
    with pytest.raises(TraceError):
        open_trace(text)


def test_vectors_that_are_not_base64_are_refused(toys):
    data = json.loads(toys.walk_trace().to_json())
    data["nodes"][0]["vector"] = "§§§"
    with pytest.raises(TraceError):
        open_trace(json.dumps(data))


def test_a_path_that_goes_in_circles_is_shown(toys):
    trace = toys.walk_trace()
    path = trace.result.path
    circle = replace(trace, result=replace(trace.result, path=(*path, *path, *path)))
    shown = open_trace(circle.to_json())
    assert shown.result.path == circle.result.path
    assert to_page(shown)


def test_two_questions_in_one_run_are_refused(toys):
    trace = toys.walk_trace()
    twin = replace(trace.nodes[0], id="another")
    with pytest.raises(TraceError, match="more than one query"):
        open_trace(replace(trace, nodes=(*trace.nodes, twin)).to_json())


def test_a_trace_saved_before_replies_were_kept_opens(toys):
    data = json.loads(toys.walk_trace().to_json())
    assert "replies" not in data
    assert open_trace(json.dumps(data)).replies is None
