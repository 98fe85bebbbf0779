"""The inspector and the form for a Chroma collection, in each state, without a browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import chromadb
import pytest
import streamlit as st
from chromadb.config import Settings
from streamlit.testing.v1 import AppTest

from tests.toy_embedder import ToyEmbedder
from tracert.corpus.chunking import Chunking
from tracert.indexing import File
from tracert.ui.views import inspect_passages
from tracert.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "pages" / "inspect.py"
LAMP = "".join(f"The lamp number {n} was lit by a pile of discs.\n" for n in range(12))
FROG = "".join(f"The leg of frog {n} twitched at the touch of metal.\n" for n in range(12))
NASTY = "<script>alert(1)</script> [x](javascript:alert(1)) \u202egnp " + "w" * 400
TWICE = "This passage stands here word for word and once more elsewhere."


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracert.workspace.Workspace._begin_fit", lambda self, snapshot: None)
    monkeypatch.setattr("tracert.workspace.builtin_folder", lambda: None)
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.fixture
def space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Two documents cut small, and a corpus of other things."""
    monkeypatch.setenv("TRACERT_HOME", str(tmp_path / "home"))
    space = Workspace()
    space.index(
        [File("lamp.txt", LAMP.encode()), File("frog.txt", FROG.encode())],
        "Lab",
        chunking=Chunking(90, 20),
    )
    space.index(
        [File("a.txt", TWICE.encode()), File("b.txt", (TWICE + " ").encode()),
         File("c.txt", NASTY.encode())],
        "Other",
        chunking=Chunking(1_000, 0),
    )  # fmt: skip
    return space


def opened(corpus: str = "Lab", view: str = "Passages") -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=180)
    at.session_state["frame:in"] = True
    at.session_state["inspect:corpus"] = corpus
    at.switch_page("pages/inspect.py").run()
    assert not at.exception
    if view != "Passages":
        at.segmented_control(key="inspect:view").set_value(view).run()
        assert not at.exception
    return at


def shown(at: AppTest) -> str:
    kinds = (at.text, at.caption, at.markdown, at.info, at.warning, at.error, at.subheader)
    return "\n".join(element.value for kind in kinds for element in kind)


def component(at: AppTest, name: str) -> list[Any]:
    return [
        json.loads(element.proto.json)
        for element in at.get("bidi_component")
        if element.proto.component_name == name
    ]


def metric(at: AppTest, label: str) -> str:
    return next(str(one.value) for one in at.metric if one.label == label)


# --- passages -----------------------------------------------------------------------------


def test_without_a_corpus_it_leads_to_the_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACERT_HOME", str(tmp_path / "empty"))
    at = opened()
    assert "no corpus yet" in shown(at)


def test_the_table_has_every_passage_with_its_lengths(space: Workspace) -> None:
    at = opened()
    snapshot = space.open("Lab")
    table = at.dataframe[0].value
    assert len(table) == len(snapshot.ids)
    chunks = snapshot.chunks(range(len(snapshot.ids)))
    assert table["Characters"].tolist() == [len(each.text) for each in chunks]
    assert table["Words"].tolist() == [len(each.text.split()) for each in chunks]
    assert (table["Tokens"] >= table["Words"]).all()
    assert set(table["Document"]) == {"lamp.txt", "frog.txt"}


def test_search_document_and_order_narrow_and_sort_all_of_it(space: Workspace) -> None:
    at = opened()
    at.text_input(key="inspect:passages:search").set_value("FROG 7 ").run()
    assert not at.exception
    table = at.dataframe[0].value
    assert len(table) >= 1
    assert all("frog 7 " in text for text in table["Text"])
    at.text_input(key="inspect:passages:search").set_value("nowhere at all").run()
    assert "No passage has that" in shown(at)
    at.text_input(key="inspect:passages:search").set_value("").run()
    at.selectbox(key="inspect:passages:document").select("frog.txt").run()
    assert set(at.dataframe[0].value["Document"]) == {"frog.txt"}
    at.selectbox(key="inspect:passages:order").select("Shortest first").run()
    lengths = at.dataframe[0].value["Characters"].tolist()
    assert lengths == sorted(lengths)


def test_a_large_table_comes_page_by_page(
    space: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspect_passages, "MOST_ROWS", 5)
    at = opened()
    first = at.dataframe[0].value["Text"].tolist()
    assert len(first) == 5
    at.number_input[0].set_value(2).run()
    second = at.dataframe[0].value["Text"].tolist()
    chunks = space.open("Lab").chunks(range(10))
    assert first + second == [inspect_passages.title(each) for each in chunks]


