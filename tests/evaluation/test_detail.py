"""What is kept of a question: the way hop by hop, and ids that come back as they went."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hop_traces import hop_trace
from tests.note_traces import note_trace
from tests.toy_traces import walk_trace
from tracert.errors import DatasetError
from tracert.evaluation.asked import GoldPassage
from tracert.evaluation.detail import REFERENCES, Detail, gathered


def detail(**changes) -> Detail:
    values = {
        "id": "q",
        "question": "Who?",
        "type": "bridge",
        "n_hops": 2,
        "gold": (GoldPassage(("passage:3",), 1), GoldPassage(("passage:1", "passage:9"), 2)),
        "edges": ((0, 1),),
        "evidence": ("passage:3", "passage:4", "passage:9"),
        "filled": 1,
        "references": dict.fromkeys(REFERENCES, ("passage:4", "passage:5", "passage:6")),
        "hops": (("passage:3",), ("passage:4",)),
        "stop": "hops_done",
        "seconds": {"all": 0.25, "walk": 0.125},
        "model_calls": 2,
        "tokens": 77,
    }
    return Detail(**{**values, **changes})


def test_queries_of_one_layer_are_one_hop() -> None:
    # TreeHop on the circle: rows 0, 1, 2 at hop 1; of the three queries of hop 2 one brings row 3.
    trace = hop_trace(with_map=False)
    assert len(trace.steps) > 2
    first, second = gathered(trace)
    rows = [node.id for node in trace.nodes if node.kind == "chunk"]
    assert set(first) == set(rows[:3])
    assert second == (trace.result.evidence[-1],)


def test_every_move_of_a_walk_is_a_hop_but_the_arrival() -> None:
    trace = walk_trace()
    assert trace.result.path[-1] == "goal"
    assert gathered(trace) == tuple((id,) for id in trace.result.path[1:-1])


def test_notes_are_gathered_once() -> None:
    # hub, a, leaf; the focus on leaf at the end brings nothing new. b and other were rejected.
    assert gathered(note_trace()) == (("hub.md",), ("a.md",), ("leaf.md",))


def test_shares_come_from_the_gold() -> None:
    one = detail()
    assert one.own == ("passage:3", "passage:4")
    assert (one.recall, one.baseline_recall) == (1.0, 0.0)
    assert one.found == {0, 1}


def test_the_line_of_a_pool_is_numbers_and_comes_back() -> None:
    data = json.loads(json.dumps(detail().to_dict()))
    assert (data["gold"], data["evidence"], data["baseline_evidence"]) == (
        [3, 1],
        [3, 4, 9],
        [4, 5, 6],
    )
    assert Detail.from_dict(data) == detail()


ids = st.one_of(
    st.integers(0, 99).map("passage:{}".format),
    st.text(max_size=8).filter(lambda text: not text.startswith("passage:")),
    st.sampled_from(["passage:", "passage:x", "passage:-1", "12", "passage:²"]),
)
lists = st.lists(ids, max_size=4).map(tuple)


@given(lists, st.lists(lists, max_size=3), st.lists(lists, min_size=1, max_size=3), st.text())
def test_any_ids_come_back(evidence, hops, groups, text) -> None:
    one = detail(
        id=text,
        evidence=evidence,
        filled=0,
        hops=tuple(hops),
        gold=tuple(GoldPassage(group, 1) for group in groups),
        edges=(),
        references=dict.fromkeys(REFERENCES, evidence),
    )
    assert Detail.from_dict(json.loads(json.dumps(one.to_dict()))) == one


@pytest.mark.parametrize(
    "change",
    [
        {"edges": [[0, 2]]},
        {"edges": [[0]]},
        {"passages": None},
        {"references": {}},
        {"seconds": {"all": "long"}},
        {"seconds": {"walk": 1.0}},
        {"seconds": {"all": math.inf}},
        {"n_hops": "two"},
        {"filled": 9},
        {"filled": -1},
        {"evidence": [True]},
        {"evidence": [[]]},
        {"passages": []},
    ],
)
def test_what_is_damaged_is_said(change) -> None:
    with pytest.raises(DatasetError, match="Run the evaluation again"):
        Detail.from_dict({**detail().to_dict(), **change})
