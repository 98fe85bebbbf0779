"""The trace as JSON: what goes in comes back, and no file of whatever content breaks the reader."""

from __future__ import annotations

import copy
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tracert import trace as module
from tracert.errors import TraceError
from tracert.trace import (
    SCHEMA,
    Answer,
    Candidate,
    CorpusInfo,
    Cost,
    Map,
    Node,
    NodeKind,
    Result,
    Sentence,
    Source,
    Step,
    Stop,
    StopReason,
    Trace,
)

DIMENSION = 3
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
reals = st.floats(allow_nan=False, allow_infinity=False)
counts = st.integers(0, 10**9)
vectors = st.none() | st.lists(
    st.floats(-1, 1, width=32), min_size=DIMENSION, max_size=DIMENSION
).map(lambda row: np.array(row, dtype=np.float32))
measures = st.dictionaries(words, reals | words | st.none(), max_size=3)
sources = st.none() | st.builds(
    Source, words, st.none() | counts, st.lists(words, max_size=3).map(tuple), counts, counts
)


@st.composite
def traces(draw) -> Trace:
    ids = draw(st.lists(words, min_size=1, max_size=5, unique=True))
    some = st.lists(st.sampled_from(ids), max_size=4).map(tuple)
    one = st.sampled_from(ids)
    nodes = tuple(
        Node(
            id, draw(st.sampled_from(NodeKind)), *(draw(words), draw(words)), draw(sources), vector
        )
        for id in ids
        for vector in [draw(vectors)]
    )
    candidate = st.builds(Candidate, one, st.booleans(), words, words, measures)
    step = st.builds(
        Step,
        counts,
        words,
        one,
        st.none() | one,
        measures,
        st.dictionaries(words, counts, max_size=3),
        st.lists(candidate, max_size=3).map(tuple),
        vectors,
    )
    sentence = st.builds(Sentence, words, some, st.lists(words, max_size=2).map(tuple))
    answer = st.builds(Answer, st.lists(sentence, max_size=2).map(tuple), words, words)
    points = st.tuples(*[st.integers(-9999, 9999).map(lambda n: n / 16)] * 2)
    picture = st.builds(
        Map,
        words,
        counts,
        st.dictionaries(one, points, max_size=3),
        st.lists(points, max_size=4).map(
            lambda rows: np.array(rows, dtype=np.float32).reshape(-1, 2)
        ),
    )
    value = st.none() | st.booleans() | counts | reals | words
    return Trace(
        method=draw(words),
        question=draw(words),
        settings=draw(st.dictionaries(words, value, max_size=4)),
        seed=draw(counts),
        corpus=CorpusInfo(draw(words), draw(words), draw(words), DIMENSION, draw(counts)),
        nodes=nodes,
        steps=tuple(
            replace(one, index=place) for place, one in enumerate(draw(st.lists(step, max_size=3)))
        ),
        result=Result(
            draw(some),
            draw(some),
            Stop(draw(st.sampled_from(StopReason)), draw(words), draw(words)),
            draw(st.none() | answer),
        ),
        map=draw(st.none() | picture),
        cost=Cost(draw(st.dictionaries(words, reals, max_size=2)), *(draw(counts),) * 3),
    )


@given(traces())
@settings(max_examples=200, deadline=None)
def test_round_trip(trace):
    text = trace.to_json()
    back = Trace.from_json(text)
    assert back.to_json() == text
    assert back.result == trace.result
    assert back.settings == trace.settings
    assert back.cost == trace.cost
    for one, other in zip(trace.nodes, back.nodes, strict=True):
        assert (one.id, one.kind, one.text, one.source) == (
            other.id,
            other.kind,
            other.text,
            other.source,
        )
        if one.vector is None:
            assert other.vector is None
        else:
            assert one.vector.tobytes() == other.vector.tobytes()
    assert [step.candidates for step in back.steps] == [step.candidates for step in trace.steps]
    # Bytes of a file, an indented file and text are one trace.
    assert Trace.from_json(text.encode()).to_json() == text
    assert Trace.from_json(trace.to_json(indent=2)).to_json() == text


