"""The smallest change of one setting: by hand, and held against trying every value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.comparing.test_runs import CORPUS_METHODS, at, circle
from tests.methods.test_every_method import corpora, trace_of
from tests.methods.toy import run
from tracert.comparing.budget import own, settings_at
from tracert.comparing.change import BUDGET, CLOSE, adjustable, dials, smallest_change
from tracert.errors import SettingError
from tracert.methods.base import setting
from tracert.methods.registry import method, methods


def search(name, make, values, budget, id, **more):
    """The search over runs that `make` makes of settings."""
    kind = method(name).settings_type

    def traced(values, budget):
        return make(**settings_at(kind, values, budget))

    trace = traced(values, budget)
    return smallest_change(
        kind,
        values,
        trace.settings,
        budget,
        lambda values, budget: id in own(traced(values, budget), budget),
        **more,
    )


# --- by hand --------------------------------------------------------------------------------------


def test_the_seventh_passage_needs_a_budget_of_seven():
    corpus = circle(*(5 * (row + 1) for row in range(9)))

    def make(**given_):
        return run("native_rag", corpus, at(0), **given_)

    found = search("native_rag", make, {}, 5, "toy:6")
    change = found.smallest
    assert (change.setting, change.label, change.before, change.after) == (
        BUDGET,
        "Passages",
        5,
        7,
    )
    assert change.size == pytest.approx(2 / 49)
    assert found.whole
    assert set(found.tried) == {"Passages", "First stage"}


def test_the_penalty_that_turns_the_walk_is_found_to_one_step():
    # Question at 0, goal at 90, rows at 30 and, the other way, at 331 degrees. Row 1 costs
    # 1 - cos 29 and, moving away from the goal, alpha times its penalty; row 0 costs 1 - cos 30
    # and alpha times a small one. With alpha 0 the nearest wins, row 1.
    corpus = circle(30, 331)
    base = {"delta": 1.0, "min_passages": 2}

    def costs(degrees):
        move = at(degrees) - at(0)
        goal = at(90) - at(0)
        penalty = 1 - move @ goal / np.linalg.norm(move) / np.linalg.norm(goal)
        return 1 - np.cos(np.deg2rad(degrees)), penalty

    (d0, p0), (d1, p1) = costs(30), costs(331)
    turn = (d0 - d1) / (p1 - p0)  # the alpha at which both cost the same
    step = 0.05
    expected = np.ceil(turn / step) * step

    def make(**given_):
        return run("tracert_rag", corpus, at(0), at(90), **given_)

    found = search("tracert_rag", make, {"alpha": 0.0, **base}, 1, "toy:0")
    by_setting = {change.setting: change for change in found.changes}
    assert by_setting["alpha"].after == pytest.approx(expected)
    assert by_setting["alpha"].size == pytest.approx(expected / 2)
    # A budget of two takes both: 1 of 49 is less than one step of alpha, 0.05 of 2.
    assert found.smallest.setting == BUDGET
    assert found.smallest.size == pytest.approx(1 / 49)


def test_nothing_keeps_what_no_setting_reaches():
    # A passage on the far side, 60 nearer ones before it, and a budget that ends at 50.
    corpus = circle(*np.linspace(1, 60, 60), 170)

    def make(**given_):
        return run("native_rag", corpus, at(0), **given_)

    found = search("native_rag", make, {}, 5, "toy:60")
    # Every passage of the toy shares no word with "question", so that BM25 ranks none.
    assert found.changes == ()
    assert found.smallest is None
    assert found.whole
    # Budgets 4 to 1 and 6 to 45 one by one, then, the steps growing, 50; two other first stages.
    assert found.runs == 4 + 40 + 1 + 2


def test_a_search_that_may_not_go_on_says_so():
    corpus = circle(*np.linspace(1, 60, 60), 170)
    calls = []

    def make(**given_):
        return run("native_rag", corpus, at(0), **given_)

    found = search("native_rag", make, {}, 5, "toy:60", most_runs=10, on_progress=calls.append)
    assert (found.runs, found.whole) == (10, False)
    assert calls == list(range(10))


@dataclass(frozen=True)
class Toy:
    """A setting of each kind."""

    k: int = setting(5, "", low=1, high=50, step=1, label="Passages")
    fine: float = setting(0.0, "", low=0.0, high=1.0, step=0.001, label="Fine")
    open: float | None = setting(None, "", low=0.0, high=1.0, step=0.1, label="Open")
    endless: float = setting(1.0, "", low=0.0, step=0.5, label="Endless")
    switch: bool = setting(False, "", label="Switch")
    way: str = setting("a", "", choices=("a", "b", "c"), label="Way")
    file: str = setting("auto", "", label="File")
    candidates_kept: int = setting(200, "", low=1, high=5000, label="Named")


def keep_if(test):
    return lambda values, budget: test({"budget": budget, **values})


def test_what_can_be_varied_and_over_which_values():
    found = {dial.setting: dial for dial in dials(Toy, {}, {"open": 0.25}, 5)}
    assert set(found) == {"budget", "fine", "open", "endless", "switch", "way"}
    # What the method found by itself lies between two values of the control.
    assert found["open"].ways == (
        (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
        (0.2, 0.1, 0.0),
    )
    assert found["open"].size(0.3) == pytest.approx(0.05)
    assert found["endless"].ways == ((1.5, 2.0, 2.5, 3.0), (0.5, 0.0))
    assert found["way"].ways == (("b", "c"),)
    assert found["switch"].size(True) == 1.0
    assert found["budget"].ways[1] == (4, 3, 2, 1)
    assert "open" not in {dial.setting for dial in dials(Toy, {}, {}, 5)}


def test_far_away_a_change_is_still_found_to_one_step():
    # 637 steps away: found by growing steps and halving, with far fewer runs.
    found = smallest_change(
        Toy, {}, {}, 5, keep_if(lambda v: v.get("fine", 0) >= 0.637), more_runs=0
    )
    assert found.smallest.setting == "fine"
    assert found.smallest.after == pytest.approx(0.637)
    assert found.runs < 200


def test_near_by_no_value_is_passed_over():
    # Kept at 0.02 alone, which a search by halving would miss.
    found = smallest_change(
        Toy, {}, {}, 5, keep_if(lambda v: v.get("fine", 0) == pytest.approx(0.02)), more_runs=0
    )
    assert found.smallest.after == pytest.approx(0.02)
    assert round(0.02 / 0.001) < CLOSE


def test_the_smaller_share_of_its_range_wins_whatever_the_setting():
    def test(v):
        return v.get("fine", 0) >= 0.3 or v["budget"] >= 9 or v.get("switch") or v.get("way") == "c"

    found = smallest_change(Toy, {}, {}, 5, keep_if(test))
    sizes = [change.size for change in found.changes]
    assert [change.setting for change in found.changes] == ["budget", "fine", "switch", "way"]
    assert sizes == [pytest.approx(4 / 49), pytest.approx(0.3), 1.0, 1.0]


def test_values_that_the_method_refuses_are_passed_over_and_counted():
    def keeps(values, budget):
        if values.get("way") == "b":
            raise SettingError("way=b needs a model.")
        return values.get("way") == "c"

    found = smallest_change(Toy, {}, {}, 5, keeps)
    assert found.smallest.after == "c"
    assert found.refused == 1


@pytest.mark.parametrize("name", methods())
def test_every_method_has_settings_that_can_be_varied(name):
    kind = method(name).settings_type
    names = {each.name for each in adjustable(kind)}
    assert names
    assert not names & {"k", "candidates_kept", "reading_calls", "summary_calls", "model"}
    for dial in dials(kind, {}, {}, 5):
        for way in dial.ways:
            sizes = [dial.size(value) for value in way]
            assert sizes == sorted(sizes)
            assert all(0 < size <= 1 for size in sizes)
            assert len(set(way)) == len(way)


# --- held against trying every value --------------------------------------------------------------


@pytest.mark.parametrize("name", CORPUS_METHODS)
@given(corpora(), st.integers(1, 4), st.data())
@settings(max_examples=6, deadline=None)
def test_the_change_named_keeps_it_and_no_smaller_one_near_by_does(name, made, budget, data):
    corpus, embed = made
    assume(len(corpus.ids) > 1)
    kind = method(name).settings_type

    def kept(values, budget):
        trace = trace_of(name, corpus, embed, "goal", **settings_at(kind, values, budget))
        return own(trace, budget)

    lost = [id for id in corpus.ids if id not in kept({}, budget)]
    assume(lost)
    id = data.draw(st.sampled_from(lost))
    in_force = trace_of(name, corpus, embed, "goal", **settings_at(kind, {}, budget)).settings
    found = smallest_change(
        kind, {}, in_force, budget, lambda values, budget: id in kept(values, budget), more_runs=0
    )
    assert found.whole or found.changes
    change = found.smallest

    def held(dial, value):
        if dial.setting == BUDGET:
            return id in kept({}, int(value))
        return id in kept({dial.setting: value}, budget)

    for dial in dials(kind, {}, in_force, budget):
        for way in dial.ways:
            near = [
                value for value in way[:CLOSE] if change is None or dial.size(value) < change.size
            ]
            assert not any(held(dial, value) for value in near), "no smaller change keeps it"
            if change is not None and change.setting == dial.setting and change.after in way:
                place = way.index(change.after)
                assert held(dial, change.after), "the change named keeps it"
                if place and dial.size(way[place - 1]) < change.size:
                    assert not held(dial, way[place - 1]), "one step less does not"


def test_a_change_over_notes_keeps_the_note_and_one_step_less_does_not(builtin, tmp_path):
    from tracert.workspace import Workspace

    space = Workspace(tmp_path)
    opened = space.open_notes(builtin / "notes")
    kind = method("trailgraph").settings_type
    base = {"scoring": "offline"}

    def kept(values, budget):
        trace = space.ask(
            "Who taught the man who wound two coils on a ring?",
            knowledge=opened,
            method="trailgraph",
            settings=settings_at(kind, {**base, **values}, budget),
            answer=False,
            with_map=False,
        )
        return own(trace, budget)

    found = {}
    for id in ("batteries/Humphry_Davy.md", "cables/Fleeming_Jenkin.md", "power/Transformer.md"):
        if id in kept({}, 2):
            continue
        result = smallest_change(
            kind, base, {}, 2, lambda values, budget, id=id: id in kept(values, budget), more_runs=0
        )
        # No model is there to walk or to score: those two values are refused, not tried.
        assert result.refused <= 2
        change = found[id] = result.smallest
        if change is None:
            continue
        dial = next(each for each in dials(kind, base, {}, 2) if each.setting == change.setting)
        way = next(way for way in dial.ways if change.after in way)
        place = way.index(change.after)
        for value, expected in ((change.after, True), *((way[place - 1], False),) * bool(place)):
            values = {} if change.setting == BUDGET else {change.setting: value}
            budget = int(value) if change.setting == BUDGET else 2
            assert (id in kept(values, budget)) is expected
    assert any(change is not None for change in found.values())
