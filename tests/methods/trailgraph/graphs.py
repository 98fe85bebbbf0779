"""Graphs and scorers for tests of the walk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.knowledge.trees import note, write
from tests.toy_embedder import ToyEmbedder
from tracert.knowledge.opened import OpenGraph, open_for_walk
from tracert.language.base import ChatModel
from tracert.methods.base import Question, Resources, collect, parse_settings
from tracert.methods.trailgraph import TrailGraph
from tracert.methods.trailgraph.record import Recorder
from tracert.methods.trailgraph.scoring.base import Asked, Score
from tracert.methods.trailgraph.settings import TrailGraphSettings
from tracert.methods.trailgraph.walk import BeamWalk, Part
from tracert.trace import Step, Trace

EMBEDDER = ToyEmbedder()


class TableScorer:
    """Scores by a table; a note that is not in it scores 0."""

    name = "table"

    def __init__(self, scores: Mapping[str, float], ranks: Sequence[str] | None = None) -> None:
        self._scores = dict(scores)
        self._ranks = ranks or sorted(scores, key=lambda path: -scores[path])

    def score(self, asked: Asked, paths: Sequence[str]) -> list[Score]:
        return [Score(self._scores.get(path, 0.0), "by the table") for path in paths]

    def rank(self, asked: Asked, most: int) -> list[str]:
        return list(self._ranks[:most])


def tree(folder: Path, links: Mapping[str, str], related: Mapping[str, str] | None = None):
    """A graph with these children ('a': 'b c'), entered at 'entry_points/e.md'.

    A name stands for the file `name.md`, 'e' for the entry point.
    """
    names = {*links, *(child for below in links.values() for child in below.split())}
    names |= {other for others in (related or {}).values() for other in others.split()}
    parents = {child: name for name, below in links.items() for child in below.split()}

    def paths(listed: str) -> str:
        return ", ".join(path(name) for name in listed.split())

    return open_for_walk(
        write(
            folder,
            {
                path(name): note(
                    f"Note {name}",
                    summary=f"Summary of {name}.",
                    parent=path(parents[name]) if name in parents else "",
                    children=paths(links.get(name, "")),
                    related=paths((related or {}).get(name, "")),
                    content=f"Content of {name}.",
                )
                for name in names
            },
        ),
        EMBEDDER,
    )


def path(name: str) -> str:
    return "entry_points/e.md" if name == "e" else f"{name}.md"


def walked(
    opened: OpenGraph,
    scores: Mapping[str, float],
    ranks: Sequence[str] | None = None,
    **given: object,
) -> tuple[list[Step], Part]:
    """The steps and the end of a walk with a table of scores; `ranks` is what search finds."""
    settings = parse_settings(TrailGraphSettings, given).in_force  # type: ignore[arg-type]
    found = None if ranks is None else [path(name) for name in ranks]
    scorer = TableScorer({path(name): score for name, score in scores.items()}, found)
    asked = Asked("What?", EMBEDDER.embed(["What?"])[0])
    walk = BeamWalk(asked, opened, scorer, scorer, settings, Recorder(opened, 200)).run()
    steps: list[Step] = []
    while True:
        try:
            steps.append(next(walk))
        except StopIteration as end:
            return steps, end.value


def trace_of(
    opened: OpenGraph, question: str, model: ChatModel | None = None, **given: object
) -> Trace:
    """A whole run of the method."""
    method = TrailGraph()
    resources = Resources(EMBEDDER.embed, model=model, knowledge=opened)
    prepared = method.prepare(Question(question), resources)
    settings = parse_settings(TrailGraphSettings, given)  # type: ignore[arg-type]
    return collect(
        method.walk(prepared, settings, resources),
        method=method.name,
        question=question,
        prepared=prepared.cost,
    )
