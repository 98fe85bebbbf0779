"""How fast TreeHop is here: the whole search, and its gates beside PyTorch's forward.

The search is `tracert.methods.treehop.retrieve` on random unit vectors with random gates of the
shipped size; what is measured does not depend on what vectors say. Alone is one question a call,
in a batch many; the ratio is to the matrix products of the same search in plain NumPy, which find
the similarities and nothing else. PyTorch's forward is of the same gates written in PyTorch, one
thread each, where torch is installed.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tracert.methods.treehop import TreeHopSettings, retrieve
from tracert.methods.treehop.gates import QueryModel
from tracert.methods.treehop.weights import model_of

SMALL: Final = 7_000
LARGE: Final = 100_000
#: Of MiniLM, the larger of the two shipped sizes.
DIMENSION: Final = 384
BATCH: Final = 64
RUNS: Final = 15
SEED: Final = 7

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Search:
    """Median milliseconds of a question over so many passages.

    `products` are those of the matrix products alone.
    """

    passages: int
    batch: int
    milliseconds: float
    products: float


@dataclass(frozen=True, slots=True)
class Speed:
    """All figures; `gates_torch` is None where torch is not installed. Gates: ms a batch."""

    searches: tuple[Search, ...]
    gates_batch: int
    gates_numpy: float
    gates_torch: float | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def measure(*, small: int = SMALL, large: int = LARGE, runs: int = RUNS) -> Speed:
    """Measure two hops with the settings as they come, k 10."""
    rng = np.random.default_rng(SEED)
    tensors = random_tensors(rng)
    model = model_of(tensors, {"gamma": "0.3"}, "bench")
    searches = []
    for size, batch in ((small, BATCH), (small, 1), (large, 1)):
        matrix = _unit(rng, size)
        searches.append(_search(model, matrix, _unit(rng, batch), runs))
    q, c = _unit(rng, BATCH), _unit(rng, BATCH)
    forward = torch_forward(tensors, q, c)
    return Speed(
        tuple(searches),
        BATCH,
        _median(lambda: model.moves(q, c).applied(q), runs),
        None if forward is None else _median(forward, runs),
    )


def _search(model: QueryModel, matrix: Matrix, questions: Matrix, runs: int) -> Search:
    settings = TreeHopSettings(k=10)
    count = len(questions)

    def products() -> None:
        questions @ matrix.T
        np.repeat(questions, settings.spawn, axis=0) @ matrix.T

    return Search(
        len(matrix),
        count,
        _median(lambda: retrieve(model, questions, matrix, settings), runs) / count,
        _median(products, runs) / count,
    )


def torch_forward(tensors: dict[str, Matrix], q: Matrix, c: Matrix) -> Callable[[], Any] | None:
    """A function that runs the same gates in PyTorch, None without torch."""
    try:
        import torch
    except ImportError:
        return None
    given = {name: torch.from_numpy(tensor) for name, tensor in tensors.items()}
    query, chunk = torch.from_numpy(q), torch.from_numpy(c)

    def linear(name: str, x: Any) -> Any:
        weight, bias = given[f"node.{name}.weight"], given[f"node.{name}.bias"]
        return torch.nn.functional.linear(x, weight, bias)

    def gate(name: str, value: Any, scale: float) -> Any:
        product = linear(f"{name}.query", query) * linear(f"{name}.key", chunk)
        weights = torch.softmax(product, dim=-1) * DIMENSION
        return weights * (scale * value + linear(f"{name}.value", value))

    @torch.inference_mode()
    def forward() -> Any:
        moved = query - gate("forget_gate", query, 1.3) + gate("update_gate", chunk, 1.0)
        return torch.nn.functional.normalize(moved, dim=-1)

    return forward


def random_tensors(rng: np.random.Generator) -> dict[str, Matrix]:
    """Full light gates of the shipped size with random numbers."""
    shapes = {"weight": (DIMENSION, DIMENSION), "bias": (DIMENSION,)}
    return {
        f"node.{gate}.{part}.{kind}": (0.02 * rng.normal(size=shape)).astype(np.float32)
        for gate in ("forget_gate", "update_gate")
        for part in ("query", "key", "value")
        for kind, shape in shapes.items()
    }


def _unit(rng: np.random.Generator, count: int) -> Matrix:
    matrix = rng.normal(size=(count, DIMENSION)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix


def _median(work: Callable[[], object], runs: int) -> float:
    """Milliseconds, after one run that does not count."""
    work()
    spent = []
    for _ in range(runs):
        begun = time.perf_counter()
        work()
        spent.append(time.perf_counter() - begun)
    return statistics.median(spent) * 1e3


def in_words(speed: Speed) -> str:
    """The figures as lines to read."""
    lines = [f"TreeHop, two hops, 10 passages, {DIMENSION} numbers a vector"]
    for search in speed.searches:
        how = "alone" if search.batch == 1 else f"in a batch of {search.batch}"
        lines.append(
            f"  {search.passages:,} passages, {how}: {search.milliseconds:.2f} ms a question "
            f"(its matrix products alone {search.products:.2f})"
        )
    torch = "not installed" if speed.gates_torch is None else f"{speed.gates_torch:.2f} ms"
    lines.append(
        f"  gates of {speed.gates_batch} pairs: {speed.gates_numpy:.2f} ms; in PyTorch {torch}"
    )
    return "\n".join(lines)
