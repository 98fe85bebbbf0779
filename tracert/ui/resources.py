"""What all sessions share: the workspace, the built-in questions. Read-only, made once."""

from __future__ import annotations

import json
import logging
import time
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any, Final

import streamlit as st

from tracert.errors import TracertError
from tracert.home import home
from tracert.store.records import CorpusRecord
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


def questions_file() -> Path | None:
    """The file of the built-in questions, where the project's files are beside the package."""
    folder = builtin_folder()
    path = None if folder is None else folder.parent / "questions.jsonl"
    return path if path is not None and path.is_file() else None


def questions(first: tuple[str, ...]) -> list[dict[str, Any]]:
    """The built-in questions as their file has them; those of these ids lead, in this order."""
    return _leading(_rows(questions_file()), first)


@st.cache_data(show_spinner=False)
def examples(first: tuple[str, ...] = FIRST) -> list[Example]:
    """The built-in questions of two hops and more; those of these ids lead."""
    folder = builtin_folder()
    opening = None if folder is None else folder.parent / "opening.jsonl"
    rows = [row for row in _rows(opening) + _rows(questions_file()) if row["hops"] > 1]
    return [_example(row) for row in _leading(rows, first)]


@st.cache_data(show_spinner=False)
def note_examples(first: tuple[str, ...]) -> list[Example]:
    """The built-in questions for the notes, those of one hop too; those of these ids lead."""
    return [_example(row) for row in questions(first)]


def _rows(path: Path | None) -> list[dict[str, Any]]:
    if path is None or not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def _leading(rows: list[dict[str, Any]], first: tuple[str, ...]) -> list[dict[str, Any]]:
    return sorted(
        rows, key=lambda row: first.index(row["id"]) if row["id"] in first else len(first)
    )


def _example(row: dict[str, Any]) -> Example:
    return Example(row["question"], row["answer"], row["hops"])


def is_builtin(record: CorpusRecord) -> bool:
    """Whether the examples are about this corpus."""
    folder = builtin_folder()
    if folder is None:
        return False
    names = {path.name for path in folder.glob("*.md")}
    return bool(names) and names >= {document.name for document in record.documents}
