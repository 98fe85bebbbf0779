"""Reading TreeHop's weights: sizes, heads, blocks, layers and version follow from the tensors.

Three families, told by `architecture` in the file's metadata ('version1', 'version2', 'light') or,
as in the published files, which have none, by the names of the tensors (`node.` may be missing):

- version 1: `node.update_gate.heads.H.{W_Q,W_K,W_V,mlp_scale}.{weight,bias}`,
  `...heads.H.mlp.layers.N.{weight,bias}` (linear) or `.{linear,layer_norm}.{weight,bias}`
  (a residual block), `node.update_attn_scale.weight`;
- version 2: `node.{update_gate,forget_gate}.layers.L.heads.H...`, `.layers.L.gate_layer`,
  `.projections.L.weight`, `.norms.L.weight`;
- light: `node.{update_gate,forget_gate}.{query,key,value}.{weight | down, up}` and `.bias`, with
  `gamma` in the file's metadata. A `weight` of one axis is a diagonal.

The metadata of a shipped file also names the embedder that it was trained for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from tracert.errors import SettingError
from tracert.methods.treehop.gates import (
    Batch,
    Block,
    Diagonal,
    Gate,
    GateLayer,
    Head,
    Light,
    Linear,
    LowRank,
    Map,
    QueryModel,
    Version1,
    Version2,
)

Tensors = Mapping[str, Batch]

FOLDER: Final = Path(__file__).parent / "weights"
#: Embedders of one space share one file.
_SHIPPED: Final = {
    "wordllama": "wordllama.safetensors",
    "minilm": "minilm.safetensors",
    "minilm-int8": "minilm.safetensors",
}
_VERSION_1: Final = "version1"
_VERSION_2: Final = "version2"
_LIGHT: Final = "light"
#: A tensor that only files of this architecture have.
_TOLD_BY: Final = {
    _VERSION_1: "update_attn_scale.weight",
    _VERSION_2: "update_gate.projections.0.weight",
    _LIGHT: "update_gate.query.bias",
}
#: A file larger than this is refused before it is read; the published one has under 100 MB.
_MAX_BYTES: Final = 2_000_000_000
#: Far beyond any use; above it float32 overflows in the first product.
_MAX_GAMMA: Final = 1e6


def shipped(embedder: str) -> Path | None:
    """The file of weights that comes with the package for an embedder's name, if there is one."""
    name = _SHIPPED.get(embedder)
    path = FOLDER / name if name else None
    return path if path is not None and path.is_file() else None


