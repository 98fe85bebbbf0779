"""The app in public: whose things are, what cannot be named, what the host alone decides."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tracert.errors import CancelledError, SettingError
from tracert.home import home
from tracert.hosting import Hosting, person_owner
from tracert.indexing import File
from tracert.language.allowance import Allowance, spent
from tracert.ui import evaluating, model, visitor
from tracert.ui.jobs import Job
from tracert.ui.safe import literal
from tracert.ui.turns import soon, turn
from tracert.workspace import Workspace

ROOT = Path(__file__).resolve().parents[2]
TEXT = "The lamp was lit by Ingrid Falk. The keeper of the lamp wrote a letter home. " * 10


@pytest.fixture(autouse=True)
def _hosted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracert.workspace.Workspace._begin_fit", lambda self, snapshot: None)
    monkeypatch.setenv("TRACERT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TRACERT_PUBLIC", "1")
    monkeypatch.delenv("TRACERT_MODEL", raising=False)
    st.cache_resource.clear()
    st.cache_data.clear()
    Workspace().index([File("shared.txt", TEXT.encode())], "Shared by the host")


def opened(page: str, **query: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=180)
    at.session_state["frame:in"] = True
    for name, value in query.items():
        at.query_params[name] = value
    at.switch_page(f"pages/{page}.py").run()
    assert not at.exception, at.exception[0].value
    return at


def words(at: AppTest) -> str:
    kinds = (at.markdown, at.caption, at.info, at.error, at.warning, at.success, at.text)
    return "\n".join(str(one.value) for kind in kinds for one in kind)


def by_label(elements: Any, label: str) -> Any:
    return next(each for each in elements if each.label.startswith(label))


def pasted(name: str, text: str = TEXT) -> AppTest:
    """A visitor who loaded a text."""
    at = opened("library")
    by_label(at.text_input, "Name of the text").set_value(f"{name}.txt")
    by_label(at.text_area, "Text").set_value(text).run()
    by_label(at.text_input, "Name of the corpus").set_value(name).run()
    by_label(at.button, "Index 1 document").click().run()
    at.session_state["library:job"].wait(60)
    at.run()
    assert not at.exception
    return at


# --- whose --------------------------------------------------------------------------------


def test_a_visitors_corpus_is_seen_by_that_visitor_alone() -> None:
    ada = pasted("Ada's lamp")
    assert "Ada's lamp" in words(ada)
    ben = opened("library")
    assert "Ada's lamp" not in words(ben)
    assert "Shared by the host" in words(ben)
    assert all("Ada's lamp" not in box.options for box in ben.selectbox)


def test_a_link_to_anothers_corpus_says_what_it_says_of_one_that_is_not_there() -> None:
    pasted("Ada's lamp")
    said = words(opened("tracert_rag", corpus="Ada's lamp", question="Who lit the lamp?"))
    nowhere = words(opened("tracert_rag", corpus="Nobody's lamp", question="Who lit the lamp?"))
    assert "Ada" in said
    assert said.replace("Ada", "Nobody") == nowhere


def test_the_library_says_whose_things_are_and_how_long_they_stay() -> None:
    assert "this browser tab" in words(opened("library"))
    assert "24 hours" in words(opened("library"))


def test_a_private_app_says_nothing_of_visitors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRACERT_PUBLIC")
    at = opened("library")
    assert "this browser tab" not in words(at)
    assert any("Folder of the Chroma store" in box.label for box in at.text_input)
    assert any(box.label == "Base URL" for box in opened("settings").text_input)


def test_what_the_host_shares_cannot_be_changed_from_a_page() -> None:
    at = opened("library")
    space = Workspace()
    record = space.corpus("Shared by the host")
    key = f"shelf:{record.id}"
    assert [each for each in at.button if each.key and each.key.startswith(f"{key}:ask")]
    kept = [each.key for each in at.button if each.key and each.key.startswith(key)]
    assert not [each for each in kept if "delete" in each or "rename" in each or "again" in each]


def test_kept_evaluations_lie_in_a_folder_of_the_visitor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visitor, "owner", lambda: person_owner("https://id", "ada"))
    ada = evaluating.runs().folder
    monkeypatch.setattr(visitor, "owner", lambda: person_owner("https://id", "ben"))
    assert evaluating.runs().folder != ada
    assert ada.is_relative_to(tmp_path / "home" / "visitors")


# --- what cannot be named -----------------------------------------------------------------


@pytest.mark.parametrize("page", ["library", "trailgraph", "treehop", "evaluate", "settings"])
def test_no_page_asks_for_a_path_an_address_or_a_key(page: str) -> None:
    at = opened(page)
    labels = [box.label for box in at.text_input]
    for word in ("Path", "Folder", "Base URL", "Key", "address"):
        assert not [label for label in labels if word in label], labels


def test_no_page_shows_where_the_server_keeps_its_things(tmp_path: Path) -> None:
    for page in ("library", "settings", "tracert_rag", "evaluate"):
        assert str(tmp_path) not in words(opened(page)), page


def test_a_message_names_no_path_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    said = f"The index {home() / 'knowledge'} cannot be written."
    assert str(home()) not in literal(said).replace("\\", "")
    monkeypatch.delenv("TRACERT_PUBLIC")
    assert str(home()) in literal(said).replace("\\", "")


def test_a_fault_of_the_app_shows_a_stranger_no_file_of_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(self: Workspace) -> None:
        raise ValueError(f"there is something odd in {home()}")

    monkeypatch.setattr(Workspace, "corpora", broken)
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=180).run()
    shown = at.exception[0]
    assert str(home()) not in f"{shown.value} {shown.stack_trace} {shown.proto}"
    assert str(ROOT) not in f"{shown.value} {shown.stack_trace} {shown.proto}"


def test_weights_of_the_hosts_disk_are_not_read_for_a_link(tmp_path: Path) -> None:
    from tracert.methods.treehop.method import model_for
    from tracert.methods.treehop.settings import TreeHopSettings

    with pytest.raises(SettingError, match="not read"):
        model_for(TreeHopSettings(model=str(tmp_path / "any.safetensors")), "wordllama", 256)


# --- what the host decides ----------------------------------------------------------------


def test_the_hosts_model_is_the_only_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACERT_MODEL", "tiny")
    monkeypatch.setenv("TRACERT_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("TRACERT_PUBLIC_CALLS", "7")
    st.session_state.clear()
    model.keep(model.ModelSettings(base_url="http://169.254.169.254/", model="evil", key="x"))
    now = model.settings()
    assert (now.model, now.base_url, now.key) == ("tiny", "http://127.0.0.1:9/v1", "")
    Allowance(model.calls_file(), 7).reserve()
    at = opened("settings")
    assert "tiny" in words(at)
    assert spent(model.calls_file()) == 1
    st.session_state.clear()


def test_an_embedder_that_the_host_does_not_use_is_refused() -> None:
    assert model.embedders() == ["wordllama"]
    with pytest.raises(SettingError, match="wordllama alone"):
        model.named_embedder("openai:text-embedding-3-small")
    assert model.named_embedder("wordllama").name == "wordllama"


def test_an_upload_beyond_the_room_is_refused_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TRACERT_PUBLIC_PASSAGES", "1")
    assert "1 passages at once" in words(pasted("Too much"))


def test_what_is_handed_in_at_once_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACERT_PUBLIC_UPLOAD_MB", "1")
    boxes = {page: opened(page).file_uploader for page in ("library", "trailgraph", "tracert_rag")}
    assert all(boxes.values())
    assert {box.proto.max_upload_size_mb for each in boxes.values() for box in each} == {1}
    # Three files of half a megabyte each: every one is small enough, all together are not.
    at = opened("library")
    given = [(f"{name}.txt", TEXT.encode() * 800, "text/plain") for name in "abc"]
    at.file_uploader(key="library:0:files").set_value(given).run()
    assert "1 MB are taken at once here" in words(at)
    assert not [button for button in at.button if button.label.startswith("Index")]
    at.file_uploader(key="library:0:files").set_value(given[:1]).run()
    assert [button for button in at.button if button.label == "Index 1 document"]


# --- turns --------------------------------------------------------------------------------


def test_a_visitor_waits_for_ones_own_job_and_all_for_their_number() -> None:
    hosted = Hosting(public=True, jobs=1)
    running, free = threading.Event(), threading.Event()

    def hold() -> None:
        with turn("session:a", hosted)(lambda: False):
            running.set()
            assert free.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    assert running.wait(30)
    for owner in ("session:a", "session:b"):
        with pytest.raises(CancelledError), turn(owner, hosted)(lambda: True):
            pytest.fail("it did not wait")
    free.set()
    holder.join(30)
    with turn("session:b", hosted)(lambda: True):
        pass


def test_a_page_that_works_itself_gives_up_where_no_turn_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tracert.ui.turns._PATIENCE", 0.0)
    hosted = Hosting(public=True, jobs=1)
    with (
        turn("session:a", hosted)(lambda: False),
        pytest.raises(CancelledError, match="Try again in a minute"),
        soon("session:b", hosted),
    ):
        pytest.fail("it did not wait")
    with soon("session:b", hosted), pytest.raises(CancelledError), soon("session:b", hosted):
        pytest.fail("it did not wait for itself")
    with soon("", Hosting()), soon("", Hosting()):
        pass


def test_a_private_app_never_waits() -> None:
    with turn("", Hosting())(lambda: True), turn("", Hosting())(lambda: True):
        pass


def test_a_job_that_waits_says_so_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACERT_PUBLIC_JOBS", "1")
    monkeypatch.setattr(visitor, "owner", lambda: "session:a")
    free = threading.Event()
    first: Job[None, bool] = Job("first", lambda _tell, _stop: free.wait(30))
    second: Job[None, bool] = Job("second", lambda _tell, _stop: True)
    assert second.waiting
    second.cancel()
    second.wait(30)
    assert second.report is None
    assert "Nothing was kept" in second.message
    free.set()
    first.wait(30)
    assert first.report is True
