"""Every measure with its interval, on details made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.render.test_evaluation_tables import SAME, TOP, WIN, WORDS, detail, measured
from tracert.evaluation.summary import LIST_MEASURES, WALK_MEASURES
from tracert.render.evaluation_intervals import measure_rows, stage_rows


def rows_of(rows):
    return [dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True)]


def one(rows, measure, method):
    (found,) = [
        row for row in rows_of(rows) if (row["Measure"], row["Method"]) == (measure, method)
    ]
    return found


def test_every_measure_has_its_interval_and_its_differences():
    rows = measure_rows([WIN])
    recall = one(rows, "Recall", "Walk")
    # All gold against half of it and none, each time: every draw of questions gives the same.
    assert (recall["Mean"], recall["95%"]) == (1.0, "1.000 to 1.000")
    assert (recall["vs top-k"], recall["vs top-k, 95%"]) == (50.0, "+50.0 to +50.0")
    assert (recall["vs BM25"], recall["vs BM25, 95%"]) == (100.0, "+100.0 to +100.0")
    # After the first passage the walk and plain top-k both have one of two.
    assert one(rows, "Recall@1", "Walk")["vs top-k"] == 0.0
    assert one(rows, "All found", "Walk")["vs top-k"] == 100.0
    # The list has 2 passages: both bring gold, of top-k's one does.
    assert one(rows, "Precision", "Walk")["vs top-k"] == 50.0
    # A way has no plain search to be compared with.
    assert one(rows, "Gold in order", "Walk")["vs top-k"] is None
    held = {row["Measure"] for row in rows_of(rows)}
    assert len(held) == len(LIST_MEASURES) + len(WALK_MEASURES) + len(("@1", "@2")) + len(
        ("passages", "filled")
    )
    assert all(row["95%"] for row in rows_of(rows))


def test_an_interval_covers_what_the_questions_spread_over():
    # Half of the questions find both, half none: the mean is near .5 in every draw, never 0 or 1.
    half = measured(
        "Half", "treehop", [detail(n, "ab" if n % 2 else "xy", "ax", "xy") for n in range(40)]
    )
    low, high = one(measure_rows([half]), "Recall", "Half")["95%"].split(" to ")
    assert 0.3 < float(low) < 0.5 < float(high) < 0.7


def test_plain_search_has_no_difference_to_itself_and_stands_once():
    rows = measure_rows([TOP, WORDS, SAME])
    assert "Plain top-k (reference)" not in rows["Method"]
    assert one(rows, "Recall", "Plain top-k")["vs top-k"] is None
    assert one(rows, "Recall", "Plain top-k")["vs BM25"] == 50.0
    assert one(rows, "Recall", "BM25")["vs BM25"] is None
    beside = measure_rows([SAME])
    assert one(beside, "MRR", "Plain top-k (reference)")["Mean"] == 1.0
    words = one(beside, "MRR", "BM25 (reference)")
    assert words["Mean"] == 0.0
    # BM25 finds none, plain top-k the first at place 1 every time.
    assert (words["vs top-k"], words["vs top-k, 95%"]) == (-100.0, "−100.0 to −100.0")


def test_calls_stand_there_once_a_model_was_asked():
    assert "Model calls" not in measure_rows([WIN])["Measure"]
    asked = replace(detail(0, "ab", "ax", "xy"), model_calls=3, tokens=100)
    rows = measure_rows([measured("Asked", "treehop", [asked])])
    assert one(rows, "Model calls", "Asked")["Mean"] == 3.0


def test_the_time_by_stage_is_in_milliseconds_with_both_quantiles():
    found = rows_of(stage_rows([WIN, SAME]))
    assert [(row["Method"], row["Stage"]) for row in found] == [
        (method, stage) for method in ("Walk", "Same") for stage in ("all", "embed", "walk")
    ]
    # Every question took the same, so the quantiles and their intervals are that number.
    assert found[1]["ms p50"] == found[1]["ms p95"] == pytest.approx(1.0)
    assert found[0]["p95, 95%"] == "4.0 to 4.0"
