"""A whole run as one HTML file that works with the network off, player included.

The file holds the stage of the app (vis-network inside), a small script of its own and the run
as JSON. Its content security policy lets no other script run and nothing be fetched: scripts
are allowed by their hash alone. All text of documents, notes, models and file names stands in
the JSON, where nothing ends a script element, and reaches the page through `textContent`.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from typing import Any, Final

from tracert.methods.registry import methods
from tracert.render.export.assets import STAGE, asset
from tracert.render.frames import frame, last
from tracert.render.network import payload
from tracert.render.notes import of_notes, tree_payload
from tracert.render.numbers import plain
from tracert.render.palette import DARK, LIGHT, Palette
from tracert.render.tables import cost_line, path_in_words
from tracert.render.vis import vis_source
from tracert.render.walk_notes import goal_parts, goal_source, notes
from tracert.render.words import place, title, words_for
from tracert.render.words.base import unit
from tracert.trace import Step, StopReason, Trace

#: Candidates of a step in the page's table; its caption says how many there are.
LISTED: Final = 200
#: Outline, numbers and settings whose values are longer are cut.
_LONG: Final = 300
_ARRIVED: Final = frozenset(
    {StopReason.GOAL_REACHED, StopReason.HOPS_DONE, StopReason.ANSWERED, StopReason.NOTHING_NEW}
)


def to_page(trace: Trace) -> str:
    """The run as an HTML page.

    Raises:
        TraceError: this version knows no such method.
        TracertError: the installation lacks one of the scripts.
    """
    scripts = [vis_source(), *(asset(name) for name in (*STAGE, "page.js"))]
    allowed = " ".join(f"'sha256-{_hash(script)}'" for script in scripts)
    policy = (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    data = {
        "stage": _stage(trace),
        "run": _run(trace),
        "trace": json.loads(trace.to_json(vectors=False)),
        "css": asset("stage.css"),
    }
    inside = "\n".join(f"<script>{script}</script>" for script in scripts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{html.escape(_heading(trace))}</title>\n"
        f"<style>{_themes()}\n{asset('page.css')}</style>\n</head>\n<body>\n"
        "<noscript>This page draws the run with its own script. Allow scripts to see it."
        "</noscript>\n"
        '<main id="page"></main>\n'
        f'<script type="application/json" id="data">{_json(data)}</script>\n'
        f"{inside}\n</body>\n</html>\n"
    )


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")


def _json(data: Any) -> str:
    """JSON inside a script element: nothing in it can end the element or begin a comment."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text.encode("utf-8", "replace").decode("utf-8")


def _heading(trace: Trace) -> str:
    said = " ".join(trace.question.split()).encode("utf-8", "replace").decode("utf-8")
    return (said if len(said) <= 90 else said[:89] + "…") + " · Tracert"


def _themes() -> str:
    """The colours of both themes as the stage reads them."""

    def variables(palette: Palette, line: str, on: str) -> str:
        return (
            f"--st-text-color:{palette.ink};--st-background-color:{palette.paper};"
            f"--st-secondary-background-color:{palette.panel};--st-border-color:{line};"
            f"--st-primary-color:{palette.query};--faint:{palette.faint};--on:{on};"
            f"--query:{palette.query};--goal:{palette.goal};--path:{palette.path};"
            f"--kept:{palette.kept};--rejected:{palette.rejected};"
        )

    return (
        f":root{{{variables(LIGHT, '#dcd6c9', '#ffffff')}}}\n"
        f":root[data-theme=dark]{{{variables(DARK, '#343b4d', '#10131b')}}}"
    )


# --- what the page shows ----------------------------------------------------------------------


def _stage(trace: Trace) -> dict[str, Any]:
    made = payload(trace)
    made = tree_payload(trace, made) if of_notes(trace) else made
    return {**made, "question": trace.question}


def _run(trace: Trace) -> dict[str, Any]:
    words = words_for(trace.method)
    known = methods()
    stop = trace.result.stop
    order = frame(trace, last(trace)).order
    for id in trace.result.evidence:
        order.setdefault(id, len(order) + 1)
    goal = " · ".join(goal_parts(trace))
    return {
        "title": known[trace.method].title if trace.method in known else trace.method,
        "chapters": words.chapters,
        "unit": unit(trace),
        "arrived": stop.reason in _ARRIVED,
        "goal": [goal_source(trace), goal] if goal else None,
        "notes": notes(trace, delta=True),
        "settings": [[name, _told(value)] for name, value in trace.settings.items()],
        "spent": cost_line(trace),
        "nodes": {node.id: [title(node, 90), place(node)] for node in trace.nodes},
        "order": order,
        "path": path_in_words(trace, words),
        "columns": [[column.label, column.meaning] for column in words.columns],
        "steps": [
            _step(step, [(one.key, one.digits) for one in words.columns]) for step in trace.steps
        ],
    }


def _told(value: str | int | float | bool | None) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return plain("auto" if value is None else value)[:_LONG]


def _step(step: Step, columns: list[tuple[str, int]]) -> dict[str, Any]:
    rows = [
        [
            item.id,
            item.rule,
            item.kept,
            item.reason,
            *(plain(item.values.get(key), digits)[:_LONG] for key, digits in columns),
        ]
        for item in step.candidates[:LISTED]
    ]
    return {"rows": rows, "all": sum(step.counts.values())}
