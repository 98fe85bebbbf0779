"""A public app: what belongs to whom, and how much of it there may be. One setting turns it on.

A corpus has an owner. The host's own have none and are shared: everyone reads them, only the
host, by the command line on the server, writes them. A visitor's are found by that visitor alone
(`tracert.store.owner`): for everyone else they are not there. Who the visitor is, the app says:
the browser session, or who signed in (`tracert.ui.visitor`).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

from tracert.errors import SettingError

#: The setting that turns it on, and with an underscore and a bound's name in capitals each bound.
PUBLIC: Final = "TRACERT_PUBLIC"
_SESSION, _PERSON = "session:", "person:"
_DAY_SECONDS: Final = 24 * 3600


@dataclass(frozen=True, slots=True)
class Room:
    """How many corpora and passages a visitor may have, and how many passages all visitors."""

    corpora: int
    passages: int
    all_passages: int


@dataclass(frozen=True, slots=True)
class Hosting:
    """How the app is hosted. Of a private app only `public` says anything.

    `hours` is how long what a browser session made is kept after its last change; `corpora` and
    `passages` bound each visitor and `all_passages` all visitors together; `upload_mb` bounds the
    megabytes that a visitor hands in at once, `notes_mb` those that an upload of notes unpacks to
    and `all_notes_mb` those of all such uploads; `jobs` is how many indexings and evaluations of
    all visitors run at once; `calls` how many calls of the host's model all visitors have in a day.
    """

    public: bool = False
    hours: int = 24
    corpora: int = 5
    passages: int = 20_000
    all_passages: int = 300_000
    upload_mb: int = 50
    notes_mb: int = 10
    all_notes_mb: int = 500
    jobs: int = 2
    calls: int = 200

    @property
    def room(self) -> Room | None:
        """The bounds of the store; None where there are none."""
        return Room(self.corpora, self.passages, self.all_passages) if self.public else None


def hosting(environ: Mapping[str, str] | None = None) -> Hosting:
    """How this app is hosted, by the environment.

    Raises:
        SettingError: a value is no number or below 1.
    """
    names = os.environ if environ is None else environ
    if not is_public(names):
        return Hosting()
    bounds = {}
    for field in fields(Hosting):
        name = f"{PUBLIC}_{field.name.upper()}"
        written = names.get(name, "").strip()
        if field.name == "public" or not written:
            continue
        if not written.isdecimal() or int(written) < 1:
            raise SettingError(f"{name} is {written!r}. Set it to a whole number from 1 on.")
        bounds[field.name] = int(written)
    return Hosting(public=True, **bounds)


def is_public(environ: Mapping[str, str] | None = None) -> bool:
    """Whether strangers use this app, by the environment."""
    names = os.environ if environ is None else environ
    return names.get(PUBLIC, "").strip().lower() not in ("", "0", "false", "no")


def session_owner(id: str) -> str:
    """The owner that stands for a browser session; what it owns expires."""
    return _SESSION + _hashed(id)


def person_owner(issuer: str, subject: str) -> str:
    """The owner that stands for who signed in. The hash keeps the name out of the store."""
    return _PERSON + _hashed(issuer + "\x00" + subject)


def expires(owner: str) -> bool:
    """Whether what that owner made is deleted some time after its last change."""
    return owner.startswith(_SESSION)


def folder_of(root: Path, owner: str) -> Path:
    """The folder of what an owner made beside corpora; the data folder itself for the host."""
    return root / "visitors" / owner.replace(":", "-") if owner else root


def expire_folders(root: Path, before: float) -> None:
    """Delete what visitors left in the data folder and nobody wrote to since `before`.

    That is what browser sessions made, and what is kept by content and made again when it is
    asked for: vectors of pools, and notes out of uploads.
    """
    sessions = [
        folder for folder in _inside(root / "visitors") if expires(folder.name.replace("-", ":", 1))
    ]
    kept_by_content = (*_inside(root / "evaluation"), *_inside(root / "knowledge" / "unpacked"))
    for path in (*sessions, *kept_by_content):
        last = max(each.stat().st_mtime for each in (path, *path.rglob("*")))
        if last >= before:
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _inside(folder: Path) -> list[Path]:
    return list(folder.iterdir()) if folder.is_dir() else []


def today(now: float | None = None) -> int:
    """The day, counted from 1970 in UTC, that a budget of a day is for."""
    return int((time.time() if now is None else now) // _DAY_SECONDS)


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]
