"""MiniLM by ONNX Runtime: what its two embedders share.

all-MiniLM-L6-v2 (sentence-transformers; Wang et al., "MiniLM", 2020) turns the tokens of a text
t_1 ... t_n (word pieces, at most 256, the rest of a longer text is not seen) into states h_i in
384 dimensions, and the vector is v = norm(1/n * sum_i h_i).
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from tracert.embedding.base import Progress
from tracert.embedding.vectors import unit_rows, whole
from tracert.errors import EmbedderError

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

_MAX_TOKENS: Final = 256
#: Texts that go through the network at once; more gains nothing on a few cores.
_BATCH: Final = 32
#: Texts that are sorted by length together: bounds the tokens held at once.
_BLOCK: Final = 2_048


class OnnxSentenceTransformer(ABC):
    """A sentence transformer of 384 dimensions whose files are on this machine.

    Texts run in batches sorted by length, so that little is padded; the order of the result
    is that of the texts. Files are read at the first use; safe to share between threads.
    """

    dimension = 384
    most_tokens = _MAX_TOKENS

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._whole: Tokenizer | None = None
        self._loaded: tuple[Tokenizer, Any, frozenset[str]] | None = None

    def __reduce__(self) -> tuple[type[OnnxSentenceTransformer], tuple[()]]:
        """Pickled as a recipe: the files are read again where it arrives."""
        return type(self), ()

    @property
    @abstractmethod
    def name(self) -> str:
        """The name in the registry."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """Name and exact model."""

    @abstractmethod
    def _files(self) -> tuple[Path, Path]:
        """The paths of tokenizer.json and of the ONNX model.

        Raises:
            EmbedderError: they cannot be had; the sentence says what to do.
        """

    def embed(
        self, texts: Sequence[str], *, progress: Progress | None = None
    ) -> npt.NDArray[np.float32]:
        """The vectors of the texts, shape (len(texts), 384), float32, unit length.

        Raises:
            EmbedderError: the files cannot be had or the network cannot be run.
        """
        tokenizer, session, inputs = self._session()
        pooled = np.zeros((len(texts), self.dimension), np.float32)
        for first in range(0, len(texts), _BLOCK):
            block = [whole(text) for text in texts[first : first + _BLOCK]]
            encoded = tokenizer.encode_batch(block)
            order = sorted(range(len(block)), key=lambda row: -len(encoded[row].ids))
            for start in range(0, len(order), _BATCH):
                rows = order[start : start + _BATCH]
                batch = [encoded[row] for row in rows]
                pooled[[first + row for row in rows]] = _run(session, inputs, batch)
                if progress is not None:
                    progress(first + start + len(rows))
        return unit_rows(pooled, self.name)

    def tokens(self, texts: Sequence[str]) -> npt.NDArray[np.int64]:
        """The number of tokens of each text with the two that frame it, shape (len(texts),).

        Raises:
            EmbedderError: the files cannot be had.
        """
        with self._lock:
            if self._whole is None:
                # One of its own, since the other cuts off what the network does not read.
                tokenizer = _read_tokenizer(self._files()[0], self.name)
                tokenizer.no_truncation()
                self._whole = tokenizer
            tokenizer = self._whole
        counts = np.zeros(len(texts), np.int64)
        for first in range(0, len(texts), _BLOCK):
            block = [whole(text) for text in texts[first : first + _BLOCK]]
            counts[first : first + len(block)] = [
                len(encoding.ids) for encoding in tokenizer.encode_batch_fast(block)
            ]
        return counts

    def _session(self) -> tuple[Tokenizer, Any, frozenset[str]]:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    def _load(self) -> tuple[Tokenizer, Any, frozenset[str]]:
        tokenizer_file, model_file = self._files()
        try:
            import onnxruntime
        except ImportError as error:
            raise _missing(self.name) from error
        tokenizer = _read_tokenizer(tokenizer_file, self.name)
        tokenizer.enable_truncation(max_length=_MAX_TOKENS)
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(
            str(model_file), sess_options=options, providers=["CPUExecutionProvider"]
        )
        return tokenizer, session, frozenset(entry.name for entry in session.get_inputs())


def _read_tokenizer(path: Path, name: str) -> Tokenizer:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise _missing(name) from error
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    return tokenizer


def _missing(name: str) -> EmbedderError:
    return EmbedderError(
        f"The embedder {name} needs onnxruntime and tokenizers. "
        "Run pip install onnxruntime tokenizers."
    )


def _run(session: Any, inputs: frozenset[str], batch: list[Encoding]) -> npt.NDArray[np.float32]:
    """The mean state of each text's tokens, shape (len(batch), 384)."""
    shape = (len(batch), max(len(encoding.ids) for encoding in batch))
    ids, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for row, encoding in enumerate(batch):
        ids[row, : len(encoding.ids)] = encoding.ids
        mask[row, : len(encoding.ids)] = 1
    feeds = {"input_ids": ids, "attention_mask": mask}
    if "token_type_ids" in inputs:
        feeds["token_type_ids"] = np.zeros(shape, np.int64)
    states = session.run(None, feeds)[0]
    sums = np.einsum("ntd,nt->nd", states, mask.astype(np.float32))
    return np.asarray(sums / mask.sum(axis=1, keepdims=True), np.float32)
