"""Opening a trace that may come from anyone: read, checked, and drawn once before it is shown.

`Trace.from_json` checks every type. That all of it can be put into words and pictures is known
only once that was done; so each view is made once here, and what fails becomes a sentence.
"""

from __future__ import annotations

from typing import Final

from tracert.errors import TraceError
from tracert.render.frames import last
from tracert.render.map import figure, ground_of
from tracert.render.network import payload
from tracert.render.notes import of_notes, tree_payload
from tracert.render.tables import candidate_rows, path_in_words, path_rows
from tracert.render.words import words_for
from tracert.trace import NodeKind, Trace

#: A run is begun by one question and goes to one goal at most.
_ONE = (NodeKind.QUERY, NodeKind.GOAL)
#: Steps times candidates in all, by which the time of drawing grows; beyond it a file would keep
#: the app busy for minutes.
MOST_WORK: Final = 2_000_000


def open_trace(data: str | bytes) -> Trace:
    """The trace in a file's content, sure to be shown.

    Raises:
        TraceError: it is no trace, is damaged, too large, of another version, of a method
            unknown here, or says what no run can have done.
    """
    trace = Trace.from_json(data)
    words = words_for(trace.method)
    for kind in _ONE:
        if sum(node.kind is kind for node in trace.nodes) > 1:
            raise TraceError(f"The trace has more than one {kind.value}. Save it again.")
    candidates = sum(len(step.candidates) for step in trace.steps)
    if len(trace.steps) * candidates > MOST_WORK:
        raise TraceError(
            f"The trace has {len(trace.steps):,} steps with {candidates:,} candidates, more than "
            "can be drawn. Save the run again with fewer candidates a step."
        )
    try:
        made = payload(trace)
        if of_notes(trace):
            tree_payload(trace, made)
        path_in_words(trace, words)
        path_rows(trace)
        for index in range(last(trace) + 1):
            candidate_rows(trace, index, words)
        if trace.map is not None:
            figure(trace, last(trace), ground=ground_of(trace))
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise TraceError(
            "The trace says what no run of this method can have done, so it cannot be shown. Save "
            "it again from the page or with 'ask --json'."
        ) from None
    return trace
