"""Any model of an OpenAI-compatible endpoint: OpenAI, OpenRouter, Ollama, vLLM, llama.cpp."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from tracert.embedding.base import CostEstimate, Progress
from tracert.embedding.journal import Journal
from tracert.embedding.vectors import unit_rows, whole
from tracert.errors import EmbedderError, ModelError
from tracert.home import home
from tracert.language.endpoint import OPENAI_URL, Endpoint, endpoint
from tracert.language.failures import no_key, quoted, translate
from tracert.language.prices import load, price_of

DEFAULT_MODEL: Final = "text-embedding-3-small"
#: What is known of OpenAI's models: components of a vector, so that none need be made to see.
_DIMENSIONS: Final = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
#: The longest text that those models take, in tokens.
_MAX_TOKENS: Final = 8_191
#: A request holds at most this many texts and (estimated) tokens; OpenAI allows 2,048 and
#: 300,000, small machines fewer, and a batch is what a broken attempt loses.
_BATCH_TEXTS: Final = 128
_BATCH_TOKENS: Final = 60_000
#: Vectors of the same text by the same model agree this well or better; OpenAI's differ by 1e-4.
_SAME: Final = 0.999
_PROBE: Final = "How many components has a vector?"
#: A key for endpoints that want none; the protocol's header needs some text.
_NO_KEY: Final = "none"
_PRICED_HOSTS: Final = frozenset({"api.openai.com", "openrouter.ai"})
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class OpenAIEmbedder:
    """The embedders 'openai' and 'openai:MODEL'.

    Texts go out in batches, each sent again with growing pauses on time-outs, rate limits
    and errors of the server. What came back is kept for a week (`Journal`), so a second try
    after a failure goes on where the first stopped. Since an address may serve another model
    tomorrow under the same name, vectors from before are used only after one of them has been
    made again and agrees.

    Empty texts are not sent (providers refuse them); they get the first axis (`unit_rows`).
    Safe to share between threads. No error and no `repr` shows the key; pickled without it.
    """

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 4,
    ) -> None:
        """Nothing is sent yet.

        Args:
            model: The model's name as the provider knows it.
            base_url: The address, with or without '/v1'; `endpoint` says what stands in.
            api_key: The key; the environment stands in.
            timeout: Seconds without an answer after which a request counts as failed.
            retries: How often a request that failed for a passing reason is sent again.

        Raises:
            EmbedderError: the base URL is unusable.
        """
        self._model = model.strip()
        try:
            self._endpoint = endpoint(base_url, api_key)
        except ModelError as error:
            raise EmbedderError(str(error)) from None
        self._timeout = timeout
        self._retries = retries
        self._journal = Journal(self.identity)
        self._lock = threading.Lock()
        self._made: Any = None
        self._discovered: int | None = None

    def __reduce__(self) -> tuple[type[OpenAIEmbedder], tuple[str, str]]:
        return OpenAIEmbedder, (self._model, self._endpoint.base_url)

    def __repr__(self) -> str:
        return f"OpenAIEmbedder(model={self._model!r}, base_url={self._endpoint.base_url!r})"

    @property
    def name(self) -> str:
        """'openai:' and the model, by which the registry finds it again."""
        return f"openai:{self._model}"

    @property
    def identity(self) -> str:
        """Model and, where it is not OpenAI's, the address."""
        if self._endpoint.base_url == OPENAI_URL:
            return self.name
        parts = urlsplit(self._endpoint.base_url)
        return f"{self.name}@{parts.netloc}{parts.path}"

    @property
    def dimension(self) -> int:
        """The number of components; for a model not known beforehand one short text is sent.

        Raises:
            EmbedderError: it had to be asked and the endpoint did not answer usably.
        """
        known = _DIMENSIONS.get(self._model) if self._endpoint.base_url == OPENAI_URL else None
        if known is not None:
            return known
        if self._discovered is None:
            self._discovered = self._request([_PROBE]).shape[1]
        return self._discovered

    def estimate(self, texts: Sequence[str]) -> CostEstimate:
        """What `embed` will send and cost, by a count of characters; nothing goes out.

        English text has about four characters a token; other scripts are counted one token
        a character, which is rather too many. The table of prices holds at OpenAI and OpenRouter;
        an address on this machine costs nothing.

        Raises:
            SettingError: the table of prices is damaged.
        """
        wanted = _unique(texts)
        missing = wanted.keys() - self._journal.get(list(wanted)).keys()
        tokens = sum(_tokens(text) for text in missing)
        host = urlsplit(self._endpoint.base_url).hostname or ""
        price = price_of(self._model, load(home())) if host in _PRICED_HOSTS else None
        if host in _LOOPBACK:
            return CostEstimate(len(missing), tokens, 0.0, "")
        if price is None:
            return CostEstimate(len(missing), tokens, None, "")
        return CostEstimate(len(missing), tokens, price.of(tokens, 0), price.as_of)

    def embed(
        self, texts: Sequence[str], *, progress: Progress | None = None
    ) -> npt.NDArray[np.float32]:
        """The vectors of the texts, shape (len(texts), dimension), float32, unit length.

        Equal texts are sent once. `progress` is called after each batch, and may raise to
        stop the work; the batches done are kept.

        Raises:
            EmbedderError: no key, no usable answer, or a text too long for the model.
        """
        wanted = _unique(texts)
        self._check_lengths(wanted)
        vectors = self._at_hand(list(wanted))
        done = len(texts) - sum(wanted.values()) + sum(wanted[text] for text in vectors)
        for batch in _batches([text for text in wanted if text not in vectors]):
            made = dict(zip(batch, self._request(batch), strict=True))
            self._journal.put(made)
            vectors |= made
            done += sum(wanted[text] for text in batch)
            if progress is not None:
                progress(done)
        dimension = self._agreed_dimension(vectors.values())
        matrix = np.zeros((len(texts), dimension), np.float32)
        for row, text in enumerate(map(whole, texts)):
            if text in vectors:
                matrix[row] = vectors[text]
        return unit_rows(matrix, self.name)

    def _at_hand(self, texts: list[str]) -> dict[str, npt.NDArray[np.float32]]:
        """The vectors kept from before, if the endpoint still makes the same."""
        kept = self._journal.get(texts)
        if not kept:
            return {}
        text = min(kept, key=len)
        again = self._request([text])[0]
        before = kept[text]
        lengths = float(np.linalg.norm(again) * np.linalg.norm(before))
        if again.shape == before.shape and float(again @ before) >= _SAME * lengths:
            return kept
        self._journal.clear()
        return {text: again}

    def _agreed_dimension(self, vectors: Any) -> int:
        """The one number of components of all vectors, asked for where there are none."""
        found = {len(vector) for vector in vectors}
        if len(found) > 1:
            raise EmbedderError(
                f"The model {self._model!r} returned vectors of {sorted(found)} components. "
                "Choose a model whose vectors are all of one length."
            )
        if not found:
            return self.dimension
        self._discovered = found.pop()
        return self._discovered

    def _check_lengths(self, texts: dict[str, int]) -> None:
        if self._model.removeprefix("openai/") not in _DIMENSIONS:
            return
        longest = max(texts, key=_tokens, default="")
        if _tokens(longest) > _MAX_TOKENS:
            raise EmbedderError(
                f"A passage of {len(longest):,} characters has about {_tokens(longest):,} tokens, "
                f"more than the {_MAX_TOKENS:,} that {self._model} takes. Choose a smaller chunk "
                "size."
            )

    # --- sending ----------------------------------------------------------------------------

    def _client(self) -> Any:
        if self._endpoint.api_key is None and self._endpoint.needs_key:
            raise EmbedderError(str(no_key(self._endpoint)))
        with self._lock:
            if self._made is None:
                import openai

                self._made = openai.OpenAI(
                    api_key=self._endpoint.api_key or _NO_KEY,
                    base_url=self._endpoint.base_url,
                    timeout=self._timeout,
                    max_retries=self._retries,
                )
            return self._made

    def _request(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """The vectors as the endpoint makes them, shape (len(texts), d), in the texts' order."""
        import openai

        client = self._client()
        body = {"model": self._model, "input": texts, "encoding_format": "float"}
        failure: str
        try:
            return _read(client.post("/embeddings", body=body, cast_to=object), len(texts))
        except openai.NotFoundError as error:
            said = quoted(error.message, self._endpoint)
            failure = (
                f"The endpoint {self._endpoint.base_url} has no embeddings by the name "
                f"{self._model!r} ({said}). Check the base URL and the model's name."
            )
        except openai.OpenAIError as error:
            failure = str(translate(error, self._model, self._endpoint, self._timeout))
        except (_UnusableError, json.JSONDecodeError, UnicodeDecodeError) as error:
            failure = _unusable(error, self._endpoint)
        # Raised out here, so that the client's exception, which holds the request and so the
        # key, is no part of the error.
        raise EmbedderError(failure)


class _UnusableError(Exception):
    """A reply of status 200 that is no list of vectors; its text ends a sentence."""


def _unusable(error: Exception, endpoint: Endpoint) -> str:
    what = quoted(error, endpoint) if isinstance(error, _UnusableError) else "no JSON"
    return (
        f"The endpoint {endpoint.base_url} answered with {what}. Check that the base URL is that "
        "of an OpenAI-compatible interface and that the model makes embeddings."
    )


def _read(data: Any, count: int) -> npt.NDArray[np.float32]:
    """The vectors of a reply, by their index.

    Raises:
        _UnusableError: there are not `count` vectors of numbers, all of one length.
    """
    if isinstance(data, dict) and data.get("error"):
        error = data["error"]
        said = error.get("message", "") if isinstance(error, dict) else error
        raise _UnusableError(f"the error {said!r}")
    entries = data.get("data") if isinstance(data, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise _UnusableError("no list of vectors")
    if len(entries) != count:
        raise _UnusableError(f"{len(entries)} vectors for {count} texts")
    places = [entry.get("index", place) for place, entry in enumerate(entries)]
    if sorted(map(str, places)) != sorted(map(str, range(count))):
        raise _UnusableError("vectors that do not say which texts they belong to")
    ordered = sorted(zip(map(int, places), entries, strict=True), key=lambda pair: pair[0])
    try:
        rows = np.array([entry.get("embedding") for _, entry in ordered], dtype=np.float32)
    except (TypeError, ValueError):
        raise _UnusableError("vectors that are no lists of numbers of one length") from None
    if rows.ndim != 2 or rows.shape[1] == 0 or not np.isfinite(rows).all():
        raise _UnusableError("vectors that are no lists of finite numbers")
    return rows


def _unique(texts: Sequence[str]) -> dict[str, int]:
    """The texts that must be sent, each with how often it occurs, in order."""
    counts: dict[str, int] = {}
    for text in map(whole, texts):
        if text.strip():
            counts[text] = counts.get(text, 0) + 1
    return counts


def _batches(texts: list[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    tokens = 0
    for text in texts:
        more = _tokens(text)
        if batch and (len(batch) == _BATCH_TEXTS or tokens + more > _BATCH_TOKENS):
            yield batch
            batch, tokens = [], 0
        batch.append(text)
        tokens += more
    if batch:
        yield batch


def _tokens(text: str) -> int:
    """About how many tokens a text has: four ASCII characters each, or one other."""
    ascii_count = len(text.encode("ascii", "ignore"))
    return -(-ascii_count // 4) + len(text) - ascii_count
