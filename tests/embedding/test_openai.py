"""Embeddings of an endpoint, over real HTTP: batches, retries, resuming, prices, no key shown."""

from __future__ import annotations

import logging
import pickle
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.embedding_server import DOWN, RATE_LIMIT, EmbeddingServer, Fault
from tracert.embedding.base import Priced
from tracert.embedding.openai import OpenAIEmbedder, _batches, _tokens
from tracert.embedding.registry import embedder
from tracert.embedding.vectors import unit_rows
from tracert.errors import CancelledError, EmbedderError
from tracert.home import home
from tracert.language.prices import LISTED, Price, save

KEY = "sk-k3ymark-5e1f0c0ffee77a"


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as running:
        yield running


def tiny(server: EmbeddingServer, **more) -> OpenAIEmbedder:
    return OpenAIEmbedder("tiny", server.url, KEY, **({"retries": 0} | more))


def expected(server: EmbeddingServer, texts: list[str]) -> np.ndarray:
    return unit_rows(np.array([server.vector(text) for text in texts]), "expected")


def failure(made: OpenAIEmbedder, texts: list[str] | None = None) -> str:
    """The sentence of a failed call, checked for what every error must keep to."""
    with pytest.raises(EmbedderError) as caught:
        made.embed(texts or ["a", "b"])
    shown = "".join(traceback.format_exception(caught.value))
    assert KEY not in shown
    assert caught.value.__context__ is None, "the client's error holds the request and its key"
    assert caught.value.__cause__ is None
    text = str(caught.value)
    assert text.endswith(".")
    assert "\n" not in text
    return text


def test_vectors_are_the_servers_at_unit_length(server: EmbeddingServer) -> None:
    texts = ["one", "two", "three"]
    made = tiny(server)
    matrix = made.embed(texts)
    np.testing.assert_allclose(matrix, expected(server, texts), atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(matrix, axis=1), 1.0, atol=1e-6)
    assert matrix.dtype == np.float32
    assert made.dimension == 8
    (request,) = server.requests
    assert request["model"] == "tiny"
    assert server.keys == [f"Bearer {KEY}"]


def test_answers_in_another_order_are_put_right(server: EmbeddingServer) -> None:
    server.script = [Fault(body={"data": server.data(["a", "b", "c"])[::-1]})]
    matrix = tiny(server).embed(["a", "b", "c"])
    np.testing.assert_allclose(matrix, expected(server, ["a", "b", "c"]), atol=1e-6)


def test_equal_texts_go_out_once_and_empty_ones_never(server: EmbeddingServer) -> None:
    seen: list[int] = []
    matrix = tiny(server).embed(["a", "", "b", "a", " \n"], progress=seen.append)
    assert server.texts == ["a", "b"]
    assert seen == [5]
    np.testing.assert_array_equal(matrix[0], matrix[3])
    first_axis = np.eye(8, dtype=np.float32)[0]
    np.testing.assert_array_equal(matrix[1], first_axis)
    np.testing.assert_array_equal(matrix[4], first_axis)


def test_nothing_to_embed(server: EmbeddingServer) -> None:
    assert tiny(server).embed([]).shape == (0, 8)
    assert len(server.requests) == 1, "only the dimension was asked for"


def test_half_characters_do_not_break_the_request(server: EmbeddingServer) -> None:
    tiny(server).embed(["broken \ud83d here"])
    assert server.texts == ["broken ? here"]


def test_batches_are_bounded(server: EmbeddingServer) -> None:
    texts = [f"text {number}" for number in range(300)]
    seen: list[int] = []
    matrix = tiny(server).embed(texts, progress=seen.append)
    assert [len(request["input"]) for request in server.requests] == [128, 128, 44]
    assert seen == [128, 256, 300]
    np.testing.assert_allclose(matrix, expected(server, texts), atol=1e-6)


@given(st.lists(st.integers(1, 200_000), max_size=40))
def test_batches_hold_all_texts_and_few_tokens(lengths: list[int]) -> None:
    texts = ["x" * length for length in lengths]
    batches = list(_batches(texts))
    assert [text for batch in batches for text in batch] == texts
    for batch in batches:
        assert len(batch) <= 128
        assert len(batch) == 1 or sum(map(_tokens, batch)) <= 60_000


@pytest.mark.parametrize("fault", [RATE_LIMIT, DOWN])
def test_passing_faults_are_tried_again(server: EmbeddingServer, fault: Fault) -> None:
    server.script = [fault, fault]
    matrix = tiny(server, retries=2).embed(["a"])
    np.testing.assert_allclose(matrix, expected(server, ["a"]), atol=1e-6)
    assert len(server.requests) == 3


def test_a_slow_answer_is_tried_again(server: EmbeddingServer) -> None:
    server.script = [Fault(delay=1.0)]
    tiny(server, retries=1, timeout=0.2).embed(["a"])
    assert len(server.requests) == 2


