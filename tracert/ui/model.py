"""The language model of a session: its settings, and a client made of them.

The key lives in the session's state alone. It is never written, shown or put into a trace.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from tracert.embedding.base import Embedder
from tracert.embedding.registry import names
from tracert.errors import ModelError, SettingError
from tracert.home import home
from tracert.language.allowance import Allowance
from tracert.language.base import ChatModel
from tracert.language.budget import Budget
from tracert.store.records import CorpusRecord
from tracert.ui import resources, visitor

if TYPE_CHECKING:
    from tracert.language.client import OpenAIChat

_KEY = "model:settings"


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Where the model is and how much of it may be used; no model name means none is asked."""

    provider: str = "OpenAI"
    base_url: str = ""
    model: str = ""
    key: str = field(default="", repr=False)
    timeout: float = 30.0
    retries: int = 2
    calls: int = 50
    tokens: int = 200_000


@dataclass(frozen=True, slots=True)
class Provider:
    """A preset: where it is, an example of a model there, and whether it wants a key."""

    name: str
    base_url: str
    example: str
    needs_key: bool


PROVIDERS = (
    Provider("OpenAI", "https://api.openai.com/v1", "gpt-4o-mini", True),
    Provider("OpenRouter", "https://openrouter.ai/api/v1", "openai/gpt-4o-mini", True),
    Provider("Ollama", "http://localhost:11434/v1", "llama3.2", False),
    Provider("llama.cpp, vLLM or another", "http://localhost:8080/v1", "the served model", False),
)


def provider(name: str) -> Provider:
    """The preset of that name, else the first."""
    return next((one for one in PROVIDERS if one.name == name), PROVIDERS[0])


def settings() -> ModelSettings:
    """This session's settings; the environment's at first, and always in a public app."""
    kept: ModelSettings | None = st.session_state.get(_KEY)
    if kept is not None and not visitor.public():
        return kept
    return ModelSettings(
        base_url=os.environ.get("TRACERT_BASE_URL", ""),
        model=os.environ.get("TRACERT_MODEL", ""),
    )


def keep(new: ModelSettings) -> None:
    """Use these settings from now on in this session; the client and its budget start anew."""
    st.session_state[_KEY] = new
    st.session_state.pop("model:client", None)


def chat_model() -> ChatModel | None:
    """The session's model, None where none is named. One client and one budget a session."""
    now = settings()
    if not now.model.strip():
        return None
    client: ChatModel | None = st.session_state.get("model:client")
    if client is None:
        client = make(now)
        st.session_state["model:client"] = client
    return client


def warm(model: ChatModel) -> None:
    """Load the client before a clock starts, else who asks first pays for it; nothing is sent."""
    from tracert.language.client import OpenAIChat

    if isinstance(model, OpenAIChat):
        with contextlib.suppress(ModelError):  # whoever asks says what is wrong
            model.prepare()


def make(now: ModelSettings) -> OpenAIChat:
    """A client for these settings.

    Raises:
        SettingError, ModelError: they cannot be used; the text says what to change.
    """
    from tracert.language.client import OpenAIChat

    if not now.model.strip():
        raise SettingError("No model is named. Type the name that the provider gives it.")
    return OpenAIChat(
        now.model,
        now.base_url or None,
        now.key or None,
        now.timeout,
        now.retries,
        _budget(now),
    )


def _budget(now: ModelSettings) -> Budget:
    hosted = visitor.hosted()
    if hosted.public:
        return Allowance(calls_file(), hosted.calls, now.calls, now.tokens)
    return Budget(now.calls or None, now.tokens or None)


def calls_file() -> Path:
    """Where a public app counts its model calls of the day."""
    return home() / "model-calls.json"


def embedder_for(record: CorpusRecord) -> Embedder | None:
    """The embedder of a corpus where it needs the session's endpoint and key, else None."""
    if not record.embedder.startswith("openai"):
        return None
    return named_embedder(record.embedder)


def embedders() -> list[str]:
    """The names of the embedders that may be chosen: in a public app the host's one."""
    if visitor.public():
        return [visitor.embedder()]
    return list(names())


def named_embedder(name: str) -> Embedder:
    """An embedder by name, with the session's endpoint and key where it wants them.

    Raises:
        SettingError: it is none that the host of a public app uses.
    """
    from tracert.embedding.registry import embedder

    if visitor.public() and name != visitor.embedder():
        shared = {record.embedder for record in resources.workspace().corpora()}
        if name not in shared:
            raise SettingError(f"In this app texts are embedded by {visitor.embedder()} alone.")
    now = settings()
    if not name.startswith("openai"):
        return embedder(name)
    return embedder(name, base_url=now.base_url or None, api_key=now.key or None)