def test_the_passage_stands_in_its_text_with_its_neighbours(space: Workspace) -> None:
    at = opened()
    snapshot = space.open("Lab")
    id = snapshot.ids[3]
    at.session_state["inspect:selected"] = id
    at.run()
    chunk = snapshot.chunks([3])[0]
    pieces = component(at, "tracert_passage")[0]["pieces"]
    assert ["here", chunk.text] in pieces
    assert any(role == "around" for role, _ in pieces)
    beside, near = component(at, "tracert_cards")[0]["groups"]
    assert [item["id"] for item in beside["items"]] == [snapshot.ids[2], snapshot.ids[4]]
    cosine = float(snapshot.matrix[3] @ snapshot.matrix[2])
    assert beside["items"][0]["badge"] == f"{cosine:.2f}"
    assert id not in {item["id"] for item in near["items"]}
    values = [float(item["badge"]) for item in near["items"]]
    assert values == sorted(values, reverse=True)


def test_an_id_of_another_corpus_selects_nothing(space: Workspace) -> None:
    at = opened()
    at.session_state["inspect:selected"] = "ffffffffffff:0"
    at.run()
    assert not at.exception
    first = space.open("Lab").chunks([0])[0]
    assert ["here", first.text] in component(at, "tracert_passage")[0]["pieces"]


def test_hostile_text_is_text(space: Workspace) -> None:
    at = opened("Other")
    row = next(
        row for row, each in enumerate(space.open("Other").chunks(range(3)))
        if "<script>" in each.text
    )  # fmt: skip
    at.session_state["inspect:selected"] = space.open("Other").ids[row]
    at.run()
    assert not at.exception
    assert ["here", NASTY] in component(at, "tracert_passage")[0]["pieces"]
    assert "<script>" not in "\n".join(element.value for element in at.markdown)


# --- lengths ------------------------------------------------------------------------------


def test_lengths_are_told_in_characters_words_and_tokens(space: Workspace) -> None:
    at = opened(view="Lengths")
    lengths = [len(each.text) for each in space.open("Lab").chunks(range(3))]
    assert metric(at, "Longest") == f"{max(lengths):,}"
    unit = next(one for one in at.segmented_control if "words" in one.options)
    unit.set_value("words").run()
    assert not at.exception
    assert float(metric(at, "Longest")) < 40
    figure = json.loads(at.get("plotly_chart")[0].proto.spec)
    assert figure["layout"]["xaxis"]["title"]["text"] == "words in a passage"


def test_an_embedder_that_cuts_off_is_told(space: Workspace) -> None:
    space.index(
        [File("long.txt", ("many words in a row " * 200).encode())],
        "Long",
        chunking=Chunking(3_000, 0),
        embedder="minilm-int8",
    )
    at = opened("Long", "Lengths")
    assert any("their ends are not in their vectors" in one.value for one in at.warning)


