"""What came of one question: its gold, what was returned, how it was gathered, what it cost.

A `Detail` holds ids and numbers only, so that a run that is kept can be summed up again without
the passages and without asking anything.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from tracert.errors import DatasetError
from tracert.evaluation.asked import GoldPassage
from tracert.evaluation.metrics import covered, recall_of
from tracert.trace import Candidate, NodeKind, Step, Trace

#: Plain top-k of the method's own first stage, at as many passages as the method returned.
BASELINE: Final = "baseline"
#: Plain top-k by vectors, at as many.
DENSE: Final = "dense"
#: BM25, at as many.
BM25: Final = "bm25"
REFERENCES: Final = (BASELINE, DENSE, BM25)

_POOL: Final = "passage:"
_LINE: Final = re.compile(r"passage:(0|[1-9][0-9]*)")
_RETRIEVED: Final = frozenset({NodeKind.CHUNK, NodeKind.NOTE})


@dataclass(frozen=True, slots=True)
class Detail:
    """One question under one method.

    Attributes:
        id: the question's, as its file has it.
        question: what was asked.
        type: the question's kind, as its file has it.
        n_hops: how many hops it takes.
        gold: the passages that it needs.
        edges: which gold passage leads to which, pairs of indices into `gold`.
        evidence: ids as the method returned them, then those that fill the budget.
        filled: how many at the end of `evidence` plain top-k filled in.
        references: for each of `REFERENCES` as many ids, best first.
        hops: the passages gathered hop by hop, see `gathered`.
        stop: why the method stopped, a `StopReason`.
        seconds: of the method by stage, and 'all' by the clock, with preparation and walk.
        model_calls: how often a language model was asked.
        tokens: those that it read and wrote.
    """

    id: str
    question: str
    type: str
    n_hops: int
    gold: tuple[GoldPassage, ...]
    edges: tuple[tuple[int, int], ...]
    evidence: tuple[str, ...]
    filled: int
    references: Mapping[str, tuple[str, ...]]
    hops: tuple[tuple[str, ...], ...]
    stop: str
    seconds: Mapping[str, float]
    model_calls: int = 0
    tokens: int = 0

    @property
    def own(self) -> tuple[str, ...]:
        """What the method returned itself."""
        return self.evidence[: len(self.evidence) - self.filled]

    @property
    def baseline_evidence(self) -> tuple[str, ...]:
        """Plain top-k of the same first stage, at as many passages."""
        return self.references[BASELINE]

    @property
    def recall(self) -> float:
        """The share of the gold passages that were returned."""
        return recall_of(self.evidence, self.gold)

    @property
    def baseline_recall(self) -> float:
        """The same of plain top-k."""
        return recall_of(self.baseline_evidence, self.gold)

    @property
    def found(self) -> frozenset[int]:
        """The indices of the gold passages that were returned."""
        return covered(self.evidence, self.gold)

    def to_dict(self) -> dict[str, Any]:
        """The question as a line of `--details`; ids of a pool are lines of its file, from 0."""
        return {
            "id": self.id,
            "question": self.question,
            "type": self.type,
            "n_hops": self.n_hops,
            "gold": [_out(passage.ids[0]) for passage in self.gold if passage.ids],
            "evidence": _outs(self.evidence),
            "baseline_evidence": _outs(self.baseline_evidence),
            "recall": self.recall,
            "baseline_recall": self.baseline_recall,
            "filled": self.filled,
            "passages": [{"ids": _outs(each.ids), "depth": each.depth} for each in self.gold],
            "edges": [list(edge) for edge in self.edges],
            "references": {name: _outs(ids) for name, ids in self.references.items()},
            "hops": [_outs(hop) for hop in self.hops],
            "stop": self.stop,
            "seconds": dict(self.seconds),
            "model_calls": self.model_calls,
            "tokens": self.tokens,
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Detail:
        """Read back what `to_dict` wrote.

        Raises:
            DatasetError: it is something else.
        """
        try:
            gold = tuple(
                GoldPassage(_ins(each["ids"]), int(each["depth"])) for each in data["passages"]
            )
            edges = tuple((int(start), int(end)) for start, end in data["edges"])
            if not gold or any(not 0 <= place < len(gold) for edge in edges for place in edge):
                raise ValueError("an edge to no gold passage")
            evidence, filled = _ins(data["evidence"]), int(data["filled"])
            if not 0 <= filled <= len(evidence):
                raise ValueError("filled")
            seconds = {str(name): float(value) for name, value in data["seconds"].items()}
            if not all(math.isfinite(value) for value in (seconds["all"], *seconds.values())):
                raise ValueError("seconds")
            return Detail(
                id=str(data["id"]),
                question=str(data["question"]),
                type=str(data["type"]),
                n_hops=int(data["n_hops"]),
                gold=gold,
                edges=edges,
                evidence=evidence,
                filled=filled,
                references={name: _ins(data["references"][name]) for name in REFERENCES},
                hops=tuple(_ins(hop) for hop in data["hops"]),
                stop=str(data["stop"]),
                seconds=seconds,
                model_calls=int(data["model_calls"]),
                tokens=int(data["tokens"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise DatasetError(
                f"The kept result of a question is damaged near {str(error)[:80]!r}. Run the "
                "evaluation again."
            ) from error


def gathered(trace: Trace) -> tuple[tuple[str, ...], ...]:
    """The passages or notes that a walk gathered, hop by hop, each where it came first.

    A hop is a run of steps that share their action and their value 'hop' (the queries of one
    layer of TreeHop), else one step. What a step gathered is its target and its kept candidates
    as far as these are passages or notes. A hop that gathers nothing new, such as the arrival at
    the goal or a dead end, is none.
    """
    retrieved = {node.id for node in trace.nodes if node.kind in _RETRIEVED}
    seen: set[str] = set()
    hops = []
    for _, steps in groupby(trace.steps, key=_layer):
        new = [id for step in steps for id in _kept(step) if id in retrieved and id not in seen]
        if new:
            hops.append(tuple(dict.fromkeys(new)))
            seen.update(new)
    return tuple(hops)


def _layer(step: Step) -> tuple[str, object]:
    hop = step.values.get("hop")
    return step.action, ("step", step.index) if hop is None else hop


def _kept(step: Step) -> Iterable[str]:
    kept: Sequence[Candidate] = [each for each in step.candidates if each.kept]
    first = [] if step.target is None else [step.target]
    return [*first, *(each.id for each in kept)]


def _out(id: str) -> int | str:
    line = id.removeprefix(_POOL)
    # Only what `_in` makes of the number again: 'passage:007' stays text.
    return int(line) if _LINE.fullmatch(id) else id


def _outs(ids: Iterable[str]) -> list[int | str]:
    return [_out(id) for id in ids]


def _ins(values: Iterable[int | str]) -> tuple[str, ...]:
    return tuple(_in(value) for value in values)


def _in(value: int | str) -> str:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise TypeError(f"{value!r} is no id")
    return f"{_POOL}{value}" if isinstance(value, int) else value
