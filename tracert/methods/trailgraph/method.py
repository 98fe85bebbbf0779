"""TrailGraph as a method of the registry."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tracert.corpus.model import Corpus
from tracert.errors import KnowledgeError, ModelError, SettingError
from tracert.knowledge.opened import OpenGraph
from tracert.language.base import ChatModel
from tracert.language.budget import Meter
from tracert.methods.asking import question_text
from tracert.methods.base import Calls, Outcome, Question, Resources, Walk, settings_values
from tracert.methods.trailgraph import questions
from tracert.methods.trailgraph.agent_walk import AgentWalk
from tracert.methods.trailgraph.record import Recorder
from tracert.methods.trailgraph.scoring.base import Asked, Scorer, Searcher
from tracert.methods.trailgraph.scoring.bm25 import Bm25Scorer
from tracert.methods.trailgraph.scoring.mean import MeanScorer
from tracert.methods.trailgraph.scoring.model import ModelScorer
from tracert.methods.trailgraph.scoring.offline import OfflineScorer
from tracert.methods.trailgraph.settings import TrailGraphSettings
from tracert.methods.trailgraph.walk import BeamWalk, Part, PartWalk
from tracert.trace import Cost, Stop, StopReason

#: Of several parts' ends the first of these tells how the run ended.
_WORST = (
    StopReason.BUDGET,
    StopReason.MAX_HOPS,
    StopReason.DEAD_END,
    StopReason.FALLBACK,
    StopReason.ANSWERED,
)


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """The question, the parts that the rule finds in it, and what embedding them cost.

    `offline` has scored the whole graph for each of them, so that a step of the walk looks up.
    """

    asked: Asked
    parts: tuple[Asked, ...]
    offline: OfflineScorer
    cost: Cost


class TrailGraph:
    """The scored walk over a graph of notes."""

    name = "trailgraph"
    title = "TrailGraph"
    summary = (
        "Walks a graph of notes step by step, scores each from 0 to 100, and reads a note in "
        "full only when it is sure. It shows where it turned back and which note it opened."
    )
    needs: Literal["corpus", "knowledge"] = "knowledge"
    settings_type = TrailGraphSettings

    def calls(self, settings: TrailGraphSettings, corpus: Corpus | None) -> Calls:  # noqa: ARG002
        """One a round of the agent, or one a step of each walk where a model scores.

        A question that holds several is walked for each and may take more.
        """
        if settings.scoring in ("auto", "agent"):
            return Calls(question=settings.max_rounds)
        asks = settings.scoring in ("model", "mean")
        return Calls(question=settings.entries * settings.max_hops if asks else 0)

    def prepare(self, question: Question, resources: Resources) -> Prepared:
        """Embed the question and the parts that the rule finds in it, and score the graph.

        Raises:
            KnowledgeError: no graph was passed in.
            SettingError: the question is empty.
            EmbedderError: the question could not be embedded.
        """
        text = question_text(question)
        begun = time.perf_counter()
        pieces = questions.split(text)
        whole, *parts = _asked([text, *(pieces if len(pieces) > 1 else ())], resources)
        embedded = time.perf_counter()
        offline = OfflineScorer(_opened(resources))
        for part in (whole, *parts):
            offline.parts(part)
        cost = Cost({"embed": embedded - begun, "score": time.perf_counter() - embedded})
        return Prepared(whole, tuple(parts) or (whole,), offline, cost)

    def walk(self, prepared: Prepared, settings: TrailGraphSettings, resources: Resources) -> Walk:
        """Walk each part of the question and join what was found.

        Raises:
            KnowledgeError: no graph was passed in.
            SettingError: a scoring that needs a model, without one.
        """
        opened = _opened(resources)
        settings = settings.in_force
        meter = None if resources.model is None else Meter(resources.model, "model")
        recorder = Recorder(opened, settings.candidates_kept)
        asked = _parts(prepared, settings, resources, meter)
        ends: list[Part] = []
        for part in asked:
            walk = _walk_of(part, opened, settings, recorder, meter, prepared.offline)
            ends.append((yield from walk))
        evidence = _evidence(ends, settings.evidence)
        recorder.name([path for end in ends for path in (*end.path, *evidence)])
        return Outcome(
            info=opened.info,
            nodes=recorder.nodes(prepared.asked),
            path=("query", *dict.fromkeys(path for end in ends for path in end.path)),
            evidence=evidence,
            stop=_joined(ends),
            settings=settings_values(settings),
            cost=Cost() if meter is None else meter.cost,
        )


def _opened(resources: Resources) -> OpenGraph:
    opened = resources.knowledge
    if not isinstance(opened, OpenGraph):
        raise KnowledgeError("trailgraph walks a graph of notes. Name a folder of them.")
    return opened


def _asked(texts: Sequence[str], resources: Resources) -> list[Asked]:
    vectors = resources.embed(texts)
    return [Asked(text, vector) for text, vector in zip(texts, vectors, strict=True)]


def _parts(
    prepared: Prepared,
    settings: TrailGraphSettings,
    resources: Resources,
    model: ChatModel | None,
) -> tuple[Asked, ...]:
    """The questions to walk: as the model takes them apart, else by the rule, else the whole."""
    if not settings.split:
        return (prepared.asked,)
    if model is not None and questions.may_be_several(prepared.asked.text):
        try:
            texts = questions.split_by_model(prepared.asked.text, model)
        except ModelError:  # the walk itself says what is wrong with the model
            return prepared.parts
        if len(texts) > 1:
            return tuple(_asked(texts, resources))
        return (prepared.asked,)
    return prepared.parts


def _walk_of(
    asked: Asked,
    opened: OpenGraph,
    settings: TrailGraphSettings,
    recorder: Recorder,
    model: ChatModel | None,
    offline: OfflineScorer,
) -> PartWalk:
    agent = settings.scoring == "agent" or (settings.scoring == "auto" and model is not None)
    if agent:
        if model is None:
            raise SettingError("scoring=agent needs a language model. Name one, or score offline.")
        return AgentWalk(asked, opened, model, offline, settings, recorder).run()
    scorer, searcher = _scorers(settings, opened, model, offline)
    return BeamWalk(asked, opened, scorer, searcher, settings, recorder).run()


def _scorers(
    settings: TrailGraphSettings,
    opened: OpenGraph,
    model: ChatModel | None,
    offline: OfflineScorer,
) -> tuple[Scorer, Searcher]:
    """Who scores, and who finds entry points."""
    words = Bm25Scorer(opened)
    if settings.scoring == "bm25":
        return words, words
    if settings.scoring == "mean":
        both: list[Scorer] = [offline, words]
        mean = MeanScorer(both if model is None else [*both, ModelScorer(opened, model)])
        return mean, offline
    if settings.scoring == "model":
        if model is None:
            raise SettingError("scoring=model needs a language model. Name one, or score offline.")
        return ModelScorer(opened, model), offline
    return offline, offline


def _evidence(ends: Sequence[Part], most: int) -> tuple[str, ...]:
    """The notes to answer from: each part's own first, then the best others in turn."""
    found: dict[str, None] = {}
    for place in range(most):
        for end in ends:
            if place < len(end.best):
                found[end.best[place]] = None
    return tuple(found)[: max(most, len(ends))]


def _joined(ends: Sequence[Part]) -> Stop:
    """One stop for all parts."""
    if len(ends) == 1:
        return ends[0].stop
    reason = min((end.stop.reason for end in ends), key=_WORST.index)
    message = " ".join(f"{end.asked.text} {end.stop.message}" for end in ends)
    remedy = next((end.stop.remedy for end in ends if end.stop.reason is reason), "")
    return Stop(reason, message, remedy)
