"""TreeHop's query update in NumPy: the gates as published, and the forget rule alone.

    next = norm(q - Forget(q, c) + Update(q, c))                                     (TreeHop)

where q is the query's vector, c the chunk's, both of shape (batch, d), and norm divides by the
length. Li et al., 'TreeHop: Generate and Filter Next Query Embeddings Efficiently for
Multi-hop Question Answering', 2025. No matrix is written here: sizes, heads, blocks and layers
follow from the tensors (see `tracert.methods.treehop.weights`).

An attention head takes the softmax over the g components, since a frozen encoder gives one
vector a text and there are no tokens to attend to:

    Q = W_Q q + b,  K = W_K c + b,  V = W_V v + b         each (batch, g)
    w = softmax(Q * K)                                    element-wise product
    a = w * V
    out = W_S M(a) + a

where M is a linear layer if the widths differ, then residual blocks x + relu(W layernorm(x) + b).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

Batch = npt.NDArray[np.float32]

#: PyTorch's default in a layer norm; the published checkpoints were trained with it.
_LAYER_NORM_EPS: Final = np.float32(1e-5)
#: PyTorch's default in an rms norm without a stated one: the machine's for float32.
_RMS_EPS: Final = np.finfo(np.float32).eps


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """What the gates take from the query and add to it, each of shape (batch, d)."""

    forget: Batch
    update: Batch

    def applied(self, q: Batch) -> Batch:
        """The next queries, q - forget + update at length 1, shape (batch, d).

        A difference of length zero has no direction: the query stays as it is.
        """
        moved = q - self.forget + self.update
        length = np.linalg.norm(moved, axis=1, keepdims=True)
        return np.where(length > 0, moved / np.where(length > 0, length, 1), q).astype(np.float32)


class QueryModel(Protocol):
    """What makes a next query from a query and a chunk. Instances are read-only and shared."""

    @property
    def name(self) -> str:
        """What the trace calls it."""
        ...

    @property
    def dimension(self) -> int | None:
        """The length of its vectors, None where it takes any."""
        ...

    def moves(self, q: Batch, c: Batch) -> Moves:
        """What is forgotten and what is added, for each pair of rows."""
        ...


@dataclass(frozen=True, slots=True)
class ForgetRule:
    """The update without training: next = norm(c - gamma q).

    Forget(q, c) = (1 + gamma) q and Update(q, c) = c: all of the question that was asked, and
    a little more, is taken, and all of the chunk is brought. Trained gates start here and have
    to beat it.
    """

    gamma: float = 0.3

    @property
    def name(self) -> str:
        """The rule with its weight."""
        return f"forget rule (gamma {self.gamma:g})"

    @property
    def dimension(self) -> int | None:
        """None: it takes vectors of any length."""
        return None

    def moves(self, q: Batch, c: Batch) -> Moves:
        """(1 + gamma) q is forgotten, c is added."""
        return Moves(np.float32(1.0 + self.gamma) * q, c)


# --- the parts ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """x W^T + b with `weight` of shape (out, in) and `bias` of shape (out,) or None."""

    weight: Batch
    bias: Batch | None = None

    def __call__(self, x: Batch) -> Batch:
        """(batch, in) to (batch, out)."""
        product = x @ self.weight.T
        return product if self.bias is None else product + self.bias


@dataclass(frozen=True, slots=True, eq=False)
class LowRank:
    """scale x + (x D^T) U^T + b with `down` (r, d), `up` (d, r): a full matrix in 2 r d numbers."""

    down: Batch
    up: Batch
    scale: float = 0.0
    bias: Batch | None = None

    def __call__(self, x: Batch) -> Batch:
        """(batch, d) to (batch, d)."""
        product = (x @ self.down.T) @ self.up.T + np.float32(self.scale) * x
        return product if self.bias is None else product + self.bias


@dataclass(frozen=True, slots=True, eq=False)
class Diagonal:
    """x * weight + b with `weight` of shape (d,): each component on its own."""

    weight: Batch
    bias: Batch | None = None

    def __call__(self, x: Batch) -> Batch:
        """(batch, d) to (batch, d)."""
        product = x * self.weight
        return product if self.bias is None else product + self.bias


#: A linear map of one of the three forms.
Map = Callable[[Batch], Batch]


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A residual block: x + relu(W layernorm(x) + b)."""

    linear: Linear
    norm_weight: Batch
    norm_bias: Batch

    def __call__(self, x: Batch) -> Batch:
        """(batch, m) to (batch, m)."""
        centred = x - x.mean(axis=1, keepdims=True)
        variance = np.square(centred).mean(axis=1, keepdims=True)
        normed = centred / np.sqrt(variance + _LAYER_NORM_EPS)
        return x + np.maximum(self.linear(normed * self.norm_weight + self.norm_bias), 0)


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """One attention head; see the module's docstring.

    `scaled` divides Q * K by sqrt(g) first, as version 1 does. `mlp` are M's layers.
    """

    query: Map
    key: Map
    value: Map
    mlp: tuple[Callable[[Batch], Batch], ...]
    mlp_scale: Linear | None
    scaled: bool

    def __call__(self, q: Batch, c: Batch, v: Batch) -> Batch:
        """Three of (batch, d) to (batch, g)."""
        product = self.query(q) * self.key(c)
        if self.scaled:
            product /= np.float32(np.sqrt(product.shape[1]))
        a = _softmax(product) * self.value(v)
        if self.mlp_scale is None:
            return a
        x = a
        for layer in self.mlp:
            x = layer(x)
        return self.mlp_scale(x) + a


