"""Methods side by side as figure, cards, matrix and sentences, on traces made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests.comparing.test_runs import at, circle
from tests.hop_traces import CIRCLE, hop_trace
from tests.methods.toy import run
from tests.toy_traces import walk_trace
from tracert.comparing.budget import entry
from tracert.comparing.change import Change, Search
from tracert.comparing.fate import fate, reaches
from tracert.methods.registry import methods
from tracert.render import compare_found, compare_map
from tracert.render import compare_words as words
from tracert.render.compare_looks import look, short
from tracert.render.map import Ground
from tracert.render.palette import PALETTES
from tracert.trace import Map

IDS = [f"toy:{row}" for row in range(6)]
GOLD = (frozenset({"toy:0"}), frozenset({"toy:3"}), frozenset({"toy:5"}))


@pytest.fixture
def entries():
    """Plain top-k and TreeHop over the circle: rows 0, 1, 2, 4 and rows 0, 1, 2, 3."""
    from tests.methods.toy import ToyCorpus

    plain = run("native_rag", ToyCorpus(CIRCLE), np.array([1.0, 0.0]), k=4)
    positions = {id: tuple(CIRCLE[row].tolist()) for row, id in enumerate(IDS)} | {
        "query": (1.0, 0.0)
    }
    plain = plain.with_map(Map("pca", 0, positions, CIRCLE.astype(np.float32)))
    made = [entry(plain, 4), entry(hop_trace(), 4)]
    assert [one.own for one in made] == [
        ("toy:0", "toy:1", "toy:2", "toy:4"),
        ("toy:0", "toy:1", "toy:2", "toy:3"),
    ]
    return made


@pytest.fixture
def ground():
    return Ground(CIRCLE.astype(np.float32), IDS, {id: f"<b>{id}</b>" for id in IDS})


def node_of(entries):
    def node(id):
        return next(
            (one.trace.node(id) for one in entries for n in one.trace.nodes if n.id == id), None
        )

    return node


def layer(figure, name):
    return next(one for one in figure.data if one.name == name)


# --- looks ----------------------------------------------------------------------------------------


def test_no_two_methods_look_alike_even_without_colours():
    looks = [look(name) for name in methods()]
    for attribute in ("shape", "symbol", "light", "dark"):
        assert len({getattr(one, attribute) for one in looks}) == len(looks)
    assert len({short(name) for name in methods()}) == len(methods())
    assert short("native_rag") and look("one of tomorrow").shape == "star"


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_method_stands_out_from_the_paper(theme):
    # WCAG 2.1, 1.4.11: 3 to 1 for graphics; text in the marker asks for 4.5 to 1.
    paper = luminance(PALETTES[theme].paper)
    for name in (*methods(), "one of tomorrow"):
        own = luminance(look(name).colour(theme))
        high, low = max(own, paper), min(own, paper)
        assert (high + 0.05) / (low + 0.05) >= 4.5, name


# --- the map --------------------------------------------------------------------------------------


def test_each_method_is_a_layer_over_the_same_places(entries, ground):
    made = compare_map.figure(entries, 2, theme="light", ground=ground, gold=GOLD)
    for one in entries:
        found = layer(made, short(one.method))
        assert [data[0] for data in found.customdata] == list(one.own)
        for id, x, y in zip(one.own, found.x, found.y, strict=True):
            assert (x, y) == pytest.approx(tuple(CIRCLE[IDS.index(id)]), abs=1e-6)
    # A marker inside another: the sizes differ.
    sizes = {layer(made, short(one.method)).marker.size for one in entries}
    assert len(sizes) == 2
    assert {data[0] for data in layer(made, "Gold").customdata} == {"toy:0", "toy:3", "toy:5"}


def test_the_hop_says_how_far_the_paths_are_drawn(entries, ground):
    assert compare_map.last_hop(entries) == 2
    drawn = {
        hop: layer(
            compare_map.figure(entries, hop, theme="dark", ground=ground), "TreeHop"
        ).customdata
        for hop in (0, 1, 2)
    }
    assert len(drawn[0]) == 0
    assert [data[0] for data in drawn[1]] == ["toy:0", "toy:1", "toy:2"]
    assert [data[0] for data in drawn[2]] == ["toy:0", "toy:1", "toy:2", "toy:3"]


def test_what_is_found_at_a_hop_is_said(entries):
    assert compare_map.said(entries, 0, GOLD).endswith("no passage is found yet.")
    assert (
        compare_map.said(entries, 1, GOLD) == "Hop 1 finds: Top-k +4 (gold 1) · TreeHop +3 (gold 1)"
    )
    assert compare_map.said(entries, 2, GOLD) == "Hop 2 finds: Top-k +0 · TreeHop +1 (gold 2)"


def test_one_method_can_be_drawn_strong(entries, ground):
    made = compare_map.figure(entries, 2, theme="light", ground=ground, highlighted="treehop")
    assert layer(made, "TreeHop").marker.opacity == 1.0
    assert layer(made, "Top-k").marker.opacity < 0.3


def test_a_goal_on_the_map_is_named_in_the_legend():
    walk = walk_trace()
    assert walk.result.path[-1] == "goal"
    one = entry(walk, 8)
    last = compare_map.last_hop([one])
    for hop, there in ((last, True), (0, False)):
        made = compare_map.figure([one], hop, theme="light", ground=None)
        named = [each.name for each in made.data if each.showlegend is not False]
        assert ("Goal of Tracert ≈" in named) is there


def test_names_are_escaped_on_the_map(entries, ground):
    made = compare_map.figure(entries, 2, theme="light", ground=ground)
    assert "<b>toy" not in str(layer(made, "Passages").text)
    assert "&lt;b&gt;toy:0" in str(layer(made, "Passages").text)


def test_lines_that_run_the_same_way_lie_side_by_side(entries, ground):
    made = compare_map.figure(entries, 1, theme="light", ground=ground)
    lines = [one for one in made.data if one.mode == "lines+markers"]
    assert len(lines) == 2
    # Both go from the question to toy:0 first, and neither lies on the other.
    starts = [(one.x[0], one.y[0]) for one in lines]
    assert starts[0] != starts[1]
    assert np.hypot(*np.subtract(*starts)) < 0.05


def test_without_map_or_ground_nothing_breaks(entries):
    bare = [entry(run("native_rag", circle(5, 10), at(0), k=1), 1)]
    made = compare_map.figure(bare, 1, theme="light", ground=None)
    assert layer(made, "Top-k").x == (None,)


# --- cards, matrix, table -------------------------------------------------------------------------


def test_cards_tell_the_gold_by_number_and_hop(entries):
    plain, hops = compare_found.board(entries, GOLD, node_of(entries), theme="light")
    assert (plain["big"], hops["big"]) == ("1 of 3", "2 of 3")
    assert [gold["hop"] for gold in plain["gold"]] == [1, None, None]
    assert [gold["hop"] for gold in hops["gold"]] == [1, 2, None]
    assert plain["lines"][0] == hops["lines"][0] == "4 passages found, 1 by it alone"
    bare = compare_found.board(entries, (), node_of(entries), theme="light")
    assert [card["big"] for card in bare] == ["4", "4"]


def test_the_matrix_groups_by_finders_and_ends_with_gold_that_nobody_found(entries):
    made = compare_found.matrix(entries, GOLD, node_of(entries), theme="light")
    assert [group["label"] for group in made["groups"]] == [
        "found by both",
        "only Top-k",
        "only TreeHop",
        "Gold that no method found at 4",
    ]
    last = made["groups"][-1]["rows"]
    assert [(row["id"], row["gold"]) for row in last] == [("toy:5", 3)]
    both = made["groups"][0]["rows"]
    assert [[cell["rank"] for cell in row["cells"]] for row in both] == [[1, 1], [2, 2], [3, 3]]


def test_a_fill_up_is_hollow(entries):
    short_ = entry(entries[0].trace, 6, IDS)
    assert short_.filled == ("toy:3", "toy:5")
    made = compare_found.matrix([short_, entries[1]], (), node_of(entries), theme="light")
    row = next(row for group in made["groups"] for row in group["rows"] if row["id"] == "toy:3")
    assert (row["cells"][0]["filled"], row["cells"][0]["rank"]) == (True, 0)
    assert row["cells"][1]["filled"] is False


def test_the_table_has_a_row_a_passage(entries):
    rows = compare_found.table(entries, GOLD, node_of(entries))
    place = rows["id"].index("toy:3")
    assert (rows["Gold"][place], rows["Top-k"][place], rows["TreeHop"][place]) == (2, None, 4)
    assert len({len(column) for column in rows.values()}) == 1
    assert set(rows["id"]) == {f"toy:{row}" for row in range(6)}


# --- sentences ------------------------------------------------------------------------------------


def test_where_a_passage_fell_in_words(entries):
    plain, hops = entries
    assert words.what_became(fate(plain, "toy:0"), plain.trace) == "Found at hop 1, rank 1."
    said = words.what_became(fate(plain, "toy:3"), plain.trace)
    # cos 33 and cos 25, the fourth and last that was kept.
    assert said == (
        "Below k at hop 1: its similarity is 0.839, the last that was kept has 0.906. "
        "It ranks 5th of 6."
    )
    said = words.what_became(fate(hops, "toy:4"), hops.trace)
    assert said.startswith("Below the hop's best at hop 2, from query q2: its score is 0.970")


def test_out_of_reach_in_words():
    trace = hop_trace(k=2, later_places=0.5, spawn=1)
    one = entry(trace, 2)
    reach = reaches(trace, "toy:5", IDS, CIRCLE.astype(np.float32))
    said = words.what_became(fate(one, "toy:5"), trace, reach=reach)
    assert said.startswith("No query looked at it. It lies nearest to ")
    assert "6th by cosine" in said


def test_cut_and_fill_up_and_never_offered_in_words(entries):
    plain = entries[0]
    cut = entry(plain.trace, 2, IDS)
    assert words.what_became(fate(cut, "toy:2"), plain.trace) == (
        "Found, but as number 3: beyond the budget."
    )
    told = fate(entry(plain.trace, 4), "nowhere")
    assert words.what_became(told, plain.trace) == "No step of the walk saw it."
    said = words.what_became(told, plain.trace, offered_by=["A", "B", "C", "D"])
    assert said == (
        "Never offered: only “A”, “B”, “C” and others link to it, and the walk was at none of them."
    )


def change(setting, before, after, size=0.1):
    return Change(setting, setting.capitalize(), before, after, size)


def test_the_smallest_change_in_words(entries):
    plain = entries[0]
    lost = fate(plain, "toy:3")
    found = Search(
        (change("budget", 4, 5), change("first_stage", "dense", "bm25", 1.0)), 7, (), 0, True
    )
    assert words.search_words(found, lost, 50) == (
        "Budget from 4 to 5: it ranks 5th. Verified by running it; one step less does not keep it "
        "(7 runs)."
    )
    assert words.also_words(found) == "Also: First_stage from dense to bm25."
    switch = Search((change("strict", False, True, 1.0),), 3, (), 2, True)
    assert words.search_words(switch, lost, 50) == (
        "Strict from off to on. Verified by running it (3 runs). Left out: 2 values with which a "
        "model would have to be asked."
    )


def test_no_change_in_words(entries):
    lost = fate(entries[0], "toy:3")
    none = Search((), 51, (), 0, True)
    assert words.search_words(none, lost, 50).startswith("No single setting keeps it (51 runs")
    # Where the rank lies beyond what a budget can be, that is the reason.
    assert words.search_words(none, lost, 4).endswith("It ranks 5th; a budget ends at 4.")
    part = Search((), 10, (), 0, False)
    assert words.search_words(part, lost, 50) == (
        "No change was found in 10 runs; not all values were tried."
    )
