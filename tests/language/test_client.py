"""The client against a server on loopback: what it sends, what it reads, how it fails."""

from __future__ import annotations

import logging
import socket
import threading
import traceback
from collections.abc import Iterator

import pytest

from tests.servers import ChatServer, Scripted, chunk, completion, events
from tracert.errors import BudgetError, ModelError, SettingError
from tracert.language.base import Message, Tool, ToolCall
from tracert.language.budget import Budget
from tracert.language.client import OpenAIChat

KEY = "sk-k3ymark-4f1e9a77c0ffee"
ASK = [Message("system", "Be brief."), Message("user", "Who wrote it?")]


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


def chat(server: ChatServer, **more) -> OpenAIChat:
    return OpenAIChat("tiny", **({"base_url": server.url, "api_key": KEY, "retries": 0} | more))


def failure(model: OpenAIChat, **more) -> ModelError:
    """The error of a call, checked for what every error must keep to."""
    with pytest.raises(ModelError) as caught:
        model.complete(ASK, **more)
    text = "".join(traceback.format_exception(caught.value))
    assert KEY not in text
    assert "Authorization" not in text
    assert caught.value.__context__ is None, "the client's error holds the request and its key"
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")
    return caught.value


# --- what is sent and read ----------------------------------------------------------------


def test_a_reply_with_its_usage(server):
    server.say("Jane Austen wrote it.")
    reply = chat(server).complete(ASK, max_tokens=77)
    assert reply.text == "Jane Austen wrote it."
    assert (reply.prompt_tokens, reply.completion_tokens, reply.finish) == (12, 5, "stop")
    (request,) = server.calls
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["model"] == "tiny"
    assert request.body["max_tokens"] == 77
    assert request.body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Who wrote it?"},
    ]
    assert "tools" not in request.body
    assert "stream" not in request.body


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
def test_the_base_url_may_be_written_in_several_ways(server, ending):
    server.say("Yes.")
    chat(server, base_url=server.root + ending).complete(ASK)
    assert server.calls[0].path == "/v1/chat/completions"


def test_a_stream_arrives_piece_by_piece(server):
    server.stream("Jane ", "Austen", ".")
    pieces: list[str] = []
    reply = chat(server).complete(ASK, on_text=pieces.append)
    assert pieces == ["Jane ", "Austen", "."]
    assert reply.text == "Jane Austen."
    assert (reply.prompt_tokens, reply.completion_tokens) == (12, 5)
    assert server.calls[0].body["stream"] is True


def test_tool_calls_out_and_in(server):
    server.json(completion(None, calls=[("call_7", "open_note", '{"path": "a.md"}')]))
    tool = Tool("open_note", "Opens a note.", {"type": "object", "properties": {}})
    asked = ToolCall("call_1", "open_note", "{}")
    messages = [
        *ASK,
        Message("assistant", "", (asked,)),
        Message("tool", "The note.", tool_call_id="call_1"),
    ]
    reply = chat(server).complete(messages, tools=[tool])
    assert reply.tool_calls == (ToolCall("call_7", "open_note", '{"path": "a.md"}'),)
    assert reply.text == ""
    body = server.calls[0].body
    assert body["tools"][0]["function"]["name"] == "open_note"
    assert body["tool_choice"] == "auto"
    assert body["messages"][2] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "open_note", "arguments": "{}"},
            }
        ],
    }
    assert body["messages"][3] == {
        "role": "tool",
        "content": "The note.",
        "tool_call_id": "call_1",
    }


def test_streamed_tool_calls_are_put_together(server):
    def call(index, **function):
        return {"index": index, "function": function}

    entries = [
        chunk({"tool_calls": [{"id": "a", **call(0, name="open_note", arguments="")}]}),
        chunk({"tool_calls": [call(0, arguments='{"pa')]}),
        chunk({"tool_calls": [{"id": "b", **call(1, name="search", arguments="{}")}]}),
        chunk({"tool_calls": [call(0, arguments='th": 1}')]}),
        chunk({}, "tool_calls"),
    ]
    server.add(Scripted(pieces=events(entries), kind="text/event-stream"))
    reply = chat(server).complete(ASK, on_text=lambda text: None)
    assert reply.tool_calls == (
        ToolCall("a", "open_note", '{"path": 1}'),
        ToolCall("b", "search", "{}"),
    )
    assert reply.finish == "tool_calls"


