"""TreeHop in words: which query searched, what it kept, and which rule ended each branch."""

from __future__ import annotations

from tracert.render import tree
from tracert.render.frames import Frame, last
from tracert.render.numbers import count, plain
from tracert.render.palette import CHOSEN, Look
from tracert.render.words.base import Column, Formula, Rule, called, quoted
from tracert.trace import Candidate, Step, Trace

SCORE = r"\mathrm{score}(d)=\cos(q',d)+\lambda\,\overline{\cos}(\text{path to }q')"
NOVEL = r"+\nu\,\mathrm{novelty}(d)"
FIRST = r"\mathrm{score}(d)=\cos(q,d)"

#: How a caption counts the branches that a rule ended.
_ENDED = {
    "redundant": ("was retrieved before", "were retrieved before"),
    "layer_top_k": ("scores less than others of this hop", "score less than others of this hop"),
    "low_novelty": ("says too little that is new", "say too little that is new"),
    "budget": ("finds no place free", "find no place free"),
}


class TreeHopWords:
    """See `tracert.render.words.base.Words`."""

    rules = (
        Rule("kept", "Kept", "Kept; before the last hop it makes the next query.", CHOSEN),
        Rule(
            "not_spawned",
            "Kept, no branch",
            "Kept, but better passages of this hop make the next queries.",
            Look("path", "ring", "solid"),
        ),
        Rule(
            "redundant",
            "Found before",
            "Redundancy pruning: an earlier query kept it, so the branch ends.",
            Look("rejected", "square", "dotted"),
        ),
        Rule(
            "layer_top_k",
            "Below the hop's best",
            "Layer-wise top-K pruning: over all queries of the hop others score more.",
            Look("rejected", "ring", "dashed"),
        ),
        Rule(
            "low_novelty",
            "Nothing new",
            "Adaptive pruning: it says too little that the kept passages do not say.",
            Look("rejected", "cross", "dashed"),
        ),
        Rule(
            "budget",
            "No place",
            "All places of this hop are taken; the rest are reserved for later hops.",
            Look("kept", "dot", "dashed"),
        ),
    )
    columns = (
        Column("score", "Score", "What ranks it: similarity, path score and novelty together."),
        Column("similarity", "Similarity", "Cosine to the query that found it."),
        Column("novelty", "Novelty", "1 minus the largest cosine to its query and the kept."),
    )
    chapters = (
        "TreeHop searches with the question's vector, then moves the vector: two gates look at a "
        "passage that was found, Forget takes away what it has resolved and Update adds what it "
        "brings. The moved query searches again. Two rules keep the tree small: a branch whose "
        "passage was retrieved before ends, and a hop keeps only its best. No language model "
        "takes part."
    )

    def caption(self, trace: Trace, frame: Frame) -> str:
        """See `Words.caption`."""
        stop = trace.result.stop
        if frame.step is None:
            if not trace.steps:
                return " ".join(part for part in (stop.message, stop.remedy) if part)
            return _opening(trace)
        said = _search(trace, frame, frame.step)
        if frame.index == last(trace):
            said = " ".join(part for part in (said, stop.message, stop.remedy) if part)
        return said

    def formula(self, trace: Trace, frame: Frame, id: str | None) -> Formula | None:
        """See `Words.formula`."""
        if frame.step is None:
            return None
        item = frame.candidate(id) or frame.candidate(frame.chosen)
        item = item or next(iter(frame.step.candidates), None)
        if item is None:
            return None
        about = f"{called(trace, frame, frame.step.source)} with {called(trace, frame, item.id)}"
        return _formula(trace, frame.step, item, about[:1].upper() + about[1:])


def _opening(trace: Trace) -> str:
    first = trace.steps[0]
    hops = max(query.hop for query in tree.queries(trace))
    model = first.values.get("model")
    moved = f" Between hops the {_model(str(model))} the query's vector." if model else ""
    return (
        f"The question's vector is placed among {count(trace.corpus.size, 'passage')}. It will "
        f"search in {count(hops, 'hop')} with {count(len(trace.steps), 'query', 'queries')}."
        + (moved if hops > 1 else "")
    )


