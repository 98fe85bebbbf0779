"""Training end to end on a made-up world, and what holds of it whatever the figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

from tracert.cli import main
from tracert.errors import DatasetError, SettingError
from tracert.methods.treehop.gates import ForgetRule
from tracert.methods.treehop.weights import load, model_of

torch = pytest.importorskip("torch", reason="training needs torch")

from tracert.training.gates import LightGates  # noqa: E402
from tracert.training.train import TrainingSettings, train  # noqa: E402

SIZE = 16


class Seeded:
    """An embedder whose vectors are random but fixed by the text."""

    name = "seeded"
    identity = "seeded:1"
    dimension = SIZE

    def embed(self, texts: Sequence[str], *, progress=None) -> np.ndarray:
        rows = [np.random.default_rng(list(text.encode())).normal(size=SIZE) for text in texts]
        matrix = np.array(rows, dtype=np.float32).reshape(-1, SIZE)
        return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "world.jsonl"
    lines = []
    for n in range(60):
        paragraphs = [
            {"title": f"{kind}{n}", "text": f"{kind} of {n}", "is_supporting": kind != "noise"}
            for kind in ("film", "maker", "noise")
        ]
        lines.append(
            {
                "id": str(n),
                "dataset": "musique",
                "question": f"Who made film {n}?",
                "answer": f"maker of {n}",
                "type": "compositional",
                "support_order": [0, 1],
                "paragraphs": paragraphs,
            }
        )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


QUICK = TrainingSettings(epochs=3, patience=3, batch=16, held_out=0.3, learning_rate=1e-2)


def trained(data: Path, out: Path, settings: TrainingSettings = QUICK, **changes):
    return train([data], Seeded(), out, out.parent / "kept", settings, **changes)


def test_the_loss_falls_and_the_file_is_read(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "w.safetensors"
    report = trained(data, out)
    (history,) = report.history
    losses = [epoch.loss for epoch in history[1:]]
    assert losses[-1] < losses[0]
    assert report.hops == report.questions == 60 - report.held_out
    assert report.passages == 180
    model = load(out)
    assert model.dimension == SIZE
    with safe_open(out, framework="numpy") as file:
        assert file.metadata()["embedder"] == "seeded:1"
        assert {str(file.get_tensor(name).dtype) for name in file.keys()} == {"float16"}  # noqa: SIM118
    assert not out.with_suffix(".checkpoint").exists()


def test_the_weights_before_training_are_the_forget_rule() -> None:
    # The value maps start at zero and the softmax all but uniform, so that only the small first
    # numbers of the query and key maps move the query off the rule.
    torch.manual_seed(0)
    gates = LightGates(SIZE, 0.3, None, 0.5)
    q, c = Seeded().embed(["a", "b"]), Seeded().embed(["c", "d"])
    model = model_of(gates.tensors(), {"gamma": "0.3"}, "start")
    rule = ForgetRule(0.3).moves(q, c).applied(q)
    np.testing.assert_allclose(model.moves(q, c).applied(q), rule, atol=5e-3)


@pytest.mark.parametrize("rank", [None, 0, 4])
def test_what_is_trained_is_what_is_run(rank: int | None) -> None:
    torch.manual_seed(1)
    gates = LightGates(SIZE, 0.2, rank, 0.5).eval()
    with torch.no_grad():
        for parameter in gates.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.5)
    q, c = Seeded().embed(["a", "b"]), Seeded().embed(["c", "d"])
    with torch.no_grad():
        expected = gates(torch.from_numpy(q), torch.from_numpy(c)).numpy()
    model = model_of(gates.tensors(), {"gamma": "0.2"}, "light")
    np.testing.assert_allclose(model.moves(q, c).applied(q), expected, atol=1e-5)


def test_a_seed_repeats(data: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.safetensors" for name in "abc"]
    for file in files[:2]:
        trained(data, file)
    trained(data, files[2], TrainingSettings(**{**values(QUICK), "seed": 1}))
    first, again, other = (load_file(file) for file in files)
    assert same(first, again)
    assert not same(first, other)


def same(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


def values(settings: TrainingSettings) -> dict:
    return {name: getattr(settings, name) for name in TrainingSettings.__dataclass_fields__}


def test_a_resumed_run_equals_one_that_was_not_stopped(data: Path, tmp_path: Path) -> None:
    whole, stopped = tmp_path / "whole.safetensors", tmp_path / "stopped.safetensors"
    settings = TrainingSettings(**{**values(QUICK), "models": 2})
    report = trained(data, whole, settings)

    class Stopped(Exception):
        pass

    def stop(line: str) -> None:
        if line.startswith("model 2 of 2, epoch 1"):
            raise Stopped

    with pytest.raises(Stopped):
        trained(data, stopped, settings, on_progress=stop)
    assert not stopped.exists()
    lines: list[str] = []
    resumed = trained(data, stopped, settings, resume=True, on_progress=lines.append)
    assert same(load_file(stopped), load_file(whole))
    assert [len(history) for history in resumed.history] == [len(h) for h in report.history]
    assert not any(line.startswith("model 1 of 2") for line in lines)


def test_a_checkpoint_of_another_run_is_refused(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "w.safetensors"

    class Stopped(Exception):
        pass

    def stop(line: str) -> None:
        if "epoch 1" in line:
            raise Stopped

    with pytest.raises(Stopped):
        trained(data, out, on_progress=stop)
    other = TrainingSettings(**{**values(QUICK), "temperature": 0.5})
    with pytest.raises(SettingError, match="other data or settings"):
        trained(data, out, other, resume=True)


def test_training_stops_when_nothing_is_gained(data: Path, tmp_path: Path) -> None:
    # At a learning rate of all but zero no epoch beats the start, so patience ends it.
    settings = TrainingSettings(
        **{**values(QUICK), "epochs": 9, "patience": 2, "learning_rate": 1e-12}
    )
    (history,) = trained(data, tmp_path / "w.safetensors", settings).history
    assert len(history) - 1 <= 4


def test_logical_distractors_weigh_in_the_loss(data: Path, tmp_path: Path) -> None:
    # A weight above 1 adds to the sum that the positive is set against: the loss is larger.
    plain = trained(data, tmp_path / "a.safetensors").history[0][1].loss
    settings = TrainingSettings(**{**values(QUICK), "logical": 5.0})
    assert trained(data, tmp_path / "b.safetensors", settings).history[0][1].loss > plain


def test_what_cannot_be_trained(data: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"\.safetensors"):
        trained(data, tmp_path / "w.pt")
    with pytest.raises(SettingError, match="temperature=0"):
        TrainingSettings(temperature=0)
    flat = tmp_path / "flat.jsonl"
    flat.write_text(data.read_text().replace("compositional", "comparison"))
    with pytest.raises(DatasetError, match="No hop"):
        trained(flat, tmp_path / "w.safetensors")


def test_the_command_line(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "w.safetensors"
    arguments = ["train-treehop", str(data), "--embedder", "wordllama", "--out", str(out)]
    assert main([*arguments, "--epochs", "1", "--rank", "0", "--json"]) == 0
    report = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert report["history"][0][0]["loss"] is None
    assert report["schema"] == "tracert.training/1"
    assert report["settings"]["rank"] == 0
    assert out.is_file()
    card = out.with_suffix(".md").read_text(encoding="utf-8")
    assert "MuSiQue: CC-BY-4.0" in card
    assert f"{report['hops']} hops of {report['questions']} questions" in card
    assert "forget rule" in card
    assert "kept all the same (shortcuts: True): the passage in hand" in card
    assert main([*arguments, "--epochs", "1", "--rank", "0", "--no-shortcuts"]) == 0
    card = out.with_suffix(".md").read_text(encoding="utf-8")
    assert "- 0: the passage in hand holds the last answer already" in card
