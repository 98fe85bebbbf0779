"""Graph RAG in words: entities, their neighbours, communities, and the passages they lead to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tracert.render.frames import Frame, last
from tracert.render.numbers import count, plain, seconds
from tracert.render.palette import CHOSEN, OUTSIDE, REFUSED
from tracert.render.words.base import Column, Formula, Rule, called, title
from tracert.trace import Candidate, NodeKind, Step, Trace

#: How many of the kept a caption names.
_NAMED = 3


class GraphWords:
    """See `tracert.render.words.base.Words`."""

    rules = (
        Rule("kept", "Kept", "Among the best of this step.", CHOSEN),
        Rule("below_k", "Below the best", "Scores less than those that were kept.", REFUSED),
        Rule(
            "other_community",
            "Elsewhere",
            "Belongs to no entity or community that was chosen.",
            OUTSIDE,
            near=False,
        ),
    )
    columns = (
        Column("score", "Score", "What ranks it in this step."),
        Column("rating", "Rating", "How well the summary answers, by the model, 0 to 100.", 0),
        Column("similarity", "Similarity", "Cosine of the angle to the question."),
        Column("term", "Words", "The share of telling words in common with the question."),
        Column(
            "weight", "Tie", "How often the text brings it together with the one it hangs on.", 1
        ),
        Column("members", "Entities", "How many entities the community has.", 0),
    )
    chapters = (
        "Graph RAG makes a graph of the entities that the text names and of what relates them, "
        "and divides it into communities with a summary each. A local search goes from the "
        "entities near the question over their neighbours to the passages that name them; a "
        "global one goes from the communities whose summaries fit best to their passages."
    )

    def caption(self, trace: Trace, frame: Frame) -> str:
        """See `Words.caption`."""
        said = _opening(trace) if frame.step is None else _step(trace, frame.step)
        if frame.index == last(trace):
            stop = trace.result.stop
            said = " ".join(part for part in (said, stop.message, stop.remedy) if part)
        return said

    def formula(self, trace: Trace, frame: Frame, id: str | None) -> Formula | None:
        """See `Words.formula`; None where a model rated."""
        if frame.step is None or not frame.step.candidates:
            return None
        item = frame.candidate(id) or frame.step.candidates[0]
        made = _FORMULAS.get(frame.step.action)
        if made is None or item.values.get("rating") is not None:
            return None
        about = f"The score of {called(trace, frame, item.id)}"
        return Formula(made, _filled(frame.step.action, item), about)


#: The score of each step, see `tracert.methods.graph_rag.search`.
_FORMULAS: Final = {
    "entities": r"\mathrm{score}(e)=\tfrac12\,\mathrm{words}(q,e)"
    r"+\overline{\cos}(v_q,v_d)_{d\ni e}",
    "neighbours": r"\mathrm{score}(n)=\mathrm{nearness}(n)+\tfrac12\,"
    r"\frac{\mathrm{tie}(e,n)}{\max\mathrm{tie}(e,\cdot)}",
    "passages": r"\mathrm{score}(d)=\cos(v_q,v_d)+\mathrm{named}(d)",
    "communities": r"\mathrm{score}(c)=\cos(v_q,v_{\mathrm{summary}})+\mathrm{words}(q,c)",
}


def _filled(action: str, item: Candidate) -> str:
    """The equation of a step with the numbers of a candidate."""
    values = item.values
    score, similarity = values.get("score"), values.get("similarity")
    total = rf"=\mathbf{{{plain(score)}}}"
    if action == "entities":
        return rf"\tfrac12\times{plain(values.get('term'))}+{plain(similarity)}{total}"
    if action == "communities":
        return rf"{plain(similarity)}+{plain(values.get('term'))}{total}"
    first = values.get("nearness") if action == "neighbours" else similarity
    if not isinstance(score, int | float) or not isinstance(first, int | float):
        return rf"\mathrm{{score}}{total}"
    return rf"{plain(first)}+{plain(score - first)}{total}"


def _opening(trace: Trace) -> str:
    placed = f"The question is placed among {count(trace.corpus.size, 'passage')}."
    first = trace.steps[0].values if trace.steps else {}
    if not first.get("entities"):
        return placed
    read = str(first.get("extraction"))
    how = "made offline" if read == "offline" else f"for which {read}"
    parts = (
        count(_whole(first, "entities"), "entity", "entities"),
        count(_whole(first, "relations"), "relation"),
        count(_whole(first, "communities"), "community", "communities"),
    )
    said = f"{placed} Its graph, {how}, has {parts[0]}, {parts[1]} and {parts[2]}."
    spent, calls = first.get("index_seconds"), _whole(first, "index_model_calls")
    if isinstance(spent, int | float):
        asked = f"{count(calls, 'call')} of a model" if calls else "no call of a model"
        said += f" Making it took {seconds(float(spent))} and {asked}, once."
    note = first.get("index_note")
    return f"{said} {note}" if note else said


def _whole(values: Mapping[str, float | str | None], name: str) -> int:
    value = values.get(name)
    return int(value) if isinstance(value, int | float) else 0


def _step(trace: Trace, step: Step) -> str:
    kept = [item.id for item in step.candidates if item.kept]
    number = step.counts.get("kept", len(kept))
    if not number:
        return "This step keeps nothing."
    one, many = _KINDS.get(trace.node(kept[0]).kind, _PASSAGE) if kept else _PASSAGE
    named = [f"“{title(trace.node(id))}”" for id in kept[:_NAMED]]
    listed = ", ".join(named) + (" and others" if number > len(named) else "")
    said = f"{_WHY.get(step.action, _PLAIN)}: {count(number, one, many)}, {listed}."
    note = step.values.get("rating_note")
    return f"{said} {note}" if note else said


_PASSAGE = ("passage", "passages")
_KINDS = {NodeKind.ENTITY: ("entity", "entities"), NodeKind.COMMUNITY: ("community", "communities")}
_PLAIN = "The passages nearest to the question are kept"
#: What each step keeps, by its action.
_WHY = {
    "entities": "The entities nearest to the question are chosen",
    "neighbours": "The entities tied closest to those are taken along",
    "communities": "The communities whose summaries fit the question best are chosen",
    "members": "Their members most tied to one another make their core",
    "passages": "The best passages that what was chosen leads to are kept",
}