def sample() -> Trace:
    node = Node("a", NodeKind.CHUNK, "A", "Text.", Source("d.txt", 3, ("H",), 0, 5), np.eye(3)[0])
    step = Step(
        0,
        "move",
        "query",
        "a",
        {"delta": 0.5, "note": "n", "none": None},
        {"chosen": 1},
        (Candidate("a", True, "chosen", "low", {"cost": 0.25}),),
        np.eye(3)[1],
    )
    return Trace(
        "tracert_rag",
        "Who?",
        {"alpha": 0.5, "strict": False, "delta": None, "start": "query", "k": 3},
        0,
        CorpusInfo("c", "f", "e", 3, 1),
        (Node("query", NodeKind.QUERY, "Q", "Who?", None, np.eye(3)[2]), node),
        (step,),
        Result(
            ("query", "a"),
            ("a",),
            Stop(StopReason.DEAD_END, "End.", "Raise delta."),
            Answer((Sentence("S.", ("a",), ("z",)),), "extract", "note"),
        ),
        Map("pca", 1, {"a": (0.5, 1.0)}, np.zeros((2, 2), dtype=np.float32)),
        Cost({"walk": 0.1}, 1, 2, 3),
    )


def test_vectors_may_be_left_out():
    data = json.loads(sample().to_json(vectors=False))
    assert not any("vector" in part for part in [*data["nodes"], *data["steps"]])
    back = Trace.from_json(json.dumps(data))
    assert all(node.vector is None for node in back.nodes)
    assert back.node("a").text == "Text."


def test_layout_of_the_json():
    data = json.loads(sample().to_json())
    assert data["schema"] == SCHEMA == "tracert.trace/1"
    assert list(data) == [
        "schema", "method", "question", "settings", "seed", "corpus", "nodes", "steps", "result",
        "map", "cost",
    ]  # fmt: skip
    assert data["result"]["stop"] == {
        "reason": "dead_end",
        "message": "End.",
        "remedy": "Raise delta.",
    }
    assert data["result"]["answer"]["text"] == "S."
    # base64 of three little-endian float32: 1.0, 0.0, 0.0.
    assert data["nodes"][1]["vector"] == "AACAPwAAAAAAAAAA"


def test_what_is_not_finite_is_written_as_null():
    trace = sample()
    step = Step(0, "move", "query", None, {"radius": float("inf"), "x": float("nan")}, {}, ())
    data = json.loads(
        Trace(**{**{f: getattr(trace, f) for f in trace.__slots__}, "steps": (step,)}).to_json()
    )
    assert data["steps"][0]["values"] == {"radius": None, "x": None}


def paths(value, here=()):
    """Every place in a JSON value."""
    yield here
    if isinstance(value, dict):
        for key, item in value.items():
            yield from paths(item, (*here, key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from paths(item, (*here, place))


WHOLE = json.loads(sample().to_json())
PLACES = [path for path in paths(WHOLE) if path]
STRANGE = st.sampled_from(
    [None, True, -1, 10**400, 1e308, float("nan"), float("inf"), "", "x", "\ud800", "AAAA",
     [], [[]], [1, 2, 3], {}, {"a": {}}, {"\udfff": 1}]
)  # fmt: skip


def at(value, path):
    for key in path:
        value = value[key]
    return value


@given(st.sampled_from(PLACES), STRANGE)
@example(("map", "background", 0, 1), 1e308)
@settings(max_examples=600, deadline=None)
def test_a_wrong_value_anywhere_is_refused_in_words_or_harmless(path, strange):
    data = copy.deepcopy(WHOLE)
    at(data, path[:-1])[path[-1]] = strange
    text = json.dumps(data)
    try:
        trace = Trace.from_json(text)
    except TraceError as error:
        assert str(error).endswith(".")
        assert len(str(error)) < 400
    else:
        # What was let in can be written, as bytes too, and read again.
        assert Trace.from_json(trace.to_json().encode()).to_json() == trace.to_json()


@given(st.sampled_from(PLACES))
@settings(max_examples=200, deadline=None)
def test_a_missing_part_is_refused_or_harmless(path):
    data = copy.deepcopy(WHOLE)
    del at(data, path[:-1])[path[-1]]
    try:
        Trace.from_json(json.dumps(data))
    except TraceError as error:
        assert "damaged" in str(error) or "schema" in str(error)


@given(st.integers(0, len(sample().to_json()) - 1))
@settings(max_examples=100, deadline=None)
def test_a_file_cut_off_is_refused(length):
    with pytest.raises(TraceError, match="not JSON"):
        Trace.from_json(sample().to_json()[:length])


@given(st.binary(max_size=60))
def test_any_bytes_are_refused(data):
    with pytest.raises(TraceError):
        Trace.from_json(data)


@pytest.mark.parametrize(
    "text", ["", "null", "[]", "3", '"text"', "{}", '{"schema": 1}', "\ufeff{}", "nan"]
)
def test_other_json_is_refused(text):
    with pytest.raises(TraceError):
        Trace.from_json(text)


def test_another_version_is_named():
    data = {**WHOLE, "schema": "tracert.trace/2"}
    with pytest.raises(TraceError, match=r"tracert\.trace/2"):
        Trace.from_json(json.dumps(data))


@pytest.mark.parametrize("opening", ["[", '{"schema": "tracert.trace/1", "settings": {"a": '])
def test_deep_nesting_is_refused(opening):
    depth = 100_000
    with pytest.raises(TraceError):
        Trace.from_json(opening + "[" * depth + "]" * depth)


def test_too_large_a_file_is_refused_before_it_is_parsed(monkeypatch):
    monkeypatch.setattr(module, "MAX_BYTES", 100)
    monkeypatch.setattr(module.json, "loads", lambda text: pytest.fail("it was parsed"))
    with pytest.raises(TraceError, match="fewer candidates"):
        Trace.from_json("x" * 101)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("result", "path"), ["query", "ghost"]),
        (("result", "evidence"), ["ghost"]),
        (("steps", 0, "source"), "ghost"),
        (("steps", 0, "target"), "ghost"),
        (("steps", 0, "candidates", 0, "id"), "ghost"),
    ],
)
def test_an_id_without_a_node_is_refused(path, value):
    data = copy.deepcopy(WHOLE)
    at(data, path[:-1])[path[-1]] = value
    with pytest.raises(TraceError, match="ghost"):
        Trace.from_json(json.dumps(data))


