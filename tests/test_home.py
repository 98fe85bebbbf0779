"""The data folder: where it is, and who may read it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tracert.errors import StoreError
from tracert.home import home
from tracert.store.store import Store


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes of files")
def test_a_new_data_folder_is_for_its_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACERT_HOME", str(tmp_path / "new"))
    assert stat.S_IMODE(home().stat().st_mode) == 0o700
    store = Store(tmp_path / "other")
    with store.session():
        assert stat.S_IMODE(store.path.stat().st_mode) == 0o700


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes of files")
def test_a_folder_that_is_there_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o750)
    monkeypatch.setenv("TRACERT_HOME", str(tmp_path))
    assert stat.S_IMODE(home().stat().st_mode) == 0o750


def test_a_folder_that_cannot_be_made_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    monkeypatch.setenv("TRACERT_HOME", str(tmp_path / "file" / "new"))
    with pytest.raises(StoreError, match=r"cannot be made .* Set TRACERT_HOME"):
        home()
