"""The workspace: ask, the caches that must not go stale, and several processes at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from tests.toy_embedder import ToyEmbedder
from tracert import projection, workspace
from tracert.corpus.chunking import Chunking
from tracert.errors import CorpusError, ModelError, SettingError
from tracert.indexing import File
from tracert.language.base import Message, OnText, Reply, Tool
from tracert.trace import Trace
from tracert.workspace import Workspace

ROOT = Path(__file__).resolve().parent.parent
CUT = Chunking(60, 20)
LAMP = "".join(f"The lamp number {n} was lit by a pile of discs.\n" for n in range(12))
FROG = "".join(f"The leg of frog {n} twitched at the touch of metal.\n" for n in range(12))


@pytest.fixture
def ws(tmp_path: Path, either: str) -> Workspace:
    return Workspace(tmp_path)


def add(ws: Workspace, *texts: str, name: str = "Lab", embedder: ToyEmbedder | None = None) -> None:
    files = [File(f"{text.split()[1]}.txt", text.encode()) for text in texts]
    ws.index(files, name, chunking=CUT, embedder=embedder or ToyEmbedder())


def ask(ws: Workspace, question: str = "Which lamp was lit?", **more: object) -> Trace:
    options: dict[str, object] = {
        "corpus": "Lab",
        "method": "native_rag",
        "embedder": ToyEmbedder(),
        "answer": False,
        "with_map": False,
    }
    return ws.ask(question, **(options | more))  # type: ignore[arg-type]


def best(trace: Trace) -> str:
    return trace.node(trace.result.evidence[0]).text


# --- asking -------------------------------------------------------------------------------


def test_a_trace_names_the_corpus_and_its_best_passage(ws: Workspace) -> None:
    add(ws, LAMP, FROG)
    trace = ask(ws, "The leg of a frog twitched", settings={"k": "3"})
    assert "frog" in best(trace)
    assert len(trace.result.evidence) == 3
    assert trace.corpus == ws.corpus("Lab").info
    assert Trace.from_json(trace.to_json()).corpus == trace.corpus


def test_other_settings_embed_nothing_again(ws: Workspace) -> None:
    add(ws, LAMP)
    embedder = ToyEmbedder()
    ask(ws, embedder=embedder)
    once = embedder.texts
    ask(ws, embedder=embedder, settings={"k": 2})
    assert once == embedder.texts > 0
    ask(ws, embedder=embedder, fresh=True)
    assert embedder.texts == 2 * once


def test_another_question_goal_or_corpus_is_prepared_anew(ws: Workspace) -> None:
    add(ws, LAMP)
    add(ws, FROG, name="Frogs")
    embedder = ToyEmbedder()
    counts = []
    for more in (
        {},
        {"question": "What twitched?"},
        {"goal": "metal"},
        {"corpus": "Frogs"},
        {"method": "tracert_rag"},
    ):
        before = embedder.texts
        ask(ws, **({"embedder": embedder} | more))
        counts.append(embedder.texts - before)
    assert min(counts) > 0


class Oracle:
    """A model that predicts a goal, or is down."""

    name = "oracle"

    def __init__(self, goal: str | None) -> None:
        self.goal, self.calls = goal, 0

    def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        max_tokens: int = 800,
        on_text: OnText | None = None,
    ) -> Reply:
        self.calls += 1
        if self.goal is None:
            raise ModelError("The key was refused. Type another.")
        return Reply(f"Category: Thing\nConcept: {self.goal}\nExplanation: {self.goal} it is.")


def test_a_model_is_asked_once_a_question_and_another_client_anew(ws: Workspace) -> None:
    add(ws, LAMP)
    down, up = Oracle(None), Oracle("discs")
    for alpha in (0.2, 0.6):
        trace = ask(ws, method="tracert_rag", model=down, settings={"alpha": alpha})
        assert "discs it is" not in trace.node("goal").text
    for alpha in (0.2, 0.6):
        trace = ask(ws, method="tracert_rag", model=up, settings={"alpha": alpha})
        assert "discs it is" in trace.node("goal").text
    assert (down.calls, up.calls) == (1, 1)


def test_answer_map_and_seconds_are_in_the_trace(ws: Workspace) -> None:
    add(ws, LAMP, FROG)
    trace = ask(ws, answer=True, with_map=True)
    assert trace.result.answer is not None
    assert trace.map is not None
    assert {"query", *trace.result.evidence} <= set(trace.map.positions)
    assert {"open", "embed", "walk", "answer", "map"} <= set(trace.cost.seconds)


def test_what_cannot_be_asked_says_what_to_do(ws: Workspace) -> None:
    add(ws, LAMP)
    with pytest.raises(CorpusError, match="'Lab'"):
        ask(ws, corpus="lab")
    with pytest.raises(SettingError, match="k"):
        ask(ws, settings={"k": 0})
    with pytest.raises(SettingError, match="name"):
        ask(ws, corpus=None)
    with pytest.raises(CorpusError, match="re-index"):
        ask(ws, embedder=ToyEmbedder(version="2"))


def test_the_built_in_document_is_there_when_nothing_else_is(
    ws: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "01.md").write_text("# One\n\n" + LAMP)
    monkeypatch.setattr(workspace, "builtin_folder", lambda: tmp_path / "chapters")
    record = ws.ensure_builtin()
    assert record is not None
    assert (record.name, record.embedder) == (workspace.BUILTIN, "wordllama")
    assert ws.ensure_builtin() == record
    ws.delete(workspace.BUILTIN)
    add(ws, LAMP)
    mine = ws.ensure_builtin()
    assert mine is not None
    assert mine.name == "Lab"


def test_documents_can_be_read_whole_and_in_passages(ws: Workspace) -> None:
    add(ws, LAMP, FROG)
    lamp, frog = ws.corpus("Lab").documents
    assert ws.document_text("Lab", frog.fingerprint) == FROG
    chunks = ws.document_chunks("Lab", lamp.fingerprint)
    assert [LAMP[each.start : each.end] for each in chunks] == [each.text for each in chunks]


# --- nothing stale ------------------------------------------------------------------------


def test_a_change_shows_at_the_next_question(ws: Workspace) -> None:
    add(ws, LAMP)
    assert "frog" not in best(ask(ws, "The leg of a frog twitched"))
    add(ws, FROG)
    assert "frog" in best(ask(ws, "The leg of a frog twitched"))
    ws.remove_document("Lab", ws.corpus("Lab").documents[1].fingerprint)
    assert "frog" not in best(ask(ws, "The leg of a frog twitched"))
    ws.rename("Lab", "Bench")
    assert ask(ws, corpus="Bench").corpus.name == "Bench"
    ws.delete("Bench")
    with pytest.raises(CorpusError):
        ask(ws, corpus="Bench")


def test_an_open_corpus_goes_on_working_when_it_is_deleted(ws: Workspace) -> None:
    add(ws, LAMP)
    snapshot = ws.open("Lab")
    ws.delete("Lab")
    assert snapshot.document_text(snapshot.record.documents[0].fingerprint) == LAMP
    assert np.isfinite(snapshot.matrix).all()


def test_two_threads_add_to_one_corpus_and_both_get_in(ws: Workspace) -> None:
    texts = [LAMP, FROG, LAMP.replace("lamp", "coil"), FROG.replace("frog", "newt")]

    def run(text: str) -> int:
        file = File(f"{text[:14]}.txt", text.encode())
        ws.index([file], "Lab", chunking=CUT, embedder=ToyEmbedder())
        return ask(ws).corpus.size

    with ThreadPoolExecutor(len(texts)) as threads:
        assert all(threads.map(run, texts))
    record = ws.corpus("Lab")
    assert sorted(ws.document_text("Lab", d.fingerprint) for d in record.documents) == sorted(texts)


# --- several processes --------------------------------------------------------------------


def start(home: Path, body: str) -> subprocess.Popen[str]:
    """A Python process of its own over the same data folder."""
    script = f"""
