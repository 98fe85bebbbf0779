"""The check of a connection: one sentence, good or bad."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers import ChatServer
from tracert.errors import BudgetError, ModelError
from tracert.language.budget import Budget
from tracert.language.client import OpenAIChat
from tracert.language.connection import check_connection


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


def chat(server: ChatServer, model: str = "tiny", **more) -> OpenAIChat:
    return OpenAIChat(model, server.url, "sk-secret-1234567890", retries=0, **more)


def test_a_model_that_answers(server):
    server.say("yes")
    assert check_connection(chat(server)) == f"The model 'tiny' at {server.url} answers."


def test_a_wrong_name_shows_the_nearest_ones_offered_and_costs_nothing(server):
    server.models = [f"other-{number}" for number in range(20)] + ["tiny-chat"]
    with pytest.raises(ModelError) as caught:
        check_connection(chat(server, "tiny-chatt"))
    message = str(caught.value)
    assert "answers, but has no model named 'tiny-chatt'" in message
    assert "it offers: tiny-chat, other-0," in message
    assert message.endswith("and 15 more.")
    assert server.calls == []


def test_a_name_without_its_tag_is_known(server):
    server.models = ["tiny:latest"]
    server.say("yes")
    assert "answers" in check_connection(chat(server))


@pytest.mark.parametrize("models", [None, []])
def test_an_endpoint_without_a_list_is_asked_all_the_same(server, models):
    server.models = models
    server.say("yes")
    assert "answers" in check_connection(chat(server))


def test_what_is_wrong_is_said(server):
    server.fail(401)
    with pytest.raises(ModelError, match="refuses the key"):
        check_connection(chat(server))


def test_the_check_keeps_to_the_budget(server):
    with pytest.raises(BudgetError):
        check_connection(chat(server, budget=Budget(calls=0)))


def test_an_address_that_is_no_endpoint():
    with ChatServer() as gone:
        url = gone.url
    with pytest.raises(ModelError, match="cannot be reached"):
        check_connection(OpenAIChat("tiny", url, "key", retries=0))