def test_a_second_try_goes_on_where_the_first_stopped(server: EmbeddingServer) -> None:
    texts = [f"text {number}" for number in range(300)]
    server.script = [None, None, DOWN]
    assert "503" in failure(tiny(server), texts)
    assert len(server.texts) == 300, "the third batch was sent and failed"
    server.requests.clear()
    # Another object, as after a new start of the program.
    matrix = tiny(server).embed(texts)
    # One text is made again to see that the model is the same, then the 44 that are missing.
    assert [len(request["input"]) for request in server.requests] == [1, 44]
    np.testing.assert_allclose(matrix, expected(server, texts), atol=1e-6)


def test_a_stop_between_batches_keeps_what_is_done(server: EmbeddingServer) -> None:
    texts = [f"text {number}" for number in range(200)]

    def stop(done: int) -> None:
        raise CancelledError(f"Stopped after {done}.")

    with pytest.raises(CancelledError, match="128"):
        tiny(server).embed(texts, progress=stop)
    assert tiny(server).estimate(texts).texts == 72


def test_another_model_under_the_same_name_is_noticed(server: EmbeddingServer) -> None:
    texts = ["a", "b", "c"]
    tiny(server).embed(texts)
    server.salt = "another model"
    matrix = tiny(server).embed(texts)
    np.testing.assert_allclose(matrix, expected(server, texts), atol=1e-6)
    server.dimension = 5
    assert tiny(server).embed(texts).shape == (3, 5)


def test_when_one_vector_is_out_of_date_all_are(server: EmbeddingServer) -> None:
    tiny(server).embed(["a", "bb"])
    server.salt = "another model"
    tiny(server).embed(["a"])
    # 'a' agrees now, and must not vouch for the 'bb' of the model before.
    matrix = tiny(server).embed(["a", "bb"])
    np.testing.assert_allclose(matrix, expected(server, ["a", "bb"]), atol=1e-6)


def test_two_models_do_not_share_vectors(server: EmbeddingServer) -> None:
    tiny(server).embed(["a"])
    other = OpenAIEmbedder("other", server.url, KEY)
    assert other.estimate(["a"]).texts == 1


