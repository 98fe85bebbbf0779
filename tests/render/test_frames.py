from __future__ import annotations

import pytest

from tracert.render.frames import clamp, frame, last


def test_the_opening_shows_no_move(toys):
    trace = toys.walk_trace()
    opening = frame(trace, 0)
    assert opening.step is None
    assert opening.trail == ()
    assert opening.order == {}
    assert opening.in_hand is None


def test_a_frame_numbers_the_passages_in_the_order_of_walking(toys):
    trace = toys.walk_trace()
    passages = [id for id in trace.result.path if id not in ("query", "goal")]
    end = frame(trace, last(trace))
    assert end.order == {id: number for number, id in enumerate(passages, start=1)}
    # The trail of the last frame is every move but its own, so it has one fewer than the steps.
    assert len(end.trail) == len(trace.steps) - 1
    assert end.chosen == "goal"


def test_each_frame_adds_one_move(toys):
    trace = toys.walk_trace()
    for index in range(1, last(trace) + 1):
        now = frame(trace, index)
        assert now.in_hand == trace.result.path[index - 1]
        assert now.chosen == trace.result.path[index]
        assert now.trail == tuple(
            zip(trace.result.path[: index - 1], trace.result.path[1:index], strict=True)
        )


def test_a_dead_end_keeps_the_whole_trail_before_it(toys):
    trace = toys.walk_trace(delta=0.05)
    end = frame(trace, last(trace))
    assert end.chosen is None
    assert end.trail == ()
    assert end.order == {}


def test_an_empty_corridor_has_its_opening_alone(toys):
    trace = toys.walk_trace(scale=0.01)
    assert last(trace) == 0
    assert frame(trace, 0).step is None


@pytest.mark.parametrize(("index", "kept"), [(-3, 0), (0, 0), (2, 2), (99, 5)])
def test_an_index_out_of_range_is_brought_into_it(toys, index, kept):
    # The toy walk takes four passages and the goal, so frames run from 0 to 5.
    assert clamp(toys.walk_trace(), index) == kept