import sys, time
from pathlib import Path
from tests.toy_embedder import ToyEmbedder
from tracert.corpus.chunking import Chunking
from tracert.indexing import File
from tracert.workspace import Workspace
ws = Workspace(Path({str(home)!r}))
CUT = Chunking(60, 20)
def say(word):
    print(word, flush=True)
{textwrap.dedent(body)}
"""
    return subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def end(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out


def test_another_process_changes_a_corpus_while_it_is_open_here(ws: Workspace) -> None:
    add(ws, LAMP)
    ask(ws)
    end(start(ws.path, f"ws.index([File('frog.txt', {FROG!r}.encode())], 'Lab', chunking=CUT,"
                       " embedder=ToyEmbedder())"))  # fmt: skip
    trace = ask(ws, "The leg of a frog twitched")
    assert "frog" in best(trace)
    assert trace.corpus.size == ws.corpus("Lab").size
    end(start(ws.path, "ws.rename('Lab', 'Bench')"))
    with pytest.raises(CorpusError, match="'Bench'"):
        ask(ws)
    end(start(ws.path, "ws.delete('Bench')"))
    assert ws.corpora() == []


def test_writers_and_readers_in_several_processes_never_see_half_a_corpus(ws: Workspace) -> None:
    add(ws, LAMP)
    # Two writers replace the corpus by one document after the other, each longer, while this
    # process and a third one ask. Whatever they see must be one version, whole.
    writer = """
        for n in range(6):
            text = ' '.join(f'{who} {{i}} stood in hall {{n}}.' for i in range(30 * (n + 1)))
            ws.index([File('hall.txt', text.encode())], 'Lab', chunking=CUT,
                     embedder=ToyEmbedder(), replace=True)
    """
    reader = """
        while not Path(ws.path / 'stop').exists():
            trace = ws.ask('Which hall?', corpus='Lab', method='native_rag',
                           embedder=ToyEmbedder(), answer=False, with_map=False)
            assert len({node.id.split(':')[0] for node in trace.nodes[1:]}) == 1, trace.nodes
    """
    writers = [start(ws.path, writer.format(who=who)) for who in ("lamp", "frog")]
    other = start(ws.path, reader)
    questions = 0
    while any(process.poll() is None for process in writers):
        snapshot = ws.open("Lab")
        chunks = snapshot.chunks(range(len(snapshot.ids)))
        assert len(chunks) == snapshot.record.size
        for document in snapshot.record.documents:
            text = snapshot.document_text(document.fingerprint)
            assert len(text) == document.characters
        np.testing.assert_allclose(
            snapshot.matrix[:5],
            ToyEmbedder().embed([each.text for each in chunks[:5]]),
            atol=1e-6,
        )
        questions += 1
    (ws.path / "stop").touch()
    for process in (*writers, other):
        end(process)
    assert questions > 0
    assert len(ws.corpus("Lab").documents) == 1


@pytest.mark.parametrize("stage", ["embed", "store"])
def test_a_process_killed_while_indexing_leaves_the_corpus_as_it_was(
    ws: Workspace, stage: str
) -> None:
    add(ws, LAMP)
    before = ws.corpora()
    body = f"""
        def halt(progress):
            if progress.stage == {stage!r} and progress.done == progress.total > 0:
                say('there')
                time.sleep(600)
        ws.index([File('frog.txt', {FROG!r}.encode())], NAME, chunking=CUT,
                 embedder=ToyEmbedder(), on_progress=halt)
    """
    for name in ("Lab", "New"):
        process = start(ws.path, f"NAME = {name!r}\n{textwrap.dedent(body)}")
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        assert ws.corpora() == before
        assert "lamp" in best(ask(ws, "The lamp lit by a pile"))
    add(ws, FROG)
    assert "frog" in best(ask(ws, "The leg of a frog twitched"))
    assert [each.name for each in ws.corpora()] == ["Lab"]


@pytest.mark.parametrize("delay", [0.0, 0.15, 0.4])
def test_a_process_killed_inside_the_write_leaves_the_corpus_as_it_was(
    ws: Workspace, delay: float
) -> None:
    add(ws, LAMP)
    before = ws.corpora()
    body = """
        text = ' '.join(f'The frog number {i} leapt over the newt.' for i in range(5000))
        def tell(progress):
            if progress.stage == 'store':
                say(f'store {progress.done}')
        ws.index([File('frogs.txt', text.encode())], 'Lab', chunking=CUT,
                 embedder=ToyEmbedder(dimension=16), on_progress=tell)
        say('done')
    """
    process = start(ws.path, body)
    assert process.stdout is not None
    assert process.stdout.readline() == "store 0\n"
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    out, _ = process.communicate(timeout=60)
    if "done" not in out:
        # Killed after the commit and before the last word it may be in, then whole.
        assert ws.corpora() == before or ws.open("Lab").record.size > before[0].size
    assert "lamp" in best(ask(ws, "The lamp lit by a pile"))
    add(ws, FROG)
    assert "frog" in best(ask(ws, "The leg of a frog twitched"))


# --- the map ------------------------------------------------------------------------------


def test_the_map_is_pca_until_umap_is_there_and_then_umap_for_every_process(ws: Workspace) -> None:
    add(ws, LAMP, FROG)
    assert ws.map_status("Lab").state == "pca"
    assert ws.projection("Lab", fit=False).kind == "pca"
    assert ws.map_status("Lab").state == "pca"
    assert ws.projection("Lab").kind == "pca"
    assert ws.wait_for_map("Lab", 300).state == "umap"
    found = ws.projection("Lab")
    assert found.kind == "umap"
    other = Workspace(ws.path)
    assert other.map_status("Lab").state == "umap"
    np.testing.assert_array_equal(other.projection("Lab").positions, found.positions)
    assert ws.projection("Lab", kind="pca").kind == "pca"
    trace = ask(ws, with_map=True)
    assert trace.map is not None
    assert trace.map.kind == "umap"
    row = ws.open("Lab").ids.row(trace.result.evidence[0])
    assert row is not None
    np.testing.assert_allclose(
        trace.map.positions[trace.result.evidence[0]], found.positions[row], rtol=1e-6
    )


def test_a_small_corpus_has_pca_and_begins_no_fit(ws: Workspace) -> None:
    add(ws, LAMP[:150])
    assert ws.wait_for_map("Lab", 60).state == "pca"
    assert str(projection.FEWEST) in ws.map_status("Lab").message


def test_a_map_that_cannot_be_made_says_so_and_pca_stays(
    ws: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(matrix: object) -> None:
        raise ValueError("no eigenvectors today")

    monkeypatch.setattr(projection, "fit_umap", fail)
    add(ws, LAMP, FROG)
    status = ws.wait_for_map("Lab", 60)
    assert status.state == "failed"
    assert "no eigenvectors today" in status.message
    assert ws.projection("Lab").kind == "pca"


# --- the package --------------------------------------------------------------------------


def test_importing_tracert_loads_nothing_heavy() -> None:
    heavy = ("streamlit", "umap", "plotly", "pyvis", "chromadb", "wordllama", "openai", "pypdf")
    script = f"import sys, tracert; print([m for m in {heavy!r} if m in sys.modules])"
    out = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "[]"
