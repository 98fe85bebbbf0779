"""Walks that keep several things a step: what is drawn, where, and from what it hangs."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from tests.graph_traces import baseline_trace
from tracert.render import groups
from tracert.render.frames import frame, last
from tracert.render.map import figure
from tracert.render.network import SHOWN, export_html, payload, shown_ids
from tracert.render.words import words_for
from tracert.trace import NodeKind, Trace

LOCAL = {"entities": 1, "neighbours": 2}


def kinds(trace: Trace, ids) -> set[NodeKind]:
    return {trace.node(id).kind for id in ids}


def test_which_walks_are_drawn_so(toys):
    assert groups.layered(baseline_trace("native_rag"))
    assert groups.layered(baseline_trace("graph_rag"))
    assert groups.layered(baseline_trace("iterative_rewrite", rewrites=0))
    assert not groups.layered(baseline_trace("iterative_rewrite", rewrites=1))  # a tree
    assert not groups.layered(toys.walk_trace())


def test_plain_top_k_is_a_fan():
    trace = baseline_trace("native_rag")
    end = frame(trace, last(trace))
    first, second = trace.result.evidence
    assert end.order == {first: 1, second: 2}
    assert groups.kept_moves(trace, 1) == (("query", first), ("query", second))
    made = payload(trace)
    places = made["layouts"]["path"]
    assert places["query"][0] < places[first][0] == places[second][0]
    assert places[first][1] < places[second][1]
    others = [id for id in places if id not in ("query", first, second)]
    assert len(others) == 4
    assert all(places[id][0] > places[first][0] for id in others)
    assert made["groups"] == []


def test_entities_hang_on_what_they_were_reached_from():
    trace = baseline_trace("graph_rag", **LOCAL)
    moves = groups.kept_moves(trace, 3)
    # Mara Quill is named by the question; the other two share sentences with her; she stands in
    # both passages that are kept.
    assert moves[0] == ("query", "entity:mara quill")
    assert ("entity:mara quill", "entity:ned ash") in moves
    assert ("entity:mara quill", "entity:ola birk") in moves
    assert {b for a, b in moves if a == "entity:mara quill"} >= set(trace.result.evidence)
    assert groups.parents(trace, 1) == {}, "they hang on the step's own source"
    assert frame(trace, 3).trail == groups.kept_moves(trace, 2)
    assert frame(trace, 2).order == {}
    assert list(frame(trace, 3).order.values()) == [1, 2]


def test_communities_are_circles_around_their_entities():
    trace = baseline_trace("graph_rag", entities=5, neighbours=0)
    shown = shown_ids(trace)
    made = groups.layout(trace, shown)
    assert set(made.positions) == set(shown)
    by_id = {group.id: group for group in made.groups}
    held = groups.communities(trace)
    # Quill, Ash and Birk are one community, Orr and Poe another.
    assert len(by_id) == len(set(held.values())) == 2
    for entity, group in held.items():
        circle = by_id[group]
        x, y = made.positions[entity]
        assert math.hypot(x - circle.x, y - circle.y) < circle.radius
        for other in by_id.values():
            if other is not circle:
                assert math.hypot(x - other.x, y - other.y) > other.radius
    one, two = made.groups
    assert math.hypot(one.x - two.x, one.y - two.y) >= one.radius + two.radius
    # From left to right: the question, the circles, the passages.
    right = max(group.x + group.radius for group in made.groups)
    left = min(group.x - group.radius for group in made.groups)
    assert made.positions["query"][0] < left
    assert all(made.positions[id][0] > right for id in trace.result.evidence)


def test_a_global_walk_shows_communities_that_were_not_chosen_too():
    trace = baseline_trace("graph_rag", search="global", communities=1)
    rated = trace.steps[0].candidates
    assert [item.kept for item in rated] == [True, False]
    made = payload(trace)
    assert {group["id"] for group in made["groups"]} == {item.id for item in rated}
    assert made["frames"][2]["source"] == rated[0].id
    assert kinds(trace, shown_ids(trace)) == {
        NodeKind.QUERY,
        NodeKind.COMMUNITY,
        NodeKind.ENTITY,
        NodeKind.CHUNK,
    }


def test_no_more_is_drawn_than_can_be_read():
    trace = baseline_trace("graph_rag", **LOCAL)
    step = trace.steps[0]
    item = step.candidates[-1]
    node = trace.node(item.id)
    many = tuple(replace(node, id=f"entity:{n}") for n in range(500))
    more = tuple(replace(item, id=f"entity:{n}", kept=False, rule="below_k") for n in range(500))
    crowd = replace(
        trace,
        nodes=(*trace.nodes, *many),
        steps=(replace(step, candidates=(*step.candidates, *more)), *trace.steps[1:]),
    )
    shown = shown_ids(crowd)
    kept = {id for each in crowd.steps for id in (c.id for c in each.candidates if c.kept)}
    assert kept <= set(shown)
    assert len(shown) < 60 < SHOWN
    assert payload(crowd)["total"] == len(crowd.nodes)


@pytest.mark.parametrize("odd", ["nothing", "query", "entity:mara quill", 7.0, None])
def test_parents_and_communities_of_a_file_are_not_followed_blindly(odd):
    trace = baseline_trace("graph_rag", **LOCAL)
    steps = tuple(
        replace(
            step,
            candidates=tuple(
                replace(item, values={**item.values, "parent": odd, "community": odd})
                for item in step.candidates
            ),
        )
        for step in trace.steps
    )
    forged = Trace.from_json(replace(trace, steps=steps).to_json())
    known = {node.id for node in forged.nodes}
    for a, b in groups.kept_moves(forged, 3):
        assert a in known
        assert a != b
    made = payload(forged)
    json.dumps(made, allow_nan=False)
    assert made["groups"] == [] or all(group["id"] in known for group in made["groups"])


@pytest.mark.parametrize("name", ["native_rag", "graph_rag"])
def test_every_frame_has_words_and_a_map(name):
    trace = baseline_trace(name)
    words = words_for(name)
    for index in range(last(trace) + 1):
        now = frame(trace, index)
        assert words.caption(trace, now).endswith(".")
        assert figure(trace, index).data
        for item in () if now.step is None else now.step.candidates:
            made = words.formula(trace, now, item.id)
            assert made is None or (made.filled and made.about)
    assert "<script" in export_html(trace)


def test_formulas_add_up():
    trace = baseline_trace("graph_rag", **LOCAL)
    words = words_for("graph_rag")
    entities, neighbours, passages = (
        words.formula(trace, frame(trace, index), None) for index in (1, 2, 3)
    )
    assert entities is not None and neighbours is not None and passages is not None
    best = trace.steps[0].candidates[0].values
    # All terms of the name stand in the question: half of 1, and the mean cosine of rows 0 and 5.
    assert best["term"] == pytest.approx(1.0)
    assert f"{best['score']:.3f}" in entities.filled
    assert best["score"] == pytest.approx(0.5 + best["similarity"])
    top = trace.steps[2].candidates[0].values
    assert f"{top['score'] - top['similarity']:.3f}" in passages.filled
    assert "tie" in neighbours.general


@pytest.mark.parametrize(
    ("stage", "said", "numbers"),
    [
        ("dense", "by similarity", ["similarity"]),
        ("bm25", "(BM25)", ["bm25"]),
        ("hybrid", "both rankings", ["fused"]),
    ],
)
def test_plain_top_k_says_what_ranked(stage, said, numbers):
    trace = baseline_trace("native_rag", first_stage=stage)
    words = words_for("native_rag")
    now = frame(trace, 1)
    assert said in words.caption(trace, now)
    made = words.formula(trace, now, None)
    assert made is not None
    value = trace.steps[0].candidates[0].values[numbers[0]]
    digits = {"dense": 3, "bm25": 2, "hybrid": 4}[stage]
    assert f"{value:.{digits}f}" in made.filled


def test_the_legend_names_rewritten_questions():
    trace = baseline_trace("iterative_rewrite", rewrites=1)
    assert payload(trace)["hop"][0] == "Rewritten question"
    assert payload(baseline_trace("native_rag"))["hop"] is None
