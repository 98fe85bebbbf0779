"""The settings of TreeHop: what measures best at equal budget, and the paper's beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tracert.methods.base import setting
from tracert.methods.first_stage import first_stage_setting
from tracert.trace import Value

AUTO: Final = "auto"
FORGET_RULE: Final = "forget_rule"


@dataclass(frozen=True, slots=True)
class TreeHopSettings:
    """How many passages, how many hops, what prunes and what moves the query.

    The defaults are what measured best at the same number of passages as plain top-k. `PAPER`
    holds the values of the paper.
    """

    k: int = setting(
        8,
        "How many passages are returned in all. Not used where 'Passages a hop' is set.",
        low=1,
        high=100,
        step=1,
        label="Passages in all",
    )
    hops: int = setting(
        2,
        "How often the query is searched with; 1 is plain top-k.",
        low=1,
        high=5,
        step=1,
        label="Hops",
    )
    first_stage: str = first_stage_setting()
    k_per_hop: int | None = setting(
        None,
        "The paper's budget: so many passages are kept at each hop, so that the number in all "
        "grows with the hops. None: the places of 'Passages in all' are shared out.",
        low=1,
        high=20,
        step=1,
        label="Passages a hop (paper)",
    )
    model: str = setting(
        AUTO,
        "What moves the query: 'auto' (the trained weights for this corpus's embedder, else the "
        "forget rule), 'forget_rule', or the path of a .safetensors or .pt file.",
        label="Weights",
    )
    gamma: float = setting(
        0.3,
        "The forget rule's weight: the next query is norm(c - gamma q). Trained weights have "
        "their own.",
        low=0.0,
        high=2.0,
        step=0.05,
        label="Gamma of the forget rule",
    )
    path_score: float = setting(
        2.5,
        "Weight of the path in a later hop's score: cos(q', d) + weight * mean cosine along the "
        "path to q'. 0 is the paper, which compares cos(q', d) alone.",
        low=0.0,
        high=10.0,
        step=0.5,
        label="Path score",
    )
    later_places: float = setting(
        0.2,
        "Share of the passages that is kept free for the hops after the first.",
        low=0.0,
        high=0.9,
        step=0.05,
        label="Places for later hops",
    )
    spawn: int = setting(
        3,
        "How many kept passages of a hop make a next query, best first; 0 is the paper: all.",
        low=0,
        high=20,
        step=1,
        label="Passages that spawn",
    )
    leave_comparisons: bool = setting(
        True,
        "A question that compares two things names both: it is searched with once, all places "
        "going to plain top-k. Off is the paper.",
        label="Leave comparisons alone",
    )
    redundancy_pruning: bool = setting(
        True,
        "A branch ends where its passage was retrieved before. Off: it goes on, and no passage "
        "counts twice.",
        label="Redundancy pruning",
    )
    layer_pruning: bool = setting(
        True,
        "A hop keeps the best over all its queries together. Off: each query of a later hop keeps "
        "its own while places are free, and their number grows with every hop, to 256 at most.",
        label="Layer-wise top-K pruning",
    )
    synthesis: str = setting(
        "off",
        "Multi-chunk synthesis: attention fuses the kept passages of a hop into one context "
        "before the gates; 'replace' searches with it alone, 'add' beside the others.",
        choices=("off", "replace", "add"),
        label="Multi-chunk synthesis",
    )
    novelty: float = setting(
        0.0,
        "Adaptive pruning: weight of a passage's novelty, 1 - its largest cosine to the query that "
        "found it and to what is kept, in the score of later hops.",
        low=0.0,
        high=5.0,
        step=0.1,
        label="Weight of novelty",
    )
    min_novelty: float = setting(
        0.0,
        "Adaptive pruning: a passage of a later hop with less novelty is dropped.",
        low=0.0,
        high=1.0,
        step=0.01,
        label="Least novelty",
    )
    adaptive_breadth: bool = setting(
        False,
        "Adaptive pruning: the entropy of the first hop's similarities sets how many passages "
        "spawn: one where one stands out, more where many are alike. 'Passages that spawn' is "
        "then the most.",
        label="Breadth by entropy",
    )


#: The paper's behaviour, for `--set` and for the page's switch.
PAPER: Final[Mapping[str, Value]] = {
    "k_per_hop": 5,
    "path_score": 0.0,
    "spawn": 0,
    "leave_comparisons": False,
}
