"""The components of the app that run in the browser, and how they get their script.

Streamlit sends a component's script with every message of it. So everything heavy (vis, the
stage, the passage view) is in one `loader` that never changes: the browser keeps its message by
hash and gets a reference at later runs. The components themselves are one line that waits
for the loader and calls it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from tracert.render.vis import vis_source

_FRONTEND = Path(__file__).with_name("frontend")
#: Scripts without a component of their own, before those that use them.
_HELPERS = ("groups", "picture")
_PARTS = ("stage", "passage", "cards", "link", "compare")

# The loader may run after the component that needs it: whoever comes first makes the promise.
_PROMISE = """
globalThis.tracertLoading ??= (() => { let done; const p = new Promise((r) => { done = r; });
  return { done, promise: p }; })();
"""


def _waiting(part: str) -> str:
    return f"""{_PROMISE}
export default (component) => {{
  let cleanup = null, gone = false;
  globalThis.tracertLoading.promise.then((css) => {{
    if (!gone) cleanup = globalThis.tracert.{part}(component, css.{part});
  }});
  return () => {{ gone = true; cleanup?.(); }};
}};
"""


@cache
def _loader_source() -> str:
    scripts = [
        (_FRONTEND / f"{part}.js").read_text(encoding="utf-8") for part in (*_HELPERS, *_PARTS)
    ]
    styles = {part: (_FRONTEND / f"{part}.css").read_text(encoding="utf-8") for part in _PARTS}
    return "\n".join(
        [
            _PROMISE,
            "if (!globalThis.tracertLoaded) {",
            vis_source(),
            *scripts,
            "globalThis.tracertLoaded = true;",
            f"globalThis.tracertLoading.done({json.dumps(styles)});",
            "}",
            "export default () => {};",
        ]
    )


_stage = st.components.v2.component("tracert_stage", js=_waiting("stage"))
_passage = st.components.v2.component("tracert_passage", js=_waiting("passage"))
_link = st.components.v2.component("tracert_link", js=_waiting("link"))
_cards = st.components.v2.component("tracert_cards", js=_waiting("cards"))
_compare = st.components.v2.component("tracert_compare", js=_waiting("compare"))
_loader = st.components.v2.component("tracert_loader", js=_loader_source())


def load() -> None:
    """Send the scripts to the browser; call it once a run, outside any fragment."""
    _loader(key="tracert_loader", height=1)


def stage(data: Mapping[str, Any], *, key: str) -> dict[str, Any] | None:
    """Draw the graph with its player.

    Returns:
        What the person last did there, {revision, step, selected, moment in milliseconds},
        or None.
    """
    result = _stage(key=key, data=dict(data), on_at_change=lambda: None)
    at = result.get("at")
    return at if isinstance(at, dict) else None


def passage(
    pieces: list[tuple[str, str]], *, key: str, label: str = "The passage in its source"
) -> None:
    """Show text as text; each piece is (role, text) with a role of passage.css or sentence."""
    _passage(key=key, data={"pieces": [list(piece) for piece in pieces], "label": label})


def link(query: str, *, key: str) -> None:
    """Show the address of this page with that query, and a button that copies it."""
    _link(key=key, data={"query": query})


def cards(data: Mapping[str, Any], *, key: str) -> dict[str, Any] | None:
    """Show lists of passages, or prose with citations, that can be clicked.

    `data` has `groups` [{heading, count, empty, ordered, items [{id, badge, path, title, where}]}]
    or `prose` [{text, cites [{id, number, title}], unknown}], `selected`, `dark`
    and, where the badges have another colour than the path's, `mark`, a group its own.

    Returns:
        What was clicked last, {id, moment in milliseconds}, or None.
    """
    result = _cards(key=key, data=dict(data), on_pick_change=lambda: None)
    pick = result.get("pick")
    return pick if isinstance(pick, dict) else None


def compare(data: Mapping[str, Any], *, key: str) -> dict[str, Any] | None:
    """Show methods beside one another: cards of what each found, or passages by who found them.

    `data` has `kind` ('board' or 'matrix'), `methods`, `selected` and `dark`, for the matrix also
    `groups`, see `tracert.render.compare_found`.

    Returns:
        What was clicked last, {id, moment in milliseconds}, or None.
    """
    result = _compare(key=key, data=dict(data), on_pick_change=lambda: None)
    pick = result.get("pick")
    return pick if isinstance(pick, dict) else None