def test_no_text_is_written_to_disk(server: EmbeddingServer, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("TRACERT_HOME", str(tmp_path))
    tiny(server).embed(["a most private sentence"])
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert b"private" not in path.read_bytes()
        assert KEY.encode() not in path.read_bytes()


def test_a_damaged_journal_is_no_obstacle(
    server: EmbeddingServer, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setenv("TRACERT_HOME", str(tmp_path))
    tiny(server).embed(["a"])
    (path,) = tmp_path.rglob("*.sqlite")
    path.write_bytes(b"no database at all, and long enough to be looked at as one" * 50)
    np.testing.assert_allclose(tiny(server).embed(["a"]), expected(server, ["a"]), atol=1e-6)
    assert tiny(server).estimate(["a"]).texts == 0, "it was made anew"


@pytest.mark.parametrize(
    ("fault", "word"),
    [
        (Fault(401, {"error": {"message": f"bad key {KEY}"}}), "key"),
        (Fault(404, {"error": {"message": "model 'tiny' not found"}}), "tiny"),
        (Fault(400, {"error": {"message": "input too long"}}), "too long"),
        (Fault(429, {"error": {"message": "slow", "code": "insufficient_quota"}}), "credit"),
        (RATE_LIMIT, "rate limit"),
        (DOWN, "503"),
        (Fault(body=b"<html>hello</html>"), "answered with"),
        (Fault(body=b"<html>hello</html>", headers={"content-type": "text/html"}), "answered with"),
        (Fault(body={"data": []}), "0 vectors for 2 texts"),
        (Fault(body={"data": [{"embedding": [1.0]}] * 3}), "3 vectors for 2 texts"),
        (Fault(body={"data": [{"index": 0, "embedding": [1.0]}] * 2}), "belong"),
        (Fault(body={"data": [{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}]}), "one length"),
        (Fault(body={"data": [{"embedding": "abc"}, {"embedding": "def"}]}), "numbers"),
        (Fault(body={"data": [{"embedding": []}, {"embedding": []}]}), "finite numbers"),
        (Fault(body={"data": [{}, {}]}), "numbers"),
        (Fault(body={"data": ["a", "b"]}), "no list"),
        (Fault(body=b'{"data": [{"embedding": [NaN]}, {"embedding": [1.0]}]}'), "finite"),
        (Fault(body={"error": {"message": f"upstream said {KEY}"}}), "upstream"),
        (Fault(body=[1, 2]), "no list"),
        (Fault(body=None), "no list"),
    ],
)
def test_failures_are_sentences_without_the_key(
    server: EmbeddingServer, fault: Fault, word: str
) -> None:
    server.script = [fault]
    assert word in failure(tiny(server))


def test_vectors_of_two_lengths_are_refused(server: EmbeddingServer) -> None:
    texts = [f"text {number}" for number in range(129)]
    server.script = [None, Fault(body={"data": [{"embedding": [1.0, 2.0]}]})]
    assert "[2, 8]" in failure(tiny(server), texts)


def test_nobody_there() -> None:
    made = OpenAIEmbedder("tiny", "http://127.0.0.1:9/v1", KEY, retries=0)
    assert "cannot be reached" in failure(made)


def test_no_key_for_a_provider_that_wants_one() -> None:
    assert "OPENAI_API_KEY" in failure(OpenAIEmbedder())


def test_an_unusable_address() -> None:
    with pytest.raises(EmbedderError, match="web address"):
        embedder("openai", base_url="no address at all")


def test_keys_come_from_the_environment(server: EmbeddingServer, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    OpenAIEmbedder("tiny", server.url).embed(["a"])
    assert server.keys == ["Bearer sk-of-the-environment"]


def test_a_machine_of_ones_own_needs_no_key(server: EmbeddingServer) -> None:
    OpenAIEmbedder("tiny", server.url).embed(["a"])
    assert len(server.requests) == 1


def test_nothing_shows_the_key(server: EmbeddingServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    made = tiny(server)
    made.embed(["a"])
    for shown in (repr(made), str(made), made.name, made.identity, str(pickle.dumps(made))):
        assert KEY not in shown
    assert KEY not in caplog.text


def test_pickled_it_finds_its_key_in_the_environment(server: EmbeddingServer, monkeypatch) -> None:
    again = pickle.loads(pickle.dumps(tiny(server)))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-there")
    assert again.identity == tiny(server).identity
    pickle.loads(pickle.dumps(again)).embed(["a"])
    assert server.keys == ["Bearer sk-there"]


def test_threads_share_one_embedder(server: EmbeddingServer) -> None:
    made = tiny(server)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: made.embed([f"text {number}"])[0], range(32)))
    texts = [f"text {number}" for number in range(32)]
    np.testing.assert_allclose(np.array(found), expected(server, texts), atol=1e-6)


# --- names, dimensions, prices --------------------------------------------------------------


def test_names_and_identities() -> None:
    plain = embedder("openai", base_url="https://api.openai.com/v1")
    assert plain.name == plain.identity == "openai:text-embedding-3-small"
    assert (
        embedder("openai:text-embedding-3-large", base_url="https://api.openai.com").dimension
        == 3072
    )
    local = embedder("openai:nomic-embed-text:v1.5", base_url="localhost:11434")
    assert local.name == "openai:nomic-embed-text:v1.5"
    assert local.identity == "openai:nomic-embed-text:v1.5@localhost:11434/v1"


def test_dimension_of_an_unknown_model_is_asked_once(server: EmbeddingServer) -> None:
    made = tiny(server)
    assert (made.dimension, made.dimension) == (8, 8)
    assert len(server.requests) == 1


def test_a_known_name_elsewhere_is_not_taken_on_trust(server: EmbeddingServer) -> None:
    assert OpenAIEmbedder("text-embedding-3-small", server.url, KEY).dimension == 8


def test_cost_is_told_before_anything_is_sent() -> None:
    made = OpenAIEmbedder("text-embedding-3-small", "https://api.openai.com/v1", KEY)
    assert isinstance(made, Priced)
    # 4,000 letters are 1,000 tokens, twice the same text is sent once, and an empty one never.
    cost = made.estimate(["x" * 4_000, "x" * 4_000, "y" * 8_000, ""])
    assert (cost.texts, cost.tokens) == (2, 3_000)
    assert cost.dollars == pytest.approx(3_000 * LISTED["text-embedding-3-small"].prompt / 1e6)
    assert cost.prices_as_of == LISTED["text-embedding-3-small"].as_of


def test_prices_elsewhere() -> None:
    router = OpenAIEmbedder("openai/text-embedding-3-large", "https://openrouter.ai/api/v1", KEY)
    assert router.estimate(["x" * 4]).dollars == pytest.approx(
        LISTED["text-embedding-3-large"].prompt / 1e6
    )
    assert OpenAIEmbedder("tiny", "http://localhost:1/v1").estimate(["x"]).dollars == 0.0
    assert OpenAIEmbedder("tiny", "https://example.org/v1").estimate(["x"]).dollars is None
    assert OpenAIEmbedder("new", "https://api.openai.com/v1").estimate(["x"]).dollars is None
    save({"new": Price(2.0)}, home())  # what a person typed on the Settings page counts here too
    made = OpenAIEmbedder("new", "https://api.openai.com/v1").estimate(["x" * 4])
    assert made.dollars == pytest.approx(2.0 / 1e6)


def test_tokens_of_other_scripts_count_one_each() -> None:
    assert _tokens("") == 0
    assert _tokens("abcde") == 2
    assert _tokens("猫である") == 4
    assert _tokens("abcd猫") == 2


def test_a_text_too_long_is_refused_before_it_is_sent(server: EmbeddingServer) -> None:
    made = OpenAIEmbedder("text-embedding-3-small", server.url, KEY, retries=0)
    assert "smaller chunk size" in failure(made, ["x" * 40_000])
    assert server.requests == []


def test_a_key_that_no_header_can_carry_is_refused_before_anything_is_sent(
    server: EmbeddingServer,
) -> None:
    with pytest.raises(EmbedderError, match="no key has") as caught:
        OpenAIEmbedder("tiny", server.url, f"{KEY}…")
    assert KEY not in "".join(traceback.format_exception(caught.value))
