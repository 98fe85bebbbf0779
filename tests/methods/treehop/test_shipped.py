"""The weights in the package: small, whole, and better than what they started from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tracert.embedding.registry import embedder
from tracert.evaluation.evaluate import evaluate
from tracert.evaluation.summary import Evaluation
from tracert.methods.registry import method
from tracert.methods.treehop.weights import FOLDER, load, shipped

WEIGHTS = {"wordllama": 256, "minilm": 384, "minilm-int8": 384}


@pytest.mark.parametrize(("name", "dimension"), WEIGHTS.items())
def test_each_embedder_has_weights_of_its_length(name: str, dimension: int) -> None:
    path = shipped(name)
    assert path is not None
    assert load(path).dimension == dimension
    assert path.with_suffix(".md").read_text(encoding="utf-8").startswith(f"# {path.stem}")


def test_minilm_and_its_int8_form_share_a_file() -> None:
    assert shipped("minilm") == shipped("minilm-int8")
    assert shipped("text-embedding-3-small") is None


def test_the_package_stays_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.glob("*.safetensors")) < 4_000_000


def test_no_question_of_a_dev_set_was_trained_on() -> None:
    for path in FOLDER.glob("*.md"):
        files = next(
            line for line in path.read_text(encoding="utf-8").splitlines() if "Files:" in line
        )
        assert "dev" not in files
        assert "train" in files


def gain(report: Evaluation) -> float:
    """Mean recall over that of plain top-k at as many passages."""
    return float(np.mean([each.recall - each.baseline_recall for each in report.details]))


@pytest.mark.shared
def test_wordllama_gains_on_questions_it_has_not_seen(shared: Path, tmp_path: Path) -> None:
    folder = shared / "data" / "multihop"
    reports = [
        evaluate(
            folder / "2wikimultihopqa_dev.jsonl.gz",
            folder / "2wikimultihopqa_dev_corpus.jsonl.gz",
            method("treehop"),
            embedder("wordllama"),
            tmp_path,
            k=10,
            settings=settings,
        )
        for settings in ({}, {"model": "forget_rule"})
    ]
    trained, rule = (gain(report) for report in reports)
    assert trained >= 0.035
    assert trained > rule
    comparison = [each for each in reports[0].details if each.type == "comparison"]
    assert np.mean([each.recall - each.baseline_recall for each in comparison]) >= -0.01


@pytest.mark.shared
def test_wordllama_gains_on_three_data_sets_at_equal_budget(shared: Path, tmp_path: Path) -> None:
    # The least that the shipped weights have to bring over plain top-k, in points of recall: on
    # average 1 at 5 passages and 1.5 at 10, and on no data set a loss of more than a point at 10.
    folder = shared / "data" / "multihop"
    gains = {
        budget: [
            gain(
                evaluate(
                    folder / f"{name}_dev.jsonl.gz",
                    folder / f"{name}_dev_corpus.jsonl.gz",
                    method("treehop"),
                    embedder("wordllama"),
                    tmp_path,
                    k=budget,
                )
            )
            for name in ("2wikimultihopqa", "hotpotqa", "musique")
        ]
        for budget in (5, 10)
    }
    assert np.mean(gains[5]) >= 0.010
    assert np.mean(gains[10]) >= 0.015
    assert min(gains[10]) >= -0.010
