"""A kept run at work: stopped and resumed it gives what an unbroken one gives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tracert.embedding.registry import embedder
from tracert.errors import CancelledError, DatasetError, TracertError
from tracert.evaluation.datasets import Passage
from tracert.evaluation.gold_chain import GoldChain, to_jsonl
from tracert.evaluation.run import MethodPlan
from tracert.evaluation.runs import Runs
from tracert.evaluation.work import Progress, go_on, model_calls, open_ground, results, runs_of
from tracert.workspace import Workspace

TEXTS = {
    "coils": "Faraday wound two coils of wire on a ring of iron.",
    "chemist": "Humphry Davy taught the young Faraday at the Royal Institution.",
    "frogs": "Galvani saw the legs of a frog twitch under a spark.",
    "pile": "Volta piled discs of silver and zinc.",
    "cable": "The Atlantic cable carried words under the sea.",
    "lamp": "Edison burned a thread of carbon in a bulb.",
}
PASSAGES = {name: Passage(name, text) for name, text in TEXTS.items()}
WORD = embedder("wordllama")
TOP = MethodPlan("Plain top-k", "native_rag", {})
HOP = MethodPlan("TreeHop", "treehop", {"hops": 2})


def chain(question: str, *gold: str) -> GoldChain:
    others = [each for name, each in PASSAGES.items() if name not in gold]
    return GoldChain(question, tuple(PASSAGES[name] for name in gold), others=tuple(others))


CHAINS = [
    chain("Who taught the man who wound coils on a ring?", "coils", "chemist"),
    chain("Whose frog twitched?", "frogs"),
    chain("Which metals did Volta pile?", "pile"),
]


@pytest.fixture
def space(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def begun(space: Workspace, methods=(TOP, HOP), data: str | None = None, **more):
    runs = Runs(space.path / "evaluations")
    text = to_jsonl(CHAINS, "mine") if data is None else data
    given = {
        "title": "Mine",
        "methods": list(methods),
        "k": 3,
        "embedder": "wordllama",
        "ground": {"kind": "pool"},
        "seeds": {"bootstrap": 0},
        "files": {"data": ("mine.jsonl", text.encode())},
    }
    return runs, runs.begin(**(given | more))


def measured(found) -> list:
    """All that a run measured but the time."""
    return [
        [{**detail.to_dict(), "seconds": 0} for detail in one.details] for one in found.evaluations
    ]


def test_a_run_asks_every_method_every_question(space):
    runs, head = begun(space)
    told: list[Progress] = []
    go_on(runs, head, space, WORD, None, told.append)
    found = results(runs, head)
    assert (found.questions, found.total, found.message) == ((0, 1, 2), 3, "")
    assert [one.setup.method for one in found.evaluations] == ["native_rag", "treehop"]
    assert [one.setup.data for one in found.evaluations] == ["mine.jsonl"] * 2
    # Three passages of six hold the one gold passage of the easy questions.
    assert found.evaluations[0].details[1].recall == 1.0
    assert runs.kept()[0].finished
    assert told[0].stage == "open"
    assert (told[-1].done, told[-1].total) == (6, 6)


@pytest.mark.parametrize("after", [0, 1, 3, 5])
def test_stopped_and_resumed_it_gives_what_an_unbroken_one_gives(space, after):
    """Stopped after any question, and resumed, no question is asked twice and none is left out."""
    runs, head = begun(space)
    asked: list[Progress] = []

    def stopped() -> bool:
        return len(runs.done(head, dict).details) >= after

    with pytest.raises(CancelledError):
        go_on(runs, head, space, WORD, None, stopped=stopped)
    assert len(runs.done(head, dict).details) == after
    go_on(runs, head, space, WORD, None, asked.append)
    assert sum(one.stage == "ask" and one.item != "" for one in asked) == 6 - after
    _, whole = begun(space)
    go_on(runs, whole, space, WORD, None)
    assert measured(results(runs, head)) == measured(results(runs, whole))


def test_a_stopped_run_sums_up_what_all_methods_were_asked(space):
    runs, head = begun(space)
    with pytest.raises(CancelledError):
        go_on(
            runs, head, space, WORD, None, stopped=lambda: len(runs.done(head, dict).details) >= 3
        )
    found = results(runs, head)
    # Both were asked the first question, one of them the second.
    assert found.questions == (0,)
    assert [len(one.details) for one in found.evaluations] == [1, 1]


def test_before_the_first_question_there_is_nothing_to_sum_up(space):
    runs, head = begun(space)
    assert results(runs, head) is None


def test_a_finished_run_that_is_resumed_asks_nothing(space):
    runs, head = begun(space)
    go_on(runs, head, space, WORD, None)
    before = (runs.folder / head.id / "done.jsonl").read_bytes()
    go_on(runs, head, space, WORD, None)
    assert (runs.folder / head.id / "done.jsonl").read_bytes() == before


def test_a_damaged_line_is_asked_again(space):
    runs, head = begun(space)
    go_on(runs, head, space, WORD, None)
    path = runs.folder / head.id / "done.jsonl"
    lines = path.read_text().splitlines()
    lines[2] = '{"method": 0, "question": 1, "detail": {"id": "x"}}'
    path.write_text("\n".join(lines) + "\n")
    found = results(runs, head)
    assert found.questions == (0, 2)
    assert "1 line" in found.message
    go_on(runs, head, space, WORD, None)
    assert results(runs, head).questions == (0, 1, 2)


def test_a_wrong_row_is_named_and_the_rest_goes_on(space):
    data = to_jsonl(CHAINS, "mine") + '{"question": 5}\n'
    runs, head = begun(space, data=data)
    go_on(runs, head, space, WORD, None)
    found = results(runs, head)
    assert found.total == 3
    assert found.evaluations[0].setup.faults == (
        "mine.jsonl, line 4: 'question' is missing or empty.",
    )


def test_a_pool_of_its_own_is_searched(space):
    pool = "".join(
        json.dumps({"title": one.title, "text": one.text}) + "\n" for one in PASSAGES.values()
    )
    files = {
        "data": ("q.jsonl", to_jsonl(CHAINS, "m").encode()),
        "passages": ("pool.jsonl", pool.encode()),
    }
    runs, head = begun(space, files=files)
    go_on(runs, head, space, WORD, None)
    assert results(runs, head).evaluations[0].setup.source == "pool.jsonl"


@pytest.mark.parametrize("name", ["native_rag", "tracert_rag", "iterative_rewrite", "graph_rag"])
def test_naming_fewer_candidates_changes_the_time_alone(space, name):
    runs, head = begun(space, methods=[MethodPlan("m", name, {})])
    ground = open_ground(runs, head, space, WORD)
    (whole,), (brief,) = (runs_of(ground, head, None, brief=short) for short in (False, True))
    assert brief.settings["candidates_kept"] == 3
    for question in range(3):
        details = [run.detail(question).to_dict() | {"seconds": 0} for run in (whole, brief)]
        assert details[0] == details[1]


# --- a corpus of the library, and notes ---------------------------------------------------------


def test_gold_chains_are_measured_on_the_corpus_they_were_made_of(space, tmp_path):
    for name, text in TEXTS.items():
        (tmp_path / f"{name}.md").write_text(text)
    space.index([tmp_path / f"{name}.md" for name in TEXTS], "Sparks", embedder="wordllama")
    snapshot = space.open("Sparks")
    by_name = {chunk.document: chunk for chunk in snapshot.chunks(range(len(snapshot.ids)))}
    gold = tuple(
        Passage(by_name[name].document, by_name[name].text) for name in ("coils.md", "chemist.md")
    )
    data = to_jsonl([GoldChain(CHAINS[0].question, gold)], "mine")
    runs, head = begun(space, data=data, ground={"kind": "corpus", "corpus": "Sparks"})
    go_on(runs, head, space, WORD, None)
    (detail,) = results(runs, head).evaluations[0].details
    assert [passage.ids for passage in detail.gold] == [
        (by_name["coils.md"].id,),
        (by_name["chemist.md"].id,),
    ]
    # A corpus that changed is not the one that was measured.
    (tmp_path / "new.md").write_text("Something else altogether.")
    space.index([tmp_path / "new.md"], "Sparks")
    with pytest.raises(DatasetError, match="has changed since"):
        go_on(runs, head, space, WORD, None)
    space.delete("Sparks")
    with pytest.raises(TracertError, match="Sparks"):
        go_on(runs, head, space, WORD, None)
    assert results(runs, head) is not None


def test_trailgraph_is_measured_on_the_built_in_notes(space):
    questions = Path(__file__).resolve().parents[2] / "knowledge" / "questions.jsonl"
    data = "".join(questions.read_text(encoding="utf-8").splitlines(keepends=True)[:2])
    plan = MethodPlan("TrailGraph", "trailgraph", {})
    runs, head = begun(
        space,
        methods=[plan],
        data=data,
        ground={"kind": "notes", "folder": "", "name": ""},
    )
    go_on(runs, head, space, WORD, None)
    found = results(runs, head)
    assert found.total == 2
    assert found.evaluations[0].setup.kind == "notes"


@pytest.mark.parametrize("kind", ["", "shelf", None])
def test_a_ground_of_another_version_is_refused(space, kind):
    runs, head = begun(space, ground={"kind": kind})
    with pytest.raises(DatasetError, match="another version"):
        open_ground(runs, head, space, WORD)


def test_a_method_that_walks_something_else_is_refused_and_the_run_stays_free(space):
    runs, head = begun(space, methods=[MethodPlan("TrailGraph", "trailgraph", {})])
    with pytest.raises(TracertError, match="walks"):
        go_on(runs, head, space, WORD, None)
    assert not runs.busy(head.id)


# --- graph_rag, and the model -------------------------------------------------------------------


def test_the_graph_is_made_before_the_first_question_and_its_cost_is_kept(space):
    runs, head = begun(space, methods=[MethodPlan("Graph RAG", "graph_rag", {})])
    told: list[Progress] = []
    go_on(runs, head, space, WORD, None, told.append)
    stages = [one.stage for one in told]
    assert stages.index("make") < stages.index("ask")
    (making,) = results(runs, head).making
    assert making["seconds"] > 0
    assert (making["calls"], making["tokens"]) == (0, 0)


class _Silent:
    name = "silent"

    def complete(self, *_args, **_more):
        raise AssertionError("nothing may be asked")


def test_a_run_that_asks_no_model_gets_none(space):
    runs, head = begun(space, methods=[MethodPlan("Tracert", "tracert_rag", {})])
    go_on(runs, head, space, WORD, _Silent())
    assert results(runs, head).evaluations[0].setup.model == ""
    ground = open_ground(runs, head, space, WORD)
    assert all(run.model is None for run in runs_of(ground, head, _Silent()))


@pytest.mark.parametrize(
    ("name", "settings", "calls"),
    [
        ("native_rag", {}, 0),
        ("treehop", {}, 0),
        ("tracert_rag", {}, 10),
        ("iterative_rewrite", {"rewrites": 3}, 30),
        ("graph_rag", {"reading_calls": 7, "summary_calls": 4}, 11),
        ("graph_rag", {"reading_calls": 7, "summary_calls": 4, "search": "global"}, 21),
        ("trailgraph", {"max_rounds": 4}, 40),
        ("trailgraph", {"scoring": "offline"}, 0),
        ("trailgraph", {"scoring": "model", "entries": 2, "max_hops": 3}, 60),
    ],
)
def test_the_calls_of_ten_questions_are_told_beforehand(name, settings, calls):
    assert model_calls(MethodPlan("m", name, settings), 10, None) == calls
