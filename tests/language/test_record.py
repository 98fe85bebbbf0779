"""Record and replay."""

from __future__ import annotations

import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scripted_model import ScriptedModel
from tests.servers import ChatServer
from tracert.errors import ModelError
from tracert.language.base import Message, Reply, Tool, ToolCall
from tracert.language.client import OpenAIChat
from tracert.language.record import Exchange, Recorder, Recording, Replayer, exchange_key

ASK = (Message("system", "Be brief."), Message("user", "Who wrote it?"))
TOOL = Tool("open_note", "Opens a note.", {"type": "object", "properties": {"path": {}}})

texts = st.text(max_size=20)
names = st.text(string.ascii_letters, min_size=1, max_size=8)
calls = st.tuples(names, names, texts).map(lambda parts: ToolCall(*parts))
messages = st.builds(
    Message,
    st.sampled_from(["system", "user", "assistant", "tool"]),
    texts,
    st.lists(calls, max_size=2).map(tuple),
    st.none() | names,
)
exchanges = st.builds(
    Exchange,
    st.lists(messages, min_size=1, max_size=3).map(tuple),
    st.sampled_from([(), (TOOL,)]),
    st.builds(Reply, texts, st.lists(calls, max_size=2).map(tuple), st.integers(0, 9)),
)


def test_a_run_is_replayed_without_the_model():
    model = ScriptedModel("Austen.", "In 1813.")
    recorder = Recorder(model)
    later = (*ASK, Message("assistant", "Austen."), Message("user", "When?"))
    said = [recorder.complete(ASK, tools=[TOOL]), recorder.complete(later)]
    replayer = Replayer(Recording.from_json(recorder.recording.to_json()))
    assert replayer.name == model.name
    assert [replayer.complete(ASK, tools=[TOOL]), replayer.complete(later)] == said


def test_what_was_not_recorded_is_named():
    recorder = Recorder(ScriptedModel("Austen."))
    recorder.complete(ASK)
    replayer = Replayer(recorder.recording)
    for asked, tools in (((Message("user", "Who\nelse?"),), ()), (ASK, (TOOL,))):
        with pytest.raises(ModelError, match=r"has no reply to '(Who else|Who wrote it)"):
            replayer.complete(asked, tools=tools)


def test_a_conversation_held_twice_is_replayed_in_order_and_then_stays():
    recorder = Recorder(ScriptedModel("one", "two"))
    recorder.complete(ASK)
    recorder.complete(ASK)
    replayer = Replayer(recorder.recording)
    assert [replayer.complete(ASK).text for _ in range(4)] == ["one", "two", "two", "two"]


def test_the_text_comes_to_the_reader_in_one_piece():
    recorder = Recorder(ScriptedModel("Austen."))
    pieces: list[str] = []
    recorder.complete(ASK, on_text=pieces.append)
    Replayer(recorder.recording).complete(ASK, on_text=pieces.append)
    assert pieces == ["Austen.", "Austen."]


def test_failures_are_not_recorded():
    recorder = Recorder(ScriptedModel(ModelError("It is down."), "Austen."))
    with pytest.raises(ModelError):
        recorder.complete(ASK)
    recorder.complete(ASK)
    assert len(recorder.recording.exchanges) == 1


@given(st.lists(exchanges, max_size=4).map(tuple))
def test_a_recording_survives_json(kept):
    recording = Recording("tiny", kept)
    assert Recording.from_json(recording.to_json()) == recording


@given(exchanges)
def test_the_key_does_not_hang_on_drawn_ids(exchange):
    def renamed(id: str | None) -> str | None:
        return None if id is None else f"other-{id}"

    other = tuple(
        Message(
            message.role,
            message.content,
            tuple(
                ToolCall(f"other-{call.id}", call.name, call.arguments)
                for call in message.tool_calls
            ),
            renamed(message.tool_call_id),
        )
        for message in exchange.messages
    )
    assert exchange_key(other, exchange.tools) == exchange.key


def test_the_key_is_the_same_in_every_process_and_version():
    # Recordings are shared as files: a change of this hash makes them useless.
    assert exchange_key(ASK, [TOOL]) == (
        "c92391bd2408a9fdfdf77e152259a5f7c8c04ddea380eb6d35bcf97eb64067b0"
    )


def test_the_key_tells_conversations_apart():
    keys = {
        exchange_key(ASK),
        exchange_key(ASK[1:]),
        exchange_key(ASK[::-1]),
        exchange_key(ASK, [TOOL]),
        exchange_key([Message("user", "Be brief.Who wrote it?")]),
    }
    assert len(keys) == 5


def test_no_key_and_no_address_in_a_recording():
    with ChatServer() as server:
        server.say("Austen.")
        recorder = Recorder(OpenAIChat("tiny", server.url, "sk-secret-1234567890"))
        recorder.complete(ASK)
        text = recorder.recording.to_json()
        assert "sk-secret" not in text
        assert server.root not in text


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "{}", '{"schema": "tracert.trace/1"}', "[" * 100_000, b"\xff\xfe"],
)
def test_what_is_no_recording(text):
    with pytest.raises(ModelError, match="no recording of the schema"):
        Recording.from_json(text)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data.pop("model"),
        lambda data: data.update(exchanges=7),
        lambda data: data["exchanges"][0].pop("reply"),
        lambda data: data["exchanges"][0]["messages"][0].update(role="boss"),
        lambda data: data["exchanges"][0]["messages"][0].update(content=None),
        lambda data: data["exchanges"][0].update(tools=["x"]),
        lambda data: data["exchanges"][0]["reply"].update(prompt_tokens="many"),
    ],
)
def test_a_damaged_recording(damage):
    recorder = Recorder(ScriptedModel("Austen."))
    recorder.complete(ASK, tools=[TOOL])
    data = json.loads(recorder.recording.to_json())
    damage(data)
    with pytest.raises(ModelError, match="damaged"):
        Recording.from_json(json.dumps(data))
