"""The embedders by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from tracert.embedding.base import Embedder
from tracert.embedding.minilm import MiniLM
from tracert.embedding.minilm_int8 import MiniLMInt8
from tracert.embedding.openai import DEFAULT_MODEL, OpenAIEmbedder
from tracert.embedding.wordllama import WordLlama
from tracert.errors import EmbedderError

#: Those that run on this machine and take no settings, made once and shared.
_LOCAL: Final[dict[str, Callable[[], Embedder]]] = {
    "wordllama": WordLlama,
    "minilm": MiniLM,
    "minilm-int8": MiniLMInt8,
}

#: What is used where none is named.
DEFAULT: Final = "wordllama"


_OPENAI: Final = "openai"


def names() -> tuple[str, ...]:
    """The names that `embedder` knows; 'openai:MODEL' names a model of an endpoint."""
    return (*_LOCAL, _OPENAI)


def embedder(name: str, *, base_url: str | None = None, api_key: str | None = None) -> Embedder:
    """The embedder of that name.

    Args:
        name: One of `names()`, or 'openai:MODEL' for any model of an OpenAI-compatible endpoint.
        base_url: The endpoint, for 'openai' alone; see `tracert.language.endpoint.endpoint`.
        api_key: Its key, for 'openai' alone.

    Raises:
        EmbedderError: the name is unknown, or the base URL is unusable.
    """
    if name in _LOCAL:
        return _local(name)
    kind, _, model = name.partition(":")
    if kind == _OPENAI:
        return OpenAIEmbedder(model or DEFAULT_MODEL, base_url=base_url, api_key=api_key)
    raise EmbedderError(f"There is no embedder {name!r}. Supported: {', '.join(names())}.")


@cache
def _local(name: str) -> Embedder:
    return _LOCAL[name]()
