"""What all tests share: a data folder of their own and the data beside the checkout."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings

from tests import toy_traces
from tests.chroma_server import KEY, ChromaServer

# A busy machine is no failure: properties are checked without a time limit for an example.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def _own_home(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """No test reads or writes the data folder, the key or the endpoint of whoever runs it."""
    monkeypatch.setenv("TRACERT_HOME", str(tmp_path_factory.mktemp("home")))
    for name in (
        "OPENAI_API_KEY",
        "OPENROUTER_API_KEY",
        "TRACERT_MODEL",
        "TRACERT_BASE_URL",
        "CHROMA_URL",
        "CHROMA_API_KEY",
        "CHROMA_TENANT",
        "CHROMA_DATABASE",
    ):
        monkeypatch.delenv(name, raising=False)
    yield


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of third-party data for tests; a test that needs it skips where it is absent."""
    path = Path(os.environ.get("TRACERT_SHARED", ROOT.parent / "shared"))
    if not (path / "data" / "SOURCES.md").is_file():
        pytest.skip(f"needs the test data in {path} (or in TRACERT_SHARED)")
    return path


@pytest.fixture(scope="session")
def toys() -> ModuleType:
    """Traces made by hand, and what they are made of."""
    return toy_traces


@pytest.fixture(scope="session")
def builtin() -> Path:
    """The folder of the built-in document, notes and questions."""
    return ROOT / "knowledge"


@pytest.fixture(scope="session")
def chroma_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    """A Chroma server that all tests of a process share; each takes a database of its own."""
    server = ChromaServer(tmp_path_factory.mktemp("chroma") / "data")
    server.start()
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture
def own_chroma(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChromaServer]:
    """The store is on a server that this test alone has, and may kill."""
    server = ChromaServer(tmp_path / "chroma")
    server.start()
    monkeypatch.setenv("CHROMA_URL", server.url)
    monkeypatch.setenv("CHROMA_API_KEY", KEY)
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture
def on_server(chroma_server: ChromaServer, monkeypatch: pytest.MonkeyPatch) -> ChromaServer:
    """The store lies in an empty database of a real Chroma server."""
    monkeypatch.setenv("CHROMA_URL", chroma_server.url)
    monkeypatch.setenv("CHROMA_DATABASE", chroma_server.new_database())
    return chroma_server


@pytest.fixture(params=["folder", "server", "cloud"])
def everywhere(request: pytest.FixtureRequest) -> str:
    """What uses it runs with the store in the data folder, on a real server, and on that server
    within the quotas of Chroma Cloud.
    """
    return _lies(request)


@pytest.fixture(params=["folder", "server"])
def either(request: pytest.FixtureRequest) -> str:
    """As `everywhere`, for tests that take long: without the quotas."""
    return _lies(request)


def _lies(request: pytest.FixtureRequest) -> str:
    if request.param != "folder":
        request.getfixturevalue("on_server")
    if request.param == "cloud":
        request.getfixturevalue("cloud_quotas")
    return str(request.param)


@pytest.fixture
def cloud_quotas(monkeypatch: pytest.MonkeyPatch) -> None:
    """The store takes its server for Chroma Cloud, and whatever breaks a quota of it fails."""
    from chromadb.api.models.Collection import Collection

    from tracert import chroma

    monkeypatch.setattr(chroma.Place, "narrow", property(lambda place: not place.embedded))
    real = {name: getattr(Collection, name) for name in ("add", "get", "modify")}

    def add(self: Any, ids: Any, **more: Any) -> Any:
        assert len(ids) <= 300
        assert max(len(text.encode()) for text in more["documents"]) <= 16_384
        for metadata in more.get("metadatas") or ():
            _within(metadata, 4_096)
        return real["add"](self, ids, **more)

    def get(self: Any, **more: Any) -> Any:
        assert more["limit"] <= 300
        return real["get"](self, **more)

    def modify(self: Any, **more: Any) -> Any:
        _within(more["metadata"], 256)
        return real["modify"](self, **more)

    monkeypatch.setattr(Collection, "add", add)
    monkeypatch.setattr(Collection, "get", get)
    monkeypatch.setattr(Collection, "modify", modify)


def _within(metadata: Any, most: int) -> None:
    assert len(metadata) <= 32
    for name, value in metadata.items():
        assert len(name) <= 36
        assert len(str(value).encode()) <= most, (name, value)
