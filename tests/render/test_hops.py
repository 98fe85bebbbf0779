"""The pictures and words of a walk whose query moves, on a circle where every cosine is known."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from tests.hop_traces import ANGLES, hop_trace
from tracert.methods.treehop import read_gates
from tracert.render import hop_map, tree
from tracert.render.frames import frame, last
from tracert.render.gates import figure as gates_figure
from tracert.render.gates import folded
from tracert.render.hop_table import plain_of, similarity_rows
from tracert.render.map import figure, text_of_map
from tracert.render.network import export_html, payload, shown_ids
from tracert.render.tables import candidate_rows
from tracert.render.tree_layout import tree_layout
from tracert.render.words import called, words_for

STATES = {
    "many": {},
    "one hop": {"hops": 1},
    "three hops": {"hops": 3},
    "fused": {"synthesis": "replace"},
    "fewer than k": {"rows": 2},
    "nothing": {"rows": 0},
    "no pruning": {"redundancy_pruning": False, "layer_pruning": False, "hops": 3},
}


@pytest.fixture(params=STATES)
def trace(request):
    return hop_trace(**STATES[request.param])


# --- the tree -------------------------------------------------------------------------------


def test_the_queries_know_what_they_were_made_of():
    # k 4, one place for hop 2: hop 1 keeps rows 0, 1, 2, each makes a query.
    made = tree.queries(hop_trace())
    assert [(one.name, one.hop, one.place, one.of) for one in made] == [
        ("q", 1, 1, 1),
        ("q1", 2, 1, 3),
        ("q2", 2, 2, 3),
        ("q3", 2, 3, 3),
    ]
    assert [(one.parent, one.passage) for one in made[1:]] == [
        ("hop:0", "toy:0"),
        ("hop:0", "toy:1"),
        ("hop:0", "toy:2"),
    ]


def test_the_tree_grows_hop_by_hop():
    trace = hop_trace()
    assert frame(trace, 0).trail == ()
    assert frame(trace, 1).trail == ()
    # In hop 2 all its queries are there at once; what they keep comes one by one.
    hop_1 = {("hop:0", f"toy:{row}") for row in range(3)}
    spawned = {(f"toy:{row}", f"hop:{row + 1}") for row in range(3)}
    assert set(frame(trace, 2).trail) == hop_1 | spawned
    assert set(frame(trace, 4).trail) == hop_1 | spawned
    assert frame(trace, 4).chosen == "toy:3"


def test_the_numbers_are_ranks_in_the_evidence(trace):
    evidence = trace.result.evidence
    for index in range(last(trace) + 1):
        order = frame(trace, index).order
        assert all(evidence[number - 1] == id for id, number in order.items())
    assert list(frame(trace, last(trace)).order) == list(evidence)


def test_a_trace_that_names_strangers_is_read_as_far_as_it_goes():
    trace = hop_trace()
    bad = replace(trace.steps[1], values={"hop": "two", "parent": "nobody", "passage": 7.0})
    (_, odd, *_) = tree.queries(replace(trace, steps=(trace.steps[0], bad, *trace.steps[2:])))
    assert (odd.hop, odd.parent, odd.passage, odd.fused) == (1, None, None, 0)


def test_a_circle_of_queries_and_passages_is_laid_out_too():
    """A trace may come from anyone: hop:1 says it was made of what hop:3 keeps, and so on."""
    trace = hop_trace()
    steps = list(trace.steps)
    steps[1] = replace(steps[1], values={**steps[1].values, "passage": "toy:3", "parent": "hop:3"})
    odd = replace(trace, steps=tuple(steps))
    placed = tree_layout(odd, shown_ids(odd)).positions
    assert set(placed) == set(shown_ids(odd))


# --- the layout and the payload --------------------------------------------------------------


def test_every_shown_node_has_a_place_of_its_own(trace):
    shown = shown_ids(trace)
    placed = tree_layout(trace, shown).positions
    assert set(placed) == set(shown)
    points = np.array(list(placed.values()))
    distance = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    assert distance.min() > 20


def test_passages_stand_below_their_query_and_queries_below_their_passage():
    trace = hop_trace(hops=3)
    y = {id: at[1] for id, at in tree_layout(trace, shown_ids(trace)).positions.items()}
    assert (
        y["hop:0"] < y["toy:0"] == y["toy:1"] < y["hop:1"] == y["hop:3"] < y["toy:3"] < y["hop:4"]
    )


def test_a_cut_leaves_no_node_without_the_one_above():
    trace = hop_trace(hops=3, redundancy_pruning=False, layer_pruning=False)
    everything = shown_ids(trace)
    known = {one.id: one for one in tree.queries(trace)}
    for limit in range(1, len(everything) + 1):
        shown = shown_ids(trace, limit)
        assert len(shown) == limit
        on_path = set(trace.result.path)
        for id in shown:
            above = known[id].passage if id in known else None
            assert above is None or above in shown or id in on_path


def test_the_question_is_drawn_once(trace):
    nodes = payload(trace)["nodes"]
    assert [node["id"] for node in nodes if node["kind"] == "query"] == ["hop:0"]
    assert "query" not in {node["id"] for node in nodes}


def test_the_payload_is_json_and_its_trails_add_up(trace):
    made = payload(trace)
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert made["branches"] is True
    assert len(made["parts"]) == len(made["frames"]) == last(trace) + 1
    seen: list[tuple[str, str]] = []
    for index, one in enumerate(made["frames"]):
        seen += map(tuple, one["trail"])
        assert set(seen) == set(frame(trace, index).trail)


def test_the_player_says_hop_and_query():
    frames = payload(hop_trace())["frames"]
    assert [one["at"] for one in frames] == [
        "",
        "Hop 1",
        "Hop 2 · 1 of 3",
        "Hop 2 · 2 of 3",
        "Hop 2 · 3 of 3",
    ]


def test_the_export_is_the_tree():
    page = export_html(hop_trace())
    assert page.count('"label": "Query"') == 3
    assert page.count('"label": "Question"') == 1


# --- the words --------------------------------------------------------------------------------


def test_captions_count_what_was_kept_and_what_ended(trace):
    words = words_for("treehop")
    for index, step in enumerate(trace.steps, start=1):
        said = words.caption(trace, frame(trace, index))
        kept = [item for item in step.candidates if item.kept]
        if not kept:
            assert "keeps nothing" in said
        for rule in ("redundant", "layer_top_k", "budget", "low_novelty"):
            number = step.counts.get(rule)
            if number:
                assert re.search(rf"\b{number} (was|were|score|scores|find|finds|say|says)", said)
    end = words.caption(trace, frame(trace, last(trace)))
    assert trace.result.stop.message in end
    assert trace.result.stop.remedy in end


def test_a_caption_names_query_and_passage():
    trace = hop_trace()
    said = words_for("treehop").caption(trace, frame(trace, 4))
    assert said.startswith("Hop 2, query 3 of 3: q3, made of the question by passage 3,")
    # toy:3 lies 11 degrees from toy:2, which is the query itself.
    assert f"passage 4, “Passage 3 of the toy.”, at cosine {np.cos(np.deg2rad(11)):.3f}" in said


def test_a_number_that_no_setting_asks_for_has_no_column():
    words = words_for("treehop")
    assert "Novelty" not in candidate_rows(hop_trace(), 2, words)
    asked = candidate_rows(hop_trace(novelty=0.5), 2, words)
    assert all(0 <= value <= 2 for value in asked["Novelty"])


def test_the_fused_query_says_how_many_made_it():
    trace = hop_trace(synthesis="replace")
    assert "by 3 passages fused into one" in words_for("treehop").caption(trace, frame(trace, 2))


@pytest.mark.parametrize("settings", [{}, {"path_score": 2.0}, {"novelty": 0.5, "path_score": 1.0}])
def test_the_formula_adds_up(settings):
    trace = hop_trace(hops=3, **settings)
    words = words_for("treehop")
    for index, step in enumerate(trace.steps, start=1):
        for item in step.candidates:
            made = words.formula(trace, frame(trace, index), item.id)
            *terms, score = map(float, re.findall(r"-?\d+\.\d+", made.filled))
            total = terms[0]
            for weight, value in zip(terms[1::2], terms[2::2], strict=True):
                total += weight * value
            # Three decimals of each number: the sum agrees within their rounding.
            assert total == pytest.approx(score, abs=0.002)


def test_a_query_is_called_by_its_name():
    trace = hop_trace()
    now = frame(trace, last(trace))
    assert called(trace, now, "hop:0") == "the question"
    assert called(trace, now, "hop:2") == "query q2"


# --- the map ----------------------------------------------------------------------------------


def _layer(made, name):
    return next((one for one in made.data if one.name == name), None)


def test_an_arrow_for_every_surviving_branch():
    trace = hop_trace()
    # q1 and q2 keep nothing; q3 keeps toy:3. Until a query has searched, its branch is alive.
    assert hop_map.moves(trace, frame(trace, 1)) == []
    assert len(hop_map.moves(trace, frame(trace, 2))) == 2  # q1 has searched and kept nothing
    assert hop_map.moves(trace, frame(trace, 4)) == [("hop:0", "hop:3")]
    made = figure(trace, 4)
    (arrow,) = made.layout.annotations
    assert (arrow.ax, arrow.ay) == pytest.approx((1.0, 0.0))
    assert (arrow.x, arrow.y) == pytest.approx((np.cos(ANGLES[2]), np.sin(ANGLES[2])))


def test_plain_top_k_lies_beside_the_hops():
    trace = hop_trace()
    made = figure(trace, 4, plain=plain_of(trace).result.evidence)
    # Plain top-4 is rows 0, 1, 2, 4; the hops have row 3 in place of row 4.
    assert sorted(_layer(made, "Top-k").y) == pytest.approx(sorted(np.sin(ANGLES[[0, 1, 2, 4]])))
    assert [one[0] for one in _layer(made, "Kept").customdata] == [f"toy:{row}" for row in range(4)]
    assert _layer(made, "Corridor") is None


def test_the_map_of_every_state_is_drawn_and_told(trace):
    for index in range(last(trace) + 1):
        json.loads(figure(trace, index).to_json())
        assert str(len(trace.map.background)) in text_of_map(trace, index)


# --- the gates and the tables -------------------------------------------------------------------


def test_the_strips_are_the_vectors():
    reading = read_gates(hop_trace(), "hop:0", "toy:2")
    q, forget, update, following = gates_figure(reading).data
    # Gamma 0: all of q is taken, all of c is added, and c is the next query.
    np.testing.assert_allclose(q.y, [1, 0], atol=1e-6)
    np.testing.assert_allclose(forget.y, [-1, 0], atol=1e-6)
    expected = [np.cos(ANGLES[2]), np.sin(ANGLES[2])]
    np.testing.assert_allclose(update.y, expected, atol=1e-6)
    np.testing.assert_allclose(following.y, expected, atol=1e-6)


def test_long_vectors_are_folded_to_means():
    heights, each = folded(np.arange(7, dtype=np.float32), most=3)
    assert each == 3
    np.testing.assert_allclose(heights, [1, 4, 6])  # 0 1 2, 3 4 5, and 6 alone
    short, one = folded(np.ones(3, np.float32), most=3)
    assert (len(short), one) == (3, 1)


def test_similarities_to_q_next_and_c():
    rows = similarity_rows(hop_trace())
    assert rows["id"] == [f"toy:{row}" for row in range(4)]
    assert rows["Found by"] == ["question", "question", "question", "q3"]
    assert rows["To q"][:3] == rows["To c"][:3] == [None, None, None]
    assert rows["To q"][3] == pytest.approx(np.cos(ANGLES[3]))
    assert rows["To c"][3] == rows["To q′"][3] == pytest.approx(np.cos(ANGLES[3] - ANGLES[2]))


def test_one_hop_has_neither_q_nor_c():
    assert set(similarity_rows(hop_trace(hops=1))) == {"id", "No.", "Passage", "Found by", "To q′"}


def test_plain_top_k_is_read_from_the_first_hop():
    assert plain_of(hop_trace()).result.evidence == ("toy:0", "toy:1", "toy:2", "toy:4")
    assert plain_of(hop_trace(rows=2)).result.evidence == ("toy:0", "toy:1")
    # Two passages a hop: the first hop looked at two, the hops found more.
    assert plain_of(hop_trace(k_per_hop=2)) is None
    assert plain_of(hop_trace(rows=0)) is None