def test_what_is_loaded_beforehand_sends_nothing(server):
    model = chat(server)
    model.prepare()
    assert server.requests == []
    server.say("Ada.")
    assert model.complete(ASK).text == "Ada."
    with pytest.raises(ModelError, match="key"):
        OpenAIChat("tiny").prepare()


def test_an_endpoint_without_a_key_of_its_own_is_asked_without_one(server):
    server.say("Yes.")
    assert chat(server, api_key=None).complete(ASK).text == "Yes."


def test_the_reader_of_a_stream_may_stop_it(server):
    server.stream("one", "two", "three")

    class Enough(Exception):
        pass

    def stop(text: str) -> None:
        raise Enough

    with pytest.raises(Enough):
        chat(server).complete(ASK, on_text=stop)


# --- endpoints that differ ----------------------------------------------------------------


@pytest.mark.parametrize("told", ["param", "message"])
def test_a_parameter_that_is_refused_is_renamed_and_remembered(server, told):
    words = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    if told == "param":
        server.fail(400, "Unsupported.", param="max_tokens")
    else:
        server.fail(400, words)
    server.say("Yes.")
    model = chat(server)
    assert model.complete(ASK, max_tokens=50).text == "Yes."
    assert model.complete(ASK, max_tokens=60).text == "Yes."
    sent = [
        (request.body.get("max_tokens"), request.body.get("max_completion_tokens"))
        for request in server.calls
    ]
    assert sent == [(50, None), (None, 50), (None, 60)]


def test_parameters_are_given_up_one_by_one_and_then_the_call_fails(server):
    server.fail(400, "temperature is fixed")
    server.fail(422, "unknown field stream_options")
    server.fail(400, "the context is too long")
    error = failure(chat(server), on_text=lambda text: None)
    assert "the context is too long" in str(error)
    assert [sorted(set(request.body) - {"model", "messages"}) for request in server.calls] == [
        ["max_tokens", "stream", "stream_options", "temperature"],
        ["max_tokens", "stream", "stream_options"],
        ["max_tokens", "stream"],
    ]


# --- failures -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "more", "expected"),
    [
        (401, {}, "refuses the key"),
        (402, {}, "no credit"),
        (403, {}, "may not use the model 'tiny'"),
        (404, {"message": "The model `tiny` does not exist"}, "has no model named 'tiny'"),
        (404, {"message": "Not found", "code": "model_not_found"}, "has no model named 'tiny'"),
        (404, {"message": "no route"}, "Check the base URL"),
        (429, {}, "rate limit. Try again in a while"),
        (429, {"headers": {"retry-after": "17"}}, "after 17 s"),
        (429, {"code": "insufficient_quota"}, "no credit"),
        (500, {}, "status 500: it failed"),
        (503, {}, "status 503"),
        (418, {"message": "no coffee"}, "status 418: no coffee"),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_each_status_gets_its_sentence(server, status, more, expected, streamed):
    message = more.get("message", "it failed")
    server.fail(status, message, **{key: more[key] for key in more if key != "message"})
    on_text = (lambda text: None) if streamed else None
    error = failure(chat(server), on_text=on_text)
    assert expected in str(error)
    assert server.url in str(error)


@pytest.mark.parametrize("key", [KEY, "plainword4711"])
@pytest.mark.parametrize("status", [400, 401, 404, 409, 429, 500])
def test_a_provider_that_repeats_the_key_is_not_quoted_with_it(server, status, key):
    server.fail(status, f"bad key {key} in Bearer {key}, also sk-other-9876543210")
    message = str(failure(chat(server, api_key=key)))
    assert key not in message
    assert "sk-other" not in message


def test_an_error_inside_a_good_status(server):
    server.json({"error": {"message": f"upstream is down {KEY}", "code": 502}})
    message = str(failure(chat(server)))
    assert "upstream is down" in message
    server.add(
        Scripted(
            pieces=events([chunk({"content": "Ja"}), {"error": {"message": "overloaded"}}]),
            kind="text/event-stream",
        )
    )
    server.next()
    assert "overloaded" in str(failure(chat(server), on_text=lambda text: None))


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<html>hello</html>", "text/html"),
        (b"{not json", "application/json"),
        (b"", "application/json"),
        (b"[]", "application/json"),
        (b"null", "application/json"),
        (b'"text"', "application/json"),
        (b'{"choices": []}', "application/json"),
        (b'{"choices": "many"}', "application/json"),
        (b'{"choices": [7]}', "application/json"),
        (b'{"choices": [{"message": "hi"}]}', "application/json"),
        (b"\xff\xfe\x00garbage", "application/json"),
        (b"data: {broken\n\n", "text/event-stream"),
        (b'data: [1, 2]\n\ndata: "x"\n\n', "text/event-stream"),
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_nonsense_is_named(server, body, kind, streamed):
    server.add(Scripted(pieces=(body,), kind=kind))
    on_text = (lambda text: None) if streamed else None
    message = str(failure(chat(server), on_text=on_text))
    assert server.url in message
    assert "OpenAI-compatible" in message


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": None},
        {"role": "assistant", "content": "  \n"},
        {"role": "assistant", "content": 7},
        {"role": "assistant", "content": None, "tool_calls": "call"},
        {"role": "assistant", "content": None, "tool_calls": [None, {"function": None}]},
    ],
)
def test_an_empty_reply(server, message):
    data = completion("x")
    data["choices"][0]["message"] = message
    server.json(data)
    assert "empty reply" in str(failure(chat(server)))


