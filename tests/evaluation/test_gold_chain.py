"""Gold chains: rows that the reader of data sets reads back, and sets that survive two writers."""

from __future__ import annotations

import json
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracert.errors import DatasetError
from tracert.evaluation.datasets import Passage, read_items
from tracert.evaluation.gold_chain import GoldChain, GoldSets, to_jsonl

RING = Passage("coils.md", "Faraday wound two coils on a ring.")
TEACHER = Passage("chemist.md", "Davy taught Faraday.")
OTHER = Passage("frogs.md", "Galvani's frog twitched.")
CHAIN = GoldChain(
    "Who taught the man with the ring?", (RING, TEACHER), "Davy", "bridge", (OTHER, RING)
)


def written(tmp_path: Path, *chains: GoldChain) -> Path:
    path = tmp_path / "set.jsonl"
    path.write_text(to_jsonl(chains, "Mine"))
    return path


def test_a_chain_is_a_row_of_the_documented_form(tmp_path):
    (item,) = read_items(written(tmp_path, CHAIN))
    # The gold passages first and in order; RING stands among the others too and is not repeated.
    assert item.paragraphs == (RING, TEACHER, OTHER)
    assert item.supporting == (0, 1)
    assert item.order == (0, 1)
    assert (item.dataset, item.type, item.answer, item.n_hops) == ("Mine", "bridge", "Davy", 2)
    # A chain of two: the second passage lies one hop behind the first.
    assert item.edges() == ((0, 1),)
    assert item.depths() == {0: 1, 1: 2}


def test_a_comparison_has_no_edges(tmp_path):
    side = GoldChain("Which is older?", (RING, TEACHER), type="comparison")
    (item,) = read_items(written(tmp_path, side))
    assert item.edges() == ()


def test_a_chain_reads_back_as_itself(tmp_path):
    (item,) = read_items(written(tmp_path, CHAIN))
    back = GoldChain.of(item)
    assert back == GoldChain(CHAIN.question, CHAIN.gold, "Davy", "bridge", (OTHER,))
    assert back.id == CHAIN.id == item.id


texts = st.text(min_size=1, max_size=30)
passages = st.builds(Passage, st.text(max_size=10), texts)


@given(
    st.lists(passages, min_size=1, max_size=4, unique=True),
    st.lists(passages, max_size=4),
    texts.filter(str.strip),
)
def test_any_text_survives_the_file(tmp_path_factory, gold, others, question):
    """Any characters, half surrogates and line ends too, stand in one line of ASCII each."""
    folder = tmp_path_factory.mktemp("gold")
    chain = GoldChain(question, tuple(gold), others=tuple(others))
    path = written(folder, chain, chain)
    assert len(path.read_bytes().splitlines()) == 2
    item = read_items(path)[0]
    assert GoldChain.of(item).gold == tuple(gold)
    assert item.question == question.strip()


@pytest.mark.parametrize(
    ("question", "gold", "said"),
    [
        ("  ", (RING,), "Type one"),
        ("Why?", (), "Mark at least one"),
        ("Why?", (RING, RING), "twice"),
    ],
)
def test_what_is_no_chain_is_refused_in_a_sentence(question, gold, said):
    with pytest.raises(DatasetError, match=said):
        GoldChain(question, gold)


# --- sets ---------------------------------------------------------------------------------


def test_a_set_begins_with_its_first_chain_and_goes_with_its_last(tmp_path):
    sets = GoldSets(tmp_path / "gold")
    assert sets.names() == []
    assert sets.read("My set") == []
    assert sets.add(" My set ", CHAIN) == 1
    assert sets.names() == ["My set"]
    assert [each.id for each in sets.read("My set")] == [CHAIN.id]
    assert sets.remove("My set", CHAIN.id) == 0
    assert sets.names() == []


def test_the_same_question_takes_the_place_of_its_chain(tmp_path):
    sets = GoldSets(tmp_path)
    sets.add("s", CHAIN)
    sets.add("s", GoldChain("Another?", (OTHER,)))
    assert sets.add("s", GoldChain(CHAIN.question, (TEACHER,), "D")) == 2
    first, second = sets.read("s")
    assert (first.answer, first.gold, second.question) == ("D", (TEACHER,), "Another?")


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "..", "C:\\x", "<b>é</b>", "a\0b"])
def test_any_name_stays_in_the_folder(tmp_path, name):
    sets = GoldSets(tmp_path / "gold")
    sets.add(name, CHAIN)
    assert sets.names() == [name]
    files = set(tmp_path.rglob("*.jsonl"))
    assert files == {sets.path(name)}
    assert sets.path(name).parent == tmp_path / "gold"
    sets.delete(name)
    assert sets.names() == []


@pytest.mark.parametrize("name", ["", "   ", "x" * 81])
def test_a_set_needs_a_name(tmp_path, name):
    with pytest.raises(DatasetError, match="Give the set a name"):
        GoldSets(tmp_path).add(name, CHAIN)


def test_a_damaged_set_names_the_line_and_is_not_overwritten(tmp_path):
    sets = GoldSets(tmp_path)
    sets.add("s", CHAIN)
    with sets.path("s").open("a") as file:
        file.write('{"question": "half\n')
    before = sets.path("s").read_bytes()
    with pytest.raises(DatasetError, match="line 2"):
        sets.add("s", GoldChain("Another?", (OTHER,)))
    assert sets.path("s").read_bytes() == before


def test_files_that_are_no_sets_are_left_out(tmp_path):
    sets = GoldSets(tmp_path)
    sets.add("s", CHAIN)
    (tmp_path / "list.jsonl").write_text("[]\n")
    (tmp_path / "broken.jsonl").write_bytes(b"\xff\xfe")
    (tmp_path / "stranger.jsonl").write_text(json.dumps({"dataset": "s"}))
    assert sets.names() == ["s"]


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "gold").write_text("a file stands where the folder should")
    with pytest.raises(DatasetError, match="TRACERT_HOME"):
        GoldSets(tmp_path / "gold").add("s", CHAIN)


def _add(folder: str, start: int) -> None:
    for number in range(start, start + 12):
        GoldSets(Path(folder)).add("s", GoldChain(f"Question {number}?", (RING,)))


def test_two_processes_lose_no_chain(tmp_path):
    context = get_context("spawn")
    workers = [context.Process(target=_add, args=(str(tmp_path), start)) for start in (0, 100)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert len(GoldSets(tmp_path).read("s")) == 24
