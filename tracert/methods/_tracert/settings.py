"""The settings of Tracert-RAG; `tracert.methods.tracert_rag` says what they mean."""

from __future__ import annotations

from dataclasses import dataclass

from tracert.methods.base import candidates_setting, setting


@dataclass(frozen=True, slots=True)
class TracertRagSettings:
    """The settings of the walk; the module's docstring says what they mean."""

    alpha: float = setting(
        0.5,
        "Weight of the angular penalty: how much a passage off the direction to the goal costs. "
        "0 is plain nearest neighbour.",
        low=0.0,
        high=2.0,
        step=0.05,
        label="Alpha",
    )
    delta: float | None = setting(
        None,
        "Largest cosine distance that an edge may have. Left open, it is the smallest one that "
        "connects question and goal.",
        low=0.0,
        high=2.0,
        step=0.01,
        label="Delta",
    )
    radius_scale: float = setting(
        1.0,
        "Factor on the radius of the corridor, the distance from question to goal. 1 is the paper.",
        low=0.0,
        step=0.05,
        label="Radius scale",
    )
    strict: bool = setting(
        False, "Keep the radius even where it holds hardly a passage.", label="Strict radius"
    )
    min_candidates: int = setting(
        20,
        "A radius that holds fewer passages is widened to hold so many, unless strict.",
        low=1,
        high=1000,
        step=1,
        label="Fewest candidates",
    )
    max_hops: int = setting(
        6,
        "Most moves of the walk, the one into the goal included. The paper sets no limit.",
        low=1,
        high=50,
        step=1,
        label="Hops",
    )
    min_passages: int = setting(
        1,
        "Passages on the path before the goal may be entered.",
        low=1,
        high=20,
        step=1,
        label="Fewest passages",
    )
    direct_edge: bool = setting(
        False,
        "The paper's plain rule: the goal may be entered at any time, even from the question.",
        label="Edge to the goal at once",
    )
    start: str = setting(
        "query",
        "'query' walks from the question, as in the paper; 'best' takes some passages of plain "
        "top-k first and walks on from the best of them. On the built-in questions 'query' finds "
        "less than plain top-k at as many passages, 'best' about as much.",
        choices=("query", "best"),
        label="Start",
    )
    seed_passages: int = setting(
        8,
        "Passages of plain top-k before the walk, where it starts from the best.",
        low=1,
        high=50,
        step=1,
        label="Passages before the walk",
    )
    candidates_kept: int = candidates_setting()
