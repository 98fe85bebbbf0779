"""The report of an evaluation in a terminal."""

from __future__ import annotations

from typing import Any

from tracert.commands.evaluate import _print


class Report:
    """An evaluation of one group, whose name comes from a file of questions."""

    def __init__(self, group: str) -> None:
        self._group = group

    def to_dict(self) -> dict[str, Any]:
        groups = {self._group: {"count": 1, "recall": 1.0, "baseline": 0.5, "difference": 0.5}}
        return {
            "method": "native_rag",
            "questions": 1,
            "data": "questions.jsonl",
            "embedder": "toy",
            "left_out": 0,
            "results": {
                "recall": 1.0,
                "passages": 5.0,
                "baseline": {"recall": 0.5, "all_found": 0.0},
                "paired_difference": (0.5, 0.1, 0.9),
                "all_found": 1.0,
                "filled": 0.0,
                "latency_ms": {"p50": 1.0, "p95": 2.0, "stages": {"walk": 1.0}},
                "by_type": groups,
                "by_hop": {},
            },
        }


def test_the_name_of_a_group_commands_the_terminal_nothing(capsys):
    _print(Report("\x1b[2Jbridge\n"))
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "[2Jbridge" in out
