"""The tree around a walk over notes: outline, places, what is revealed, ladder, two trails."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracert.knowledge.graph import open_graph
from tracert.render.frames import frame, last
from tracert.render.ladder import figure, rungs, text_of_ladder
from tracert.render.network import payload
from tracert.render.note_tree import tree_layout
from tracert.render.notes import (
    calls,
    overlay,
    parted_in_words,
    parting,
    seen_before,
    titles,
    trail,
    tree_payload,
)
from tracert.render.outline import (
    MOST,
    Outline,
    outline,
    outline_of,
    revealed,
    scores,
    with_outline,
)
from tracert.trace import Trace


@pytest.fixture(scope="session")
def walks():
    path = Path(__file__).resolve().parents[1] / "note_traces.py"
    spec = importlib.util.spec_from_file_location("note_traces", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def graph(builtin, tmp_path):
    return open_graph(builtin / "notes", data=tmp_path)


# --- the outline ------------------------------------------------------------------------------


def test_the_outline_has_every_note_behind_its_parent(graph):
    made = outline(graph)
    order = {path: place for place, path in enumerate(made.titles)}
    assert set(order) == set(graph.notes)
    for path, parent in made.parents.items():
        assert parent == graph.notes[path].parent
        assert parent is None or order[parent] < order[path]


def test_siblings_stand_as_their_parent_lists_them(graph):
    made = outline(graph)
    order = list(made.titles)
    for path, note in graph.notes.items():
        own = [child for child in note.children if made.parents[child] == path]
        assert sorted(own, key=order.index) == own


def test_a_related_pair_is_named_once(graph):
    pairs = outline(graph).related
    assert len({frozenset(pair) for pair in pairs}) == len(pairs)
    wanted = {
        frozenset((path, other)) for path, note in graph.notes.items() for other in note.related
    }
    assert {frozenset(pair) for pair in pairs} == wanted


def test_a_large_graph_is_cut_around_what_the_walk_names(graph, monkeypatch):
    monkeypatch.setattr("tracert.render.outline.MOST", 5)
    leaf = next(path for path, note in graph.notes.items() if note.parent and not note.children)
    made = outline(graph, [leaf])
    above = {note.path for note in graph.ancestors_of(leaf)}
    assert len(made.titles) == 5
    assert {leaf} | above <= set(made.titles)
    assert len(graph.notes) < MOST  # the built-in notes are drawn whole


def test_the_outline_travels_in_the_trace(walks, graph):
    made = outline(graph)
    trace = with_outline(walks.note_trace(), made)
    assert outline_of(Trace.from_json(trace.to_json())) == made


@pytest.mark.parametrize(
    "text", ["", "{}", "[[1,2,3,4]]", '[["a","A",9,[7]]]', "[" * 4000, '[["a","A","x",[]]]']
)
def test_a_damaged_outline_counts_as_none(walks, text):
    trace = walks.note_trace()
    first = replace(trace.steps[0], values={**trace.steps[0].values, "outline": text})
    changed = replace(trace, steps=(first, *trace.steps[1:]))
    assert outline_of(changed).titles == outline_of(trace).titles


def test_without_an_outline_the_steps_reveal_one(walks):
    made = outline_of(walks.note_trace())
    assert made.parents["a.md"] == "hub.md"
    assert made.parents["leaf.md"] == "a.md"
    assert made.parents["hub.md"] is None


# --- places -----------------------------------------------------------------------------------


@st.composite
def _trees(draw):
    size = draw(st.integers(1, 40))
    parents = {}
    for i in range(size):
        above = draw(st.integers(-1, size - 1))
        parents[f"n{i}"] = None if above < 0 else f"n{above}"
    return Outline({path: path for path in parents}, parents)


@given(_trees())
def test_every_note_has_a_place_even_in_circles(made):
    placed = tree_layout(made)
    assert set(placed) == {"query", *made.titles}
    assert np.isfinite(np.array(list(placed.values()))).all()


def test_the_built_in_notes_do_not_overlap(graph):
    points = np.array(list(tree_layout(outline(graph)).values()))
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    assert distance.min() > 20


def test_children_stand_farther_out_than_their_parent(graph):
    made = outline(graph)
    placed = tree_layout(made)
    out = {path: np.hypot(x / 1.8, y) for path, (x, y) in placed.items()}
    for path, parent in made.parents.items():
        assert out[path] > out[parent or "query"]


# --- what is revealed -------------------------------------------------------------------------


def test_a_search_reveals_its_best_and_an_exploration_all_that_it_shows(walks):
    trace = walks.note_trace()
    # Two entries were tried at most, so of the three that were scored two are shown.
    assert revealed(trace, trace.steps[0]) == ["hub.md", "other.md"]
    assert revealed(trace, trace.steps[1]) == ["hub.md", "a.md", "b.md"]
    assert revealed(trace, trace.steps[3]) == ["leaf.md"]
    fixed = replace(trace, settings={**trace.settings, "entry": "fixed"})
    assert revealed(fixed, trace.steps[0]) == ["hub.md", "other.md", "b.md"]


def test_the_frames_reveal_each_note_once(walks):
    trace = walks.note_trace()
    made = tree_payload(trace, payload(trace))
    fresh = [frame["revealed"] for frame in made["frames"]]
    assert fresh == [[], ["hub.md", "other.md"], ["a.md", "b.md"], ["leaf.md"], []]
    assert made["frames"][2]["scores"] == {"a.md": 90, "b.md": 40}
    assert json.loads(json.dumps(made, allow_nan=False)) == made


def test_notes_that_were_not_named_are_drawn_as_well(walks, graph):
    trace = with_outline(walks.note_trace(), outline(graph))
    made = tree_payload(trace, payload(trace))
    drawn = {node["id"] for node in made["nodes"]}
    assert set(graph.notes) <= drawn
    assert set(graph.notes) <= set(made["layouts"]["tree"])
    assert {tuple(link[:2]) for link in made["links"] if not link[2]} == {
        (note.parent, path) for path, note in graph.notes.items() if note.parent
    }


def test_scores_seen_before_a_frame(walks):
    trace = walks.note_trace()
    assert seen_before(trace, 0) == {}
    assert seen_before(trace, 1) == {"hub.md": 80.0, "other.md": 70.0}
    assert seen_before(trace, 2)["b.md"] == 40.0
    assert scores(trace.steps[2]) == {"leaf.md": 97.0}


def test_opening_the_note_in_hand_is_no_move(walks):
    trace = walks.note_trace()
    end = frame(trace, last(trace))
    assert end.trail == (("query", "hub.md"), ("hub.md", "a.md"), ("a.md", "leaf.md"))


# --- the ladder -------------------------------------------------------------------------------


def test_what_a_note_offers_stands_one_hop_further(walks):
    found = {(hop, id): score for hop, score, id, _ in rungs(walks.note_trace(), 4)}
    assert found == {
        (1, "hub.md"): 80,
        (1, "other.md"): 70,
        (1, "b.md"): 40,
        (2, "a.md"): 90,
        (2, "b.md"): 40,
        (3, "leaf.md"): 97,
    }


def test_the_ladder_draws_both_thresholds_and_grows_with_the_player(walks):
    trace = walks.note_trace()
    assert rungs(trace, 0) == []
    made = figure(trace, 4, selected="leaf.md")
    assert sorted(line.y0 for line in made.layout.shapes) == [60.0, 95.0]
    assert {note.text for note in made.layout.annotations} == {"follow from 60", "open from 95"}
    names = [layer.name for layer in made.data]
    assert "Chosen" in names
    assert "Selected" in names
    assert "hop 3: Leaf at 97" in text_of_ladder(trace, 4)


def test_a_title_is_escaped_on_hover(walks):
    trace = walks.note_trace()
    nodes = tuple(replace(node, label="<b>x</b>") for node in trace.nodes)
    made = figure(replace(trace, nodes=nodes), 4)
    texts = [text for layer in made.data if layer.text for text in layer.text]
    assert texts
    assert not any("<b>" in text for text in texts)


# --- the transcript and two trails ------------------------------------------------------------


def test_every_step_is_a_call(walks):
    made = calls(walks.note_trace())
    assert made[0].text == "Enter at hub.md"
    assert made[1].text == 'get_knowledge_context("hub.md", view="exploration")'
    assert made[1].shown == ("a.md", "b.md")
    assert made[3].view == "focused"
    assert made[3].shown == ()


def _shorter(trace: Trace) -> Trace:
    return replace(trace, steps=trace.steps[:2])


def test_where_two_trails_part(walks):
    machine = walks.note_trace()
    person = _shorter(machine)
    # The person went to hub and a, and stopped; the machine went on to leaf.
    found = parting(person, machine)
    assert trail(machine) == ("hub.md", "a.md", "leaf.md")
    assert (found.shared, found.together, found.more_hops) == (2, "a.md", -1)
    assert not found.same_end
    said = parted_in_words(found, titles(machine))
    assert said == (
        "You took 2 hops, the machine 3 hops: 1 fewer. They parted after “A”: you stopped, the "
        "machine to “Leaf”. You ended at “A”, the machine at “Leaf”."
    )


def test_equal_trails_do_not_part(walks):
    trace = walks.note_trace()
    assert parted_in_words(parting(trace, trace), titles(trace)).endswith(
        "The trails are the same."
    )


def test_a_fallback_goes_nowhere(walks):
    trace = walks.note_trace(opened=False)
    assert trail(trace) == ("hub.md", "a.md", "leaf.md")
    assert trail(replace(trace, steps=trace.steps[3:])) == ()


def test_the_overlay_begins_at_the_question(walks):
    moves = overlay(walks.note_trace())["moves"]
    assert moves == [["query", "hub.md"], ["hub.md", "a.md"], ["a.md", "leaf.md"]]
