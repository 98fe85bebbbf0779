"""Where Tracert keeps its data: `TRACERT_HOME`, or the platform's folder for user data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import platformdirs

from tracert.errors import StoreError

#: The mode of a new data folder: nobody but its user reads what lies there.
PRIVATE: Final = 0o700


def place() -> Path:
    """Where the data folder lies or would: `TRACERT_HOME`, or the platform's place for data."""
    named = os.environ.get("TRACERT_HOME")
    return Path(named).expanduser() if named else Path(platformdirs.user_data_dir("tracert", False))


def home() -> Path:
    """The data folder, made if it is not there, and then for its own user alone.

    Raises:
        StoreError: the folder cannot be made.
    """
    path = place()
    try:
        path.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"The data folder {path} cannot be made ({error.strerror}). Set TRACERT_HOME to a "
            "folder that you may write."
        ) from error
    return path


def derived(root: Path, fingerprint: str = "") -> Path:
    """The folder of what was made from the corpus of that fingerprint; it goes with the corpus.

    Without a fingerprint the folder that holds all of these.
    """
    return root / "derived" / fingerprint[:40]
