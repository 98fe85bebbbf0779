"""How each method is drawn where several stand side by side: a colour, a shape and a line.

No two differ by colour alone. The hues follow Okabe and Ito, as in `palette`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tracert.methods.registry import methods
from tracert.render.palette import Theme


@dataclass(frozen=True, slots=True)
class MethodLook:
    """A method's colours by theme, its marker (as the page and as plotly call it) and its line."""

    light: str
    dark: str
    shape: str
    symbol: str
    dash: str

    def colour(self, theme: Theme) -> str:
        """The CSS hex code in that theme."""
        return self.dark if theme == "dark" else self.light


_LOOKS: Final = {
    "native_rag": MethodLook("#454c5e", "#c3c9d6", "circle", "circle", "solid"),
    "tracert_rag": MethodLook("#c2500a", "#ff9a4d", "square", "square", "solid"),
    "treehop": MethodLook("#0067a5", "#62b8f0", "diamond", "diamond", "dash"),
    "trailgraph": MethodLook("#6d4c9f", "#b9a2e8", "pentagon", "pentagon", "solid"),
    "iterative_rewrite": MethodLook("#a03a86", "#ee92d2", "triangle", "triangle-up", "dot"),
    "graph_rag": MethodLook("#00795a", "#3ecf9f", "hexagon", "hexagon2", "dashdot"),
}
_OTHER: Final = MethodLook("#8a6a00", "#e6c34d", "star", "star", "longdash")
#: Names that fit over a narrow column.
_SHORT: Final = {
    "native_rag": "Top-k",
    "tracert_rag": "Tracert",
    "treehop": "TreeHop",
    "trailgraph": "TrailGraph",
    "iterative_rewrite": "Rewriting",
    "graph_rag": "Graph RAG",
}


def look(method: str) -> MethodLook:
    """The look of that method."""
    return _LOOKS.get(method, _OTHER)


def short(method: str) -> str:
    """What a method is called where there is little room."""
    return _SHORT.get(method) or methods()[method].title
