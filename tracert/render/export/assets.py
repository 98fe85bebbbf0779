"""The scripts and styles that a page of its own is made of, read from the package.

The stage is the one that the app shows; its script and style lie with the app's components.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from tracert.errors import TracertError

#: The scripts of the stage, in the order in which they are loaded.
STAGE: Final = ("groups.js", "picture.js", "stage.js")
_HERE: Final = Path(__file__).parent
_FRONTEND: Final = _HERE.parents[1] / "ui" / "components" / "frontend"


@cache
def asset(name: str) -> str:
    """The text of one file by name.

    Raises:
        TracertError: the installation is not complete.
    """
    for folder in (_HERE, _FRONTEND):
        path = folder / name
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise TracertError(f"The file {name} is missing. Install Tracert again.")
