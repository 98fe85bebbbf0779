from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tracert.errors import TraceError
from tracert.render.frames import frame, last
from tracert.render.words import title, words_for
from tracert.trace import Candidate, Node, NodeKind, Source


def test_the_caption_of_a_step_holds_its_numbers(toys):
    trace = toys.walk_trace()
    words = words_for("tracert_rag")
    for index, step in enumerate(trace.steps, start=1):
        said = words.caption(trace, frame(trace, index))
        chosen = next(item for item in step.candidates if item.kept)
        assert f"{chosen.values['cost']:.3f}" in said
        dearer = [item.values["cost"] for item in step.candidates if item.rule == "dearer"]
        assert f"{min(dearer):.3f}" in said
        assert f"the lowest of {1 + len(dearer)} neighbours" in said


@pytest.mark.parametrize(
    ("paid", "others", "said"),
    [
        (
            0.84481,
            0.84527,
            "a cost of 0.8448, the lowest of 3 neighbours; the next would have cost 0.8453.",
        ),
        # Three decimals tell them apart, so no more are shown.
        (0.5, 0.75, "a cost of 0.500, the lowest of 3 neighbours; the next would have cost 0.750."),
        # Duplicates cost the same; the walk takes the one that stands first.
        (
            0.5,
            0.5,
            "a cost of 0.500, the lowest of 3 neighbours; the next would have cost the same,",
        ),
    ],
)
def test_costs_that_round_alike_are_told_apart(toys, paid, others, said):
    trace = toys.walk_trace()
    first = trace.steps[0]
    target = first.target

    def priced(id, rule, cost):
        return Candidate(id, rule == "chosen", rule, "", {"cost": cost})

    rivals = [node.id for node in trace.nodes if node.id.startswith("toy:") and node.id != target]
    candidates = (
        priced(target, "chosen", paid),
        *(priced(id, "dearer", others) for id in rivals[:2]),
    )
    step = replace(first, candidates=candidates, counts={"chosen": 1, "dearer": 2})
    trace = replace(trace, steps=(step, *trace.steps[1:]))
    assert said in words_for("tracert_rag").caption(trace, frame(trace, 1))


def test_the_opening_counts_the_corridor(toys):
    trace = toys.walk_trace()
    said = words_for("tracert_rag").caption(trace, frame(trace, 0))
    inside = trace.corpus.size - trace.steps[0].counts["outside_radius"]
    assert f"holds {inside} passages of {trace.corpus.size}," in said
    assert f"{trace.steps[0].values['radius']:.3f}" in said


@pytest.mark.parametrize("change", [{"delta": 0.05}, {"scale": 0.01}, {"max_hops": 1}])
def test_a_walk_that_does_not_arrive_says_why_and_what_to_change(toys, change):
    trace = toys.walk_trace(**change)
    said = words_for("tracert_rag").caption(trace, frame(trace, last(trace)))
    assert trace.result.stop.message in said
    assert trace.result.stop.remedy in said


def test_the_formula_adds_up(toys):
    trace = toys.walk_trace()
    words = words_for("tracert_rag")
    for index in range(1, last(trace) + 1):
        now = frame(trace, index)
        for item in now.step.candidates[:12]:
            made = words.formula(trace, now, item.id)
            distance, alpha, penalty, cost = map(float, re.findall(r"-?\d+\.\d+", made.filled))
            # Three decimals of each, two of alpha: the sum agrees within their rounding.
            assert distance + alpha * penalty == pytest.approx(cost, abs=0.0021)


def test_the_formula_shows_the_chosen_one_where_nothing_else_is_selected(toys):
    trace = toys.walk_trace()
    words = words_for("tracert_rag")
    now = frame(trace, 2)
    chosen = words.formula(trace, now, now.chosen)
    assert words.formula(trace, now, None) == chosen
    # A passage that was visited has no cost that could decide: the chosen one stands in.
    assert words.formula(trace, now, now.in_hand) == chosen
    assert words.formula(trace, frame(trace, 0), None) is None


def test_an_unknown_method_names_those_that_can_be_shown():
    with pytest.raises(TraceError, match=r"'alien'.*native_rag.*tracert_rag"):
        words_for("alien")


def _node(text, start=100):
    return Node("a:1", NodeKind.CHUNK, "label", text, Source("d.md", None, (), start, start + 9))


@pytest.mark.parametrize(
    ("text", "start", "expected"),
    [
        # The first whole sentence begins in the first half of the passage.
        ("ck the wire. Davy saw it and wrote a long letter to London.", 100, "Davy saw it and"),
        # It does not: the first whole word after the cut one, and an ellipsis says so.
        ("ck the wire and went on and on without an end at all", 100, "… the wire and"),
        # A word that begins with a capital was not cut.
        ("The wire went on and on without an end at all", 100, "The wire went"),
        # A passage at the start of its document is not cut.
        ("ck the wire. Davy saw", 0, "ck the wire. Davy"),
        ("## The ring\n\nFaraday wound two coils.", 0, "The ring Faraday"),
        ("ring.\n\n## The next\n\nFaraday wound two coils on an iron ring.", 50, "The next"),
    ],
)
def test_a_title_begins_where_a_reader_would(text, start, expected):
    assert title(_node(text, start)).startswith(expected)


@pytest.mark.parametrize("length", [12, 40, 56])
def test_a_title_keeps_to_its_length(length):
    assert len(title(_node("word " * 200, 0), length)) <= length


def test_a_passage_without_words_falls_back_on_its_label():
    assert title(_node("   \n  ")) == "label"
