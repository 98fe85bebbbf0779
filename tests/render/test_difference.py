"""The difference of two runs in words, tables, JSON and one picture."""

from __future__ import annotations

import json

import pytest

from tests.hop_traces import hop_trace
from tests.note_traces import note_trace
from tracert.difference import difference
from tracert.render.difference import (
    changed_rows,
    fate_of,
    figure,
    in_words,
    step_rows,
    strands,
    text_of,
    to_dict,
    turned_rows,
)


@pytest.fixture(scope="module")
def found(toys):
    return difference(toys.walk_trace(), toys.walk_trace(alpha=0.0, delta=0.6))


def layers(made):
    return {layer.name: layer for layer in made.data if layer.name}


def test_the_words_name_what_was_asked_otherwise_and_where_the_walks_part(found):
    said = in_words(found)
    assert "alpha 0.600 → 0.000" in said[0]
    assert "delta 0.400 → 0.600" in said[0]
    assert f"step {found.parted + 1}" in said[1]
    assert any(f"A alone {len(found.only_a)}, B alone {len(found.only_b)}" in one for one in said)


def test_runs_that_are_one_are_called_so(toys):
    trace = toys.walk_trace()
    said = " ".join(in_words(difference(trace, trace)))
    assert "same settings" in said
    assert "the same, step by step" in said
    assert to_dict(difference(trace, trace))["same"] is True


def test_the_moves_are_parted_without_remainder(found):
    parted = strands(found)
    moves = [
        {(step.source, step.target) for step in trace.steps if step.target}
        for trace in (found.a, found.b)
    ]
    assert {*parted.both, *parted.only_a} == moves[0]
    assert {*parted.both, *parted.only_b} == moves[1]
    assert set(parted.both) == moves[0] & moves[1]


def test_each_strand_has_a_colour_a_dash_and_a_shape_of_its_own(found):
    for theme in ("light", "dark"):
        made = layers(figure(found, theme=theme))
        lines = [made[name].line for name in ("A alone", "B alone")]
        marks = [made[name].marker for name in ("Found by A alone", "Found by B alone")]
        assert len({(line.color, line.dash) for line in lines}) == 2
        assert len({line.dash for line in lines}) == 2
        assert len({mark.symbol for mark in marks}) == 2
        assert len({mark.color for mark in marks}) == 2


def test_without_a_map_the_walks_run_side_by_side(toys):
    a, b = toys.walk_trace(with_map=False), toys.walk_trace(alpha=0.0, with_map=False)
    found = difference(a, b)
    made = layers(figure(found))
    assert set(made["Found by A alone"].y) == {1.0}
    assert set(made["Found by B alone"].y) == {-1.0}
    assert "A" in text_of(found)


def test_the_tables_have_one_row_for_each_difference(found):
    assert len(step_rows(found)["Step"]) == max(len(found.a.steps), len(found.b.steps))
    rows = turned_rows(found)
    assert rows["id"] == [one.id for one in found.turned]
    assert any("cost" in said for said in rows["In A"])
    assert changed_rows(found.settings)["What"] == ["alpha", "delta"]


def test_a_passage_that_was_lost_says_by_which_rule(found):
    for id in found.only_a:
        said = fate_of(found.b, found.fates[id][1])
        assert "step" in said or "never weighed" in said


def test_the_json_holds_all_of_it(found):
    data = json.loads(json.dumps(to_dict(found), allow_nan=False))
    assert data["schema"] == "tracert.difference/1"
    assert data["same"] is False
    assert len(data["turned"]) == len(found.turned)
    assert [one["id"] for one in data["evidence"]["only_a"]] == list(found.only_a)


def test_hops_and_notes_are_laid_over_each_other_too():
    for trace in (hop_trace(), note_trace()):
        found = difference(trace, trace)
        assert found.same_walk
        assert figure(found).data
        assert strands(found).both


def test_hostile_titles_are_no_markup_on_the_picture(toys):
    a = toys.walk_trace(text=toys.HOSTILE, document=toys.HOSTILE)
    b = toys.walk_trace(text=toys.HOSTILE, document=toys.HOSTILE, alpha=0.0)
    for layer in figure(difference(a, b)).data:
        for text in layer.hovertext or ():
            assert "<" not in text.replace("<br>", "")
