"""The graph of a trace: which nodes are shown, the payload of the stage, and the HTML export.

The model is pyvis's `Network`; the app's component and the exported page are both made of
it. No text of a document ever enters ids, titles or headings of the export: pyvis does not
escape them.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any, Final

from tracert.render import groups, tree
from tracert.render.frames import Frame, frame, last
from tracert.render.layout import map_layout, path_layout, rounded
from tracert.render.numbers import plain
from tracert.render.palette import LIGHT, PATH, Look
from tracert.render.tree_layout import TreeLayout, tree_layout
from tracert.render.words import Words, place, title, words_for
from tracert.render.words.base import upright
from tracert.trace import Node, NodeKind, Step, Trace

if TYPE_CHECKING:
    from pyvis.network import Network

#: More nodes than this are a thicket; the graph says how many it leaves out.
SHOWN: Final = 150
FAR: Final = 24
#: What a query after the first is called in the legend, and what it is, where no vector moved.
_HOPS: Final = {
    "iterative_rewrite": (
        "Rewritten question",
        "A text written after what was found before; its vector searches next.",
    )
}
_LINKS = re.compile(r"<(?:link|script)\b[^>]*(?:href|src)=[\"']https?:[^>]*>(?:\s*</script>)?")
_HEADINGS = re.compile(r"<center>\s*<h1>.*?</h1>\s*</center>", re.DOTALL)


def shown_ids(trace: Trace, limit: int = SHOWN) -> list[str]:
    """The nodes to draw: question, goal, path and evidence, then the best candidates in turn.

    Every step gets its first candidates before any step gets its later ones, so that a cut
    takes the worst of each step. Of candidates far from the walk (outside the radius, say)
    no more than `FAR` are drawn. Of a walk that branches, no node stands without the one above.
    """
    if tree.branches(trace):
        return _tree_ids(trace, limit)
    if groups.layered(trace):
        return groups.shown(trace, limit)
    far = {rule.name for rule in words_for(trace.method).rules if not rule.near}
    first = [node.id for node in trace.nodes if node.kind in (NodeKind.QUERY, NodeKind.GOAL)]
    ids = dict.fromkeys([*first, *trace.result.path, *trace.result.evidence])
    deepest = max((len(step.candidates) for step in trace.steps), default=0)
    distant = 0
    for rank in range(deepest):
        for step in trace.steps:
            item = step.candidates[rank] if rank < len(step.candidates) else None
            if item is None or item.id in ids or (item.rule in far and distant >= FAR):
                continue
            distant += item.rule in far
            ids[item.id] = None
        if len(ids) >= limit:
            break
    return list(ids)[:limit]


def _tree_ids(trace: Trace, limit: int) -> list[str]:
    """The tree from its root on, then what the rules ended, the best of every query in turn.

    Of what lies far from the walk no more than `FAR` are drawn.
    """
    far = {rule.name for rule in words_for(trace.method).rules if not rule.near}
    distant = 0
    ids = dict.fromkeys(id for id in trace.result.path if id != tree.hidden(trace))
    for step in trace.steps:
        ids.setdefault(step.source)
        ids.update(dict.fromkeys(tree.kept(step)))
    ids = dict.fromkeys(list(ids)[:limit])
    there = [step for step in trace.steps if step.source in ids]
    for rank in range(max((len(step.candidates) for step in there), default=0)):
        for step in there:
            item = step.candidates[rank] if rank < len(step.candidates) else None
            if item is None or item.id in ids or (item.rule in far and distant >= FAR):
                continue
            distant += item.rule in far
            ids[item.id] = None
    return list(ids)[:limit]


def revision(trace: Trace) -> str:
    """A short name of what the graph shows: it changes when, and only when, the graph does."""
    return _named(walk(trace), trace.map and trace.map.kind)


def walk(trace: Trace) -> str:
    """A short name of the walk alone: another map of it leaves it as it is."""
    digest = hashlib.blake2b(digest_size=8)
    digest.update(repr((trace.method, trace.question, trace.corpus.fingerprint)).encode())
    digest.update(repr(sorted(trace.settings.items())).encode())
    digest.update(repr(trace.result.path).encode())
    for step in trace.steps:
        digest.update(repr((step.source, step.target, dict(step.values))).encode())
        digest.update(repr(len(step.candidates)).encode())
    return digest.hexdigest()


def _named(*parts: object) -> str:
    return hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()


def payload(trace: Trace) -> dict[str, Any]:
    """What the stage draws: ids, short labels, positions and the rule of each candidate.

    Texts of passages stay behind; a click brings them.
    """
    words = words_for(trace.method)
    shown = shown_ids(trace)
    known = set(shown)
    nodes = {node.id: node for node in trace.nodes}
    branching = tree.branches(trace)
    queries = tree.queries(trace) if branching else ()
    grown = tree_layout(trace, shown) if branching else None
    grouped = groups.layout(trace, shown) if groups.layered(trace) else None
    extra: dict[str, dict[str, Any]] = {query.id: _query(query) for query in queries}
    if grouped is not None:
        extra = {id: {"group": held} for id, held in groups.communities(trace).items()}
    total = len(nodes) - (branching and tree.hidden(trace) is not None)
    return {
        "revision": revision(trace),
        "nodes": [{**_node(nodes[id]), **extra.get(id, {})} for id in shown],
        "branches": grown is not None,
        "layered": grouped is not None,
        "hop": _HOPS.get(trace.method),
        "groups": [] if grouped is None else _groups(grouped),
        "labelWidth": 0 if grown is None else round(grown.label_width),
        "parts": [0, *(query.hop for query in queries)],
        "layouts": {
            "path": rounded(_path_positions(trace, shown, grown, grouped)),
            "map": rounded(map_layout(trace, shown)),
        },
        "mapKind": trace.map.kind.upper() if trace.map else "",
        "frames": _frames(trace, words, known),
        "rules": [
            {
                "name": rule.name,
                "label": rule.label,
                "meaning": rule.meaning,
                "colour": rule.look.colour,
                "shape": rule.look.shape,
                "line": rule.look.line,
            }
            for rule in words.rules
        ],
        "columns": [{"key": column.key, "label": column.label} for column in words.columns],
        "shown": len(shown),
        "total": total,
        "size": trace.corpus.size,
    }


def _path_positions(
    trace: Trace,
    shown: list[str],
    grown: TreeLayout | None,
    grouped: groups.Grouped | None,
) -> dict[str, tuple[float, float]]:
    if grown is not None:
        return grown.positions
    return path_layout(trace, shown) if grouped is None else grouped.positions


def _groups(grouped: groups.Grouped) -> list[dict[str, Any]]:
    """The circles of the communities."""
    return [
        {
            "id": each.id,
            "title": each.title,
            "x": round(each.x, 1),
            "y": round(each.y, 1),
            "r": round(each.radius, 1),
        }
        for each in grouped.groups
    ]


def _node(node: Node) -> dict[str, Any]:
    return {"id": node.id, "kind": node.kind.value, "label": title(node), "place": place(node)}


def _query(query: tree.Query) -> dict[str, Any]:
    """The question's own hop is drawn as the question; the others carry their short name."""
    if query.step == 0:
        return {"kind": "query", "label": "The question"}
    return {"name": query.name}


