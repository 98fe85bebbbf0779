"""What a method makes of a corpus once: before the first question, so that none pays for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracert.evaluation.evaluate import Run
from tracert.methods.base import parse_settings
from tracert.methods.graph_rag import GraphRag, GraphRagSettings
from tracert.methods.graph_rag.index import Limits, Making, graph_of, is_made

#: Told how much is done, of how much, and of what.
OnMaking = Callable[[int, int, str], None]


def made(
    run: Run,
    on_progress: OnMaking = lambda _done, _of, _what: None,
    stopped: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """Make the graph of graph_rag where it is not there, and say what that cost, whenever it was.

    Returns:
        seconds, calls and tokens; nothing of a method that makes nothing.

    Raises:
        CancelledError: `stopped` said so; what a model has read is kept.
        StoreError: it cannot be saved.
    """
    if run.method.name != GraphRag.name:
        return {}
    settings = parse_settings(GraphRagSettings, run.settings)
    limits = Limits(settings.reading_calls, settings.summary_calls)
    over, folder = run.ground.over, run.ground.folder

    def making(now: Making) -> None:
        on_progress(now.done, now.total, now.stage)

    if not is_made(over, run.model, limits, folder):
        on_progress(0, len(over.ids), "names")
    graph, _ = graph_of(over, run.model, limits, folder, on_progress=making, cancelled=stopped)
    return {
        "seconds": sum(graph.cost.seconds.values()),
        "calls": graph.cost.model_calls,
        "tokens": graph.cost.prompt_tokens + graph.cost.completion_tokens,
    }
