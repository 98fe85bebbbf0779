"""What is kept beside corpora is written whole or not at all, and a full disk is one sentence.

A limit on the size of files fails writes as a full disk does, at the same calls.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.servers import ChatServer
from tests.toy_embedder import ToyEmbedder
from tracert.commands.models import chosen_model
from tracert.errors import TracertError
from tracert.evaluation.datasets import Passage
from tracert.evaluation.gold_chain import GoldChain, GoldSets
from tracert.evaluation.pool import vectors
from tracert.language.base import Message
from tracert.language.prices import LISTED, Price, save

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of file size are POSIX's")


@contextmanager
def full(most: int) -> Iterator[None]:
    """No file grows beyond so many bytes."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def prices(home: Path, times: int) -> None:
    save({**LISTED, "mine": Price(times, times, "2026-01-01")}, home)


def gold(home: Path, times: int) -> None:
    passage = Passage("Lamp", "Ingrid Falk lit the lamp. " * 100)
    for number in range(times):
        GoldSets(home).add("Mine", GoldChain(f"Who lit lamp {number}?", (passage,)))


def pool(home: Path, times: int) -> None:
    vectors([f"lamp {number}" for number in range(200 * times)], ToyEmbedder(), home)


def recording(home: Path, times: int) -> None:
    with ChatServer() as server:
        server.say("Ingrid Falk lit the lamp. " * 100 * times)
        given = Namespace(
            model="tiny", base_url=server.url, timeout=5.0, replay=None, record=home / "made.json"
        )
        with chosen_model(given) as model:
            assert model is not None
            model.complete([Message("user", "Who lit the lamp?")])


@pytest.mark.parametrize("write", [prices, gold, pool, recording])
@pytest.mark.parametrize("most", [0, 50])
def test_what_was_kept_stays_as_it_was(
    tmp_path: Path, write: Callable[[Path, int], None], most: int
) -> None:
    def files() -> dict[str, bytes]:
        return {
            path.name: path.read_bytes()
            for path in tmp_path.iterdir()
            if path.suffix in {".json", ".jsonl", ".npy"} and not path.name.startswith(".")
        }

    write(tmp_path, 1)
    before = files()
    assert before
    with full(most), pytest.raises(TracertError) as caught:
        write(tmp_path, 2)
    assert str(caught.value).endswith(".")
    assert files() == before
    write(tmp_path, 2)
    assert files() != before


def test_vectors_of_a_pool_that_were_damaged_are_made_again(tmp_path: Path) -> None:
    made = vectors(["one lamp", "two lamps"], ToyEmbedder(), tmp_path)
    (path,) = tmp_path.glob("*.npy")
    for damage in (b"", path.read_bytes()[:90], b"\x80\x04K\x01."):
        path.write_bytes(damage)
        assert (vectors(["one lamp", "two lamps"], ToyEmbedder(), tmp_path) == made).all()