def _at(trace: Trace, now: Frame) -> str:
    """Where the player stands; '' where the count of the steps says it."""
    if now.step is None or not tree.branches(trace):
        return ""
    query = tree.queries(trace)[now.step.index]
    return f"Hop {query.hop}" + (f" · {query.place} of {query.of}" if query.of > 1 else "")


def _frames(trace: Trace, words: Words, known: set[str]) -> list[dict[str, Any]]:
    """The frames; the trail of each is whole, but where the walk branches what it adds alone."""
    frames = [_frame(trace, words, index, known) for index in range(last(trace) + 1)]
    if tree.branches(trace):
        seen: set[tuple[str, str]] = set()
        for one in frames:
            moves = [(a, b) for a, b in one["trail"] if a in known and b in known]
            one["trail"] = [list(move) for move in moves if move not in seen]
            seen.update(moves)
    return frames


def _frame(trace: Trace, words: Words, index: int, known: set[str]) -> dict[str, Any]:
    at = frame(trace, index)
    step = at.step
    return {
        "source": at.in_hand,
        "target": at.chosen,
        "trail": [list(move) for move in at.trail],
        "order": at.order,
        "say": upright(words.caption(trace, at)),
        "at": _at(trace, at),
        "candidates": [] if step is None else _candidates(step, words, known),
        "parents": groups.parents(trace, index - 1) if groups.layered(trace) and index else {},
        "counts": {} if step is None else dict(step.counts),
    }


