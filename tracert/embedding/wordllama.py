"""WordLlama: the mean of trained token vectors, offline and fast (the default).

The package wordllama (l2_supercat, 256 dimensions; D. L. Miller, github.com/dleemiller/WordLlama)
carries a table of token vectors distilled from large language models, and a Llama 2 tokenizer.
The vector of a text with tokens t_1 ... t_n is

    v = norm(1/n * sum_i E[t_i])

where E is the table, shape (32000, 256), and norm divides by the length. We read table and
tokenizer from the package's folder ourselves: nothing is downloaded, the package is not
imported (its import configures the root logger), and no batch is padded. The
results equal the package's own `embed(norm=True)`.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from tracert.embedding.base import Progress
from tracert.embedding.vectors import unit_rows, whole
from tracert.errors import EmbedderError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_MODEL: Final = "l2_supercat"
_DIMENSION: Final = 256
#: How the tokenizer writes the gap before a word.
_GAP: Final = "▁"
#: Texts tokenized at once, and the step of `progress`.
_BATCH: Final = 256


class WordLlama:
    """The embedder 'wordllama'. An English model: other languages fare badly.

    Case counts, word order does not. An empty text becomes the first axis (`unit_rows`).
    The tables are read at the first use; instances are safe to share between threads.
    """

    name = "wordllama"
    identity = f"wordllama:{_MODEL}:{_DIMENSION}"
    dimension = _DIMENSION
    most_tokens = None

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: tuple[Tokenizer, npt.NDArray[np.float32]] | None = None

    def __reduce__(self) -> tuple[type[WordLlama], tuple[()]]:
        """Pickled as a recipe: the tables are read again where it arrives."""
        return WordLlama, ()

    def embed(
        self, texts: Sequence[str], *, progress: Progress | None = None
    ) -> npt.NDArray[np.float32]:
        """The vectors of the texts, shape (len(texts), 256), float32, unit length.

        Raises:
            EmbedderError: the package or its files are missing.
        """
        tokenizer, table = self._tables()
        pooled = np.zeros((len(texts), _DIMENSION), np.float32)
        for start in range(0, len(texts), _BATCH):
            batch = [whole(text) for text in texts[start : start + _BATCH]]
            encoded = tokenizer.encode_batch_fast(batch, add_special_tokens=False)
            ids = [encoding.ids for encoding in encoded]
            pooled[start : start + len(batch)] = _pool(ids, table)
            if progress is not None:
                progress(start + len(batch))
        return unit_rows(pooled, self.name)

    def tokens(self, texts: Sequence[str]) -> npt.NDArray[np.int64]:
        """The number of tokens of each text, all of which count; shape (len(texts),).

        Raises:
            EmbedderError: the package or its files are missing.
        """
        tokenizer, _ = self._tables()
        counts = np.zeros(len(texts), np.int64)
        for start in range(0, len(texts), _BATCH):
            batch = [whole(text) for text in texts[start : start + _BATCH]]
            encoded = tokenizer.encode_batch_fast(batch, add_special_tokens=False)
            counts[start : start + len(batch)] = [len(encoding.ids) for encoding in encoded]
        return counts

    def words(self) -> tuple[list[str], npt.NDArray[np.float32]]:
        """The words that are one token, and their vectors, shape (n, 256), unit length.

        To read a vector: the words whose vectors are nearest to it. They have three letters or
        more and stand in the order of the vocabulary; one in capitals is left out where the
        same is there in small letters. About 12,000, most of them English; some are only
        beginnings of words, such as 'phys'.

        Raises:
            EmbedderError: the package or its files are missing.
        """
        tokenizer, table = self._tables()
        found = {
            token[1:]: index
            for token, index in tokenizer.get_vocab().items()
            if token.startswith(_GAP) and len(token) > 3 and token[1:].isalpha()
        }
        kept = {word: index for word, index in found.items() if _first_form(word, found)}
        words = sorted(kept, key=kept.__getitem__)
        rows = table[[kept[word] for word in words]]
        return words, unit_rows(rows, self.name)

    def _tables(self) -> tuple[Tokenizer, npt.NDArray[np.float32]]:
        with self._lock:
            if self._loaded is None:
                self._loaded = _read_tables()
            return self._loaded


def _first_form(word: str, found: Mapping[str, int]) -> bool:
    """Whether no form of the word in smaller letters is there too."""
    return word.lower() == word or not {word.lower(), word.capitalize()} - {word} & found.keys()


def _pool(ids: list[list[int]], table: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The mean token vector of each run of ids, zeros for an empty run, shape (len(ids), d)."""
    means = np.zeros((len(ids), table.shape[1]), np.float32)
    # A loop over texts: one gather for all (np.add.reduceat) leaves the cache and takes 4 times.
    for row, run in enumerate(ids):
        if run:
            np.mean(table[run], axis=0, out=means[row])
    return means


def _read_tables() -> tuple[Tokenizer, npt.NDArray[np.float32]]:
    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise EmbedderError("The embedder wordllama is not installed. Run pip install wordllama.")
    folder = Path(spec.origin).parent
    weights = folder / "weights" / f"{_MODEL}_{_DIMENSION}.safetensors"
    tokenizer_file = folder / "tokenizers" / f"{_MODEL}_tokenizer_config.json"
    for path in (weights, tokenizer_file):
        if not path.is_file():
            raise EmbedderError(
                f"The package wordllama is there without its file {path.name}. "
                "Run pip install --force-reinstall wordllama."
            )
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    table = load_file(weights)["embedding.weight"].astype(np.float32)
    return tokenizer, table
