"""The NumPy gates equal an independent PyTorch implementation; degenerate cases by hand."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from tracert.errors import SettingError
from tracert.methods.treehop.gates import ForgetRule, Moves
from tracert.methods.treehop.weights import load, model_of

torch = pytest.importorskip("torch", reason="the independent implementation is in torch")

TOLERANCE = 1e-5


def tensors_of(module) -> dict[str, np.ndarray]:
    return {f"node.{name}": value.numpy() for name, value in module.state_dict().items()}


def pair(d: int, batch: int = 9) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(d)
    q, c = (rng.normal(size=(batch, d)).astype(np.float32) for _ in range(2))
    return q / np.linalg.norm(q, axis=1)[:, None], c / np.linalg.norm(c, axis=1)[:, None]


def agree(module, metadata: dict[str, str] | None = None) -> None:
    d = 24
    q, c = pair(d)
    model = model_of(tensors_of(module), metadata or {}, "test")
    assert model.dimension == d
    with torch.no_grad():
        expected = module(torch.tensor(q), torch.tensor(c)).numpy()
    ours = model.moves(q, c).applied(q)
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours, expected, atol=TOLERANCE)
    np.testing.assert_allclose(np.linalg.norm(ours, axis=1), 1.0, atol=1e-6)


def widened(module):
    """Weights large enough that the softmax is far from uniform, so that it is tested too."""
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if "W_Q" in name or "W_K" in name or "gate_layer" in name:
                parameter.mul_(8)
    return module


@pytest.mark.parametrize("heads", [1, 3])
@pytest.mark.parametrize(("g", "width", "blocks"), [(24, 24, 0), (8, 8, 2), (8, 12, 0), (8, 5, 1)])
def test_version_1_equals_torch(heads: int, g: int, width: int, blocks: int) -> None:
    from tests.methods.treehop.torch_treehop import Version1

    torch.manual_seed(heads + g + width + blocks)
    agree(widened(Version1(24, g, heads, width, blocks)))


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize(("heads", "g", "width", "blocks"), [(1, 24, 24, 0), (2, 8, 12, 2)])
def test_version_2_equals_torch(layers: int, heads: int, g: int, width: int, blocks: int) -> None:
    from tests.methods.treehop.torch_treehop import Version2

    torch.manual_seed(layers + heads)
    agree(widened(Version2(24, g, heads, width, blocks, layers)))


@pytest.mark.parametrize(("rank", "diagonal"), [(None, False), (4, False), (None, True)])
def test_light_equals_torch(rank: int | None, diagonal: bool) -> None:
    from tests.methods.treehop.torch_treehop import Light

    torch.manual_seed(7)
    agree(Light(24, 0.25, rank, diagonal), {"gamma": "0.25"})


def test_light_with_all_trained_numbers_at_zero_is_the_forget_rule() -> None:
    # softmax(0) is 1/d in each component and d * 1/d * (s v) = s v, so that the move is
    # q - (1 + gamma) q + c = c - gamma q.
    d, gamma = 6, 0.4
    zeros = {
        f"node.{gate}.{part}.{kind}": np.zeros((d,) if kind == "bias" else (d, d), np.float32)
        for gate in ("forget_gate", "update_gate")
        for part in ("query", "key", "value")
        for kind in ("weight", "bias")
    }
    q, c = pair(d)
    light = model_of(zeros, {"gamma": str(gamma)}, "zeros").moves(q, c).applied(q)
    expected = c - gamma * q
    expected /= np.linalg.norm(expected, axis=1)[:, None]
    np.testing.assert_allclose(light, expected, atol=1e-6)
    np.testing.assert_allclose(ForgetRule(gamma).moves(q, c).applied(q), expected, atol=1e-6)


def test_a_move_to_nowhere_leaves_the_query() -> None:
    # q - q + 0 = 0 has no direction.
    q = np.array([[0.6, 0.8]], np.float32)
    np.testing.assert_array_equal(Moves(q, np.zeros_like(q)).applied(q), q)


def test_a_pair_does_not_depend_on_its_batch() -> None:
    from tests.methods.treehop.torch_treehop import Version2

    torch.manual_seed(3)
    model = model_of(tensors_of(Version2(24, 8, 2, 12, 1, 2)), {}, "test")
    q, c = pair(24, 5)
    whole = model.moves(q, c).applied(q)
    for row in range(5):
        one = slice(row, row + 1)
        np.testing.assert_allclose(
            model.moves(q[one], c[one]).applied(q[one]), whole[one], atol=1e-6
        )


def test_files_of_both_kinds_are_read(tmp_path: Path) -> None:
    from tests.methods.treehop.torch_treehop import Version1

    torch.manual_seed(5)
    module = Version1(24, 8, 2, 12, 1)
    q, c = pair(24)
    save_file(tensors_of(module), tmp_path / "a.safetensors")
    torch.save(
        {f"node.{key}": value for key, value in module.state_dict().items()}, tmp_path / "b.pt"
    )
    expected = module(torch.tensor(q), torch.tensor(c)).detach().numpy()
    for name in ("a.safetensors", "b.pt"):
        np.testing.assert_allclose(
            load(tmp_path / name).moves(q, c).applied(q), expected, atol=TOLERANCE
        )


def test_a_pickle_with_code_is_refused_and_not_run(tmp_path: Path) -> None:
    import pickle

    class Evil:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "ran",))

    (tmp_path / "evil.pt").write_bytes(pickle.dumps({"node.x": Evil()}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(SettingError, match="weights alone"):
            load(tmp_path / "evil.pt")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.pop("node.update_gate.heads.0.W_Q.weight"), "W_Q.weight"),
        (lambda t: t.pop("node.update_attn_scale.weight"), "no TreeHop model"),
        (
            lambda t: t.update({"node.update_attn_scale.weight": np.zeros((24, 3), np.float32)}),
            "fit",
        ),
        (
            lambda t: t["node.update_gate.heads.1.W_K.bias"].__setitem__(0, np.nan),
            "not finite",
        ),
    ],
)
def test_wrong_tensors_say_what_is_wrong(change, message: str) -> None:
    from tests.methods.treehop.torch_treehop import Version1

    tensors = {key: value.copy() for key, value in tensors_of(Version1(24, 8, 2, 8, 0)).items()}
    change(tensors)
    with pytest.raises(SettingError, match=message):
        model_of(tensors, {}, "test")


def light(**changes: np.ndarray) -> dict[str, np.ndarray]:
    """Light gates of 4 numbers a vector, all at zero, with these tensors in place of theirs."""
    tensors = {}
    for gate, part in itertools.product(("forget", "update"), ("query", "key", "value")):
        tensors[f"node.{gate}_gate.{part}.weight"] = np.zeros((4, 4), np.float32)
        tensors[f"node.{gate}_gate.{part}.bias"] = np.zeros(4, np.float32)
    return {**tensors, **{f"node.{name}": value for name, value in changes.items()}}


@pytest.mark.parametrize("shape", [(4, 5), (5, 4), (6,)])
def test_light_maps_of_a_wrong_shape_are_refused(shape: tuple[int, ...]) -> None:
    tensors = light(**{"update_gate.value.weight": np.zeros(shape, np.float32)})
    with pytest.raises(SettingError, match="do not fit"):
        model_of(tensors, {"gamma": "0.3"}, "test")


def test_the_architecture_is_what_the_metadata_says() -> None:
    told = {"gamma": "0.3", "architecture": "light"}
    assert model_of(light(), told, "test").dimension == 4
    with pytest.raises(SettingError, match=r"architecture 'deep'\. Known: version1"):
        model_of(light(), {**told, "architecture": "deep"}, "test")
    with pytest.raises(SettingError, match="no heads of version 1"):
        model_of(light(), {**told, "architecture": "version1"}, "test")


def test_numbers_beyond_float32_are_refused() -> None:
    for gamma in ("1e60", "inf", "nan", "much"):
        with pytest.raises(SettingError, match="no usable gamma"):
            model_of(light(), {"gamma": gamma}, "test")
    huge = light(**{"update_gate.value.weight": np.full((4, 4), 3e38, np.float32)})
    with pytest.raises(SettingError, match="too large"):
        model_of(huge, {"gamma": "0.3"}, "test")


def test_a_file_in_bfloat16_is_read(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    tensors = {name: torch.from_numpy(value) for name, value in light().items()}
    # -1.5 is exact in the 8 bits of bfloat16's fraction.
    tensors["node.update_gate.value.bias"] = torch.full((4,), -1.5)
    half = {name: tensor.to(torch.bfloat16) for name, tensor in tensors.items()}
    half["node.forget_gate.key.bias"] = torch.zeros(4, dtype=torch.float16)
    save_file(half, tmp_path / "half.safetensors", {"gamma": "0.3"})
    q, c = np.eye(4, dtype=np.float32)[:2]
    moves = load(tmp_path / "half.safetensors").moves(q[None], c[None])
    np.testing.assert_allclose(moves.update[0], c - 1.5, atol=1e-6)


def test_tensors_that_are_no_plain_numbers_are_refused(tmp_path: Path) -> None:
    torch.save({"node.x": torch.zeros(2, 2).to_sparse()}, tmp_path / "sparse.pt")
    with pytest.raises(SettingError, match="no plain numbers"):
        load(tmp_path / "sparse.pt")


def test_a_path_that_no_file_can_have_is_refused() -> None:
    with pytest.raises(SettingError, match="no file of weights at"):
        load(Path("a\0b.safetensors"))


@pytest.mark.parametrize(
    ("name", "content"), [("x.safetensors", b"rubbish"), ("x.pt", b"rubbish"), ("x.npz", b"")]
)
def test_a_file_that_is_none(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(SettingError, match=r"x\."):
        load(path)
    with pytest.raises(SettingError, match="no file of weights at"):
        load(tmp_path / "absent.safetensors")
