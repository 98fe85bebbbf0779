"""Iterative retrieval by rewriting: search, let the question be rewritten, search again.

    q_1 = the question,   q_(i+1) = rewrite(q_1, ..., q_i and the passages found),
    evidence = the best of each search that no search before it brought

This is what TreeHop is measured against: it does in vectors what costs a call of a language
model and an embedding a round here. The scheme is that of Trivedi et al., 'Interleaving
Retrieval with Chain-of-Thought Reasoning for Knowledge-Intensive Multi-Step Questions', ACL
2023, and Shao et al., 'Enhancing Retrieval-Augmented Large Language Models with Iterative
Retrieval-Generation Synergy', EMNLP 2023, reduced to the query.

Deviations. All searches share one budget of `k` passages, of which `later_places` are kept for
the rewritten ones, so that it stands beside the other methods at the same number; a passage
once kept takes no second place. The model may say that nothing is missing, which ends the walk
with fewer passages. Without a model, or where it fails, the rewrite is made of words
(`rewrite_offline`); the step says which it was. What a model wrote is kept with the prepared
question: the same walk again asks nothing, and shows what the calls cost when they were made.

The trace: a step a search, with the values hop (from 1), k (its places), parent and passage
(the query and the passage that it was written after), rewrite_source (question, model or
offline) and rewrite_note where a model could not. Hop nodes carry the rewritten text. The cost
has the seconds of `rewrite` and `embed` apart from the rest of the walk.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from tracert.corpus.model import Corpus
from tracert.errors import ModelError
from tracert.methods._replies import Replies
from tracert.methods._rewrite import (
    TOKENS,
    Rewrite,
    parse_rewrite,
    rewrite_messages,
    rewrite_offline,
)
from tracert.methods.asking import corpus_of, embedded
from tracert.methods.base import (
    Calls,
    Outcome,
    Question,
    Resources,
    Walk,
    candidates_setting,
    setting,
    settings_values,
)
from tracert.methods.bm25 import term_index
from tracert.methods.first_stage import DECIDES, Ranking, first_stage_setting, rank
from tracert.trace import Candidate, Cost, Node, NodeKind, Step, Stop, StopReason

#: Passages of all searches that a model is shown at most.
_SHOWN: Final = 12

Vector = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class IterativeRewriteSettings:
    """How many passages and rewrites, and what the rewrites get."""

    k: int = setting(5, "How many passages are kept in all.", low=1, high=50, label="Passages")
    rewrites: int = setting(
        1,
        "How often the question is rewritten; each costs one call of the model. 0 is plain top-k.",
        low=0,
        high=6,
        label="Rewrites",
    )
    later_places: float = setting(
        0.2,
        "The share of the passages that is kept free for what rewritten questions find; each "
        "gets one at least, as far as there are so many.",
        low=0.0,
        high=1.0,
        step=0.05,
        label="Places for rewrites",
    )
    first_stage: str = first_stage_setting()
    candidates_kept: int = candidates_setting()


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """The question, its vector (d,), and what was written for it so far."""

    question: str
    vector: Vector
    replies: Replies
    cost: Cost


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """A query of the walk: what it was written after, and from what."""

    text: str
    vector: Vector
    source: str
    note: str = ""
    passage: str | None = None


@dataclass(slots=True, eq=False)
class _State:
    """The walk so far. `kept` are rows in the order of the searches, `best` the first of each."""

    searches: list[_Search]
    kept: list[int] = field(default_factory=list)
    best: dict[int, int] = field(default_factory=dict)
    named: set[int] = field(default_factory=set)
    cost: Cost = field(default_factory=Cost)


class IterativeRewrite:
    """Iterative retrieval by rewriting as a method of the registry."""

    name = "iterative_rewrite"
    title = "Iterative rewriting"
    summary = (
        "Searches, has the question rewritten from what was found, and searches again with the "
        "new text. It reaches passages that the question does not name, for a call of the "
        "language model a round."
    )
    needs: Literal["corpus", "knowledge"] = "corpus"
    settings_type = IterativeRewriteSettings

    def calls(self, settings: IterativeRewriteSettings, corpus: Corpus | None) -> Calls:  # noqa: ARG002
        """One a rewrite."""
        return Calls(question=settings.rewrites)

    def prepare(self, question: Question, resources: Resources) -> Prepared:
        """Embed the question.

        Raises:
            SettingError: the question is empty.
            EmbedderError: the question could not be embedded.
        """
        text, vector, cost = embedded(question, resources)
        return Prepared(text, vector, Replies("rewrite"), cost)

    def walk(
        self, prepared: Prepared, settings: IterativeRewriteSettings, resources: Resources
    ) -> Walk:
        """A step a search.

        Raises:
            CorpusError: no corpus was passed in.
            EmbedderError: a rewritten question could not be embedded.
        """
        corpus = corpus_of(resources, self.name)
        state = _State([_Search(prepared.question, prepared.vector, "question")])
        stop: Stop | None = None
        for hop, room in enumerate(places(settings)):
            if hop and len(state.kept) == len(corpus.ids):
                break
            if hop:
                rewrite, note = _rewrite(prepared, state, corpus, resources)
                stop = _no_search(rewrite, state)
                if stop is not None:
                    break
                _add(rewrite, note, prepared, state, corpus, resources)
            ranking = _rank(corpus, state, settings)
            yield _step(hop, room, ranking, state, corpus, settings)
        return Outcome(
            info=corpus.info,
            nodes=_nodes(state, corpus),
            path=_path(state, corpus),
            evidence=tuple(corpus.ids[row] for row in state.kept),
            stop=stop or _done(state, settings, len(corpus.ids)),
            settings=settings_values(settings),
            cost=state.cost,
        )


def places(settings: IterativeRewriteSettings) -> list[int]:
    """How many passages each search may keep, the first search first.

    The share `later_places` of k, rounded to the nearest and halves up, is spread evenly over
    the rewrites, earlier ones first; each gets one at least while the first search keeps one.

    >>> places(IterativeRewriteSettings(k=5)), places(IterativeRewriteSettings(k=10, rewrites=2))
    ([4, 1], [8, 1, 1])
    """
    if settings.rewrites == 0:
        return [settings.k]
    later = math.floor(settings.later_places * settings.k + 0.5)
    later = min(max(later, settings.rewrites), settings.k - 1)
    each, rest = divmod(later, settings.rewrites)
    shares = [each + (place < rest) for place in range(settings.rewrites)]
    return [settings.k - later, *(share for share in shares if share)]


# --- the parts of the walk ------------------------------------------------------------------


def _rewrite(
    prepared: Prepared, state: _State, corpus: Corpus, resources: Resources
) -> tuple[Rewrite, str]:
    """The next question and a note where the model could not write it."""
    begun = time.perf_counter()
    note = ""
    if resources.model is not None:
        rows = state.kept[-_SHOWN:]
        texts = [chunk.text for chunk in corpus.chunks(rows)]
        searches = [search.text for search in state.searches]
        messages = rewrite_messages(prepared.question, searches, texts)
        try:
            text, cost, now = prepared.replies.ask(resources.model, messages, TOKENS)
            # The seconds of a call are part of the walk's own time; they stand apart instead.
            spent = time.perf_counter() - begun if now else 0.0
            state.cost = state.cost.plus(cost).plus(Cost({"walk": -spent}))
            return parse_rewrite(text, resources.model.name), ""
        except ModelError as error:
            note = f"The rewrite was made of words, since the model could not: {error}"
    best = [chunk.text for chunk in corpus.chunks(list(state.best.values()))]
    newest = best[-1] if best else ""
    return rewrite_offline(prepared.question, best, newest, term_index(corpus).idf), note


def _add(
    rewrite: Rewrite,
    note: str,
    prepared: Prepared,
    state: _State,
    corpus: Corpus,
    resources: Resources,
) -> None:
    vector, cost, now = prepared.replies.embed(rewrite.text, resources)
    state.cost = state.cost.plus(cost)
    if now:
        state.cost = state.cost.plus(Cost({"walk": -cost.seconds["embed"]}))
    last = next(reversed(state.best.values()), None)
    passage = None if last is None else corpus.ids[last]
    state.searches.append(_Search(rewrite.text, vector, rewrite.source, note, passage))


def _no_search(rewrite: Rewrite, state: _State) -> Stop | None:
    """Why there is no further search, if there is none."""
    if not rewrite.text and rewrite.source == "model":
        return Stop(
            StopReason.ANSWERED,
            f"The model found nothing missing after {len(state.searches)} searches with "
            f"{len(state.kept)} passages.",
            "Ask for 0 rewrites to fill all places by plain top-k.",
        )
    if not rewrite.text or any(search.text == rewrite.text for search in state.searches):
        return Stop(
            StopReason.NOTHING_NEW,
            "The rewritten question is none that was not searched for already.",
            "Name a language model, which rewrites better than the words found do.",
        )
    return None


def _rank(corpus: Corpus, state: _State, settings: IterativeRewriteSettings) -> Ranking:
    search = state.searches[-1]
    count = max(settings.candidates_kept, settings.k) + len(state.kept)
    return rank(corpus, search.text, search.vector, settings.first_stage, count)


def _step(
    hop: int,
    room: int,
    ranking: Ranking,
    state: _State,
    corpus: Corpus,
    settings: IterativeRewriteSettings,
) -> Step:
    """The step of a search; what it keeps is added to the state."""
    search = state.searches[-1]
    before = set(state.kept)
    rows = ranking.rows.tolist()
    taken = [row for row in rows if row not in before][:room]
    state.kept += taken
    if taken:
        state.best[hop] = taken[0]
    shown = {*rows[: max(settings.candidates_kept, settings.k)], *taken}
    state.named |= shown
    kept = set(taken)
    what, name = DECIDES[ranking.stage]
    reasons = {
        "kept": f"among the {room} best by {name} that were not found before",
        "found_before": "kept by a search before this one",
        "below_k": f"{name} below that of the passages kept",
    }
    candidates = []
    for row, values in zip(rows, ranking.values, strict=True):
        if row in shown:
            rule = "kept" if row in kept else "found_before" if row in before else "below_k"
            score = {"score": values[what], "parent": _id(hop)}
            candidates.append(
                Candidate(corpus.ids[row], row in kept, rule, reasons[rule], {**values, **score})
            )
    counts = {
        "kept": len(taken),
        "found_before": len(before),
        "below_k": len(corpus.ids) - len(before) - len(taken),
    }
    note = {"rewrite_note": search.note} if search.note else {}
    return Step(
        index=hop,
        action="rewrite" if hop else "search",
        source=_id(hop),
        target=corpus.ids[taken[0]] if taken else None,
        values={
            "hop": float(hop + 1),
            "k": float(room),
            "parent": _id(hop - 1) if hop else None,
            "passage": search.passage,
            "rewrite_source": search.source,
            **note,
        },
        counts={rule: count for rule, count in counts.items() if count or rule == "kept"},
        candidates=tuple(candidates),
        vector=search.vector,
    )


def _id(hop: int) -> str:
    return f"hop:{hop}" if hop else "query"


def _nodes(state: _State, corpus: Corpus) -> tuple[Node, ...]:
    first, *rewritten = state.searches
    query = Node("query", NodeKind.QUERY, "Question", first.text, vector=first.vector)
    hops = (
        Node(_id(hop), NodeKind.HOP, f"Rewrite {hop}", search.text, vector=search.vector)
        for hop, search in enumerate(rewritten, 1)
    )
    rows = sorted(state.named | set(state.kept))
    block = np.array(corpus.matrix[rows]) if rows else ()
    chunks = (chunk.node(vector) for chunk, vector in zip(corpus.chunks(rows), block, strict=True))
    return (query, *hops, *chunks)


def _path(state: _State, corpus: Corpus) -> tuple[str, ...]:
    """Each search and the best passage that it brought."""
    return tuple(_walked(state, corpus))


def _walked(state: _State, corpus: Corpus) -> Iterator[str]:
    for hop in range(len(state.searches)):
        yield _id(hop)
        if hop in state.best:
            yield corpus.ids[state.best[hop]]


def _done(state: _State, settings: IterativeRewriteSettings, size: int) -> Stop:
    if not size:
        return Stop(
            StopReason.EMPTY_CORRIDOR,
            "The corpus holds no passage.",
            "Load a document with text in it.",
        )
    count, searches = len(state.kept), len(state.searches)
    short = "" if count == settings.k else f"; {settings.k} were asked for"
    return Stop(StopReason.HOPS_DONE, f"{searches} searches brought {count} passages{short}.")
