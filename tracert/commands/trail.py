"""A trace as a person reads it in a terminal."""

from __future__ import annotations

from tracert.commands.say import clean, say
from tracert.render.frames import frame, last
from tracert.render.numbers import count, seconds
from tracert.render.walk_notes import goal_parts, goal_source
from tracert.render.walk_notes import notes as walk_notes
from tracert.render.words import Words, place, words_for
from tracert.trace import Answer, NodeKind, Trace


def print_trail(trace: Trace, *, asked: bool = False) -> None:
    """Print the run step by step, the evidence with its sources, the answer and the cost.

    `asked` tells whether a language model was named, which the trace of one that failed does
    not.

    Raises:
        TraceError: there are no words for the method; nothing is printed.
    """
    words = words_for(trace.method)
    corpus = trace.corpus
    notes = any(node.kind is NodeKind.NOTE for node in trace.nodes)
    size = count(corpus.size, "note" if notes else "passage")
    say(trace.question, first="Question  ")
    say(f"{trace.method} on {corpus.name} ({size}, {corpus.embedder})", first="Method    ")
    goal = " · ".join(goal_parts(trace))
    if goal:
        by = goal_source(trace)
        say(f"{goal} ({by[:1].lower()}{by[1:]})" if by else goal, first="Goal      ")
    for note in walk_notes(trace, delta=True):
        say(note, first="Note      ")
    _trail(trace, words)
    _evidence(trace)
    if trace.result.answer is not None:
        _answer(trace.result.answer, trace.result.evidence)
    say()
    say(_cost(trace, asked=asked), first="Cost      ")


def _trail(trace: Trace, words: Words) -> None:
    print("\nTrail")
    said = ""
    for index in range(last(trace) + 1):
        at = frame(trace, index)
        said = words.caption(trace, at)
        say(said, first=f"{index:>3}. ")
        where = place(trace.node(at.chosen)) if at.chosen is not None else ""
        if where:
            say(where, first="     at ")
    stop = trace.result.stop
    if stop.message not in said:
        say(" ".join(part for part in (stop.message, stop.remedy) if part), first="     ")


def _evidence(trace: Trace) -> None:
    print("\nEvidence")
    if not trace.result.evidence:
        say("None.", first="     ")
    for number, id in enumerate(trace.result.evidence, 1):
        node = trace.node(id)
        say(place(node) or node.label, first=f"{f'[{number}]':>4} ")
        say(node.text, first="     ")


def _answer(answer: Answer, evidence: tuple[str, ...]) -> None:
    by = "extract" if answer.source == "extract" else f"written by {answer.source}"
    print(f"\nAnswer ({clean(by)})")
    for sentence in answer.sentences:
        cited = "".join(f"[{evidence.index(id) + 1}]" for id in sentence.citations)
        unknown = "".join(f"[{number}?]" for number in sentence.unknown)
        say(f"{sentence.text} {cited}{unknown}", first="     ")
    if answer.note:
        say(answer.note, first="     ")


def _cost(trace: Trace, *, asked: bool) -> str:
    cost = trace.cost
    stages = ", ".join(f"{stage} {seconds(spent)}" for stage, spent in cost.seconds.items())
    if not cost.model_calls:
        return f"{stages}; no model {'answered' if asked else 'was asked'}."
    calls = count(cost.model_calls, "model call")
    tokens = f"{cost.prompt_tokens:,} and {cost.completion_tokens:,} tokens in and out"
    return f"{stages}; {calls}, {tokens}."
