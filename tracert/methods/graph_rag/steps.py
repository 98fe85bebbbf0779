"""The steps of graph_rag: local, overall (global), and plain where there is no graph."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from tracert.errors import ModelError
from tracert.methods.exact import Reals, Rows, ranked, unit
from tracert.methods.first_stage import rank
from tracert.methods.graph_rag import rating
from tracert.methods.graph_rag.graph import Community
from tracert.methods.graph_rag.record import (
    Considered,
    Values,
    candidates,
    community_id,
    entity_id,
)
from tracert.methods.graph_rag.run import Run, Vector
from tracert.methods.graph_rag.search import TERM, community_terms, in_turn, mention_weights
from tracert.recent import Recent
from tracert.trace import Cost, Step

#: Summaries embedded, by corpus, graph and level.
_SUMMARIES: Final[Recent[Vector]] = Recent(8)
#: Entities of each community that the step of members keeps as its core.
_CORE: Final = 8
#: Candidates of a rule that a step names in any case.
_LEAST: Final = 10


def plain(run: Run) -> Step:
    """Plain top-k as a step."""
    k = run.settings.k
    ranking = rank(
        run.corpus, run.prepared.question, run.prepared.vector, "dense", max(k, run.shown)
    )
    considered = [
        Considered(row, "kept" if place < k else "below_k", {"score": score, "similarity": score})
        for place, (row, score) in enumerate(
            zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True)
        )
    ]
    kept = [each.item for each in considered if each.rule == "kept"]
    counts = {"kept": len(kept), "below_k": len(run.corpus.ids) - len(kept)}
    return _passages(run, "query", considered, counts, dict.fromkeys(kept, "query"))


# --- local ----------------------------------------------------------------------------------


def local(run: Run) -> Iterator[Step]:
    """Entities near the question, their neighbours, the passages that name them."""
    term, mean = run.view.entities(run.prepared.question, run.cosines, run.idf)
    scores = TERM * term + mean
    order = ranked(-scores, np.arange(len(scores)))
    chosen = order[: run.settings.entities].tolist()
    yield _entities(run, order, term, mean, chosen)
    near: list[int] = []
    if run.settings.neighbours:
        step, near = _neighbours(run, chosen, scores)
        yield step
    weights = mention_weights(chosen, near, scores)
    yield _mentioning(run, weights, chosen[0])


def _entities(run: Run, order: Rows, term: Reals, mean: Reals, chosen: Sequence[int]) -> Step:
    considered = [
        Considered(
            entity,
            "kept" if place < len(chosen) else "below_k",
            {
                "score": float(TERM * term[entity] + mean[entity]),
                "term": float(term[entity]),
                "similarity": float(mean[entity]),
                "community": run.community_name(entity),
                "parent": "query",
            },
        )
        for place, entity in enumerate(order[: max(len(chosen), run.shown)].tolist())
    ]
    reasons = {
        "kept": f"among the {len(chosen)} entities nearest to the question by name and passages",
        "below_k": f"farther from the question than the {len(chosen)} entities kept",
    }
    counts = {"kept": len(chosen), "below_k": len(order) - len(chosen)}
    return _entity_step(run, "entities", "query", considered, reasons, counts)


def _neighbours(run: Run, chosen: Sequence[int], scores: Reals) -> tuple[Step, list[int]]:
    found = run.view.neighbours(chosen, scores)
    order = sorted(found, key=lambda entity: (-found[entity][0], entity))
    rules: dict[int, str] = {}
    near: list[int] = []
    for entity in order:
        away = run.community(entity) != run.community(found[entity][1])
        if run.settings.within and away:
            rules[entity] = "other_community"
        elif len(near) < run.settings.neighbours:
            rules[entity] = "kept"
            near.append(entity)
        else:
            rules[entity] = "below_k"
    shown = _shown(order, rules, run.shown)
    considered = []
    for entity in shown:
        score, parent, tie = found[entity]
        relation = run.graph.relations[tie]
        values: Values = {
            "score": score,
            "nearness": float(scores[entity]),
            "weight": relation.weight,
            "relation": relation.text,
            "community": run.community_name(entity),
            "parent": entity_id(run.graph, parent),
        }
        considered.append(Considered(entity, rules[entity], values))
    reasons = {
        "kept": f"among the {len(near)} entities tied closest to those chosen",
        "below_k": f"tied less closely than the {len(near)} neighbours kept",
        "other_community": "in another community than the entity that it is tied to",
    }
    source = entity_id(run.graph, chosen[0])
    step = _entity_step(run, "neighbours", source, considered, reasons, _count(rules))
    return step, near


def _mentioning(run: Run, weights: Mapping[int, float], first: int) -> Step:
    """The step of the passages that name the entities of these weights."""
    bonus, parent = run.view.mentions(dict(weights), len(run.corpus.ids))
    reached = np.array(sorted(parent), dtype=np.intp)
    k = run.settings.k
    rows, scores, cosines = run.best_rows(reached, bonus[reached], max(k, run.shown))
    entities = run.graph.entities
    considered = [
        Considered(
            row,
            "kept" if place < k else "below_k",
            {
                "score": score,
                "similarity": cosine,
                "parent": entity_id(run.graph, parent[row]),
                "named": ", ".join(
                    entities[entity].name for entity in weights if _stands(run, entity, row)
                ),
            },
        )
        for place, (row, score, cosine) in enumerate(
            zip(rows.tolist(), scores.tolist(), cosines.tolist(), strict=True)
        )
    ]
    others = np.setdiff1d(np.arange(len(run.corpus.ids)), reached)
    considered += _elsewhere(run, others, max(run.shown - len(considered), _LEAST))
    kept = min(k, len(rows))
    counts = {
        "kept": kept,
        "below_k": len(reached) - kept,
        "other_community": len(others),
    }
    parents = {row: entity_id(run.graph, parent[row]) for row in rows[:kept].tolist()}
    run.named.entities.update(dict.fromkeys(parent[row] for row in rows.tolist()))
    return _passages(run, entity_id(run.graph, first), considered, counts, parents)


def _stands(run: Run, entity: int, row: int) -> bool:
    rows = run.graph.entities[entity].rows
    place = int(np.searchsorted(rows, row))
    return place < len(rows) and rows[place] == row


# --- global ---------------------------------------------------------------------------------


def overall(run: Run) -> Iterator[Step]:
    """Communities rated by their summaries, their core members, passages of the best in turn."""
    communities = [
        place
        for place, community in enumerate(run.graph.communities)
        if community.level == run.level
    ]
    step, chosen = _communities(run, communities)
    yield step
    yield _members(run, chosen)
    yield _joined(run, chosen)


def _communities(run: Run, places: Sequence[int]) -> tuple[Step, list[int]]:
    communities = [run.graph.communities[place] for place in places]
    vectors = _summary_vectors(run, places)
    similarity = vectors.astype(np.float64) @ unit(run.prepared.vector)
    term = community_terms(communities, run.prepared.question, run.idf)
    scores = similarity + term
    order = ranked(-scores, np.arange(len(places)))
    ratings, note = _ratings(run, [communities[place] for place in order[: rating.MOST].tolist()])
    rated = dict(zip(order.tolist(), ratings, strict=False))
    if rated:
        order = np.array(
            sorted(order.tolist(), key=lambda place: (-rated.get(place, -1.0), -scores[place])),
            dtype=np.intp,
        )
    fit = [place for place in order.tolist() if not rated or rated.get(place, 0.0) > 0.0]
    kept = (fit or order.tolist())[: run.settings.communities]
    chosen = [places[place] for place in kept]
    considered = []
    for place in order[: max(len(kept), run.shown)].tolist():
        values: Values = {
            "score": rated.get(place, float(scores[place])),
            "similarity": float(similarity[place]),
            "term": float(term[place]),
            "rating": rated.get(place),
            "members": float(len(communities[place].members)),
            "parent": "query",
        }
        rule = "kept" if place in kept else "below_k"
        considered.append(Considered(places[place], rule, values))
    shown = [each.item for each in considered]
    run.named.communities.update(dict.fromkeys(shown))
    run.summaries.update(
        {places[place]: vectors[place] for place in range(len(places)) if places[place] in shown}
    )
    how = "by the model" if rated else "by similarity and words"
    reasons = {
        "kept": f"among the {len(kept)} communities whose summaries are rated highest {how}",
        "below_k": f"rated below the {len(kept)} communities kept, {how}",
    }
    more: Values = {"rating_note": note} if note else {}
    step = Step(
        index=run.next_index(),
        action="communities",
        source="query",
        target=community_id(run.view, chosen[0]),
        values=run.values() | more,
        counts={"kept": len(kept), "below_k": len(places) - len(kept)},
        candidates=candidates(
            considered, lambda community: community_id(run.view, community), reasons
        ),
    )
    return step, chosen


def _ratings(run: Run, communities: Sequence[Community]) -> tuple[list[float], str]:
    """A model's ratings of these communities and a note where it could not; [] without one."""
    model = run.resources.model
    if model is None:
        return [], ""
    begun = time.perf_counter()
    messages = rating.rating_messages(run.prepared.question, communities)
    try:
        text, cost, now = run.prepared.replies.ask(model, messages, rating.TOKENS)
        spent = time.perf_counter() - begun if now else 0.0
        run.cost = run.cost.plus(cost).plus(Cost({"walk": -spent}))
        return rating.parse_ratings(text, len(communities), model.name), ""
    except ModelError as error:
        return [], f"Similarity and words rated, since the model could not: {error}"


