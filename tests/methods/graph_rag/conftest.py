"""What all tests of Graph RAG do: no graph of an earlier test is in memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tracert.methods.graph_rag.index import forget_graphs


@pytest.fixture(autouse=True)
def _nothing_in_memory() -> Iterator[None]:
    forget_graphs()
    yield
    forget_graphs()
