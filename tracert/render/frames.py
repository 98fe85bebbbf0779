"""The frames of a trace: what a player shows at each position of its slider.

Frame 0 is the opening, before the first move; frame k is step k - 1, taken. A trace without
steps has its opening alone. Every view asks here, so that graph, map, caption and table agree.
"""

from __future__ import annotations

from dataclasses import dataclass

from tracert.render import groups, tree
from tracert.trace import Candidate, NodeKind, Step, Trace


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One position of the player.

    `trail` holds the moves made before this frame, as (source, target); `order` numbers the
    passages that they and this frame's own move reached, from 1, in the order of walking. In a
    walk that branches, `trail` is the tree before this frame's search and the numbers are
    ranks in the evidence. Where steps keep several things each, `trail` holds all that was kept
    before, each with what it was reached from, and the numbers are ranks too.
    """

    index: int
    step: Step | None
    trail: tuple[tuple[str, str], ...]
    order: dict[str, int]

    @property
    def in_hand(self) -> str | None:
        """The id of the node that the walk stands on; None in the opening."""
        return None if self.step is None else self.step.source

    @property
    def chosen(self) -> str | None:
        """The id of the node that this step moves to."""
        return None if self.step is None else self.step.target

    def candidate(self, id: str | None) -> Candidate | None:
        """The candidate of that id in this step."""
        if self.step is None or id is None:
            return None
        return next((item for item in self.step.candidates if item.id == id), None)


def last(trace: Trace) -> int:
    """The index of the last frame."""
    return len(trace.steps)


def clamp(trace: Trace, index: int) -> int:
    """The nearest index that is a frame of this trace."""
    return max(0, min(index, last(trace)))


def frame(trace: Trace, index: int) -> Frame:
    """The frame of that index, brought into range."""
    index = clamp(trace, index)
    if tree.branches(trace):
        step = trace.steps[index - 1] if index else None
        grown = tree.grown(trace, index, tree.queries(trace))
        return Frame(index, step, grown, tree.numbered(trace, index))
    if groups.layered(trace):
        step = trace.steps[index - 1] if index else None
        kept = groups.kept_moves(trace, max(index - 1, 0))
        return Frame(index, step, kept, _ranks(trace, index))
    taken = trace.steps[:index]
    moves = [(step.source, step.target) for step in taken if step.target is not None]
    step = trace.steps[index - 1] if index else None
    before = moves[:-1] if step is not None and step.target is not None else moves
    # A step that opens the note in hand moves nowhere.
    before = [(source, target) for source, target in before if source != target]
    return Frame(index, step, tuple(before), _order(trace, moves))


def _ranks(trace: Trace, index: int) -> dict[str, int]:
    """The passages kept so far with their ranks in the evidence."""
    reached = {id for step in trace.steps[:index] for id in tree.kept(step)}
    numbered = enumerate((id for id in trace.result.evidence if id in reached), start=1)
    return {id: number for number, id in numbered}


def _order(trace: Trace, moves: list[tuple[str, str]]) -> dict[str, int]:
    passages = {node.id for node in trace.nodes if node.kind in (NodeKind.CHUNK, NodeKind.NOTE)}
    order: dict[str, int] = {}
    for _, target in moves:
        if target in passages and target not in order:
            order[target] = len(order) + 1
    return order
