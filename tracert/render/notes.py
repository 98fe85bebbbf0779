"""What the stage needs beside the walk where it leads through notes: the tree around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tracert.render.layout import rounded
from tracert.render.note_tree import tree_layout
from tracert.render.outline import Outline, outline_of, revealed, scores
from tracert.trace import NodeKind, Step, Trace


def of_notes(trace: Trace) -> bool:
    """Whether the trace walks over notes."""
    return any(node.kind is NodeKind.NOTE for node in trace.nodes)


def tree_payload(trace: Trace, base: Mapping[str, Any]) -> dict[str, Any]:
    """The payload with the outline of the graph: its notes, its links and their places.

    Every frame says which notes it reveals for the first time and which scores it gives.
    """
    outline = outline_of(trace)
    known = {node["id"] for node in base["nodes"]}
    ghosts = [
        {"id": path, "kind": "note", "label": title, "place": path}
        for path, title in outline.titles.items()
        if path not in known
    ]
    drawn = known | set(outline.titles)
    placed = {id: at for id, at in tree_layout(outline).items() if id in drawn}
    return {
        **base,
        "unit": "note",
        "nodes": [*base["nodes"], *ghosts],
        "layouts": {**base["layouts"], "tree": rounded(placed)},
        "links": [list(link) for link in outline.links()],
        "roots": [path for path, parent in outline.parents.items() if parent is None],
        "frames": _frames(trace, base["frames"]),
        "shown": len(drawn),
        "total": max(len(drawn), trace.corpus.size + 1),
    }


def _frames(trace: Trace, frames: list[dict[str, Any]]) -> list[dict[str, Any]]:
    seen: set[str] = set()
    made = [{**frames[0], "revealed": [], "scores": {}}]
    for step, frame in zip(trace.steps, frames[1:], strict=True):
        fresh = [id for id in revealed(trace, step) if id not in seen]
        seen.update(fresh)
        given = {id: round(score) for id, score in scores(step).items()}
        made.append({**frame, "revealed": fresh, "scores": given})
    return made


# --- two trails -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parting:
    """A person's trail beside the machine's, both as the notes visited, in order.

    `shared` is how many notes they begin with in common; `together` the last of these.
    """

    person: tuple[str, ...]
    machine: tuple[str, ...]
    shared: int

    @property
    def together(self) -> str | None:
        """The last note before they parted, None where they began apart."""
        return self.person[self.shared - 1] if self.shared else None

    @property
    def more_hops(self) -> int:
        """How many hops more the person took; negative where they took fewer."""
        return len(self.person) - len(self.machine)

    @property
    def same_end(self) -> bool:
        """Whether both ended at one note."""
        return bool(self.person) and self.person[-1:] == self.machine[-1:]


def trail(trace: Trace) -> tuple[str, ...]:
    """The notes that a walk went to, each once, in order; a fallback goes nowhere."""
    kinds = {node.id: node.kind for node in trace.nodes}
    went = [step.target for step in trace.steps if step.action != "fallback"]
    return tuple(dict.fromkeys(id for id in went if id and kinds.get(id) is NodeKind.NOTE))


def parting(person: Trace, machine: Trace) -> Parting:
    """Where two trails through one graph part."""
    ours, theirs = trail(person), trail(machine)
    shared = 0
    while shared < min(len(ours), len(theirs)) and ours[shared] == theirs[shared]:
        shared += 1
    return Parting(ours, theirs, shared)


def parted_in_words(found: Parting, titles: Mapping[str, str]) -> str:
    """The comparison of two trails, in plain words."""

    def name(path: str) -> str:
        return f"“{titles.get(path, path)}”"

    ours, theirs = len(found.person), len(found.machine)
    said = f"You took {_hops(ours)}, the machine {_hops(theirs)}"
    if found.more_hops:
        more = "more" if found.more_hops > 0 else "fewer"
        said += f": {abs(found.more_hops)} {more}"
    said += ". "
    if found.person == found.machine:
        return said + "The trails are the same."
    after = "at the question" if found.together is None else f"after {name(found.together)}"
    ways = []
    if found.shared < ours:
        ways.append(f"you went to {name(found.person[found.shared])}")
    else:
        ways.append("you stopped")
    if found.shared < theirs:
        ways.append(f"the machine to {name(found.machine[found.shared])}")
    else:
        ways.append("the machine stopped")
    said += f"They parted {after}: {', '.join(ways)}. "
    if found.same_end:
        return said + f"Both ended at {name(found.person[-1])}."
    ends = [name(one[-1]) if one else "nowhere" for one in (found.person, found.machine)]
    return said + f"You ended at {ends[0]}, the machine at {ends[1]}."


def _hops(number: int) -> str:
    return f"{number} hop" if number == 1 else f"{number} hops"


def overlay(person: Trace) -> dict[str, Any]:
    """A person's trail for the stage: its moves from the question on."""
    way = ("query", *trail(person))
    return {
        "label": "Your trail",
        "moves": [list(pair) for pair in pairwise(way)],
    }


# --- the transcript ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Call:
    """A step as a call of the tool: what was asked, why, and the notes that it showed."""

    index: int
    text: str
    reason: str
    view: str
    shown: tuple[str, ...]


def calls(trace: Trace) -> list[Call]:
    """Every step as the call of `get_knowledge_context` that it is or stands for."""
    return [_call(trace, step) for step in trace.steps]


def _call(trace: Trace, step: Step) -> Call:
    by_model = "asked_view" in step.values or "reason" in step.values
    note = step.target if by_model or step.action != "explore" else step.source
    view = str(step.values.get("view") or "exploration")
    score = step.values.get("score")
    if step.action == "fallback":
        text = f"Fallback: the closest note is {step.target}"
    elif not by_model and step.action in ("entry", "turn_back"):
        text = f"{'Enter' if step.action == 'entry' else 'Turn back and enter'} at {step.target}"
    elif note is None or note == "query":
        text = "get_knowledge_context: the call could not be taken"
    else:
        given = f", score={score:.0f}" if isinstance(score, int | float) else ""
        text = f'get_knowledge_context("{note}", view="{view}"{given})'
    chosen = next((item for item in step.candidates if item.kept), None)
    reason = str(step.values.get("reason") or (chosen.reason if chosen is not None else ""))
    offers = step.action not in ("focus", "fallback")
    shown = [id for id in revealed(trace, step) if offers and id not in (note, step.source)]
    return Call(step.index, text, reason, view, tuple(shown))


def seen_before(trace: Trace, at: int) -> dict[str, float | None]:
    """The notes revealed up to a frame, with the last score that each got."""
    found: dict[str, float | None] = {}
    for step in trace.steps[:at]:
        for id in revealed(trace, step):
            found.setdefault(id, None)
        found |= {id: score for id, score in scores(step).items() if id in found}
    return found


def titles(trace: Trace, outline: Outline | None = None) -> dict[str, str]:
    """What each note is called, from the trace and the outline."""
    names = dict((outline or outline_of(trace)).titles)
    names |= {node.id: node.label for node in trace.nodes}
    return names
