"""The light gates of `tracert.methods.treehop.gates.Light` in PyTorch, for training alone."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

#: Size of the first random numbers of the query and key maps. Their product is what the softmax
#: sees, so one of them at zero would get no gradient; the value maps start at zero, so that
#: training starts at the forget rule itself and not near it.
_START: Final = 0.02


class Affine(nn.Module):
    """W x + b: `rank` None is a full matrix, 0 a diagonal, else that low rank."""

    def __init__(self, size: int, rank: int | None, start: float) -> None:
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(size))
        if rank is None:
            self.weight = nn.Parameter(torch.randn(size, size) * start)
        elif rank == 0:
            self.weight = nn.Parameter(torch.randn(size) * start)
        else:
            self.down = nn.Parameter(torch.randn(rank, size) / math.sqrt(size))
            self.up = nn.Parameter(torch.randn(size, rank) * start)
        self._low = bool(rank)

    def forward(self, x: Tensor) -> Tensor:
        """(batch, d) to (batch, d)."""
        if self._low:
            return (x @ self.down.T) @ self.up.T + self.bias
        if self.weight.ndim == 1:
            return x * self.weight + self.bias
        return x @ self.weight.T + self.bias


class LightGate(nn.Module):
    """d * softmax((W_Q q + b) * (W_K c + b)) * (scale v + W_V v + b), with dropout on W_V's v.

    Q * K of unit vectors is of the order 1 / d; training scales it by sqrt(d), so that the
    softmax can leave the uniform within few steps, and `tensors` folds the factor into Q.
    """

    def __init__(self, size: int, scale: float, rank: int | None, dropout: float) -> None:
        super().__init__()
        self.size, self.scale = size, scale
        self.query = Affine(size, rank, _START)
        self.key = Affine(size, rank, _START)
        self.value = Affine(size, rank, 0.0)
        self.dropout = nn.Dropout(dropout)

    def forward(self, q: Tensor, c: Tensor, v: Tensor) -> Tensor:
        """Three of (batch, d) to (batch, d)."""
        product = self.query(q) * self.key(c) * math.sqrt(self.size)
        weights = torch.softmax(product, dim=-1) * self.size
        moved: Tensor = weights * (self.scale * v + self.value(self.dropout(v)))
        return moved


class LightGates(nn.Module):
    """next = norm(q - Forget(q, c) + Update(q, c)), started at the forget rule."""

    def __init__(self, size: int, gamma: float, rank: int | None, dropout: float) -> None:
        super().__init__()
        self.gamma = gamma
        self.forget_gate = LightGate(size, 1.0 + gamma, rank, dropout)
        self.update_gate = LightGate(size, 1.0, rank, dropout)

    def forward(self, q: Tensor, c: Tensor) -> Tensor:
        """Two of (batch, d) to (batch, d), rows at length 1."""
        moved = q - self.forget_gate(q, c, q) + self.update_gate(q, c, c)
        following: Tensor = nn.functional.normalize(moved, dim=-1)
        return following

    def tensors(self) -> dict[str, npt.NDArray[np.float32]]:
        """The tensors of a file of weights, the softmax's factor folded into the query map."""
        out: dict[str, npt.NDArray[np.float32]] = {}
        factor = math.sqrt(self.forget_gate.size)
        for name, value in self.state_dict().items():
            folds = ".query." in name and not name.endswith(".down")
            kept = value * factor if folds else value
            out[f"node.{name}"] = kept.detach().to(torch.float32).numpy().copy()
        return out