def test_all_tokens_used_for_thinking(server):
    server.say("", finish="length")
    assert "used all 800 tokens" in str(failure(chat(server)))


@pytest.mark.parametrize(
    "data",
    [
        completion(None, refusal="I cannot help with that."),
        completion("Some", finish="content_filter"),
    ],
)
def test_a_refusal(server, data):
    server.json(data)
    assert "refuses" in str(failure(chat(server)))


def test_usage_that_is_nonsense_counts_nothing(server):
    server.json(completion("Yes.") | {"usage": {"prompt_tokens": "many", "completion_tokens": -3}})
    reply = chat(server).complete(ASK)
    assert (reply.prompt_tokens, reply.completion_tokens) == (0, 0)


def test_text_in_parts(server):
    data = completion("x")
    data["choices"][0]["message"]["content"] = [
        {"type": "text", "text": "Ja"},
        {"type": "image"},
        {"type": "text", "text": "ne"},
    ]
    server.json(data)
    assert chat(server).complete(ASK).text == "Jane"


@pytest.mark.parametrize("streamed", [False, True])
def test_an_endpoint_that_hangs(server, streamed):
    server.add(Scripted(hang=True))
    on_text = (lambda text: None) if streamed else None
    assert "within 0.2 s" in str(failure(chat(server, timeout=0.2), on_text=on_text))


def test_a_stream_that_stalls(server):
    pieces = events([chunk({"content": "Ja"}), chunk({"content": "ne"})])
    server.add(Scripted(pieces=pieces, kind="text/event-stream", delay=5))
    message = str(failure(chat(server, timeout=0.2), on_text=lambda text: None))
    assert "did not answer within 0.2 s" in message


def test_a_stream_without_end(server):
    # Pieces come far oftener than the time-out, so that a busy machine breaks none of them.
    pieces = events([chunk({"content": "on "})] * 2000)
    server.add(Scripted(pieces=pieces, kind="text/event-stream", delay=0.02))
    message = str(failure(chat(server, timeout=0.3), on_text=lambda text: None))
    assert "still writing after 3 s" in message


@pytest.mark.parametrize("streamed", [False, True])
def test_a_connection_that_breaks(server, streamed):
    if streamed:
        pieces = events([chunk({"content": "Ja"})], done=False)
        server.add(Scripted(pieces=pieces, kind="text/event-stream", cut=True))
    else:
        server.add(Scripted(pieces=(b'{"choices": [',), cut=True))
    on_text = (lambda text: None) if streamed else None
    message = str(failure(chat(server), on_text=on_text))
    assert server.url in message
    assert "cannot be reached" in message


@pytest.mark.parametrize("cut", [True, False])
def test_a_stream_that_never_begins_is_asked_for_as_a_whole(server, cut):
    """As llama-cpp-python does it: a good status, then nothing."""
    server.add(Scripted(kind="text/event-stream", cut=cut))
    server.json(completion("Hello."))
    heard = []
    reply = chat(server).complete(ASK, on_text=heard.append)
    assert (reply.text, heard) == ("Hello.", ["Hello."])
    first, second = (call.body for call in server.calls)
    assert first["stream"] is True
    assert "stream" not in second and "stream_options" not in second


