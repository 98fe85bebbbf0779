"""The path in words: all that graph and map show, for reading and for listening."""

from __future__ import annotations

from tracert.render.tables import path_in_words
from tracert.render.words import Words
from tracert.trace import Trace
from tracert.ui import components
from tracert.ui.session import View, theme


def show(trace: Trace, view: View, words: Words, *, key: str) -> None:
    """One sentence a frame, numbered; the frame of the player is marked."""
    sentences = path_in_words(trace, words)
    items = [
        {"badge": str(index), "path": index == view.step, "title": said}
        for index, said in enumerate(sentences)
    ]
    data = {
        "dark": theme() == "dark",
        "selected": None,
        "groups": [{"heading": "", "items": items, "ordered": True}],
    }
    components.cards(data, key=f"{key}:words")
