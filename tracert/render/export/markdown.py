"""A run as Markdown: the path in words, the passages with their sources, the answer.

Whatever came from a document, a note, a model or a file's name is escaped, so that a reader of
Markdown shows it letter by letter and makes no markup, link or HTML of it.
"""

from __future__ import annotations

import re
from typing import Final

from tracert.render.frames import frame, last
from tracert.render.numbers import count
from tracert.render.tables import cost_line, path_in_words, settings_line
from tracert.render.walk_notes import goal_parts, goal_source, notes
from tracert.render.words import Words, place, words_for
from tracert.render.words.base import unit
from tracert.trace import Trace

#: Marks that mean something inside a line of CommonMark or of its common extensions.
_MARKS: Final = re.compile(r"([\\`*_{}\[\]<>|~$&])")
#: Marks that mean something where a line begins.
_BEGINS: Final = re.compile(r"^(\d{1,9})([.)])|^([#+\-=!])")
_CONTROL: Final = re.compile(
    r"[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069"
    r"\ud800-\udfff]"
)


def escaped(text: str) -> str:
    """Markdown that shows this text on one line; control marks are left out."""
    flat = " ".join(_CONTROL.sub("", " ".join(text.split())).split())
    flat = _MARKS.sub(r"\\\1", flat)
    return _BEGINS.sub(_begun, flat)


def _begun(found: re.Match[str]) -> str:
    number, mark, sign = found.groups()
    return f"{number}\\{mark}" if number is not None else f"\\{sign}"


def to_markdown(trace: Trace) -> str:
    """The whole run as one Markdown document.

    Raises:
        TraceError: this version knows no such method.
    """
    words = words_for(trace.method)
    corpus = trace.corpus
    held = count(corpus.size, unit(trace))
    parts = [
        f"# {escaped(trace.question)}",
        f"Walked by **{escaped(trace.method)}** over *{escaped(corpus.name)}* "
        f"({held}, embedder {escaped(corpus.embedder)}).",
        *_goal(trace),
        "## Answer",
        *_answer(trace),
        "## Path",
        "\n".join(
            f"{number}. {escaped(said)}"
            for number, said in enumerate(path_in_words(trace, words), start=1)
        ),
        _ending(trace, words),
        f"## {unit(trace).capitalize()}s found",
        *_evidence(trace),
        "## Settings and cost",
        f"- Settings: {escaped(settings_line(trace))}",
        f"- Seed: {trace.seed}",
        f"- Corpus: {escaped(corpus.name)}, fingerprint {escaped(corpus.fingerprint)}",
        f"- Spent: {escaped(cost_line(trace)) or 'not known'}",
    ]
    return "\n\n".join(part for part in parts if part).replace("\n\n- ", "\n- ") + "\n"


def _ending(trace: Trace, words: Words) -> str:
    """Why the walk ended, where the last sentence of the path does not say so."""
    stop = trace.result.stop
    said = words.caption(trace, frame(trace, last(trace)))
    if stop.message in said:
        return ""
    return escaped(f"{stop.message} {stop.remedy}".strip())


def _goal(trace: Trace) -> list[str]:
    goal = " · ".join(goal_parts(trace))
    by = escaped(goal_source(trace) or "source not known")
    made = [f"**Goal** ({by}): {escaped(goal)}"] if goal else []
    return made + [f"*Note:* {escaped(note)}" for note in notes(trace, delta=True)]


def _answer(trace: Trace) -> list[str]:
    answer = trace.result.answer
    if answer is None or not answer.sentences:
        return ["There is no answer: nothing was found to answer from."]
    rank = {id: number for number, id in enumerate(trace.result.evidence, start=1)}
    said = []
    for sentence in answer.sentences:
        cited = "".join(f" \\[{rank[id]}\\]" for id in sentence.citations if id in rank)
        unknown = "".join(f" \\[{escaped(name)}?\\]" for name in sentence.unknown)
        said.append(f"{escaped(sentence.text)}{cited}{unknown}")
    by = "An extract" if answer.source == "extract" else f"Written by {escaped(answer.source)}"
    note = f" {escaped(answer.note)}" if answer.note else ""
    return [" ".join(said), f"*{by}.*{note}"]


def _evidence(trace: Trace) -> list[str]:
    if not trace.result.evidence:
        return ["None."]
    order = frame(trace, last(trace)).order
    made = []
    for number, id in enumerate(trace.result.evidence, start=1):
        node = trace.node(id)
        where = escaped(place(node) or node.label)
        on = f", number {order[id]} of the path" if order.get(id, number) != number else ""
        made.append(f"**\\[{number}\\]** {where}{on}")
        made.append(f"> {escaped(node.text)}")
    return made
