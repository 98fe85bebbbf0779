"""TreeHop's benchmark: that it measures what it says. No figure is judged here."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tracert.bench_treehop import DIMENSION, in_words, measure, random_tensors, torch_forward
from tracert.methods.treehop.weights import model_of


def test_all_figures_are_there() -> None:
    speed = measure(small=200, large=300, runs=1)
    assert [(each.passages, each.batch > 1) for each in speed.searches] == [
        (200, True),
        (200, False),
        (300, False),
    ]
    assert all(each.milliseconds > 0 and each.products > 0 for each in speed.searches)
    json.dumps(speed.to_dict(), allow_nan=False)
    assert "200 passages, alone" in in_words(speed)


def test_pytorchs_forward_is_of_the_same_gates() -> None:
    pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    tensors = random_tensors(rng)
    q, c = (rng.normal(size=(3, DIMENSION)).astype(np.float32) for _ in range(2))
    forward = torch_forward(tensors, q, c)
    assert forward is not None
    ours = model_of(tensors, {"gamma": "0.3"}, "test").moves(q, c).applied(q)
    np.testing.assert_allclose(forward().numpy(), ours, atol=1e-5)
