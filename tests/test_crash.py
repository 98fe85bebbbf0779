"""A process that is killed, a full disk, and a folder that may only be read."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.crash import STEADY, look, prepare, round_, text_of
from tracert.errors import StoreError, TracertError
from tracert.indexing import File
from tracert.workspace import Workspace

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("seed", range(4))
def test_a_kill_at_any_moment_loses_no_corpus_and_shows_none_half_made(
    tmp_path: Path, seed: int
) -> None:
    """Many more rounds: `python -m benchmarks.crash`."""
    prepare(tmp_path)
    moments = random.Random(seed)
    for _ in range(2):
        round_(tmp_path, moments.uniform(0.0, 1.5))


def test_the_next_start_sweeps_what_a_kill_left_and_says_so(tmp_path: Path) -> None:
    prepare(tmp_path)
    space = Workspace(tmp_path)
    # A part that was filled and that no head names yet: a write that was ended before its commit.
    with space.store.session() as session:
        space.store._collections.create(session._client, "part")
        left = space.store._collections.unnamed(session._client)
    assert len(left) == 1
    said = Workspace(tmp_path).tidy()
    assert "ended before it was done" in said
    assert Workspace(tmp_path).tidy() == ""
    assert look(tmp_path) == ""


def test_nothing_is_swept_from_under_who_writes(tmp_path: Path) -> None:
    prepare(tmp_path)
    space = Workspace(tmp_path)
    with space.store.session() as session:
        part = space.store._collections.create(session._client, "part")
        assert Workspace(tmp_path).tidy() == ""
        assert session._client.get_collection(part.name, embedding_function=None).count() == 0


def command(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tracert", *words],
        cwd=ROOT,
        env={**os.environ, "TRACERT_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from tracert.cli import main
raise SystemExit(main(sys.argv[2:]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file size are POSIX's")
@pytest.mark.parametrize("bytes_left", [0, 4096, 300_000])
def test_a_disk_that_is_full_is_said_and_loses_nothing(tmp_path: Path, bytes_left: int) -> None:
    """A limit on file size fails writes as a full disk does, at the same calls."""
    home = tmp_path / "home"
    prepare(home)
    paper = tmp_path / "more.txt"
    paper.write_text(text_of("x") * 20)
    made = subprocess.run(
        [sys.executable, "-c", FULL, str(bytes_left), "index", str(paper), "--corpus", "More"],
        cwd=ROOT,
        env={**os.environ, "TRACERT_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert made.returncode == 2, made.stderr
    assert "Traceback" not in made.stderr
    assert made.stderr.strip().splitlines()[-1].startswith("tracert: ")
    space = Workspace(home)
    space.tidy()
    assert [each.name for each in space.corpora()] == [STEADY]
    assert space.ask("Which line?", corpus=STEADY, method="native_rag").result.evidence


readonly = pytest.mark.skipif(
    sys.platform == "win32" or (hasattr(os, "geteuid") and os.geteuid() == 0),
    reason="whoever may write everything (root, Windows) has no folder that may only be read",
)


@readonly
def test_a_folder_that_may_only_be_read_is_said(tmp_path: Path) -> None:
    home = tmp_path / "home"
    prepare(home)
    paper = tmp_path / "more.txt"
    paper.write_text(text_of("x"))
    for path in (*home.rglob("*"), home):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        made = command(home, "index", str(paper), "--corpus", "More")
        assert made.returncode == 2
        assert "Traceback" not in made.stderr
        with pytest.raises(TracertError):
            Workspace(home).index([File("x.txt", text_of("x").encode())], "More")
    finally:
        for path in (home, *home.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)


def test_a_home_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    """The same sentence for root and others: a file stands where the folder should be."""
    there = tmp_path / "home"
    there.write_text("a file")
    made = command(there, "index", str(there), "--corpus", "More")
    assert made.returncode == 2
    assert "TRACERT_HOME" in made.stderr
    assert "Traceback" not in made.stderr


def test_a_refusal_of_the_disk_while_the_lock_is_taken_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(tmp_path)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("filelock.FileLock.acquire", refuse)
    with pytest.raises(StoreError, match="written"):
        Workspace(tmp_path).index([File("x.txt", text_of("x").encode())], "More")
