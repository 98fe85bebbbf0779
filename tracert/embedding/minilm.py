"""MiniLM with full weights: the files that Chroma's default embedding function downloads."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Final

from tracert.embedding.sentence_transformer import OnnxSentenceTransformer
from tracert.errors import EmbedderError

_WHERE: Final = (
    "Connect to the network for its first use (80 MB, once), or choose the embedder wordllama "
    "or minilm-int8, which need none."
)


class MiniLM(OnnxSentenceTransformer):
    """The embedder 'minilm'. An English model of 384 dimensions; downloads once.

    Chroma fetches the model from its own address, checks the SHA-256 and keeps it in the user's
    cache folder, where other programs that use Chroma find it too.
    """

    name = "minilm"
    identity = "minilm:all-MiniLM-L6-v2"

    def _files(self) -> tuple[Path, Path]:
        import httpx
        from chromadb.utils.embedding_functions import ONNXMiniLM_L6_V2

        try:
            source = ONNXMiniLM_L6_V2()
            source._download_model_if_not_exists()
        except (httpx.HTTPError, OSError, ValueError, tarfile.TarError, EOFError) as error:
            raise EmbedderError(f"The model of minilm cannot be downloaded. {_WHERE}") from error
        folder = Path(source.DOWNLOAD_PATH) / source.EXTRACTED_FOLDER_NAME
        return folder / "tokenizer.json", folder / "model.onnx"
