"""Data sets, kept recordings and gold chains that an enemy made: refused in a sentence."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tracert.errors import DatasetError, ModelError, TracertError
from tracert.evaluation.datasets import read_items
from tracert.evaluation.gold_chain import GoldSets
from tracert.language.record import Recording

DEEP = "[" * 100_000
GOOD: dict[str, Any] = {
    "id": "1",
    "question": "Who lit the lamp?",
    "paragraphs": [{"title": "Lamp", "text": "Ingrid Falk lit it.", "is_supporting": True}],
}
ROWS = {
    "deep": DEEP,
    "deep inside": json.dumps(GOOD)[:-1] + ', "more": ' + DEEP,
    "a number": "1",
    "a list": "[1]",
    "nothing": "null",
    "not finite": '{"question": NaN, "paragraphs": Infinity}',
    "a large number": '{"question": ' + "9" * 5000 + "}",
    "half a pair": '{"question": "\\ud800", "paragraphs": "\\udfff"}',
    "no text": json.dumps({**GOOD, "question": {"a": 1}}),
    "no paragraphs": json.dumps({**GOOD, "paragraphs": {"0": GOOD["paragraphs"][0]}}),
    "a paragraph of another kind": json.dumps({**GOOD, "paragraphs": [1, None, [], "text"]}),
    "titles of other kinds": json.dumps({**GOOD, "paragraphs": [{"title": [], "text": {}}]}),
    "cut": json.dumps(GOOD)[:-20],
    "zeros": "\x00" * 1000,
}


def sentence(error: TracertError) -> None:
    said = str(error)
    assert said.endswith(".")
    assert len(said) < 1000
    assert "Traceback" not in said


@pytest.mark.parametrize("how", ROWS)
def test_a_data_set_of_an_enemy_is_refused_in_a_sentence(tmp_path: Path, how: str) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(ROWS[how] + "\n", encoding="utf-8")
    with pytest.raises(DatasetError) as caught:
        read_items(path)
    sentence(caught.value)


@pytest.mark.parametrize("data", [b"\xff\xfe\x00\xd8" * 500, b"\x1f\x8b\x08\x00broken"])
def test_bytes_that_are_no_data_set(tmp_path: Path, data: bytes) -> None:
    for name in ("questions.jsonl", "questions.jsonl.gz"):
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(DatasetError) as caught:
            read_items(path)
        sentence(caught.value)


def test_a_gz_that_swells_is_no_way_around(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"question": "' + b"a" * 50_000_000))
    with pytest.raises(DatasetError) as caught:
        read_items(path)
    sentence(caught.value)


@pytest.mark.parametrize("how", ROWS)
def test_a_set_of_gold_chains_on_disk(tmp_path: Path, how: str) -> None:
    sets = GoldSets(tmp_path)
    path = sets.path("Mine")
    path.write_text(ROWS[how] + "\n", encoding="utf-8")
    sets.names()
    with pytest.raises(DatasetError) as caught:
        sets.read("Mine")
    sentence(caught.value)


@pytest.mark.parametrize("how", ROWS)
def test_a_recording(how: str) -> None:
    text = ROWS[how]
    whole = json.dumps({"schema": "tracert.recording/1", "model": "m", "exchanges": [text]})
    for given in (text, whole):
        with pytest.raises(ModelError) as caught:
            Recording.from_json(given)
        sentence(caught.value)
