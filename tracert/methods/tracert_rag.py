"""Tracert-RAG: a greedy walk from the question to a predicted goal through the passages.

The paper: 'Tracert-Retrieval-Augmented Generation: Boosting Multi-Hop Retrieval-Augmented
Generation with Direction-Aware Graph Traversal', section 3. With unit vectors:

    r           = scale * (1 - cos(v_q, v_g))                                        (1)
    V_r         = {v_d : 1 - cos(v_q, v_d) <= r}                                     (2)
    cost(u, v)  = (1 - cos(v_u, v_v)) + alpha * D(u -> v, v_g)                       (3, 5)
    D           = 1 - (v_v - v_u).(v_g - v_u) / (|v_v - v_u| |v_g - v_u|)            (4, 6)

where

    v_q         vector of the question, the start of the walk
    v_g         vector of the goal: concept and explanation of the predicted goal text
    r, scale    radius of the corridor; scale 1 is the paper
    V_r         the candidates, found exactly
    u, v        node in hand and a neighbour; an edge joins nodes at cosine distance <= delta
    alpha       weight of the angular penalty D, in [0, 2]; alpha 0 is plain nearest neighbour

The walk (algorithm 2) moves from v_q to the unvisited neighbour of lowest cost, in one pass
without backtracking, until it enters the goal or nothing is left.

What the paper leaves open, and where this deviates (each is a setting):

- delta is by default the smallest threshold at which the candidates connect question and goal
  (`tracert.methods._tracert.bottleneck`). Greedy as it is, the walk may still miss the goal.
- There is no edge from the question straight to the goal, and the goal cannot be entered
  before `min_passages`; a goal near the question would otherwise be reached at once and show
  nothing. `direct_edge` brings back the paper's plain rule.
- A radius that holds fewer than `min_candidates` passages is widened to the distance of the
  min_candidates-th nearest, unless `strict`.
- The walk ends after `max_hops` moves; the paper sets no limit.
- Where no language model is at hand, or it fails, the goal is made of the terms that the nearest
  passages add to the question (`tracert.language.offline`).
- On a dead end the paper returns no path. Here the goal is missing from the path, too, but the
  walk so far is kept, and the stop says what to change.
- `start` 'best' takes `seed_passages` of plain top-k first and walks on from the nearest of
  them; the others count as visited, delta is the bottleneck from there, and this step is none
  of the `max_hops` moves.
- Two equal vectors have no direction between them: D is 1 there (`_tracert.costs.penalties`).
- Costs are exact to float64; ties within 1e-9 go to the passage that stands first in the
  text, and to a passage before the goal.

The trace: every step has the values radius, delta, alpha and distance_to_goal (of the node in
hand). The first step also has paper_radius, passages (in the corridor), the goal (goal_source,
goal_category, goal_concept, goal_explanation), the texts radius_note, corridor_note,
delta_note and goal_note where there is something to say, and the histograms
query_distances (all passages to the question) and pair_distances (between candidates) as JSON
texts, see `Histogram.from_text`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from tracert.corpus.model import Corpus
from tracert.errors import ModelError, SettingError
from tracert.language.budget import Meter
from tracert.language.goal import predict_goal
from tracert.language.goal_text import GoalText, read_goal
from tracert.language.offline import BACKGROUND, FEEDBACK, Rarity, predict_goal_offline
from tracert.methods._tracert import stops
from tracert.methods._tracert.corridor import Histogram, histogram, pair_distances
from tracert.methods._tracert.record import Recorder, Values
from tracert.methods._tracert.settings import TracertRagSettings
from tracert.methods._tracert.walk import TracertWalk
from tracert.methods.asking import corpus_of, question_text
from tracert.methods.base import Calls, Outcome, Question, Resources, Walk, settings_values
from tracert.methods.exact import Vectors, even_rows, unit
from tracert.recent import Recent
from tracert.trace import Cost, Node, NodeKind, Stop, StopReason

__all__ = ["Histogram", "Prepared", "TracertRag", "TracertRagSettings"]


#: Word counts of the corpora last asked, so that a question reads its nearest passages only.
_RARITIES: Final[Recent[Rarity]] = Recent(8)


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """The question and the goal, embedded, vectors of shape (d,).

    `note` tells the person why the goal is not the model's, where a model was asked.
    """

    question: str
    goal: GoalText
    note: str
    query_vector: npt.NDArray[np.float32]
    goal_vector: npt.NDArray[np.float32]
    cost: Cost


class TracertRag:
    """Tracert-RAG as a method of the registry."""

    name = "tracert_rag"
    title = "Tracert-RAG"
    summary = (
        "Predicts what the question is after and walks towards it, passage by passage, each move "
        "to the neighbour that is near and lies in the direction of the goal. Passages farther "
        "from the question than the goal are left out."
    )
    needs: Literal["corpus", "knowledge"] = "corpus"
    settings_type = TracertRagSettings

    def calls(self, settings: TracertRagSettings, corpus: Corpus | None) -> Calls:  # noqa: ARG002
        """One a question, which predicts the goal."""
        return Calls(question=1)

    def prepare(self, question: Question, resources: Resources) -> Prepared:
        """Find the goal and embed it with the question.

        The goal is the one typed, else the model's, else the offline predictor's, which also
        steps in, and says so, where the model fails.

        Raises:
            SettingError: the question is empty, or a goal was typed that says nothing.
            CorpusError: no corpus was passed in.
            EmbedderError: question or goal could not be embedded.
        """
        text = question_text(question)
        corpus = corpus_of(resources, self.name)
        begun = time.perf_counter()
        query_vector = resources.embed([text])[0]
        embedded = time.perf_counter()
        goal, note, cost = _goal(question, query_vector, corpus, resources)
        found = time.perf_counter()
        goal_vector = resources.embed([goal.text])[0]
        embedding = embedded - begun + time.perf_counter() - found
        if "goal" not in cost.seconds:
            cost = cost.plus(Cost({"goal": found - embedded}))
        return Prepared(
            text, goal, note, query_vector, goal_vector, cost.plus(Cost({"embed": embedding}))
        )

    def walk(self, prepared: Prepared, settings: TracertRagSettings, resources: Resources) -> Walk:
        """Algorithm 2, a step a move.

        Raises:
            CorpusError: no corpus was passed in.
        """
        corpus = corpus_of(resources, self.name)
        vectors = Vectors(corpus.matrix)
        walk = TracertWalk(
            vectors, unit(prepared.query_vector), unit(prepared.goal_vector), settings
        )
        recorder = Recorder(corpus, vectors, walk, settings.candidates_kept)
        index, moves, seeds = 0, 0, None
        if settings.start == "best" and len(corpus.ids):
            seeds = walk.begin_at_best()
        walk.open_edges()
        first = _first_values(prepared, vectors, walk)
        if seeds is not None:
            yield recorder.start(seeds, first)
            index, first = 1, {}
        stop: Stop | None = None
        while stop is None and moves < settings.max_hops:
            decision = walk.decide()
            yield recorder.move(index, decision, first)
            index, moves, first = index + 1, moves + 1, {}
            if walk.blocked:
                stop = stops.empty_corridor(walk)
            elif decision.arrives:
                stop = stops.reached(walk)
            elif decision.chosen is None:
                stop = stops.dead_end(walk, decision, settings)
            else:
                walk.enter(decision.chosen)
        stop = stop or stops.out_of_hops(walk, settings)
        return _outcome(prepared, settings, corpus, walk, recorder, stop)


def _first_values(prepared: Prepared, vectors: Vectors, walk: TracertWalk) -> Values:
    """What the first step says of the whole walk, see the module's docstring."""
    goal, corridor = prepared.goal, walk.corridor
    values: Values = {
        "paper_radius": corridor.paper_radius,
        "passages": float(len(walk.rows)),
        "goal_source": goal.source,
        "goal_category": goal.category,
        "goal_concept": goal.concept,
        "goal_explanation": goal.explanation,
    }
    notes = {
        "radius_note": corridor.radius_note,
        "corridor_note": corridor.corridor_note,
        "delta_note": walk.delta_note,
        "goal_note": prepared.note,
    }
    values.update({name: note for name, note in notes.items() if note})
    for name, distances in (
        ("query_distances", corridor.to_query),
        ("pair_distances", pair_distances(vectors, walk.rows)),
    ):
        counted = histogram(distances)
        if counted is not None:
            values[name] = counted.to_text()
    return values