def _summary_vectors(run: Run, places: Sequence[int]) -> Vector:
    """The vectors of the communities' titles and summaries, shape (communities, d)."""
    key = (run.corpus.info.fingerprint, id(run.view), run.level)

    def make() -> Vector:
        begun = time.perf_counter()
        texts = [
            f"{run.graph.communities[place].title}\n{run.graph.communities[place].summary}"
            for place in places
        ]
        vectors: Vector = run.resources.embed(texts)
        spent = time.perf_counter() - begun
        run.cost = run.cost.plus(Cost({"embed": spent, "walk": -spent}))
        return vectors

    return _SUMMARIES.get(key, make)


def _members(run: Run, chosen: Sequence[int]) -> Step:
    considered, total = [], 0
    for community in chosen:
        members = run.graph.communities[community].members
        total += len(members)
        for place, entity in enumerate(members[: max(_CORE, run.shown // len(chosen))]):
            values: Values = {
                "score": run.view.strength(entity),
                "community": community_id(run.view, community),
                "parent": community_id(run.view, community),
            }
            considered.append(Considered(entity, "kept" if place < _CORE else "below_k", values))
    considered.sort(key=lambda each: (each.rule != "kept", -float(str(each.values["score"]))))
    kept = sum(each.rule == "kept" for each in considered)
    reasons = {
        "kept": f"among the {_CORE} members most tied to the others of its community",
        "below_k": "a member less tied to the others",
    }
    counts = {
        "kept": kept,
        "below_k": total - kept,
        "other_community": len(run.graph.entities) - total,
    }
    source = community_id(run.view, chosen[0])
    return _entity_step(run, "members", source, considered, reasons, counts)


def _joined(run: Run, chosen: Sequence[int]) -> Step:
    """The step of the passages of the chosen communities, taken in turn."""
    k, size = run.settings.k, len(run.corpus.ids)
    groups: list[Rows] = []
    cosine_of: dict[int, float] = {}
    owner: dict[int, int] = {}
    for place, community in enumerate(chosen):
        members = run.graph.communities[community].members
        held = sorted({row for entity in members for row in run.graph.entities[entity].rows})
        for row in held:
            owner.setdefault(row, place)
        rows, _, cosines = run.best_rows(
            np.array(held, dtype=np.intp), np.zeros(len(held)), max(k, run.shown)
        )
        groups.append(rows)
        cosine_of.update(zip(rows.tolist(), cosines.tolist(), strict=True))
    taken = in_turn(groups, k)
    kept = dict.fromkeys(row for _, row in taken)
    owner.update({row: place for place, row in taken})
    rest = sorted(cosine_of.keys() - kept.keys(), key=lambda row: (-cosine_of[row], row))
    considered = []
    for row in [*kept, *rest[: max(run.shown - len(kept), _LEAST)]]:
        values: Values = {
            "score": cosine_of[row],
            "similarity": cosine_of[row],
            "parent": community_id(run.view, chosen[owner[row]]),
        }
        considered.append(Considered(row, "kept" if row in kept else "below_k", values))
    others = np.setdiff1d(np.arange(size), np.array(sorted(owner), dtype=np.intp))
    considered += _elsewhere(run, others, max(run.shown - len(considered), _LEAST))
    counts = {
        "kept": len(kept),
        "below_k": len(owner) - len(kept),
        "other_community": len(others),
    }
    parents = {row: community_id(run.view, chosen[place]) for place, row in taken}
    return _passages(run, community_id(run.view, chosen[0]), considered, counts, parents)


# --- shared -----------------------------------------------------------------------------------


def _elsewhere(run: Run, rows: Rows, count: int) -> list[Considered]:
    """The passages nearest to the question among those that were not reached."""
    best, _, cosines = run.best_rows(rows, np.zeros(len(rows)), count)
    return [
        Considered(row, "other_community", {"score": cosine, "similarity": cosine, "parent": None})
        for row, cosine in zip(best.tolist(), cosines.tolist(), strict=True)
    ]


def _passages(
    run: Run,
    source: str,
    considered: Sequence[Considered],
    counts: Mapping[str, int],
    parents: Mapping[int, str],
) -> Step:
    """The last step; the passages kept, in this order, become the evidence."""
    ids = run.corpus.ids
    for row, parent in parents.items():
        run.path += [parent, ids[row]]
        run.evidence.append(ids[row])
    run.named.rows.update(dict.fromkeys(each.item for each in considered))
    reasons = {
        "kept": f"among the {len(parents)} best passages",
        "below_k": f"below the {len(parents)} passages kept",
        "other_community": "names nothing that was chosen: what it tells belongs elsewhere",
    }
    return Step(
        index=run.next_index(),
        action="passages",
        source=source,
        target=run.evidence[0] if run.evidence else None,
        values=run.values(),
        counts={rule: count for rule, count in counts.items() if count or rule == "kept"},
        candidates=candidates(considered, lambda row: ids[row], reasons),
    )


def _entity_step(
    run: Run,
    action: str,
    source: str,
    considered: Sequence[Considered],
    reasons: Mapping[str, str],
    counts: Mapping[str, int],
) -> Step:
    """A step over entities; they and their communities become nodes of the trace."""
    items = [each.item for each in considered]
    run.named.entities.update(dict.fromkeys(items))
    held = (run.community(entity) for entity in items)
    run.named.communities.update(dict.fromkeys(place for place in held if place is not None))
    kept = next((each.item for each in considered if each.rule == "kept"), None)
    return Step(
        index=run.next_index(),
        action=action,
        source=source,
        target=None if kept is None else entity_id(run.graph, kept),
        values=run.values(),
        counts={rule: count for rule, count in counts.items() if count or rule == "kept"},
        candidates=candidates(considered, lambda entity: entity_id(run.graph, entity), reasons),
    )


def _shown(order: Sequence[int], rules: Mapping[int, str], most: int) -> list[int]:
    """The kept, then the best others up to `most` in all, of each rule some in any case."""
    kept = [item for item in order if rules[item] == "kept"]
    shown = kept + [item for item in order if rules[item] != "kept"][: max(most - len(kept), 0)]
    for rule in set(rules.values()):
        named = sum(rules[item] == rule for item in shown)
        more = [item for item in order if rules[item] == rule and item not in shown]
        shown += more[: max(_LEAST - named, 0)]
    return shown


def _count(rules: Mapping[int, str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for rule in rules.values():
        counts[rule] = counts.get(rule, 0) + 1
    return counts
