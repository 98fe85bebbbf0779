"""What all tests of pages share: nothing is fitted in the background or left in a cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _no_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test waits for UMAP or leaves it running, and none sees what another one cached."""
    monkeypatch.setattr("tracert.workspace.Workspace._begin_fit", lambda self, over: None)
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the built-in text alone; the tests of a module share it."""
    from tracert.workspace import Workspace

    path = tmp_path_factory.mktemp("home")
    Workspace(path).ensure_builtin()
    return path


@pytest.fixture
def open_page(request: pytest.FixtureRequest) -> Callable[[], AppTest]:
    """Opens the app and goes to the page that the module of the test names as PAGE."""

    def opened() -> AppTest:
        at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=180).run()
        at.switch_page(request.module.PAGE).run()
        assert not at.exception
        return at

    return opened


@pytest.fixture
def page(home: Path, open_page: Callable[[], AppTest], monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """That page over the built-in text."""
    monkeypatch.setenv("TRACERT_HOME", str(home))
    return open_page()


@pytest.fixture(autouse=True)
def _details() -> Iterator[None]:
    """A public app shows no details of a fault; what it sets holds for the whole process."""
    before = st.get_option("client.showErrorDetails")
    yield
    st.set_option("client.showErrorDetails", before)
