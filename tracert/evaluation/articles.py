"""Pools of whole articles, as MultiHop-RAG publishes them: cut into passages, gold by the facts.

`corpus.json` is one JSON list of {title, author, source, published_at, category, url, body}. Each
body is cut as the library cuts a document (500 characters, 100 of overlap unless chosen
otherwise). A fact of a question stands in the article of its title; the passages that hold more
than half of it are gold. White space is not compared: the published facts and bodies differ in it.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tracert.corpus.chunking import Chunking, chunk
from tracert.corpus.model import Document, Mark
from tracert.errors import DatasetError
from tracert.evaluation.asked import Passage


@dataclass(frozen=True, slots=True)
class Article:
    """An article and where its passages lie: in `body[start:end]`, from row `first` on."""

    title: str
    body: str
    first: int
    spans: tuple[tuple[int, int], ...]


def is_article(data: Mapping[str, Any]) -> bool:
    """Whether a row of a pool is a whole article."""
    return "body" in data and "text" not in data


def cut(
    rows: Sequence[tuple[Mapping[str, Any], str]], chunking: Chunking | None = None
) -> tuple[list[Passage], list[Article]]:
    """The passages of the articles and where each lies; a row comes with its place in the file.

    Raises:
        DatasetError: a row has no title or body.
    """
    passages: list[Passage] = []
    articles = []
    for data, where in rows:
        title, body = data.get("title"), data.get("body")
        if not isinstance(title, str) or not isinstance(body, str):
            raise DatasetError(f"{where}: an article needs 'title' and 'body', both texts.")
        fingerprint = hashlib.sha256(f"{title}\n{body}".encode("utf-8", "surrogatepass"))
        document = Document(title, "text", body, (Mark(0, None, ()),), fingerprint.hexdigest())
        parts = chunk(document, chunking or Chunking())
        spans = tuple((part.start, part.end) for part in parts)
        articles.append(Article(title, body, len(passages), spans))
        passages += [Passage(title, part.text) for part in parts]
    return passages, articles


class Facts:
    """Finds the passages that hold a fact."""

    def __init__(self, articles: Sequence[Article]) -> None:
        self._by_title: dict[str, list[Article]] = {}
        for article in articles:
            self._by_title.setdefault(article.title.strip(), []).append(article)
        self._squeezed: dict[int, tuple[str, list[int]]] = {}

    def rows(self, title: str, fact: str) -> tuple[int, ...]:
        """The rows of the pool that hold more than half of the fact's characters."""
        wanted = "".join(fact.split())
        if not wanted:
            return ()
        found: list[int] = []
        for article in self._by_title.get(title.strip(), ()):
            text, places = self._squeeze(article)
            begin = text.find(wanted)
            if begin < 0:
                continue
            # Counted in characters that are no white space, as the fact is.
            end = begin + len(wanted)
            for place, (start, stop) in enumerate(article.spans):
                shared = min(bisect_left(places, stop), end) - max(
                    bisect_left(places, start), begin
                )
                if 2 * shared > len(wanted):
                    found.append(article.first + place)
        return tuple(found)

    def _squeeze(self, article: Article) -> tuple[str, list[int]]:
        """The body without white space, and where each of its characters stood."""
        known = self._squeezed.get(article.first)
        if known is None:
            places = [at for at, letter in enumerate(article.body) if not letter.isspace()]
            known = ("".join(article.body[at] for at in places), places)
            self._squeezed[article.first] = known
        return known
