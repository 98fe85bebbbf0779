"""What is handed in to be indexed, file by file."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from tracert.errors import DocumentError
from tracert.inputs import File, gather, numbered, source_of

MOST = 1_000_000


def write(path: Path, text: str = "text") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def refusal(given: str | Path) -> str:
    """The sentence of the one thing that was found and cannot be read."""
    (found,) = gather([given])
    with pytest.raises(DocumentError) as caught:
        found.read(MOST)
    return str(caught.value)


def test_the_same_file_is_taken_once_however_it_is_written(tmp_path: Path) -> None:
    path = write(tmp_path / "in" / "a.md")
    (tmp_path / "link.md").symlink_to(path)
    found = gather([path, tmp_path / "in" / ".." / "in" / "a.md", tmp_path / "in", str(path)])
    assert [(each.path, each.names[0]) for each in found] == [(str(path), "a.md")]
    assert len(gather([path, tmp_path / "link.md"])) == 1


def test_what_shares_a_name_is_called_by_its_folder(tmp_path: Path) -> None:
    paths = [write(tmp_path / place) for place in ("x/a.md", "y/a.md", "y/b.md")]
    assert [each.names[0] for each in gather(paths)] == ["x/a.md", "y/a.md", "b.md"]
    assert {each.name for each in gather(paths)} == {"a.md", "b.md"}
    # Told apart by where they lie, which the source does not tell.
    sources = [each.source for each in gather(paths)]
    assert len(set(sources)) == 3
    assert sources == [source_of(str(path.resolve())) for path in paths]
    assert [source.partition("#")[0] for source in sources] == ["a.md", "a.md", "b.md"]
    assert not any(str(tmp_path) in source or "x/" in source for source in sources)


def test_uploads_of_one_name_get_a_number_before_the_suffix() -> None:
    found = gather([File("a.md", b"1"), File("a.md", b"2"), File("Pasted", b"3")] * 2)
    expected = ["a.md", "a (2).md", "Pasted", "a (3).md", "a (4).md", "Pasted (2)"]
    assert [each.names[0] for each in found] == expected
    assert {each.name for each in found} == {"a.md", "Pasted"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.md", "a (2).md"), ("x/a.md", "x/a (2).md"), ("Notes", "Notes (2)"), (".md", ".md (2)")],
)
def test_a_number_stands_before_the_suffix(name: str, expected: str) -> None:
    assert numbered(name, {name}) == expected
    assert numbered(name, ()) == name


def test_a_device_and_a_pipe_are_no_files(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.md"
    os.mkfifo(pipe)
    for path in (Path("/dev/zero"), pipe):
        said: list[str] = []
        # On a thread of its own: reading it would never end.
        reading = threading.Thread(target=lambda: said.append(refusal(path)), daemon=True)  # noqa: B023
        reading.start()
        reading.join(20)
        assert said
        assert "a device or a pipe" in said[0]


def test_a_file_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    assert gather([write(tmp_path / "a.md", "0123456789")])[0].read(10) == b"0123456789"
    with pytest.raises(DocumentError, match="MB"):
        gather([write(tmp_path / "b.md", "0123456789+")])[0].read(10)


def test_paths_that_are_none_get_a_sentence(tmp_path: Path) -> None:
    assert "home folder" in refusal("~nosuchuser/x")
    assert "zero character" in refusal("a\0b.md")
    assert "cannot be read" in refusal("x" * 5000)
    assert "cannot be read" in refusal(tmp_path / "none.md")


def test_a_folder_without_a_readable_file_says_so(tmp_path: Path) -> None:
    write(tmp_path / "picture.png")
    write(tmp_path / ".hidden" / "a.md")
    assert "holds no file that can be read. Supported: PDF" in refusal(tmp_path)


def test_a_folder_that_may_not_be_opened_is_told_beside_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "shut" / "a.md")
    write(tmp_path / "b.md")
    scandir = os.scandir

    def guarded(path: str | Path) -> object:
        if Path(path).name == "shut":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    found = gather([tmp_path])
    assert [Path(each.path).name for each in found] == ["b.md", "shut"]
    assert "Permission denied" in refusal(tmp_path / "shut")