def _outcome(
    prepared: Prepared,
    settings: TracertRagSettings,
    corpus: Corpus,
    walk: TracertWalk,
    recorder: Recorder,
    stop: Stop,
) -> Outcome:
    path = [corpus.ids[row] for row in walk.path]
    evidence = dict.fromkeys([corpus.ids[row] for row in walk.seeds] + path)
    arrived = ("goal",) if stop.reason is StopReason.GOAL_REACHED else ()
    goal = prepared.goal
    in_force = settings_values(settings) | {"delta": walk.delta}
    if walk.corridor.widened and walk.corridor.paper_radius > 0.0:
        in_force["radius_scale"] = walk.corridor.radius / walk.corridor.paper_radius
    return Outcome(
        info=corpus.info,
        nodes=recorder.nodes(
            Node(
                "query", NodeKind.QUERY, "Question", prepared.question, None, prepared.query_vector
            ),
            Node(
                "goal", NodeKind.GOAL, goal.concept or "Goal", goal.text, None, prepared.goal_vector
            ),
        ),
        path=("query", *path, *arrived),
        evidence=tuple(evidence),
        stop=stop,
        settings=in_force,
    )


def _goal(
    question: Question,
    query_vector: npt.NDArray[np.float32],
    corpus: Corpus,
    resources: Resources,
) -> tuple[GoalText, str, Cost]:
    """The goal, a note for the person, and what a model cost."""
    if question.goal is not None:
        typed = read_goal(question.goal, "typed")
        if not typed.text:
            raise SettingError(
                "The goal says nothing. Write a concept or an explanation, or leave the goal out."
            )
        return typed, "", Cost()
    note, cost = "", Cost()
    if resources.model is not None:
        meter = Meter(resources.model, "goal")
        try:
            return predict_goal(question.text, meter), "", meter.cost
        except ModelError as error:
            note = f"The offline predictor made the goal, since the model could not: {error}"
            cost = meter.cost
    return _offline_goal(question.text, query_vector, corpus), note, cost


def _offline_goal(question: str, query_vector: npt.NDArray[np.float32], corpus: Corpus) -> GoalText:
    rows, _ = Vectors(corpus.matrix).nearest(unit(query_vector), FEEDBACK)
    passages = [chunk.text for chunk in corpus.chunks(rows.tolist())]
    key = (corpus.info.fingerprint, corpus.info.size)
    return predict_goal_offline(question, passages, _RARITIES.get(key, lambda: _rarity(corpus)))


def _rarity(corpus: Corpus) -> Rarity:
    spread = even_rows(len(corpus.ids), BACKGROUND)
    return Rarity.of([chunk.text for chunk in corpus.chunks(spread.tolist())])
