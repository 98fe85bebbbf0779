"""A file is there whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tracert.whole import whole


def test_what_is_written_takes_the_place_of_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "lamp"
    for data in (b"a pile", b"of discs"):
        with whole(path) as file:
            file.write(data)
        assert path.read_bytes() == data
    assert list(tmp_path.iterdir()) == [path]


def test_until_the_end_the_old_is_read(tmp_path: Path) -> None:
    path = tmp_path / "lamp"
    path.write_bytes(b"old")
    with whole(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


def test_a_failure_leaves_the_old_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "lamp"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), whole(path) as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_said_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), whole(tmp_path / "no" / "lamp"):
        pass
    assert list(tmp_path.iterdir()) == []
