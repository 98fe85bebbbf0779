"""What all sessions share: the workspace, the built-in questions. Read-only, made once."""

from __future__ import annotations

import json
import logging
import time
from dataclasses import dataclass
from threading import Thread
from typing import Final

import streamlit as st

from tracert.errors import TracertError
from tracert.home import home
from tracert.store import CorpusRecord
from tracert.ui import visitor
from tracert.workspace import Workspace, builtin_folder

_LOG: Final = logging.getLogger(__name__)

#: The examples that lead, by id. The app opens with the first, which was chosen to show what a
#: walk is for (`knowledge/opening.jsonl`) and is therefore none of the questions that anything is
#: measured on: the walk arrives, over several passages of the text itself, and finds gold
#: passages that plain top-k misses.
FIRST: Final = ("O01", "B10", "B11")


@dataclass(frozen=True, slots=True)
class Example:
    """A question that can be clicked: its text, its answer and its number of hops."""

    text: str
    answer: str
    hops: int


#: Seconds between two looks for what browser sessions left behind.
_LOOK_SECONDS: Final = 600


def workspace() -> Workspace:
    """The workspace of the data folder, as who looks has it, with the built-in corpus in it."""
    space = _workspace(str(home()))
    hosted = visitor.hosted()
    if not hosted.public:
        return space
    _tidied(str(home()), hosted.hours)
    return space.owned_by(visitor.owner(), hosted.room)


@st.cache_resource(ttl=_LOOK_SECONDS, show_spinner=False)
def _tidied(path: str, hours: int) -> Thread:
    """The thread that deletes what expired, so that nobody waits for it."""
    thread = Thread(target=_tidy, args=(_workspace(path), hours), name="tidy", daemon=True)
    thread.start()
    return thread


def _tidy(space: Workspace, hours: int) -> None:
    try:
        space.expire(time.time() - hours * 3600)
    except TracertError as error:
        _LOG.warning("What expired could not be deleted: %s", error)


@st.cache_resource(show_spinner="Opening the workspace…")
def _workspace(path: str) -> Workspace:
    space = Workspace(path)
    _tidied_up(path)
    space.ensure_builtin()
    return space


@st.cache_resource(show_spinner=False)
def _tidied_up(path: str) -> str:
    return Workspace(path).tidy()


def mended() -> str:
    """What had to be cleaned up when the app started, as a sentence; '' where nothing had."""
    return _tidied_up(str(home()))


@st.cache_data(show_spinner=False)
def examples(first: tuple[str, ...] = FIRST) -> list[Example]:
    """The built-in questions of two hops and more; those of these ids lead."""
    folder = builtin_folder()
    if folder is None:
        return []
    rows = []
    for name in ("opening.jsonl", "questions.jsonl"):
        path = folder.parent / name
        if path.is_file():
            lines = path.read_text(encoding="utf-8").splitlines()
            rows += [json.loads(line) for line in lines if line]
    rows = [row for row in rows if row["hops"] > 1]
    rows.sort(key=lambda row: first.index(row["id"]) if row["id"] in first else len(first))
    return [Example(row["question"], row["answer"], row["hops"]) for row in rows]


def is_builtin(record: CorpusRecord) -> bool:
    """Whether the examples are about this corpus."""
    folder = builtin_folder()
    if folder is None:
        return False
    names = {path.name for path in folder.glob("*.md")}
    return bool(names) and names >= {document.name for document in record.documents}
