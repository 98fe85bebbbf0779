"""The Library's way with locked files and zips, and the limits on the Settings page."""

from __future__ import annotations

import importlib.util
import io
import sys
import zipfile
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]


def _pdfs():
    spec = importlib.util.spec_from_file_location("pdfs", ROOT / "tests" / "corpus" / "pdfs.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["pdfs"] = module
    spec.loader.exec_module(module)
    return module.pdf


pdf = _pdfs()
WORDS = "Galvani saw the legs of a frog twitch beside the machine. " * 4


def _workspace():
    from tracert.workspace import Workspace

    return Workspace()


@pytest.fixture
def library() -> AppTest:
    """The Library of a data folder with no corpus but the built-in one."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    at.run()
    return at.switch_page("pages/library.py").run()


def zipped(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in files.items():
            archive.writestr(name.replace("_", "."), data)
    return out.getvalue()


def index(at: AppTest, *files: tuple[str, bytes]) -> AppTest:
    """Hand files in and wait until they are indexed."""
    at.file_uploader(key="library:0:files").set_value(
        [(name, data, "application/octet-stream") for name, data in files]
    ).run()
    assert not at.exception
    at.text_input(key=f"library:0:corpus:{files[0][0].rsplit('.', 1)[0]}").set_value("C").run()
    at.button(key="library:index").click().run()
    return done(at)


def done(at: AppTest) -> AppTest:
    at.session_state["library:job"].wait(120)
    at.run()
    assert not at.exception
    return at


def fields(at: AppTest) -> list:
    return [one for one in at.text_input if one.label.startswith("Password")]


def plain(label: str) -> str:
    """A label as it is shown: it is markdown in which every sign is escaped."""
    return label.replace("\\", "")


def press(at: AppTest, label: str) -> AppTest:
    next(one for one in at.button if one.label == label).click().run()
    return at


def names() -> list[str]:
    return [document.name for document in _workspace().corpus("C").documents]


def test_a_locked_file_is_asked_for_its_password_and_read_with_it(library: AppTest) -> None:
    locked = pdf([WORDS], user_password="the key")
    at = index(library, ("secret.pdf", locked), ("open.txt", WORDS.encode()))
    assert list(at.dataframe[0].value["Result"]) == ["Not read", "Indexed"]
    (field,) = fields(at)
    assert field.label == "Password"
    assert "secret.pdf" in [one.value for one in at.text]
    assert field.proto.type == 1, "what is typed is not shown"

    field.set_value("wrong")
    at = done(press(at, "Read with the password"))
    assert "not the password of secret.pdf" in at.dataframe[0].value["What to know"][0]
    (field,) = fields(at)
    assert field.value == "", "no password stays in the page"

    field.set_value("the key")
    at = done(press(at, "Read with the password"))
    assert list(at.dataframe[0].value["Result"]) == ["Indexed"]
    assert fields(at) == []
    assert sorted(names()) == ["open.txt", "secret.pdf"]
    held = at._session_state.filtered_state
    assert "library:batch" not in held
    assert "the key" not in repr(held)


def test_a_locked_file_can_be_left_out(library: AppTest) -> None:
    at = index(library, ("secret.pdf", pdf([WORDS], user_password="k")), ("a.txt", WORDS.encode()))
    assert len(fields(at)) == 1
    at = press(at, "Leave out")
    assert not at.exception
    assert fields(at) == []
    assert names() == ["a.txt"]


def test_a_zip_is_indexed_file_by_file_and_asks_for_what_is_locked_in_it(library: AppTest) -> None:
    data = zipped(
        a_md=b"# Frogs\n\n" + WORDS.encode(),
        b_pdf=pdf([WORDS + "More."], user_password="k"),
        c_pdf=b"%PDF-1.7",
    )
    at = index(library, ("notes.zip", data))
    table = at.dataframe[0].value
    assert list(table["File"]) == ["notes.zip/a.md", "notes.zip/b.pdf", "notes.zip/c.pdf"]
    assert list(table["Result"]) == ["Indexed", "Not read", "Not read"]
    (field,) = fields(at)
    assert "notes.zip/b.pdf" in [one.value for one in at.text]
    field.set_value("k")
    at = done(press(at, "Read with the password"))
    assert list(at.dataframe[0].value["Result"]) == ["Was there already", "Indexed", "Not read"]
    assert names() == ["a.md", "b.pdf"]


def test_two_uploads_of_one_name_stay_two_when_one_is_locked(library: AppTest) -> None:
    at = index(library, ("a.pdf", pdf([WORDS])), ("a.pdf", pdf([WORDS + "x"], user_password="k")))
    (field,) = fields(at)
    field.set_value("k")
    done(press(at, "Read with the password"))
    assert names() == ["a.pdf", "a (2).pdf"]


def test_limits_are_settings_of_the_session(
    library: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACERT_LIMIT_SECONDS", "99")
    at = library.switch_page("pages/settings.py").run()
    assert not at.exception
    seconds = at.number_input(key="limits:seconds:0")
    assert (seconds.value, seconds.disabled) == (99, True)
    at.number_input(key="limits:pages:0").set_value(1)
    press(at, "Use these limits")
    assert not at.exception
    at = at.switch_page("pages/library.py").run()
    at = index(at, ("a.pdf", pdf([WORDS, "More"])))
    assert "the first 1 were read" in at.dataframe[0].value["What to know"][0]
    at = press(at.switch_page("pages/settings.py").run(), "Back to the usual limits")
    assert at.number_input(key="limits:pages:1").value == 5000


def test_a_limit_in_the_environment_that_is_none_is_told(
    library: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACERT_LIMIT_PAGES", "many")
    at = library.switch_page("pages/settings.py").run()
    assert not at.exception
    assert any("limit pages is 'many'" in plain(one.value) for one in at.error)
