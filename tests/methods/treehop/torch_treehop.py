"""TreeHop's formulas in PyTorch, written from the paper's equations alone, for the tests.

Nothing of `tracert` is imported: modules are named so that their state dicts are the tensors of
the published files.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn


class ResidualBlock(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.layer_norm = nn.LayerNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        return x + torch.relu(self.linear(self.layer_norm(x)))


class Mlp(nn.Module):
    def __init__(self, size: int, width: int, blocks: int) -> None:
        super().__init__()
        first = [nn.Linear(size, width)] if size != width else []
        self.layers = nn.ModuleList([*first, *(ResidualBlock(width) for _ in range(blocks))])

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class Head(nn.Module):
    def __init__(self, d: int, g: int, width: int, blocks: int, scaled: bool) -> None:
        super().__init__()
        self.W_Q, self.W_K, self.W_V = nn.Linear(d, g), nn.Linear(d, g), nn.Linear(d, g)
        self.mlp = Mlp(g, width, blocks)
        self.mlp_scale = nn.Linear(width, g)
        self.scaled = scaled

    def forward(self, q: Tensor, c: Tensor, v: Tensor) -> Tensor:
        product = self.W_Q(q) * self.W_K(c)
        if self.scaled:
            product = product / product.shape[-1] ** 0.5
        a = torch.softmax(product, dim=-1) * self.W_V(v)
        return self.mlp_scale(self.mlp(a)) + a


class Heads(nn.Module):
    def __init__(self, heads: list[Head]) -> None:
        super().__init__()
        self.heads = nn.ModuleList(heads)

    def forward(self, q: Tensor, c: Tensor, v: Tensor) -> Tensor:
        return torch.cat([head(q, c, v) for head in self.heads], dim=-1)


class Version1(nn.Module):
    def __init__(self, d: int, g: int, heads: int, width: int, blocks: int) -> None:
        super().__init__()
        self.update_gate = Heads([Head(d, g, width, blocks, True) for _ in range(heads)])
        self.update_attn_scale = nn.Linear(heads * g, d, bias=False)

    def forward(self, q: Tensor, c: Tensor) -> Tensor:
        moved = q - c + self.update_attn_scale(self.update_gate(q, c, c))
        return nn.functional.normalize(moved, dim=-1)


class GateLayer(Heads):
    def __init__(self, heads: list[Head], width: int) -> None:
        super().__init__(heads)
        self.gate_layer = nn.Linear(width, width)

    def forward(self, q: Tensor, c: Tensor, v: Tensor) -> Tensor:
        m = super().forward(q, c, v)
        return m * torch.softmax(self.gate_layer(m), dim=-1)


class Gate(nn.Module):
    def __init__(self, d: int, g: int, heads: int, width: int, blocks: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            GateLayer([Head(d, g, width, blocks, False) for _ in range(heads)], heads * g)
            for _ in range(layers)
        )
        self.projections = nn.ModuleList(nn.Linear(heads * g, d, bias=False) for _ in range(layers))
        self.norms = nn.ModuleList(nn.RMSNorm(d) for _ in range(layers - 1))

    def forward(self, q: Tensor, c: Tensor, v: Tensor) -> Tensor:
        x = self.projections[0](self.layers[0](q, c, v))
        for layer, projection, norm in zip(
            self.layers[1:], self.projections[1:], self.norms, strict=True
        ):
            x = x + projection(layer(norm(x), c, v))
        return x


class Version2(nn.Module):
    def __init__(self, d: int, g: int, heads: int, width: int, blocks: int, layers: int) -> None:
        super().__init__()
        self.update_gate = Gate(d, g, heads, width, blocks, layers)
        self.forget_gate = Gate(d, g, heads, width, blocks, layers)

    def forward(self, q: Tensor, c: Tensor) -> Tensor:
        moved = q - self.forget_gate(q, c, q) + self.update_gate(q, c, c)
        return nn.functional.normalize(moved, dim=-1)


class LightGate(nn.Module):
    """d softmax((W_Q q + b) * (W_K c + b)) * (s v + W_V v + b); maps full, low rank, diagonal."""

    def __init__(self, d: int, scale: float, rank: int | None, diagonal: bool) -> None:
        super().__init__()
        self.scale = scale
        for name in ("query", "key", "value"):
            part = nn.Module()
            part.bias = nn.Parameter(torch.randn(d) * 0.1)
            if diagonal:
                part.weight = nn.Parameter(torch.randn(d))
            elif rank is not None:
                part.down = nn.Parameter(torch.randn(rank, d) / d**0.5)
                part.up = nn.Parameter(torch.randn(d, rank))
            else:
                part.weight = nn.Parameter(torch.randn(d, d) / d**0.5)
            self.add_module(name, part)

    def map(self, name: str, x: Tensor) -> Tensor:
        part = getattr(self, name)
        if hasattr(part, "down"):
            return x @ (part.up @ part.down).T + part.bias
        weight = torch.diag(part.weight) if part.weight.ndim == 1 else part.weight
        return x @ weight.T + part.bias

    def forward(self, q: Tensor, c: Tensor, v: Tensor) -> Tensor:
        w = torch.softmax(self.map("query", q) * self.map("key", c), dim=-1)
        return q.shape[-1] * w * (self.scale * v + self.map("value", v))


class Light(nn.Module):
    def __init__(self, d: int, gamma: float, rank: int | None, diagonal: bool) -> None:
        super().__init__()
        self.update_gate = LightGate(d, 1.0, rank, diagonal)
        self.forget_gate = LightGate(d, 1.0 + gamma, rank, diagonal)

    def forward(self, q: Tensor, c: Tensor) -> Tensor:
        moved = q - self.forget_gate(q, c, q) + self.update_gate(q, c, c)
        return nn.functional.normalize(moved, dim=-1)