def test_an_embedder_that_cannot_be_had_takes_no_length_away(
    space: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    space.index([File("a.txt", LAMP.encode())], "Toy", embedder=ToyEmbedder())
    at = opened("Toy", "Lengths")
    assert not at.exception
    units = next(one for one in at.segmented_control if "words" in one.options)
    assert units.options == ["characters", "words"]


# --- look-alikes --------------------------------------------------------------------------


def test_equal_texts_are_named_apart_from_near_ones(space: Workspace) -> None:
    at = opened("Other", "Look-alikes")
    assert "1 text stands more than once: 1 passage could go" in shown(at)
    assert at.dataframe[0].value["Times"].tolist() == [2]
    at = opened("Lab", "Look-alikes")
    assert "No two passages have the same text" in shown(at)


def test_the_threshold_decides_how_many_pairs_there_are(space: Workspace) -> None:
    at = opened("Lab", "Look-alikes")
    slider = at.slider(key="inspect:alike:threshold")
    found = []
    for threshold in (0.5, 0.9, 1.0):
        slider.set_value(threshold).run()
        assert not at.exception
        said = [one.value for one in at.text if "pair" in one.value]
        found.append(int(said[0].split()[0].replace(",", "").rstrip(".")) if said else 0)
    assert "Move the slider down" in shown(at)
    assert found == sorted(found, reverse=True)
    assert found[0] > 0
    slider.set_value(0.5).run()
    without = len(at.dataframe[0].value)
    at.toggle(key="inspect:alike:overlapping").set_value(True).run()
    assert len(at.dataframe[0].value) >= without
    assert len(component(at, "tracert_passage")) == 2


# --- another cut --------------------------------------------------------------------------


def test_nothing_is_done_before_the_button(space: Workspace) -> None:
    before = space.corpus("Lab")
    at = opened(view="Another cut")
    assert metric(at, "Passages") == str(before.size)
    go = at.button(key="inspect:cut:go")
    assert go.disabled
    key = f"inspect:cut:{before.id}"
    at.slider(key=f"{key}:size").set_value(300).run()
    assert not at.exception
    now, then = (one["pieces"] for one in component(at, "tracert_passage"))
    assert [role for role, _ in now].count("number") > [role for role, _ in then].count("number")
    assert space.corpus("Lab") == before
    assert "about" in metric(at, "Time to re-index")
    figure = json.loads(at.get("plotly_chart")[0].proto.spec)
    assert [one["name"] for one in figure["data"]] == ["as it is", "as it would be"]


def test_the_button_does_what_the_preview_said(space: Workspace) -> None:
    at = opened(view="Another cut")
    key = f"inspect:cut:{space.corpus('Lab').id}"
    at.slider(key=f"{key}:size").set_value(300).run()
    at.slider(key=f"{key}:overlap").set_value(40).run()
    at.checkbox(key=f"{key}:sentences").check().run()
    promised = metric(at, "Passages")
    at.button(key="inspect:cut:go").click().run()
    at.session_state["inspect:cut:job"].wait(60)
    at.run()
    assert not at.exception
    record = space.corpus("Lab")
    assert record.chunking == Chunking(300, 40, True)
    assert str(record.size) == promised
    assert at.success
    assert at.button(key="inspect:cut:go").disabled


def test_an_overlap_that_no_longer_fits_comes_down_with_the_size(space: Workspace) -> None:
    at = opened(view="Another cut")
    key = f"inspect:cut:{space.corpus('Lab').id}"
    at.slider(key=f"{key}:size").set_value(1_000).run()
    at.slider(key=f"{key}:overlap").set_value(700).run()
    at.slider(key=f"{key}:size").set_value(100).run()
    assert not at.exception
    assert at.slider(key=f"{key}:overlap").value == 75


def test_a_visitor_sees_what_another_cut_would_do_and_cannot_do_it(space: Workspace) -> None:
    def page(space):  # its source is run elsewhere, where the type is not known
        from tracert.ui.views import inspect_cut

        inspect_cut.show(space, space.open("Lab"), key="cut")

    host = AppTest.from_function(page, kwargs={"space": space}, default_timeout=180).run()
    assert [one.key for one in host.button] == ["cut:go"]
    visiting = {"space": space.owned_by("session:someone")}
    at = AppTest.from_function(page, kwargs=visiting, default_timeout=180).run()
    assert not at.exception
    assert metric(at, "Passages")
    assert list(at.button) == []
    assert "changed by none" in shown(at)


# --- a Chroma collection ------------------------------------------------------------------


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A collection that another program stored."""
    client: Any = chromadb.PersistentClient(
        str(tmp_path / "theirs"), settings=Settings(anonymized_telemetry=False)
    )
    texts = LAMP.splitlines()
    from tracert.embedding.registry import embedder

    client.create_collection("lamps", embedding_function=None).add(
        ids=[str(n) for n in range(len(texts))],
        documents=texts,
        embeddings=embedder("wordllama").embed(texts),
    )
    client.close()
    return tmp_path / "theirs"


def library() -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=180)
    at.session_state["frame:in"] = True
    at.switch_page("pages/library.py").run()
    assert not at.exception
    return at


def test_a_collection_becomes_a_corpus(space: Workspace, theirs: Path) -> None:
    at = library()
    assert at.button(key="library:chroma:look").disabled
    at.text_input(key="library:chroma:folder").set_value(str(theirs)).run()
    at.button(key="library:chroma:look").click().run()
    assert not at.exception
    assert "12 rows with vectors of 256 numbers, compared by l2" in shown(at)
    at.text_input(key="library:chroma:0:name").set_value("Their lamps").run()
    at.button(key="library:chroma:0:go").click().run()
    at.session_state["library:job"].wait(60)
    at.run()
    assert not at.exception
    assert space.corpus("Their lamps").size == 12
    assert "from Chroma collection lamps" in shown(at)
    assert at.success


def test_a_taken_name_and_another_dimension_are_told(space: Workspace, theirs: Path) -> None:
    at = library()
    at.text_input(key="library:chroma:folder").set_value(str(theirs)).run()
    at.button(key="library:chroma:look").click().run()
    at.text_input(key="library:chroma:0:name").set_value("Lab").run()
    assert at.button(key="library:chroma:0:go").disabled
    at.checkbox(key="library:chroma:0:replace").check().run()
    at.selectbox(key="library:chroma:0:embedder").select("minilm-int8").run()
    before = space.corpus("Lab")
    at.button(key="library:chroma:0:go").click().run()
    at.session_state["library:job"].wait(60)
    at.run()
    assert any("have 256 numbers" in one.value.replace("\\", "") for one in at.warning)
    assert space.corpus("Lab") == before


def test_a_folder_without_a_store_is_told(space: Workspace, tmp_path: Path) -> None:
    at = library()
    at.text_input(key="library:chroma:folder").set_value(str(tmp_path)).run()
    at.button(key="library:chroma:look").click().run()
    assert not at.exception
    assert any("holds no Chroma store" in one.value for one in at.error)