def test_two_nodes_of_one_id_are_refused():
    data = copy.deepcopy(WHOLE)
    data["nodes"].append(data["nodes"][0])
    with pytest.raises(TraceError, match="share an id"):
        Trace.from_json(json.dumps(data))


@pytest.mark.parametrize("vector", ["AAAA", "????", "AACAPwAAAAAAAMB/", "AACAPwAAAAAAAIB/"])
def test_a_vector_of_another_length_or_not_finite_is_refused(vector):
    # The last two end in the float32 bits of NaN and of infinity.
    data = copy.deepcopy(WHOLE)
    data["nodes"][1]["vector"] = vector
    with pytest.raises(TraceError):
        Trace.from_json(json.dumps(data))


def test_node_by_id():
    assert sample().node("a").label == "A"
    with pytest.raises(KeyError):
        sample().node("ghost")


def test_costs_add_up_stage_by_stage():
    total = Cost({"walk": 1.0, "embed": 0.5}, 1, 10, 100).plus(Cost({"walk": 2.0}, 2, 20, 200))
    assert total == Cost({"walk": 3.0, "embed": 0.5}, 3, 30, 300)


def test_an_answer_and_a_map_are_added_to_a_copy():
    bare = Trace(**{**{f: getattr(sample(), f) for f in Trace.__slots__}, "map": None})
    answer = Answer((Sentence("One.", ()), Sentence("Two.", ())), "extract")
    answered = bare.with_answer(answer, Cost({"answer": 0.2}, 1, 5, 6))
    assert answered.result.answer.text == "One. Two."
    assert answered.cost == Cost({"walk": 0.1, "answer": 0.2}, 2, 7, 9)
    assert bare.result.answer.text == "S."
    assert bare.with_map(sample().map).map.kind == "pca"
    assert bare.map is None


@pytest.mark.parametrize("index", [1_000_000, -1, 1])
def test_a_step_that_counts_itself_elsewhere_is_refused(index):
    """Pictures find a step's place by its index, which a file could set to anything."""
    data = json.loads(sample().to_json())
    data["steps"][0]["index"] = index
    with pytest.raises(TraceError, match="index"):
        Trace.from_json(json.dumps(data))


def test_a_page_of_a_presentation_is_a_slide() -> None:
    assert Source("a.pdf", 4, (), 0, 1).leaf == "page 4"
    assert Source("Talk.PPTX", 4, (), 0, 1).leaf == "slide 4"
    assert Source("talk.pptx", None, (), 0, 1).leaf == ""
    assert Source("about.pptx.pdf", 1, (), 0, 1).leaf == "page 1"
