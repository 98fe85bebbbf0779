"""TreeHop as a method: its trace, and what the gates did, read back from it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.methods.toy import ToyCorpus, run
from tracert.errors import CorpusError, SettingError, TraceError
from tracert.methods.base import Question, Resources, parse_settings
from tracert.methods.registry import method
from tracert.methods.treehop import nearest, nearest_passages, read_gates
from tracert.methods.treehop.comparison import compares, probability
from tracert.methods.treehop.weights import FOLDER
from tracert.trace import NodeKind, StopReason, Trace

#: Angles as in test_retrieval: with gamma 0 the next query after a passage is the passage.
ANGLES = np.deg2rad(np.array([5.0, -11.0, 22.0, 33.0, -25.0]))
CORPUS = ToyCorpus(np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1))
QUESTION = np.array([1.0, 0.0])


def hop(**settings) -> Trace:
    return run(
        "treehop",
        CORPUS,
        QUESTION,
        **{"model": "forget_rule", "gamma": 0.0, "path_score": 0.0, **settings},
    )


def test_the_trace_of_two_hops() -> None:
    # k 4, one place for hop 2, all three spawn: hop 2's best new passage is row 3, 11 degrees from
    # the query that row 2 made (see test_retrieval).
    trace = hop(k=4, later_places=0.25, spawn=0)
    assert trace.result.evidence == ("toy:0", "toy:1", "toy:2", "toy:3")
    assert trace.result.path == ("query", "hop:0", "toy:2", "hop:3", "toy:3")
    assert trace.result.stop.reason is StopReason.HOPS_DONE
    assert [step.source for step in trace.steps] == ["hop:0", "hop:1", "hop:2", "hop:3"]
    assert [step.values["hop"] for step in trace.steps] == [1, 2, 2, 2]
    assert [step.values["passage"] for step in trace.steps] == [None, "toy:0", "toy:1", "toy:2"]
    last = trace.steps[3]
    assert last.target == "toy:3"
    best = next(candidate for candidate in last.candidates if candidate.id == "toy:3")
    assert (best.kept, best.rule, best.values["parent"]) == (True, "kept", "hop:3")
    assert best.values["similarity"] == pytest.approx(np.cos(np.deg2rad(11)))
    np.testing.assert_allclose(last.vector, CORPUS.matrix[2], atol=1e-6)


def test_the_end_is_told_in_plain_numbers() -> None:
    assert hop(k=1, hops=1).result.stop.message == "1 hop with 1 query brought 1 passage."
    told = hop(k=4, later_places=0.25, spawn=0).result.stop.message
    assert told == "2 hops with 4 queries brought 4 passages."


def test_a_hop_without_a_place_says_so_and_not_that_others_score_more() -> None:
    # Of 2 places a fifth is none: hop 2 sees what it sees and can keep nothing of it.
    trace = hop(k=2, later_places=0.2)
    later = [each for step in trace.steps[1:] for each in step.candidates]
    assert {each.rule for each in later} == {"redundant", "budget"}
    assert {each.reason for each in later if each.rule == "budget"} == {
        "of 2 places none is kept for this hop"
    }
    assert trace.result.stop.remedy.startswith("Raise 'Places for later hops'")


def test_a_corpus_that_the_first_hop_keeps_whole_is_no_fault_of_the_settings() -> None:
    trace = hop(k=8)
    assert len(trace.result.evidence) == len(CORPUS.ids)
    assert trace.result.stop.message == (
        "The corpus has 5 passages, and the first hop kept all of them."
    )
    assert "Load more text" in trace.result.stop.remedy


def test_every_id_is_a_node_and_counts_cover_the_candidates() -> None:
    trace = hop(k=4, hops=3, synthesis="add")
    ids = {node.id for node in trace.nodes}
    assert len(ids) == len(trace.nodes)
    for step in trace.steps:
        assert step.source in ids
        assert {candidate.id for candidate in step.candidates} <= ids
        assert {candidate.values["parent"] for candidate in step.candidates} <= ids
        assert sum(step.counts.values()) == len(step.candidates)
    assert set(trace.result.path) | set(trace.result.evidence) <= ids
    hops = [node for node in trace.nodes if node.kind is NodeKind.HOP]
    assert len(hops) == len(trace.steps)
    assert all(node.vector is not None for node in hops)


def test_a_trace_goes_to_json_and_back() -> None:
    trace = hop(k=4)
    assert Trace.from_json(trace.to_json()).to_json() == trace.to_json()


def test_one_hop_is_native_rag() -> None:
    for first_stage in ("dense", "hybrid"):
        one = hop(k=3, hops=1, first_stage=first_stage)
        plain = run("native_rag", CORPUS, QUESTION, k=3, first_stage=first_stage)
        assert one.result.evidence == plain.result.evidence


def test_a_comparison_is_left_alone() -> None:
    chosen = method("treehop")
    resources = Resources(
        lambda texts: np.tile(np.array([[1.0, 0.0]], np.float32), (len(texts), 1)), CORPUS
    )
    question = Question("Which film came out first, The Kid or City Lights?")
    prepared = chosen.prepare(question, resources)
    settings = {"k": 4, "model": "forget_rule"}
    for leave, queries in ((True, 1), (False, 4)):
        values = parse_settings(chosen.settings_type, {**settings, "leave_comparisons": leave})
        assert len(list(chosen.walk(prepared, values, resources))) == queries


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who is older, Greta Gerwig or Noah Baumbach?", True),
        ("Are both Kurram Garhi and Trojkrsti located in the same country?", True),
        ("Who is the mother of the director of film Polish-Russian War?", False),
        (
            "Which film has the director who was born later, El Extraño Viaje or Love In Pawn?",
            False,
        ),
    ],
)
def test_comparisons_are_told_by_their_words(question: str, expected: bool) -> None:
    assert compares(question) is expected
    assert 0.0 < probability(question) < 1.0


def test_gates_of_a_pair() -> None:
    # With gamma 0.5, Forget is 1.5 q and Update is c, so that next = norm(c - 0.5 q).
    trace = run("treehop", CORPUS, QUESTION, model="forget_rule", gamma=0.5, k=4)
    reading = read_gates(Trace.from_json(trace.to_json()), "hop:0", "toy:2")
    q, c = QUESTION, CORPUS.matrix[2]
    np.testing.assert_allclose(reading.forget, 1.5 * q, atol=1e-6)
    np.testing.assert_allclose(reading.update, c, atol=1e-6)
    expected = (c - 0.5 * q) / np.linalg.norm(c - 0.5 * q)
    np.testing.assert_allclose(reading.following, expected, atol=1e-6)
    assert reading.similarities["query_passage"] == pytest.approx(float(q @ c), abs=1e-6)
    assert reading.similarities["next_passage"] == pytest.approx(float(expected @ c), abs=1e-6)


def test_words_near_a_vector() -> None:
    # Cosines to (1, 0): 1, 0 and 0.6; the length of the vector does not count.
    vectors = np.array([[1, 0], [0, 1], [0.6, 0.8]], np.float32)
    near = nearest(np.array([7.0, 0.0], np.float32), ["a", "b", "c"], vectors, 2)
    assert [(each.label, round(each.similarity, 6)) for each in near] == [("a", 1.0), ("c", 0.6)]
    assert nearest(np.zeros(2, np.float32), ["a", "b", "c"], vectors) == []
    trace = hop(k=4)
    assert nearest_passages(CORPUS.matrix[1], trace, 1)[0].similarity == pytest.approx(1.0)


def test_gates_that_cannot_be_read_say_so() -> None:
    trace = hop(k=4)
    with pytest.raises(TraceError, match="no node"):
        read_gates(trace, "hop:0", "nowhere")
    with pytest.raises(TraceError, match="without vectors"):
        read_gates(Trace.from_json(trace.to_json(vectors=False)), "hop:0", "toy:0")
    with pytest.raises(TraceError, match="no gates"):
        read_gates(run("native_rag", CORPUS, QUESTION), "query", "toy:0")


def test_what_is_missing_is_named(tmp_path) -> None:
    chosen = method("treehop")
    resources = Resources(lambda texts: np.ones((len(texts), 2), np.float32))
    prepared = chosen.prepare(Question("question"), resources)
    with pytest.raises(CorpusError, match="--corpus"):
        next(chosen.walk(prepared, chosen.settings_type(), resources))
    with pytest.raises(SettingError, match="empty"):
        chosen.prepare(Question("  "), resources)
    with pytest.raises(SettingError, match="no file of weights"):
        hop(model=str(tmp_path / "absent.safetensors"))


@pytest.mark.skipif(
    not (FOLDER / "wordllama.safetensors").is_file(), reason="weights are not shipped yet"
)
def test_weights_for_another_length_are_refused() -> None:
    with pytest.raises(SettingError, match="256 numbers"):
        hop(model=str(FOLDER / "wordllama.safetensors"))
