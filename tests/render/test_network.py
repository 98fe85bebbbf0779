from __future__ import annotations

import json
from html.parser import HTMLParser

import numpy as np
import pytest

from tracert.render.layout import APART, map_layout, path_layout
from tracert.render.network import (
    SHOWN,
    export_html,
    network,
    payload,
    revision,
    shown_ids,
)


def test_question_goal_and_path_are_always_shown(toys):
    trace = toys.walk_trace()
    for limit in (2, 8, 20, SHOWN):
        shown = shown_ids(trace, limit)
        assert len(shown) == min(limit, len(trace.nodes))
        assert shown[:2] == ["query", "goal"]
        if limit >= len(trace.result.path):
            assert set(trace.result.path) <= set(shown)


def test_a_cut_takes_the_worst_of_every_step(toys):
    trace = toys.walk_trace()
    shown = set(shown_ids(trace, 20))
    for step in trace.steps:
        ranks = [rank for rank, item in enumerate(step.candidates) if item.id in shown]
        assert 0 in ranks


def test_few_are_drawn_of_those_far_from_the_walk(toys):
    from tracert.render.network import FAR

    # A radius that holds next to nothing leaves most of the 48 passages outside.
    trace = toys.walk_trace(scale=0.35)
    outside = trace.steps[0].counts["outside_radius"]
    assert outside > FAR
    assert len(shown_ids(trace)) == len(trace.nodes) - outside + FAR


def test_the_payload_says_how_many_it_leaves_out(toys):
    made = payload(toys.walk_trace())
    assert made["shown"] == len(made["nodes"]) == 50
    assert made["total"] == 50
    assert len(made["frames"]) == 6


def test_the_payload_holds_no_text_of_a_passage(toys):
    trace = toys.walk_trace(text="secret " * 400)
    assert len(json.dumps(payload(trace))) < 60_000


def test_the_payload_of_every_state_is_json(toys):
    for change in ({}, {"delta": 0.05}, {"scale": 0.01}, {"with_map": False}):
        made = payload(toys.walk_trace(**change))
        assert json.loads(json.dumps(made, allow_nan=False)) == made


def test_every_shown_node_has_a_place_in_the_path_layout(toys):
    for change in ({}, {"delta": 0.05}, {"max_hops": 1}):
        trace = toys.walk_trace(**change)
        shown = shown_ids(trace)
        placed = path_layout(trace, shown)
        named = {c.id for s in trace.steps for c in s.candidates} | {"query", "goal"}
        assert set(placed) == set(shown) & named


def test_the_path_runs_from_left_to_right(toys):
    trace = toys.walk_trace()
    placed = path_layout(trace, shown_ids(trace))
    xs = [placed[id][0] for id in trace.result.path]
    assert xs == sorted(xs)
    assert len(set(xs)) == len(xs)


def test_no_two_nodes_share_a_place(toys):
    trace = toys.walk_trace()
    for layout in (path_layout, map_layout):
        placed = layout(trace, shown_ids(trace))
        points = np.array(list(placed.values()))
        distance = np.linalg.norm(points[:, None] - points[None], axis=2)
        np.fill_diagonal(distance, np.inf)
        assert distance.min() > APART * 0.6


def test_points_on_one_spot_are_pushed_apart(toys):
    from dataclasses import replace

    trace = toys.walk_trace()
    heap = dict.fromkeys(trace.map.positions, (0.0, 0.0))
    heap["query"] = (5.0, 5.0)
    placed = map_layout(replace(trace, map=replace(trace.map, positions=heap)), shown_ids(trace))
    points = {(round(x), round(y)) for x, y in placed.values()}
    assert len(points) == len(placed)


def test_a_trace_without_a_map_has_the_path_layout_alone(toys):
    trace = toys.walk_trace(with_map=False)
    assert map_layout(trace, shown_ids(trace)) == {}
    assert payload(trace)["layouts"]["map"] == {}


def test_the_revision_changes_with_the_walk_and_not_with_the_clock(toys):
    from dataclasses import replace

    from tracert.trace import Cost

    trace = toys.walk_trace()
    assert revision(trace) == revision(toys.walk_trace())
    assert revision(trace) == revision(replace(trace, cost=Cost({"walk": 9.0})))
    assert revision(trace) != revision(toys.walk_trace(alpha=0.2))
    assert revision(trace) != revision(toys.walk_trace(with_map=False))


class _Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.tags = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href")]


def test_the_export_asks_no_network(toys):
    parser = _Links()
    parser.feed(export_html(toys.walk_trace()))
    assert [link for link in parser.links if link and "//" in link] == []


def test_the_export_holds_no_text_of_the_documents(toys):
    trace = toys.walk_trace(text=toys.HOSTILE, document=toys.HOSTILE, question=toys.HOSTILE)
    page = export_html(trace)
    for part in ("pwned", "javascript:alert", "**stars**", "reversed"):
        assert part not in page


def test_the_network_is_the_walk(toys):
    trace = toys.walk_trace()
    net = network(trace)
    assert len(net.nodes) == len(shown_ids(trace))
    assert len(net.edges) == len(trace.steps)
    shapes = [node["shape"] for node in net.nodes]
    assert shapes.count("star") == shapes.count("diamond") == 1


@pytest.mark.parametrize("change", [{"delta": 0.05}, {"scale": 0.01}])
def test_a_walk_that_went_nowhere_exports_too(toys, change):
    assert "Question" in export_html(toys.walk_trace(**change))