def _model(name: str) -> str:
    return f"{name} moves" if name.startswith("forget rule") else f"trained gates ({name}) move"


def _search(trace: Trace, frame: Frame, step: Step) -> str:
    query = tree.queries(trace)[step.index]
    kept = [item for item in step.candidates if item.kept]
    if query.hop == 1:
        who = "Hop 1: the question's own vector searches"
    else:
        which = "the only query" if query.of == 1 else f"query {query.place} of {query.of}"
        who = f"Hop {query.hop}, {which}: {query.name}, made {_origin(trace, frame, query)},"
        who += " searches"
    if not kept:
        said = f"{who} and keeps nothing, so its branch ends here."
    else:
        said = f"{who} and keeps {_listed(trace, frame, kept)}."
    return " ".join(part for part in (said, _spawning(trace, query, kept), _ended(step)) if part)


def _origin(trace: Trace, frame: Frame, query: tree.Query) -> str:
    before = called(trace, frame, query.parent) if query.parent else "the question"
    if query.passage is not None:
        quote = quoted(trace, query.passage)
        name = called(trace, frame, query.passage)
        return f"of {before} by {name}" + ("" if name == quote else f", {quote}")
    return f"of {before} by {count(query.fused, 'passage')} fused into one"


def _listed(trace: Trace, frame: Frame, kept: list[Candidate]) -> str:
    if len(kept) == 1:
        item = kept[0]
        similarity = plain(item.values.get("similarity"))
        return f"{called(trace, frame, item.id)}, {quoted(trace, item.id)}, at cosine {similarity}"
    numbers = [str(frame.order.get(item.id, "")) for item in kept]
    best = quoted(trace, kept[0].id)
    named = " and ".join(part for part in (", ".join(numbers[:-1]), numbers[-1]) if part)
    return f"passages {named}, the best of them {best}"


def _spawning(trace: Trace, query: tree.Query, kept: list[Candidate]) -> str:
    ids = {item.id for item in kept}
    made = [one for one in tree.queries(trace) if one.parent == query.id]
    spawned = sum(one.passage in ids for one in made)
    if not spawned:
        fused = next((one.fused for one in made if one.fused > 1), 0)
        return f"The best {fused}, fused into one, make the next query." if fused else ""
    if spawned == len(kept):
        how = "makes a next query" if spawned == 1 else "make a next query each"
        return f"{'It' if spawned == 1 else 'They'} {how}."
    if spawned == 1:
        return "The best makes the next query."
    return f"The best {spawned} make the next queries."


def _ended(step: Step) -> str:
    parts = []
    for rule, (one, many) in _ENDED.items():
        number = step.counts.get(rule, 0)
        if number:
            parts.append(f"{number:,} {one if number == 1 else many}")
    return f"Of the others {', '.join(parts)}." if parts else ""


def _formula(trace: Trace, step: Step, item: Candidate, about: str) -> Formula:
    similarity, score = (plain(item.values.get(key)) for key in ("similarity", "score"))
    path, novelty = step.values.get("path"), item.values.get("novelty")
    later = step.values.get("hop") not in (None, 1.0)
    weight, newness = (_number(trace, key) for key in ("path_score", "novelty"))
    general, filled = FIRST, similarity
    if later:
        general = SCORE
        filled = rf"{similarity}+{plain(weight, 1)}\times{plain(path)}"
        if newness:
            general += NOVEL
            filled += rf"+{plain(newness, 1)}\times{plain(novelty)}"
    elif trace.settings.get("first_stage") not in (None, "dense"):
        general = rf"\mathrm{{score}}(d)=\mathrm{{{trace.settings['first_stage']}}}(q,d)"
        filled = rf"\cos(q,d)={similarity},\quad\mathrm{{score}}"
    return Formula(general, rf"{filled}=\mathbf{{{score}}}", about)


def _number(trace: Trace, name: str) -> float:
    value = trace.settings.get(name)
    return float(value) if isinstance(value, int | float) else 0.0
