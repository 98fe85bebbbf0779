"""The settings of TrailGraph."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tracert.methods.base import candidates_setting, setting

SCORERS = ("auto", "agent", "model", "offline", "bm25", "mean")


@dataclass(frozen=True, slots=True)
class TrailGraphSettings:
    """How the graph is walked. The defaults are those that measure best without a model."""

    scoring: str = setting(
        "auto",
        "Who scores: 'agent' lets the language model walk by itself with its one tool, 'model' "
        "lets it score what our walk offers, 'offline' uses vectors and word counts, 'bm25' word "
        "counts alone, 'mean' the mean of all that are there. 'auto' is 'agent' with a model and "
        "'offline' without.",
        choices=SCORERS,
        label="Scoring",
    )
    entry: str = setting(
        "search",
        "Where the walk starts: 'search' takes the notes that the question is closest to, one "
        "after the other; 'fixed' the best of the graph's own entry points.",
        choices=("search", "fixed"),
        label="Entry points",
    )
    entries: int = setting(
        3,
        "How many entry points are tried, one after the other, until a note is opened.",
        low=1,
        high=20,
        step=1,
        label="Entries tried",
    )
    beam: int = setting(
        3,
        "How many notes are followed at once; 1 is the plain walk.",
        low=1,
        high=10,
        step=1,
        label="Beam",
    )
    max_hops: int = setting(
        5,
        "How many notes deep one walk goes, the entry point counted.",
        low=1,
        high=30,
        step=1,
        label="Hops",
    )
    max_rounds: int = setting(
        10,
        "How often the model may be asked in one walk of its own.",
        low=1,
        high=50,
        step=1,
        label="Tool rounds",
    )
    explore_threshold: float = setting(
        60.0,
        "A note that scores less is not worth following.",
        low=0,
        high=100,
        step=1,
        label="Explore from",
    )
    answer_threshold: float = setting(
        95.0,
        "A note that scores so much is opened.",
        low=0,
        high=100,
        step=1,
        label="Open from",
    )
    children_first: bool = setting(
        True,
        "A note that would be opened but has children shows them first: the answer may lie "
        "deeper. It is opened when none of them is better.",
        label="Children first",
    )
    split: bool = setting(
        True,
        "Several questions in one are walked one by one and answered together.",
        label="Split the question",
    )
    plain: bool = setting(
        False,
        "The walk as first published: from the best fixed entry point, one note at a time, no "
        "second try. Sets entry, entries and beam.",
        label="Plain walk",
    )
    evidence: int = setting(
        4,
        "How many notes the answer may use: the opened one and the best others on the way.",
        low=1,
        high=20,
        step=1,
        label="Notes for the answer",
    )
    candidates_kept: int = candidates_setting()

    @property
    def in_force(self) -> TrailGraphSettings:
        """The settings that the walk obeys: `plain` sets those that it stands for."""
        if not self.plain:
            return self
        return replace(self, entry="fixed", entries=1, beam=1)