def test_why_a_stream_never_began_is_said(server):
    server.add(Scripted(kind="text/event-stream", cut=True))
    server.fail(400, "This model's maximum context length is 2048 tokens.")
    heard = []
    assert "context length is 2048" in str(failure(chat(server), on_text=heard.append))
    assert heard == []


def test_a_key_that_no_header_can_carry_is_refused_before_anything_is_sent(server):
    with pytest.raises(ModelError, match="no key has") as caught:
        OpenAIChat("tiny", server.url, f"{KEY}…")
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert server.calls == []


def test_an_address_where_nobody_listens():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        message = str(failure(OpenAIChat("tiny", url, KEY, retries=0, timeout=2)))
    assert url in message
    assert "cannot be reached" in message


def test_a_passing_failure_is_tried_again(server):
    server.fail(429, headers={"retry-after-ms": "1"})
    server.fail(500, headers={"retry-after-ms": "1"})
    server.say("Yes.")
    budget = Budget(calls=1)
    assert chat(server, retries=2, budget=budget).complete(ASK).text == "Yes."
    assert len(server.calls) == 3
    assert budget.calls == 1


def test_a_wait_longer_than_the_time_out_is_told_at_once(server):
    server.fail(429, headers={"retry-after": "90"})
    assert "after 90 s" in str(failure(chat(server, retries=2, timeout=5)))
    assert len(server.calls) == 1


@pytest.mark.parametrize("base_url", [None, "https://api.openai.com", "https://openrouter.ai/api"])
def test_no_key(base_url):
    message = str(failure(OpenAIChat("gpt", base_url)))
    assert "There is no key" in message
    assert "OPENAI_API_KEY" in message


# --- the budget ---------------------------------------------------------------------------


def test_a_spent_budget_sends_nothing(server):
    server.say("Yes.")
    model = chat(server, budget=Budget(calls=2))
    model.complete(ASK)
    model.complete(ASK)
    with pytest.raises(BudgetError, match="2 model calls is used up"):
        model.complete(ASK)
    assert len(server.calls) == 2


def test_tokens_are_charged_by_the_providers_count_or_an_estimate(server):
    server.say("Yes.")
    counted = Budget(tokens=17)
    chat(server, budget=counted).complete(ASK)
    assert (counted.tokens, counted.estimated) == (12 + 5, False)
    with pytest.raises(BudgetError, match="17 tokens"):
        chat(server, budget=counted).complete(ASK)
    server.say("Yes.", usage=None)
    server.next()
    guessed = Budget()
    reply = chat(server, budget=guessed).complete(ASK)
    assert (reply.prompt_tokens, reply.completion_tokens) == (0, 0)
    # "Be brief." 9 + "Who wrote it?" 13 + "Yes." 4 = 26 characters, four a token.
    assert (guessed.tokens, guessed.estimated) == (7, True)


def test_threads_share_one_client_and_one_budget(server):
    server.say("Yes.")
    model = chat(server, budget=Budget(calls=5))
    outcomes: list[str] = []

    def ask() -> None:
        try:
            outcomes.append(model.complete(ASK).text)
        except BudgetError:
            outcomes.append("refused")

    threads = [threading.Thread(target=ask) for _ in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["Yes."] * 5 + ["refused"] * 4


# --- the key ------------------------------------------------------------------------------


def test_the_key_is_in_no_repr_and_no_log(server, caplog):
    caplog.set_level(logging.DEBUG)
    server.say("Yes.")
    model = chat(server)
    model.complete(ASK)
    assert KEY not in repr(model)
    assert KEY not in str(model)
    assert KEY not in repr(vars(model))
    assert KEY not in caplog.text
    assert caplog.records, "the client logs at this level, so the search means something"


# --- bad arguments ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [{"model": "  "}, {"timeout": 0}, {"timeout": float("nan")}, {"retries": -1}, {"retries": 99}],
)
def test_settings_out_of_range(arguments):
    with pytest.raises(SettingError):
        OpenAIChat(**({"model": "tiny"} | arguments))
