"""The words of each method. Adding a method adds a module here and a line to `_WORDS`."""

from __future__ import annotations

from tracert.errors import TraceError
from tracert.render.words.base import Column, Formula, Rule, Words, called, place, quoted, title
from tracert.render.words.graph_rag import GraphWords
from tracert.render.words.iterative_rewrite import RewriteWords
from tracert.render.words.native_rag import NativeWords
from tracert.render.words.tracert_rag import TracertWords
from tracert.render.words.trailgraph import TrailGraphWords
from tracert.render.words.treehop import TreeHopWords

__all__ = ["Column", "Formula", "Rule", "Words", "called", "place", "quoted", "title", "words_for"]

_WORDS: dict[str, Words] = {
    "tracert_rag": TracertWords(),
    "native_rag": NativeWords(),
    "trailgraph": TrailGraphWords(),
    "treehop": TreeHopWords(),
    "iterative_rewrite": RewriteWords(),
    "graph_rag": GraphWords(),
}


def words_for(method: str) -> Words:
    """The words of that method.

    Raises:
        TraceError: this version knows no such method.
    """
    try:
        return _WORDS[method]
    except KeyError:
        raise TraceError(
            f"This version cannot show a trace of the method {method!r}. "
            f"Supported: {', '.join(sorted(_WORDS))}."
        ) from None