@dataclass(frozen=True, slots=True, eq=False)
class GateLayer:
    """The heads' outs side by side, times softmax(G m + b), and their projection P."""

    heads: tuple[Head, ...]
    gate: Linear
    projection: Linear

    def __call__(self, q: Batch, c: Batch, v: Batch) -> Batch:
        """Three of (batch, d) to (batch, d)."""
        m = np.concatenate([head(q, c, v) for head in self.heads], axis=1)
        return self.projection(m * _softmax(self.gate(m)))


@dataclass(frozen=True, slots=True, eq=False)
class Gate:
    """A stack: x_0 = P_0 m_0(q, c, v), x_l = x_(l-1) + P_l m_l(rmsnorm(x_(l-1)), c, v).

    `norms[l]` is the weight (d,) of the norm that stands before layer l + 1.
    """

    layers: tuple[GateLayer, ...]
    norms: tuple[Batch, ...]

    def __call__(self, q: Batch, c: Batch, v: Batch) -> Batch:
        """Three of (batch, d) to (batch, d)."""
        x = self.layers[0](q, c, v)
        for layer, norm in zip(self.layers[1:], self.norms, strict=True):
            x = x + layer(_rms_norm(x, norm), c, v)
        return x


# --- the models ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Version1:
    """The published 1024-d checkpoint: next = norm(q - c + P [heads' outs]), v = c.

    Its Forget is c itself, which is taken from the query untouched; its Update is the
    projection of the heads.
    """

    name: str
    dimension: int
    heads: tuple[Head, ...]
    projection: Linear

    def moves(self, q: Batch, c: Batch) -> Moves:
        """The chunk is forgotten, the projected heads are added."""
        outs = np.concatenate([head(q, c, c) for head in self.heads], axis=1)
        return Moves(c, self.projection(outs))


@dataclass(frozen=True, slots=True, eq=False)
class Version2:
    """The seed: next = norm(q - Forget(q, c) + Update(q, c)); Update's v is c, Forget's is q."""

    name: str
    dimension: int
    forget: Gate
    update: Gate

    def moves(self, q: Batch, c: Batch) -> Moves:
        """Both gates' outputs."""
        return Moves(self.forget(q, c, q), self.update(q, c, c))


@dataclass(frozen=True, slots=True, eq=False)
class Light:
    """One head a gate, no blocks, started at the forget rule (the version of this project).

    A gate is d * softmax(Q * K) * V with V = s v + W_V v + b, where the maps are full, of low
    rank or diagonal and s is 1 + gamma for Forget and 1 for Update. With all trained numbers at
    zero the softmax is uniform, d * softmax is 1 and next = norm(c - gamma q): the forget
    rule. Small embedders and two thousand questions do not carry the published sizes.
    """

    name: str
    dimension: int
    forget: Head
    update: Head

    def moves(self, q: Batch, c: Batch) -> Moves:
        """Both gates' outputs, scaled by d."""
        d = np.float32(self.dimension)
        return Moves(d * self.forget(q, c, q), d * self.update(q, c, c))


def _softmax(x: Batch) -> Batch:
    """Over the last axis; the largest is taken off first, so that no exponential overflows."""
    powers: Batch = np.exp(x - x.max(axis=-1, keepdims=True))
    powers /= powers.sum(axis=-1, keepdims=True)
    return powers


def _rms_norm(x: Batch, weight: Batch) -> Batch:
    normed: Batch = x / np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + _RMS_EPS) * weight
    return normed
