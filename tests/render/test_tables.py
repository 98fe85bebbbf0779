from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tracert.render.histogram import bins_of, figure
from tracert.render.numbers import count, plain, seconds
from tracert.render.tables import (
    candidate_rows,
    compare,
    cost_line,
    path_in_words,
    path_rows,
    settings_line,
)
from tracert.render.words import words_for


def test_every_listed_candidate_has_a_row_with_its_rule_and_numbers(toys):
    trace = toys.walk_trace()
    rows = candidate_rows(trace, 2, words_for("tracert_rag"))
    step = trace.steps[1]
    assert rows["id"] == [item.id for item in step.candidates]
    assert rows["Cost"] == [item.values["cost"] for item in step.candidates]
    assert rows["Rule"][0] == "Chosen"
    assert len({len(column) for column in rows.values()}) == 1


def test_the_opening_has_no_rows(toys):
    rows = candidate_rows(toys.walk_trace(), 0, words_for("tracert_rag"))
    assert all(column == [] for column in rows.values())


ids = st.lists(st.sampled_from("abcdefgh"), unique=True)


@given(ids, ids)
def test_a_comparison_loses_nothing(path, plain_ids):
    found = compare(path, plain_ids)
    assert set(found.both) | set(found.only_path) == set(path)
    assert set(found.both) | set(found.only_plain) == set(plain_ids)
    assert not set(found.only_path) & set(plain_ids)
    assert not set(found.only_plain) & set(path)
    assert [id for id in path if id in found.both] == list(found.both)


def test_the_path_in_words_has_a_sentence_a_frame(toys):
    trace = toys.walk_trace()
    said = path_in_words(trace, words_for("tracert_rag"))
    assert len(said) == len(trace.steps) + 1
    assert said[-1].endswith("The goal was reached.")


def test_the_path_as_rows(toys):
    rows = path_rows(toys.walk_trace())
    assert [row[0] for row in rows] == [
        "the question",
        "passage 1",
        "passage 2",
        "passage 3",
        "passage 4",
        "the goal",
    ]


def test_cost_and_settings_fit_a_line(toys):
    trace = toys.walk_trace()
    assert cost_line(trace) == "embed 2 ms · walk 0.70 ms"
    assert "alpha 0.600" in settings_line(trace)


def test_numbers_as_people_read_them():
    assert [plain(None), plain(0.12345), plain(1234), plain("x")] == ["n/a", "0.123", "1,234", "x"]
    assert [count(1, "passage"), count(3, "passage")] == ["1 passage", "3 passages"]
    assert [seconds(s) for s in (0.0004, 0.02, 3.21, 245)] == [
        "0.40 ms",
        "20 ms",
        "3.2 s",
        "4 min 5 s",
    ]


def _with(trace, **values):
    from dataclasses import replace

    first = replace(trace.steps[0], values={**trace.steps[0].values, **values})
    return replace(trace, steps=(first, *trace.steps[1:]))


def test_the_histogram_hatches_what_has_no_edge(toys):
    # Ten bins of 0.1 from 0 to 1 and delta 0.4: the first four have their middle left of it.
    text = '{"low": 0, "high": 1, "counts": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}'
    made = figure(_with(toys.walk_trace(), pair_distances=text))
    assert list(made.data[0].marker.pattern.shape) == [""] * 4 + ["/"] * 6
    assert list(made.data[0].y) == list(range(1, 11))


def test_what_is_no_histogram_is_none(toys):
    trace = toys.walk_trace()
    for text in (
        "",
        "[]",
        "{}",
        '{"low": "x", "high": 1, "counts": [1]}',
        '{"low": 0, "high": 1e999, "counts": [1]}',
        '{"low": 0, "high": 1, "counts": []}',
        '{"low": 0, "high": 1, "counts": {"a": 1}}',
        "[" * 100_000,
    ):
        assert bins_of(_with(trace, pair_distances=text)) is None
    assert figure(trace) is None
