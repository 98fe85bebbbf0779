from __future__ import annotations

import pytest

from tracert.render.frames import last
from tracert.render.network import revision
from tracert.ui.session import View
from tracert.ui.session import view as view_of


@pytest.fixture
def trace(toys):
    return toys.walk_trace()


@pytest.fixture
def view(trace):
    return View(revision(trace), last(trace), "toy:14", trace.question, command=1)


def _event(trace, **more):
    return {"revision": revision(trace), "step": 2, "selected": "toy:24", "moment": 10.0} | more


def test_what_a_person_does_at_the_stage_is_taken_over(view, trace):
    view.hear(_event(trace), trace)
    assert (view.step, view.node) == (2, "toy:24")
    # The stage knows already: Python tells it nothing, so its message stays the same.
    assert view.command == 1


def test_an_event_of_another_graph_changes_nothing(view, trace, toys):
    view.hear(_event(toys.walk_trace(alpha=0.2)), trace)
    assert (view.step, view.node) == (5, "toy:14")


def test_a_step_made_while_the_map_changed_counts_and_is_told_back(view, trace):
    view.before, view.revision = view.revision, "the same walk on another map"
    view.hear(_event(trace), trace)
    assert (view.step, view.node) == (2, "toy:24")
    # The stage has drawn the new map meanwhile, at the step of before: it is told.
    assert (view.command, view.told_step, view.told_node) == (2, 2, "toy:24")


def test_another_map_of_the_same_walk_keeps_the_step_and_another_walk_does_not(trace, toys):
    from dataclasses import replace

    import streamlit as st

    st.session_state.clear()
    first = view_of("page", trace)
    first.step, first.node = 1, "toy:24"
    assert trace.map is not None
    other = "umap" if trace.map.kind == "pca" else "pca"
    moved = replace(trace, map=replace(trace.map, kind=other))
    assert revision(moved) != revision(trace)
    kept = view_of("page", moved)
    assert (kept.step, kept.node, kept.before) == (1, "toy:24", revision(trace))
    assert kept.command == first.command + 1
    fresh = view_of("page", toys.walk_trace(alpha=0.2))
    assert fresh.step == last(trace)
    assert fresh.before == ""
    st.session_state.clear()


def test_an_older_event_changes_nothing(view, trace):
    view.hear(_event(trace, moment=20.0, step=3), trace)
    view.hear(_event(trace, moment=15.0, step=1), trace)
    assert view.step == 3


@pytest.mark.parametrize("step", [-5, 99, "2", None, 1.5, True])
def test_a_step_that_is_none_is_brought_into_range_or_ignored(view, trace, step):
    view.hear(_event(trace, step=step), trace)
    assert 0 <= view.step <= last(trace)


def test_a_node_that_the_trace_does_not_name_is_not_selected(view, trace):
    view.hear(_event(trace, selected="<script>"), trace)
    assert view.node == "toy:14"


@pytest.mark.parametrize("event", [None, {}, {"moment": "soon"}, {"revision": None}])
def test_nonsense_is_ignored(view, trace, event):
    view.hear(event, trace)
    assert (view.step, view.node) == (5, "toy:14")


def test_a_selection_from_elsewhere_is_told_to_the_stage(view):
    view.select("toy:3")
    assert (view.node, view.told_node, view.command) == ("toy:3", "toy:3", 2)
    assert view.told_step is None  # the person's step stays


def test_a_click_in_a_list_counts_once(view):
    click = {"id": "toy:3", "moment": 30.0}
    assert view.pick(click)
    assert not view.pick(click)
    assert not view.pick({"id": 7, "moment": 40.0})
    assert not view.pick(None)
    assert view.node == "toy:3"
