"""The embedders by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from tracert.embedding.base import Embedder
from tracert.embedding.minilm import MiniLM
from tracert.embedding.minilm_int8 import MiniLMInt8
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


def names() -> tuple[str, ...]:
    """The names that `embedder` knows."""
    return (*_LOCAL,)


def embedder(name: str, *, base_url: str | None = None, api_key: str | None = None) -> Embedder:  # noqa: ARG001
    """The embedder of that name.

    Raises:
        EmbedderError: the name is unknown.
    """
    if name in _LOCAL:
        return _local(name)
    raise EmbedderError(f"There is no embedder {name!r}. Supported: {', '.join(names())}.")


@cache
def _local(name: str) -> Embedder:
    return _LOCAL[name]()
