"""The making of the graph as a page watches it: how far, whether there, stopped, gone on with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.methods.toy import ToyCorpus
from tests.servers import ChatServer
from tracert.errors import CancelledError
from tracert.language.client import OpenAIChat
from tracert.methods.graph_rag.index import (
    Limits,
    Making,
    graph_of,
    incomplete,
    is_made,
    most_calls,
)

TEXTS = [f"In those days Mara Quill met Ned Ash, who knew Ola Birk {n}." for n in range(10)]
CORPUS = ToyCorpus([(9, 3)] * 10, TEXTS)
OFFLINE, READ = Limits(0, 0), Limits(2, 1)
LINES = "entity | Mara Quill | a woman\nrelation | Mara Quill | Ned Ash | they met"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        running.say(LINES)
        yield running


def chat(server: ChatServer) -> OpenAIChat:
    return OpenAIChat("tiny", server.url, "key", retries=0)


def test_offline_it_is_made_without_a_call_and_is_there_afterwards(tmp_path: Path) -> None:
    told: list[Making] = []
    assert not is_made(CORPUS, None, OFFLINE, tmp_path)
    graph_of(CORPUS, None, OFFLINE, tmp_path, on_progress=told.append)
    assert [each.stage for each in told] == ["names", "communities"]
    assert is_made(CORPUS, None, OFFLINE, tmp_path)
    told.clear()
    graph_of(CORPUS, None, OFFLINE, tmp_path, on_progress=told.append)
    assert told == []


def test_calls_are_counted_before_and_while_they_are_made(
    tmp_path: Path, server: ChatServer
) -> None:
    # Four passages a block: 10 passages are 3 blocks, of which 2 may be read; 1 summary.
    assert most_calls(CORPUS, READ) == 3
    assert most_calls(CORPUS, Limits(100, 5)) == 8
    told: list[Making] = []
    graph_of(CORPUS, chat(server), READ, tmp_path, on_progress=told.append)
    reading = [(each.done, each.total) for each in told if each.stage == "reading"]
    assert reading == [(0, 2), (1, 2), (2, 2)]
    assert [each.total for each in told if each.stage == "summaries"] == [1, 1]
    assert len(server.calls) == 3
    assert is_made(CORPUS, chat(server), READ, tmp_path)
    # With no calls allowed the model is not asked, and the graph is the offline one.
    assert not is_made(CORPUS, chat(server), OFFLINE, tmp_path)


def test_a_stopped_making_keeps_nothing_but_the_replies(tmp_path: Path, server: ChatServer) -> None:
    told: list[Making] = []

    def cancelled() -> bool:
        return any(each.stage == "reading" and each.done == 2 for each in told)

    with pytest.raises(CancelledError, match="kept for next time"):
        graph_of(CORPUS, chat(server), READ, tmp_path, on_progress=told.append, cancelled=cancelled)
    assert not is_made(CORPUS, chat(server), READ, tmp_path)
    assert len(server.calls) == 2
    graph, _ = graph_of(CORPUS, chat(server), READ, tmp_path)
    assert len(server.calls) == 3, "the two replies that had come are not asked for again"
    assert graph.cost.model_calls == 3


def test_a_making_can_be_stopped_before_it_begins(tmp_path: Path) -> None:
    with pytest.raises(CancelledError):
        graph_of(CORPUS, None, OFFLINE, tmp_path, cancelled=lambda: True)
    assert not is_made(CORPUS, None, OFFLINE, tmp_path)


def test_a_graph_that_a_failing_model_left_is_not_there(tmp_path: Path) -> None:
    with ChatServer() as server:
        server.fail(500, "down")
        graph, _ = graph_of(CORPUS, chat(server), READ, tmp_path)
    assert incomplete(graph)
    assert not is_made(CORPUS, chat(server), READ, tmp_path)