def _candidates(step: Step, words: Words, known: set[str]) -> list[list[Any]]:
    columns = words.columns
    return [
        [
            item.id,
            item.rule,
            item.kept,
            *(plain(item.values.get(column.key), column.digits) for column in columns),
        ]
        for item in step.candidates
        if item.id in known
    ]


# --- the export -----------------------------------------------------------------------------


def network(trace: Trace, positions: dict[str, tuple[float, float]] | None = None) -> Network:
    """The whole walk as a pyvis network, fixed in place; labels are numbers, never text."""
    from pyvis.network import Network

    words = words_for(trace.method)
    looks = {rule.name: rule.look for rule in words.rules}
    shown = shown_ids(trace)
    branching = tree.branches(trace)
    if positions is None:
        lay = _tree_positions if branching else path_layout
        grouped = groups.layout(trace, shown).positions if groups.layered(trace) else None
        positions = lay(trace, shown) if grouped is None else grouped
    names = {id: f"n{number}" for number, id in enumerate(shown)}
    at = frame(trace, last(trace))
    nodes = {node.id: node for node in trace.nodes}
    net = Network(
        height="720px",
        width="100%",
        directed=True,
        bgcolor=LIGHT.paper,
        font_color=LIGHT.ink,
        cdn_resources="in_line",
    )
    net.toggle_physics(False)
    root = tree.root(trace)
    rules = {item.id: item.rule for step in reversed(trace.steps) for item in step.candidates}
    for id in shown:
        x, y = positions.get(id, (0.0, 0.0))
        net.add_node(names[id], x=x, y=y, **_export_look(nodes[id], at.order, looks, rules, root))
    for number, (source, target) in enumerate(moves_of(trace), start=1):
        label = " " if branching or groups.layered(trace) else str(number)
        if source in names and target in names:
            net.add_edge(
                names[source], names[target], label=label, color=LIGHT.path, width=4, arrows="to"
            )
    return net


def _tree_positions(trace: Trace, shown: list[str]) -> dict[str, tuple[float, float]]:
    return tree_layout(trace, shown).positions


def moves_of(trace: Trace) -> list[tuple[str, str]]:
    """All moves of the walk; of one that branches, the edges of its tree."""
    if groups.layered(trace):
        return list(groups.kept_moves(trace, len(trace.steps)))
    if not tree.branches(trace):
        return [(step.source, step.target) for step in trace.steps if step.target is not None]
    found = [(step.source, id) for step in trace.steps for id in tree.kept(step)]
    return [*dict.fromkeys([*frame(trace, last(trace)).trail, *found])]


def _export_look(
    node: Node,
    order: dict[str, int],
    looks: dict[str, Look],
    rules: dict[str, str],
    root: str | None,
) -> dict[str, Any]:
    if node.kind is NodeKind.QUERY or node.id == root:
        return {"label": "Question", "shape": "diamond", "color": LIGHT.query, "size": 24}
    if node.kind is NodeKind.HOP:
        return {"label": "Query", "shape": "triangle", "color": LIGHT.query, "size": 14}
    if node.kind is NodeKind.GOAL:
        return {"label": "Goal", "shape": "star", "color": LIGHT.goal, "size": 26}
    number = order.get(node.id)
    if number is not None:
        leaf = node.source.leaf if node.source is not None else ""
        label = f"Passage {number}" + (f", {leaf}" if leaf else "")
        return {"label": label, "shape": "dot", "color": LIGHT.colour(PATH.colour), "size": 18}
    look = looks.get(rules.get(node.id, ""))
    shape = {"dot": "dot", "square": "square", "cross": "triangle"}.get(look.shape if look else "")
    colour = LIGHT.colour(look.colour if look else "rejected")
    return {"label": " ", "shape": shape or "dot", "color": colour, "size": 7}


def export_html(trace: Trace) -> str:
    """The walk as one HTML page that needs no network: vis is inside, nothing is linked.

    pyvis links Bootstrap from a CDN even with everything in line; those tags are taken out.
    """
    page = network(trace).generate_html(notebook=False)
    page = _LINKS.sub("", page)
    return _HEADINGS.sub("", page)