def load(path: Path) -> QueryModel:
    """The model in a `.safetensors` file or, where torch is installed, a `.pt` file.

    A file is read once and kept until it changes.

    Raises:
        SettingError: there is no such file, it cannot be read, or it holds no TreeHop model.
    """
    path = path.expanduser()
    try:
        state = path.stat()
    except (OSError, ValueError):  # ValueError: a null byte in the path
        raise SettingError(
            f"There is no file of weights at {path}. Name a .safetensors file, or model=auto."
        ) from None
    if state.st_size > _MAX_BYTES:
        raise SettingError(f"{path.name} has {state.st_size / 1e9:.1f} GB; at most 2 are read.")
    return _load(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _load(path: Path, _changed: int, _size: int) -> QueryModel:
    if path.suffix == ".safetensors":
        tensors, metadata = _read_safetensors(path)
    elif path.suffix in {".pt", ".pth", ".bin"}:
        tensors, metadata = _read_torch(path), {}
    else:
        raise SettingError(f"{path.name} is no file of weights. Supported: .safetensors, .pt.")
    return model_of(tensors, metadata, path.stem)


def _read_safetensors(path: Path) -> tuple[Tensors, dict[str, str]]:
    from safetensors import SafetensorError, deserialize, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            metadata = dict(file.metadata() or {})
            names = list(file.keys())
            if any(file.get_slice(name).get_dtype() == "BF16" for name in names):
                read = deserialize(path.read_bytes())  # type: ignore[no-untyped-call]
                return {name: _plain(name, tensor) for name, tensor in read}, metadata
            return {
                name: np.asarray(file.get_tensor(name), dtype=np.float32) for name in names
            }, metadata
    except (SafetensorError, OSError, ValueError, TypeError) as error:
        raise SettingError(
            f"{path.name} cannot be read as safetensors ({error}). Download it again."
        ) from error


def _plain(name: str, tensor: Mapping[str, Any]) -> Batch:
    """A tensor of a file with bfloat16 in it, which NumPy lacks: the upper half of a float32."""
    shape, data = tensor["shape"], tensor["data"]
    if tensor["dtype"] == "BF16":
        upper = np.frombuffer(data, dtype="<u2").astype(np.uint32)
        return (upper << 16).view(np.float32).reshape(shape)
    kind = {"F16": "<f2", "F32": "<f4", "F64": "<f8"}.get(tensor["dtype"])
    if kind is None:
        raise ValueError(f"{name} is of {tensor['dtype']}")
    return np.frombuffer(data, dtype=kind).astype(np.float32).reshape(shape)


def _read_torch(path: Path) -> Tensors:
    try:
        import torch
    except ImportError:
        raise SettingError(
            f"{path.name} needs torch to be read. Run pip install -r requirements-train.txt, "
            "or use a .safetensors file."
        ) from None
    import pickle
    import warnings

    try:
        # weights_only: a pickle that holds anything but tensors is refused, not run.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            state = torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, OSError, EOFError, ValueError, LookupError, pickle.PickleError) as error:
        raise SettingError(
            f"{path.name} is no file of weights alone. Save the model's state_dict."
        ) from error
    if isinstance(state, dict) and isinstance(state.get("state_dict"), dict):
        state = state["state_dict"]
    if not isinstance(state, dict):
        raise SettingError(f"{path.name} holds no state_dict. Save the model's state_dict.")
    try:
        return {
            str(name): tensor.detach().to(torch.float32).numpy()
            for name, tensor in state.items()
            if isinstance(tensor, torch.Tensor)
        }
    except (TypeError, RuntimeError) as error:
        raise SettingError(
            f"{path.name} holds tensors that are no plain numbers ({error}). Save them dense."
        ) from error


def model_of(tensors: Tensors, metadata: Mapping[str, str], name: str) -> QueryModel:
    """The model that these tensors are.

    Raises:
        SettingError: they are no TreeHop model, or their shapes do not fit each other.
    """
    tree = _Tensors({key.removeprefix("node."): value for key, value in tensors.items()}, name)
    if not all(np.isfinite(value).all() for value in tree.tensors.values()):
        raise SettingError(f"{name} holds numbers that are not finite. Train or download it again.")
    architecture = metadata.get("architecture") or _told_by_tensors(tree, name)
    if architecture == _VERSION_1:
        model: QueryModel = _version1(tree, name)
    elif architecture == _VERSION_2:
        model = _version2(tree, name)
    elif architecture == _LIGHT:
        model = _light(tree, metadata, name)
    else:
        raise SettingError(
            f"{name} is of the architecture {architecture!r}. Known: {', '.join(_TOLD_BY)}."
        )
    _try(model, name)
    return model


def _told_by_tensors(tree: _Tensors, name: str) -> str:
    """The first architecture whose tensor is there."""
    for architecture, tensor in _TOLD_BY.items():
        if tensor in tree:
            return architecture
    raise SettingError(
        f"{name} holds no TreeHop model: it has no tensor node."
        + ", node.".join(f"{tensor} ({kind})" for kind, tensor in _TOLD_BY.items())
        + "."
    )


def _try(model: QueryModel, name: str) -> None:
    """Shapes that do not fit and numbers that are too large show on one pair of vectors."""
    probe = np.ones((1, model.dimension or 1), np.float32)
    probe /= np.float32(np.sqrt(probe.size))
    try:
        with np.errstate(all="ignore"):
            moves = model.moves(probe, probe)
    except ValueError as error:
        raise SettingError(
            f"The tensors of {name} do not fit each other ({error}). Download it again."
        ) from error
    if moves.forget.shape != probe.shape or moves.update.shape != probe.shape:
        raise SettingError(f"The tensors of {name} do not fit each other. Download it again.")
    if not (np.isfinite(moves.forget).all() and np.isfinite(moves.update).all()):
        raise SettingError(f"The numbers of {name} are too large. Train or download it again.")


class _Tensors:
    """The tensors by name, with errors that name what is missing."""

    def __init__(self, tensors: Tensors, file: str) -> None:
        self.tensors = tensors
        self._file = file

    def __contains__(self, name: str) -> bool:
        return name in self.tensors

    def get(self, name: str, axes: int) -> Batch:
        tensor = self.tensors.get(name)
        if tensor is None or tensor.ndim != axes:
            raise SettingError(
                f"{self._file} lacks the tensor {name} with {axes} axes. Download it again."
            )
        return tensor

    def linear(self, prefix: str) -> Linear:
        return Linear(self.get(f"{prefix}.weight", 2), self.bias(prefix))

    def bias(self, prefix: str) -> Batch | None:
        name = f"{prefix}.bias"
        return self.get(name, 1) if name in self else None

    def numbers(self, prefix: str) -> range:
        """How many `prefix.0`, `prefix.1`, ... there are.

        Raises:
            SettingError: a number is left out.
        """
        pattern = re.compile(re.escape(prefix) + r"\.(\d+)\.")
        found = {int(match[1]) for name in self.tensors if (match := pattern.match(name))}
        if found != set(range(len(found))):
            raise SettingError(f"{self._file} leaves out a number of {prefix}. Download it again.")
        return range(len(found))


def _head(tree: _Tensors, prefix: str, *, scaled: bool) -> Head:
    blocks: list[Callable[[Batch], Batch]] = []
    for number in tree.numbers(f"{prefix}.mlp.layers"):
        layer = f"{prefix}.mlp.layers.{number}"
        if f"{layer}.linear.weight" in tree:
            norm_weight = tree.get(f"{layer}.layer_norm.weight", 1)
            norm_bias = tree.bias(f"{layer}.layer_norm")
            blocks.append(
                Block(
                    tree.linear(f"{layer}.linear"),
                    norm_weight,
                    np.zeros_like(norm_weight) if norm_bias is None else norm_bias,
                )
            )
        else:
            blocks.append(tree.linear(layer))
    has_mlp = f"{prefix}.mlp_scale.weight" in tree
    return Head(
        query=tree.linear(f"{prefix}.W_Q"),
        key=tree.linear(f"{prefix}.W_K"),
        value=tree.linear(f"{prefix}.W_V"),
        mlp=tuple(blocks),
        mlp_scale=tree.linear(f"{prefix}.mlp_scale") if has_mlp else None,
        scaled=scaled,
    )


def _version1(tree: _Tensors, name: str) -> Version1:
    numbers = tree.numbers("update_gate.heads")
    if not numbers:
        raise SettingError(f"{name} holds no heads of version 1. Download it again.")
    heads = tuple(_head(tree, f"update_gate.heads.{n}", scaled=True) for n in numbers)
    projection = tree.linear("update_attn_scale")
    return Version1(name, projection.weight.shape[0], heads, projection)


def _gate(tree: _Tensors, prefix: str) -> Gate:
    layers = []
    for number in tree.numbers(f"{prefix}.layers"):
        layer = f"{prefix}.layers.{number}"
        heads = tuple(
            _head(tree, f"{layer}.heads.{n}", scaled=False) for n in tree.numbers(f"{layer}.heads")
        )
        if not heads:
            raise SettingError(f"{layer} has no heads. Download the weights again.")
        layers.append(
            GateLayer(
                heads,
                tree.linear(f"{layer}.gate_layer"),
                tree.linear(f"{prefix}.projections.{number}"),
            )
        )
    if not layers:
        raise SettingError(f"{prefix} has no layers. Download the weights again.")
    norms = tuple(tree.get(f"{prefix}.norms.{n}.weight", 1) for n in range(len(layers) - 1))
    return Gate(tuple(layers), norms)


def _version2(tree: _Tensors, name: str) -> Version2:
    forget, update = _gate(tree, "forget_gate"), _gate(tree, "update_gate")
    return Version2(name, update.layers[0].projection.weight.shape[0], forget, update)


def _light(tree: _Tensors, metadata: Mapping[str, str], name: str) -> Light:
    try:
        gamma = float(metadata["gamma"])
    except (KeyError, ValueError):
        gamma = math.nan
    if not abs(gamma) <= _MAX_GAMMA:
        raise SettingError(
            f"{name} has no usable gamma in its metadata. Train or download it again."
        )
    dimension = len(tree.get("update_gate.query.bias", 1))
    return Light(
        name,
        dimension,
        forget=_light_head(tree, "forget_gate", 1.0 + gamma),
        update=_light_head(tree, "update_gate", 1.0),
    )


def _light_head(tree: _Tensors, prefix: str, scale: float) -> Head:
    return Head(
        query=_light_map(tree, f"{prefix}.query", 0.0),
        key=_light_map(tree, f"{prefix}.key", 0.0),
        value=_light_map(tree, f"{prefix}.value", scale),
        mlp=(),
        mlp_scale=None,
        scaled=False,
    )


def _light_map(tree: _Tensors, prefix: str, scale: float) -> Map:
    """The map scale x + W x + b; W full, of low rank or diagonal."""
    bias = tree.get(f"{prefix}.bias", 1)
    if f"{prefix}.down" in tree:
        return LowRank(tree.get(f"{prefix}.down", 2), tree.get(f"{prefix}.up", 2), scale, bias)
    weight = tree.tensors.get(f"{prefix}.weight")
    if weight is None or weight.ndim not in (1, 2):
        raise SettingError(f"The weights lack the tensor {prefix}.weight. Download them again.")
    if weight.ndim == 1:
        return Diagonal(weight + np.float32(scale), bias)
    return Linear(weight + np.float32(scale) * np.eye(*weight.shape, dtype=np.float32), bias)
