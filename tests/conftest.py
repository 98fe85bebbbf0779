"""What all tests share: a data folder of their own and the data beside the checkout."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

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
def builtin() -> Path:
    """The folder of the built-in document, notes and questions."""
    return ROOT / "knowledge"
