"""WordLlama against the package's own embedding."""

from __future__ import annotations

import logging
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracert.embedding import wordllama as module
from tracert.embedding.registry import embedder
from tracert.embedding.wordllama import WordLlama
from tracert.errors import EmbedderError

TEXTS = [
    "It is a truth universally acknowledged.",
    "a",
    " ",
    "\n\n",
    "Two  gaps and a\ttab",
    "naïve café £5 — “quoted”",
    "吾輩は猫である",
    "😀 emoji",
    "</s> special <unk> tokens <s>",
    "x" * 3_000,
    "CAPITALS and capitals",
]


@pytest.fixture(scope="module")
def package():
    """The package's own object, loaded as it wants to be loaded without a network."""
    level = logging.getLogger().level
    import wordllama

    logging.getLogger().setLevel(level)
    folder = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)


def test_equals_the_package(package) -> None:
    theirs = package.embed(TEXTS, norm=True)
    np.testing.assert_allclose(WordLlama().embed(TEXTS), theirs, atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=80), min_size=1, max_size=8)
)
def test_equals_the_package_on_any_text(package, texts: list[str]) -> None:
    theirs = package.embed(texts, norm=True)
    np.testing.assert_allclose(embedder("wordllama").embed(texts), theirs, atol=1e-6)


@pytest.mark.shared
def test_equals_the_package_on_a_book(package, shared: Path) -> None:
    text = (shared / "data" / "books" / "pride_and_prejudice.txt").read_text(encoding="utf-8")
    chunks = [text[start : start + 500] for start in range(0, len(text), 400)]
    theirs = package.embed(chunks, norm=True)
    ours = embedder("wordllama").embed(chunks)
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_mean_of_tokens_by_hand() -> None:
    # Three tokens in two dimensions; the empty run stays zero.
    table = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 4.0]], np.float32)
    pooled = module._pool([[0, 1, 2], [], [1]], table)
    np.testing.assert_allclose(pooled, [[3 / 3, 5 / 3], [0, 0], [0, 1]])
    assert module._pool([[], []], table).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert module._pool([], table).shape == (0, 2)


def test_shape_and_length() -> None:
    made = embedder("wordllama")
    assert made.embed([]).shape == (0, 256)
    matrix = made.embed(["one", "two", ""])
    assert matrix.shape == (3, 256)
    assert matrix.dtype == np.float32
    assert matrix.flags.c_contiguous
    np.testing.assert_allclose(np.linalg.norm(matrix, axis=1), 1.0, atol=1e-6)


def test_an_empty_text_is_the_first_axis() -> None:
    (vector,) = embedder("wordllama").embed([""])
    np.testing.assert_array_equal(vector, np.eye(256, dtype=np.float32)[0])


def test_a_text_has_one_vector_whatever_stands_beside_it() -> None:
    made = embedder("wordllama")
    alone = made.embed(["the same text"])[0]
    among = made.embed(["x" * 900, "the same text", ""])[1]
    np.testing.assert_allclose(among, alone, atol=1e-7)


def test_meaning_is_near() -> None:
    near, far, query = embedder("wordllama").embed(
        [
            "The physician treated her patients.",
            "The share price fell on Monday.",
            "A doctor at work",
        ]
    )
    assert query @ near > query @ far


def test_half_characters_are_no_trouble() -> None:
    made = embedder("wordllama")
    np.testing.assert_array_equal(made.embed(["a\ud83d"]), made.embed(["a?"]))


def test_progress_counts_texts() -> None:
    seen: list[int] = []
    embedder("wordllama").embed(["x"] * 600, progress=seen.append)
    assert seen == [256, 512, 600]


def test_threads_and_pickles_agree() -> None:
    made = WordLlama()
    with ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(lambda text: made.embed([text])[0], TEXTS * 4))
    np.testing.assert_allclose(np.array(rows), made.embed(TEXTS * 4), atol=1e-7)
    again = pickle.loads(pickle.dumps(made))
    np.testing.assert_array_equal(again.embed(TEXTS), made.embed(TEXTS))
    assert len(pickle.dumps(made)) < 1_000, "the tables are no part of it"


def test_words_have_the_vectors_of_their_texts() -> None:
    made = embedder("wordllama")
    assert isinstance(made, WordLlama)
    words, matrix = made.words()
    assert matrix.shape == (len(words), 256)
    assert len(set(words)) == len(words) > 5_000
    np.testing.assert_allclose(matrix[:500], made.embed(words[:500]), atol=1e-6)
    assert "london" not in words
    assert {"doctor", "London"} <= set(words)
    assert "The" not in words, "'the' is there"
    (query,) = made.embed(["doctor"])
    assert words[int(np.argmax(matrix @ query))] == "doctor"


def test_missing_package_or_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(EmbedderError, match="pip install wordllama"):
        WordLlama().embed(["a"])
    (tmp_path / "__init__.py").touch()
    spec = type("Spec", (), {"origin": str(tmp_path / "__init__.py")})
    monkeypatch.setattr(module, "find_spec", lambda name: spec)
    with pytest.raises(EmbedderError, match="without its file"):
        WordLlama().embed(["a"])


def test_loading_leaves_package_log_and_network_alone() -> None:
    code = (
        "import socket, sys, logging\n"
        "socket.socket.connect = None\n"
        "from tracert.embedding.registry import embedder\n"
        "heavy = {'tokenizers', 'safetensors', 'openai', 'onnxruntime', 'chromadb', 'wordllama'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "embedder('wordllama').embed(['a'])\n"
        "assert 'wordllama' not in sys.modules\n"
        "assert logging.getLogger().handlers == []\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])
