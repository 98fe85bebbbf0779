"""The pictures of an evaluation: what is drawn is what was measured, and every name can be read."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracert.methods.registry import methods
from tracert.render.evaluation import Series, by_passages, by_time, spread, text_of

TOP = Series("Plain top-k", (0.3, 0.5), (0.5, 0.45, 0.55), 2.0, (3.0, 5.0), "native_rag")
HOP = Series("TreeHop", (0.3, 0.6), (0.6, 0.55, 0.66), 2.0, (6.0, 9.0), "treehop")
SLOW = Series("GraphRAG", (0.2, 0.4), (0.4, 0.3, 0.5), 2.0, None, "graph_rag")


def lines(figure):
    return [trace for trace in figure.data if trace.mode == "lines+markers"]


def test_a_line_a_method_with_its_recall_after_each_passage():
    figure = by_passages([TOP, HOP, SLOW])
    drawn = lines(figure)
    assert [trace.name for trace in drawn] == ["Plain top-k", "TreeHop", "GraphRAG"]
    assert [list(trace.y) for trace in drawn] == [[0.3, 0.5], [0.3, 0.6], [0.2, 0.4]]
    assert [list(trace.x) for trace in drawn] == [[1, 2]] * 3
    whisker = figure.data[1].error_y
    assert whisker.array[0] == pytest.approx(0.05)
    assert whisker.arrayminus[0] == pytest.approx(0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("draw", [by_passages, by_time])
def test_no_method_is_told_by_colour_alone(theme, draw):
    names = [*methods(), "native_rag", "native_rag", "treehop"]
    series = [
        Series(f"m{place}", (0.1, 0.2), (0.2, 0.1, 0.3), 2, (1, 2), name)
        for place, name in enumerate(names)
    ]
    figure = draw(series, theme=theme)
    drawn = [trace for trace in figure.data if trace.name]
    # Variants of one method share its colour; no two share the symbol.
    assert len({trace.marker.color for trace in drawn}) == len(methods())
    assert len({trace.marker.symbol for trace in drawn}) == len(series)
    names = [note.text for note in figure.layout.annotations]
    assert all(any(one.label in name for name in names) for one in series)


def test_the_time_is_the_median_with_a_whisker_to_the_95th_percentile():
    figure = by_time([TOP, HOP, SLOW])
    assert [trace.name for trace in figure.data] == ["Plain top-k", "TreeHop"]
    assert figure.data[1].x[0] == 6.0
    assert figure.data[1].y[0] == 0.6
    assert figure.data[1].error_x.array[0] == pytest.approx(3.0)
    assert figure.layout.xaxis.type == "log"


def test_without_times_there_is_no_picture_of_them():
    assert by_time([SLOW]) is None


def test_a_time_of_nothing_is_drawn_on_the_logarithmic_axis():
    figure = by_time([Series("fast", (1.0,), (1.0, 1.0, 1.0), 1.0, (0.0, 0.0), "x")])
    assert figure.data[0].x[0] > 0


@pytest.mark.parametrize("draw", [by_passages, by_time])
def test_markup_in_a_name_is_text(draw):
    name = "<b>x</b><a href='#'>y"
    figure = draw([Series(name, (0.5,), (0.5, 0.4, 0.6), 1, (1, 2), "x")])
    for part in (figure.data[0].name, figure.layout.annotations[0].text):
        assert "<" not in part


def test_the_words_say_what_the_pictures_show():
    said = text_of([TOP, SLOW])
    assert "Plain top-k: recall 0.500 (0.450 to 0.550) with 2.0 passages, 3.0 ms" in said
    assert said.endswith("GraphRAG: recall 0.400 (0.300 to 0.500) with 2.0 passages.")


# --- heights of names -----------------------------------------------------------------------


def test_names_that_are_apart_stay_where_they_are():
    assert spread([0.9, 0.1, 0.5], 0.2, 0.0, 1.0) == [0.9, 0.1, 0.5]


def test_two_that_are_too_near_give_way_by_half_each():
    # Want 0.5 and 0.52, a gap of 0.1: centred on 0.51, so 0.46 and 0.56.
    assert spread([0.5, 0.52], 0.1, 0.0, 1.0) == pytest.approx([0.46, 0.56])


def test_at_the_edge_both_move_inwards():
    assert spread([1.0, 1.0], 0.1, 0.0, 1.0) == pytest.approx([0.9, 1.0])


@given(st.lists(st.floats(0, 1), max_size=9), st.floats(0, 0.3))
def test_names_keep_their_order_and_their_distance_inside_the_range(wanted, gap):
    found = spread(wanted, gap, 0.0, 1.0)
    room = min(gap, 1.0 / max(1, len(wanted) - 1))
    order = sorted(range(len(wanted)), key=lambda place: (wanted[place], place))
    for before, after in pairwise(order):
        assert found[after] - found[before] >= room - 1e-9
    assert all(-1e-9 <= value <= 1 + 1e-9 for value in found)
