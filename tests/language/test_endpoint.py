"""Where a model is reached, and which key goes there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracert.errors import ModelError
from tracert.language.endpoint import OPENAI_URL, OPENROUTER_URL, Endpoint, endpoint, regular_url


@pytest.mark.parametrize(
    ("given_url", "expected"),
    [
        ("https://api.openai.com", OPENAI_URL),
        ("api.openai.com/v1/", OPENAI_URL),
        ("https://openrouter.ai/api", OPENROUTER_URL),
        (" https://openrouter.ai/api/v1/chat/completions ", OPENROUTER_URL),
        ("localhost:11434", "http://localhost:11434/v1"),
        ("127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("[::1]:8000", "http://[::1]:8000/v1"),
        ("http://lab.example/llm/v2/embeddings", "http://lab.example/llm/v2"),
        (
            "https://generativelanguage.googleapis.com/v1beta/openai/",
            "https://generativelanguage.googleapis.com/v1beta/openai",
        ),
    ],
)
def test_a_base_url_in_regular_form(given_url, expected):
    assert regular_url(given_url) == expected


@given(st.sampled_from(["http://h", "https://h:81/x", "h/v3/y"]), st.sampled_from(["", "/", "//"]))
def test_a_regular_url_stays_as_it_is(start, end):
    once = regular_url(start + end)
    assert regular_url(once) == once


@pytest.mark.parametrize(
    "bad",
    [
        "ftp://host/v1",
        "https://",
        "http://host:port/v1",
        "http://ho st/",
        "http://[::1/v1",
        "http://a..b/v1",
        f"http://{'x' * 64}.example/v1",
        "http://\u200b.example/v1",
    ],
)
def test_what_is_no_address(bad):
    with pytest.raises(ModelError, match="no web address"):
        regular_url(bad)


@pytest.mark.parametrize(
    "bad", ["https://me:sk-secret-12345678@host/v1", "https://host/v1?key=sk-secret-12345678"]
)
def test_a_secret_in_the_address_is_refused_and_not_repeated(bad):
    with pytest.raises(ModelError) as caught:
        regular_url(bad)
    assert "secret" not in str(caught.value)


OPENAI = {"OPENAI_API_KEY": "sk-openai"}
OPENROUTER = {"OPENROUTER_API_KEY": "sk-router"}


@pytest.mark.parametrize(
    ("base_url", "key", "names", "expected"),
    [
        (None, None, {}, Endpoint(OPENAI_URL)),
        (None, None, OPENAI, Endpoint(OPENAI_URL, "sk-openai")),
        (None, None, OPENROUTER, Endpoint(OPENROUTER_URL, "sk-router")),
        (None, None, OPENAI | OPENROUTER, Endpoint(OPENAI_URL, "sk-openai")),
        ("openrouter.ai/api", None, OPENAI | OPENROUTER, Endpoint(OPENROUTER_URL, "sk-router")),
        # A key is sent to no provider that it does not belong to.
        ("openrouter.ai/api", None, OPENAI, Endpoint(OPENROUTER_URL)),
        ("api.openai.com", None, OPENROUTER, Endpoint(OPENAI_URL)),
        ("localhost:1", None, OPENROUTER, Endpoint("http://localhost:1/v1")),
        ("notopenrouter.ai", None, OPENROUTER, Endpoint("https://notopenrouter.ai/v1")),
        # A server of one's own takes the usual key, as its clients expect.
        ("localhost:1", None, OPENAI, Endpoint("http://localhost:1/v1", "sk-openai")),
        # What is given wins.
        (None, " sk-given ", OPENROUTER, Endpoint(OPENAI_URL, "sk-given")),
        (None, None, {"TRACERT_BASE_URL": "localhost:2"}, Endpoint("http://localhost:2/v1")),
        ("localhost:3", None, {"TRACERT_BASE_URL": "h:2"}, Endpoint("http://localhost:3/v1")),
        (None, None, {"OPENAI_API_KEY": "  "}, Endpoint(OPENAI_URL)),
    ],
)
def test_the_endpoint_and_its_key(base_url, key, names, expected):
    assert endpoint(base_url, key, names) == expected


def test_no_repr_shows_the_key():
    assert "sk-openai" not in repr(endpoint(None, None, OPENAI))


@pytest.mark.parametrize("character", ["…", "é", "\u200b", "\u2022", "\n", "\x00"])
def test_a_key_with_a_character_that_no_key_has_is_refused_and_not_repeated(character):
    bad = f"sk-se{character}cret"
    for given_key, names in ((bad, {}), (None, {"OPENAI_API_KEY": bad})):
        with pytest.raises(ModelError, match="no key has") as caught:
            endpoint(OPENAI_URL, given_key, names)
        assert "cret" not in str(caught.value)


def test_a_key_that_is_not_sent_may_be_what_it_likes():
    names = {"OPENROUTER_API_KEY": "…", "OPENAI_API_KEY": "sk-openai"}
    assert endpoint(OPENAI_URL, None, names).api_key == "sk-openai"
