"""The notes that the page and the command line share."""

from __future__ import annotations

from dataclasses import replace

from tracert.render.walk_notes import goal_parts, goal_source, notes


def _with(trace, **values):
    first = trace.steps[0]
    return replace(trace, steps=(replace(first, values={**first.values, **values}),))


def test_the_notes_stand_in_one_order_and_empty_ones_are_left_out(toys):
    trace = _with(
        toys.walk_trace(), corridor_note="c", goal_note="g", radius_note="", delta_note="d"
    )
    assert notes(trace) == ["g", "c"]
    assert notes(trace, delta=True) == ["g", "c", "d"]


def test_a_walk_without_steps_or_notes_says_nothing(toys):
    trace = toys.walk_trace()
    assert notes(trace, delta=True) == []
    assert goal_source(trace) == ""
    assert notes(replace(trace, steps=())) == []
    assert goal_source(replace(trace, steps=())) == ""


def test_the_goal_names_its_writer(toys):
    trace = toys.walk_trace()
    assert goal_source(_with(trace, goal_source="typed")) == "Typed by hand"
    # A trace of another program may name a writer that is not known here.
    assert goal_source(_with(trace, goal_source="oracle")) == "oracle"


def test_the_goal_is_told_in_its_parts(toys):
    trace = toys.walk_trace()
    (goal,) = [node.text for node in trace.nodes if node.id == "goal"]
    # A trace that does not tell the parts apart has the goal's text alone.
    assert goal_parts(trace) == [goal]
    told = _with(
        trace, goal_category="Person", goal_concept=" ", goal_explanation="Who  taught\nhim."
    )
    assert goal_parts(told) == ["Person", "Who taught him."]
    assert goal_parts(replace(trace, steps=())) == [goal]
    assert goal_parts(replace(trace, steps=(), nodes=())) == []
