"""Colours and shapes: told apart by the colour-blind, and never told by colour alone.

The hues follow the set of Okabe and Ito (2008, "Color universal design"), darkened for light
paper and lightened for dark. Every role has a shape or a line style of its own besides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Theme = Literal["light", "dark"]
Shape = Literal["diamond", "star", "dot", "ring", "square", "cross", "triangle"]
Line = Literal["solid", "dashed", "dotted", "none"]


@dataclass(frozen=True, slots=True)
class Look:
    """How a role is drawn: the name of its colour, its shape and the line that leads to it."""

    colour: str
    shape: Shape
    line: Line


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of one theme as CSS hex codes.

    `scale` runs from low to high and is even in lightness, so that it reads in grey too.
    """

    paper: str
    panel: str
    ink: str
    faint: str
    query: str
    goal: str
    path: str
    kept: str
    rejected: str
    scale: tuple[str, ...]

    def colour(self, name: str) -> str:
        """The hex code of a named colour."""
        return str(getattr(self, name))


LIGHT: Final = Palette(
    paper="#fcfbf8",
    panel="#f4f1ea",
    ink="#1d2433",
    faint="#6b7280",
    query="#0067a5",
    goal="#00795a",
    path="#c2500a",
    kept="#4a6fa5",
    rejected="#9aa1ad",
    scale=("#d7e3ea", "#a3c3d6", "#6a9fbe", "#3a7599", "#1b4a68", "#0c2a40"),
)
DARK: Final = Palette(
    paper="#12151e",
    panel="#1b202d",
    ink="#ece9e1",
    faint="#a4abb8",
    query="#62b8f0",
    goal="#3ecf9f",
    path="#ff9a4d",
    kept="#8fb0e0",
    rejected="#6d7585",
    scale=("#223447", "#2f5673", "#4180a5", "#6aa9cb", "#a3cfe4", "#dceef7"),
)
PALETTES: Final[dict[Theme, Palette]] = {"light": LIGHT, "dark": DARK}

#: The looks of the nodes that every method shares.
QUERY: Final = Look("query", "diamond", "none")
GOAL: Final = Look("goal", "star", "dashed")
PATH: Final = Look("path", "dot", "solid")
CHOSEN: Final = Look("path", "dot", "solid")
CONSIDERED: Final = Look("kept", "dot", "dashed")
REFUSED: Final = Look("rejected", "ring", "none")
VISITED: Final = Look("rejected", "square", "none")
OUTSIDE: Final = Look("rejected", "cross", "none")
