"""The settings of graph_rag."""

from __future__ import annotations

from dataclasses import dataclass

from tracert.methods.base import candidates_setting, setting


@dataclass(frozen=True, slots=True)
class GraphRagSettings:
    """How much is kept, which search, and how much the language model reads."""

    k: int = setting(5, "How many passages are kept.", low=1, high=50, step=1, label="Passages")
    search: str = setting(
        "local",
        "local starts at entities near the question and takes their passages; global rates the "
        "communities' summaries and joins passages of the best.",
        choices=("local", "global"),
        label="Search",
    )
    level: int = setting(
        0,
        "Which communities: 0 the largest, each further level smaller ones; beyond the last "
        "level the last is taken.",
        low=0,
        high=10,
        step=1,
        label="Level of communities",
    )
    entities: int = setting(
        10,
        "Local: how many entities near the question the search starts at.",
        low=1,
        high=50,
        step=1,
        label="Entities",
    )
    neighbours: int = setting(
        10,
        "Local: how many entities tied to them join.",
        low=0,
        high=100,
        step=1,
        label="Neighbours",
    )
    within: bool = setting(
        False,
        "Local: only neighbours of the same community join.",
        label="Stay in the community",
    )
    communities: int = setting(
        3,
        "Global: how many communities are joined.",
        low=1,
        high=20,
        step=1,
        label="Communities",
    )
    reading_calls: int = setting(
        200,
        "How many calls of the language model read passages when the graph is made (about four "
        "passages a call); the offline extractor reads the rest. Without a model it reads all.",
        low=0,
        high=100_000,
        label="Calls for reading",
    )
    summary_calls: int = setting(
        40,
        "How many communities, largest first, the language model sums up when the graph is made; "
        "the others are told by their most central sentences.",
        low=0,
        high=10_000,
        label="Calls for summaries",
    )
    candidates_kept: int = candidates_setting()
