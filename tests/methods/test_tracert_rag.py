"""Tracert-RAG worked by hand on the unit circle.

At angles s and t the cosine distance is 1 - cos(t - s). A chord from s to t has the direction
(s + t) / 2 + 90 degrees (turned round where t < s), so two chords that leave s for t and for g
enclose the angle (g - t) / 2 where s < t < g: the penalty is 1 - cos((g - t) / 2).
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from math import cos, radians, sin

import numpy as np
import pytest

from tests.methods.toy import ToyCorpus, ToyEmbedder, run
from tracert.errors import BudgetError, CorpusError, ModelError, SettingError
from tracert.language.base import ChatModel, Reply
from tracert.methods.base import Question, Resources, parse_settings
from tracert.methods.registry import method
from tracert.methods.tracert_rag import Histogram, TracertRagSettings
from tracert.trace import NodeKind, StopReason, Trace


def at(*degrees: float) -> list[list[float]]:
    return [[cos(radians(d)), sin(radians(d))] for d in degrees]


def gap(a: float, b: float) -> float:
    """The cosine distance of two angles."""
    return 1.0 - cos(radians(b - a))


def walk(angles: Sequence[float], goal: float, **settings) -> Trace:
    """From the question at 0 degrees to a goal, over passages at these angles."""
    corpus = ToyCorpus(np.array(at(*angles)).reshape(-1, 2))
    return run("tracert_rag", corpus, *at(0.0, goal), **{"min_candidates": 1, **settings})


def candidates(trace: Trace, step: int = 0) -> dict[str, tuple[str, dict]]:
    return {c.id: (c.rule, dict(c.values)) for c in trace.steps[step].candidates}


def test_radius_and_corridor():
    # Equation 1: the goal at 60 degrees is at distance 1 - cos 60. Equation 2: 59 degrees on
    # either side are within, 61 are not.
    trace = walk([59, -59, 61], 60)
    first = trace.steps[0]
    assert first.values["radius"] == pytest.approx(gap(0, 60))
    assert first.values["paper_radius"] == pytest.approx(gap(0, 60))
    assert first.values["passages"] == 2
    assert {id: rule for id, (rule, _) in candidates(trace).items()}["toy:2"] == "outside_radius"
    assert trace.settings["radius_scale"] == 1.0
    assert "radius_note" not in first.values


def test_radius_scale_multiplies_the_distance():
    trace = walk([20, 35, 70], 60, radius_scale=0.5)
    assert trace.steps[0].values["radius"] == pytest.approx(0.5 * gap(0, 60))
    # 1 - cos t <= 0.25 up to t = 41.4 degrees.
    assert trace.steps[0].values["passages"] == 2


def test_cost_is_distance_plus_weighted_penalty():
    trace = walk([30, 60], 90, alpha=0.5, delta=2.0)
    rule, values = candidates(trace)["toy:0"]
    assert rule == "chosen"
    assert values["distance_to_query"] == pytest.approx(gap(0, 30))
    assert values["distance"] == pytest.approx(gap(0, 30))
    assert values["penalty"] == pytest.approx(1 - cos(radians((90 - 30) / 2)))
    assert values["cost"] == pytest.approx(gap(0, 30) + 0.5 * (1 - cos(radians(30))))
    # From 30 degrees the chord to 60 and the chord to 90 enclose (90 - 60) / 2.
    rule, values = candidates(trace, 1)["toy:1"]
    assert values["distance_to_query"] == pytest.approx(gap(0, 60))
    assert values["distance"] == pytest.approx(gap(30, 60))
    assert values["penalty"] == pytest.approx(1 - cos(radians((90 - 60) / 2)))
    assert trace.steps[1].values["distance_to_goal"] == pytest.approx(gap(30, 90))


def test_alpha_turns_the_walk_towards_the_goal():
    # -20 is nearer to the question than 25, but it lies behind it: its chord points to 260
    # degrees, the goal's to 135, so D = 1 - cos 125.
    near = walk([-20, 25], 90, alpha=0.0)
    assert near.result.path[1] == "toy:0"
    turned = walk([-20, 25], 90, alpha=0.5)
    assert turned.result.path[1] == "toy:1"
    assert candidates(turned)["toy:0"][1]["penalty"] == pytest.approx(1 - cos(radians(125)))


def test_alpha_zero_is_the_nearest_neighbour():
    # Each time the nearest unvisited one: 10, 25, 45. The goal at 100 is farther off.
    trace = walk([45, 10, 25], 100, alpha=0.0, delta=gap(0, 60))
    assert trace.result.path == ("query", "toy:1", "toy:2", "toy:0", "goal")


def test_delta_is_the_bottleneck():
    # The gaps 0-20-50-90 are 20, 30 and 40 degrees: the widest has to be bridged.
    trace = walk([20, 50], 90)
    assert trace.settings["delta"] == pytest.approx(gap(50, 90))
    assert trace.steps[0].values["delta"] == pytest.approx(gap(50, 90))
    assert "bottleneck" in trace.steps[0].values["delta_note"]
    assert trace.result.path == ("query", "toy:0", "toy:1", "goal")
    assert trace.result.evidence == ("toy:0", "toy:1")
    assert trace.result.stop.reason is StopReason.GOAL_REACHED


def test_below_the_bottleneck_there_is_no_way():
    below = walk([20, 50], 90, delta=gap(50, 90) - 1e-6)
    assert below.result.stop.reason is StopReason.DEAD_END
    assert below.result.path == ("query", "toy:0", "toy:1")


def test_bottleneck_leaves_out_the_edge_to_the_goal_unless_it_is_allowed():
    # Over the passage at -60 the way has an edge of 90 degrees, straight on one of 30.
    assert walk([-60], 30, radius_scale=5).settings["delta"] == pytest.approx(gap(-60, 30))
    direct = walk([-60], 30, radius_scale=5, direct_edge=True)
    assert direct.settings["delta"] == pytest.approx(gap(0, 30))
    assert direct.result.path == ("query", "goal")


def test_direct_edge_and_fewest_passages():
    # The goal at 20 degrees is nearer than any passage.
    angles = [40, 65]
    options = {"delta": 2.0, "radius_scale": 20.0, "alpha": 0.0}
    plain = walk(angles, 20, direct_edge=True, **options)
    assert plain.result.path == ("query", "goal")
    one = walk(angles, 20, **options)
    assert one.result.path == ("query", "toy:0", "goal")
    assert candidates(one)["goal"][0] == "no_edge"
    two = walk(angles, 20, min_passages=2, **options)
    assert two.result.path == ("query", "toy:0", "toy:1", "goal")
    locked = [c for c in two.steps[1].candidates if c.id == "goal"]
    assert "cannot be entered yet, after 1 passage" in locked[0].reason


def test_too_small_a_radius_is_widened_and_says_so():
    angles = [30, 40, 50, 60]
    trace = walk(angles, 20, min_candidates=3)
    first = trace.steps[0]
    assert first.values["radius"] == pytest.approx(gap(0, 50))
    assert first.values["paper_radius"] == pytest.approx(gap(0, 20))
    assert first.values["passages"] == 3
    assert "held 0 passages" in first.values["radius_note"]
    assert "3rd nearest" in first.values["radius_note"]
    # The settings in force lead to the same walk again, without widening.
    again = walk(angles, 20, **{**trace.settings, "strict": True})
    assert again.result == trace.result
    assert again.steps[0].values["passages"] == 3


def test_widening_stops_at_the_size_of_the_corpus():
    trace = walk([30, 40], 20, min_candidates=20)
    assert trace.steps[0].values["passages"] == 2
    assert "2nd nearest" in trace.steps[0].values["radius_note"]
    assert "the whole corpus" in trace.steps[0].values["corridor_note"]


def test_a_corridor_of_nearly_everything_says_so():
    angles = [*range(1, 20), 80]
    assert "nearly the whole" in walk(angles, 60).steps[0].values["corridor_note"]
    assert "corridor_note" not in walk([*range(1, 9), 80, 81], 60).steps[0].values


def test_strict_radius_may_be_empty_and_the_advice_helps():
    trace = walk([30, 40], 20, strict=True)
    stop = trace.result.stop
    assert stop.reason is StopReason.EMPTY_CORRIDOR
    assert trace.result.path == ("query",)
    assert trace.result.evidence == ()
    assert trace.steps[0].target is None
    assert trace.steps[0].counts == {"no_edge": 1, "outside_radius": 2}
    scale = float(stop.remedy.rstrip(".").rsplit(" ", 1)[1])
    assert scale == pytest.approx(gap(0, 30) / gap(0, 20), abs=0.001)
    assert walk([30, 40], 20, strict=True, radius_scale=scale).steps[0].values["passages"] == 1


def test_dead_end_keeps_the_walk_and_the_advice_helps():
    trace = walk([20, 60], 110, delta=gap(0, 30))
    stop = trace.result.stop
    assert stop.reason is StopReason.DEAD_END
    assert trace.result.path == ("query", "toy:0")
    assert trace.result.evidence == ("toy:0",)
    assert trace.steps[-1].target is None
    assert "nearest unvisited passage" in stop.remedy
    delta = float(stop.remedy.split("at least ")[1].split(",")[0])
    assert delta == pytest.approx(gap(20, 60), abs=0.001)
    assert walk([20, 60], 110, delta=delta).result.path[:3] == ("query", "toy:0", "toy:1")


def test_dead_end_before_the_goal_names_the_goal():
    trace = walk([20], 110, delta=gap(0, 30))
    assert "the distance of the goal" in trace.result.stop.remedy
    delta = float(trace.result.stop.remedy.split("at least ")[1].split(",")[0])
    assert walk([20], 110, delta=delta).result.stop.reason is StopReason.GOAL_REACHED


def test_dead_end_with_the_goal_locked_says_what_to_lower():
    trace = walk([20], 110, delta=2.0, min_passages=3)
    assert trace.result.stop.reason is StopReason.DEAD_END
    assert "Fewest passages (min_passages) to 1" in trace.result.stop.remedy
    assert "Radius scale (radius_scale)" in trace.result.stop.remedy
    assert walk([20], 110, delta=2.0, min_passages=1).result.path == ("query", "toy:0", "goal")


def test_hops_run_out():
    trace = walk([10, 20, 30, 40], 120, alpha=0.0, max_hops=2, delta=2.0)
    assert trace.result.stop.reason is StopReason.MAX_HOPS
    assert trace.result.path == ("query", "toy:0", "toy:1")
    assert f"{gap(20, 120):.3f}" in trace.result.stop.message


def test_equal_vectors_have_the_neutral_penalty():
    # Both passages equal the question: no direction, D = 1, cost alpha. Row 0 is first.
    trace = walk([0, 0], 90, alpha=0.25, delta=2.0)
    for id in ("toy:0", "toy:1"):
        assert candidates(trace)[id][1] == {
            "distance_to_query": 0.0,
            "distance": 0.0,
            "penalty": 1.0,
            "cost": 0.25,
        }
    assert trace.result.path[:2] == ("query", "toy:0")
    # Row 1 is a repetition of what is in hand and costs the same again.
    assert candidates(trace, 1)["toy:1"][1]["cost"] == 0.25


def test_from_a_passage_at_the_goal_no_direction_leads_on():
    trace = walk([90, 45], 90, alpha=0.5, delta=2.0, min_passages=2)
    step = trace.result.path.index("toy:0")
    rest = candidates(trace, step)
    for id, (rule, values) in rest.items():
        if rule in ("chosen", "dearer") and id != "goal":
            assert values["penalty"] == 1.0


def test_a_passage_at_the_goal_is_taken_before_the_goal():
    # Once 45 is in hand, the passage at 90 and the goal cost the same: the passage says more.
    trace = walk([45, 90], 90, delta=gap(0, 45))
    assert trace.result.path == ("query", "toy:0", "toy:1", "goal")


def test_duplicates_follow_the_order_of_the_text():
    trace = walk([30, 30, 30], 90, delta=2.0, alpha=0.0)
    assert trace.result.path[1] == "toy:0"


def test_empty_corpus():
    trace = walk([], 90)
    assert trace.result.stop.reason is StopReason.EMPTY_CORRIDOR
    assert trace.result.path == ("query",)
    assert [node.id for node in trace.nodes] == ["query", "goal"]
    assert trace.settings["delta"] is None


def test_start_from_the_best_after_plain_top_k():
    # Top-2 are 10 and 15; the walk goes on from 10, and 15 counts as visited. From 10 the
    # way 10-40-90 has its widest gap at the end.
    trace = walk([40, 15, 10], 90, start="best", seed_passages=2)
    first, second = trace.steps[:2]
    assert first.action == "start"
    assert first.target == "toy:2"
    assert first.counts == {"chosen": 2, "dearer": 1, "no_edge": 1}
    assert [c.id for c in first.candidates if c.kept] == ["toy:2", "toy:1"]
    assert second.source == "toy:2"
    assert candidates(trace, 1)["toy:1"][0] == "visited"
    assert trace.settings["delta"] == pytest.approx(gap(40, 90))
    assert trace.result.path == ("query", "toy:2", "toy:0", "goal")
    # Evidence begins with plain top-k, nearest first, and goes on along the path.
    assert trace.result.evidence == ("toy:2", "toy:1", "toy:0")


def test_start_from_the_best_of_one():
    trace = walk([30], 90, start="best", seed_passages=5)
    assert trace.result.path == ("query", "toy:0", "goal")
    assert trace.result.evidence == ("toy:0",)


def test_counts_cover_what_the_trace_does_not_name():
    angles = list(np.linspace(1, 85, 60))
    trace = walk(angles, 90, candidates_kept=25, delta=gap(0, 40))
    for step in trace.steps:
        assert sum(step.counts.values()) == 60 + 1
        assert len(step.candidates) == 25 + 1
    rules = [c.rule for c in trace.steps[0].candidates]
    order = ("chosen", "dearer", "visited", "no_edge", "outside_radius")
    assert [rule for rule, _ in itertools.groupby(rules)] == ["chosen", "dearer", "no_edge"]
    assert rules == sorted(rules, key=order.index)


def test_step_lists_best_first():
    trace = walk([50, 30, 70, 10], 90, delta=gap(0, 55), alpha=0.5)
    step = trace.steps[0]
    costs = [c.values["cost"] for c in step.candidates if c.rule in ("chosen", "dearer")]
    assert costs == sorted(costs)
    assert step.candidates[0].id == step.target


def test_histograms_survive_the_round_trip():
    trace = walk([20, 50, 80], 90)
    back = Trace.from_json(trace.to_json())
    histogram = Histogram.from_text(str(back.steps[0].values["query_distances"]))
    assert sum(histogram.counts) == 3
    assert histogram.low == pytest.approx(gap(0, 20), abs=1e-5)
    assert histogram.high == pytest.approx(gap(0, 80), abs=1e-5)
    pairs = Histogram.from_text(str(back.steps[0].values["pair_distances"]))
    # Three passages, each to the two others.
    assert sum(pairs.counts) == 6
    for text in ("", "[]", "{}", '{"low": 0, "high": 1, "counts": [null]}', "1"):
        with pytest.raises(ValueError):
            Histogram.from_text(text)


# --- the goal ------------------------------------------------------------------------------


class Says:
    """A chat model that gives one reply, or fails."""

    name = "says"

    def __init__(self, reply: str | Exception) -> None:
        self._reply = reply

    def complete(self, messages, *, tools=(), max_tokens=800, on_text=None) -> Reply:
        if isinstance(self._reply, Exception):
            raise self._reply
        return Reply(self._reply, prompt_tokens=90, completion_tokens=9)


def prepare(question: Question, model: ChatModel | None = None, texts: Sequence[str] = ()):
    corpus = ToyCorpus(np.array(at(*range(len(texts)))).reshape(-1, 2), texts or None)
    embed = ToyEmbedder({}, 2)
    resources = Resources(embed, corpus, model)
    return method("tracert_rag").prepare(question, resources), resources


def test_typed_goal_wins_over_the_model():
    prepared, _ = prepare(Question("Why?", "Concept: Pride (Explanation: It fell.)"), Says("no"))
    assert prepared.goal.source == "typed"
    assert prepared.goal.text == "Pride: It fell."
    assert prepared.cost.model_calls == 0


def test_goal_of_the_model():
    reply = "Category: Cause Concept: Pride (Explanation: What made it fall.)"
    prepared, _ = prepare(Question("Why?"), Says(reply))
    goal = prepared.goal
    assert (goal.source, goal.category, goal.concept) == ("model", "Cause", "Pride")
    assert prepared.cost.model_calls == 1
    assert prepared.cost.prompt_tokens == 90
    assert prepared.note == ""


@pytest.mark.parametrize("error", [ModelError("It is down."), BudgetError("It is used up.")])
def test_offline_predictor_steps_in_and_the_trace_says_so(error):
    texts = ["Amber attracts chaff.", "Gilbert rubbed amber."]
    prepared, resources = prepare(Question("What is amber?"), Says(error), texts)
    assert prepared.goal.source == "offline"
    chosen = method("tracert_rag")
    steps = list(chosen.walk(prepared, TracertRagSettings(), resources))
    assert str(error) in steps[0].values["goal_note"]
    assert steps[0].values["goal_source"] == "offline"
    assert steps[0].values["goal_concept"] == prepared.goal.concept


def test_goal_stands_in_the_trace():
    trace = walk([20, 50], 90)
    goal = trace.node("goal")
    assert goal.kind is NodeKind.GOAL
    assert goal.text == "goal"
    assert trace.steps[0].values["goal_source"] == "typed"
    assert trace.steps[0].values["goal_explanation"] == "goal"
    assert trace.node("query").text == "question"


def test_settings_change_nothing_but_the_walk():
    # A page redraws without embedding again: walks share one preparation.
    prepared, resources = prepare(Question("q", "g"), None, ["a", "b", "c"])
    calls = resources.embed.calls
    for alpha in (0.0, 0.5):
        settings = parse_settings(TracertRagSettings, {"alpha": alpha})
        list(method("tracert_rag").walk(prepared, settings, resources))
    assert resources.embed.calls == calls


def test_empty_question_and_no_corpus_are_errors_that_say_what_to_do():
    with pytest.raises(SettingError, match="Type one"):
        prepare(Question("  "))
    with pytest.raises(CorpusError, match="--corpus"):
        method("tracert_rag").prepare(Question("q"), Resources(ToyEmbedder({}, 2)))


def test_settings_in_force_are_plain_json():
    trace = walk([30, 40], 20, min_candidates=3)
    assert json.loads(trace.to_json())["settings"].keys() == {
        "alpha", "delta", "radius_scale", "strict", "min_candidates", "max_hops",
        "min_passages", "direct_edge", "start", "seed_passages", "candidates_kept",
    }  # fmt: skip


@pytest.mark.parametrize("goal", ["", "  \n ", "Category: \nConcept: \nExplanation: "])
def test_a_typed_goal_that_says_nothing_is_refused(goal):
    resources = Resources(ToyEmbedder({}, 2), ToyCorpus(at(10)))
    with pytest.raises(SettingError, match="says nothing"):
        method("tracert_rag").prepare(Question("question", goal), resources)


def test_the_start_from_the_best_is_none_of_the_moves():
    # 10 is taken before the walk; the one move goes to 40, and the goal at 90 is not entered.
    trace = walk([10, 40], 90, start="best", seed_passages=1, max_hops=1)
    assert [step.action for step in trace.steps] == ["start", "move"]
    assert trace.result.path == ("query", "toy:0", "toy:1")
    assert trace.result.stop.message == (
        f"The walk made its only move; the goal is at {gap(40, 90):.3f}."
    )


def test_distances_that_round_alike_are_told_apart():
    # Strict, and the passage lies a ten-thousandth of a degree outside the radius.
    trace = walk([60.0005], 60, strict=True)
    stop = trace.result.stop
    assert stop.reason is StopReason.EMPTY_CORRIDOR
    radius, nearest = re.findall(r"\d\.\d+", stop.message)
    assert float(radius) < float(nearest)
    # With as few decimals as do it: one less, and the two are alike.
    assert radius[:-1] == nearest[:-1]
