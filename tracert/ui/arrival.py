"""A session that was opened by a link: what the link asks for is put where the page looks for it.

A link is taken once, at the first run of the page that it opens. What it asks for and cannot be
had is said on the page, which works all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import streamlit as st

from tracert.errors import TracertError
from tracert.methods.base import Method, cut
from tracert.store.records import CorpusRecord
from tracert.trace import CorpusInfo
from tracert.ui import controls
from tracert.ui.link import MARK, PREFIX, Check, Link, Several, read, read_several
from tracert.ui.safe import literal

_TAKEN: Final = "link:taken"
_ASKED: Final = "link:asked"
#: What a link says of a run beside its settings, its corpus and its question.
_OF_A_RUN: Final = frozenset({"at", "step", "goal", "method", "methods", "budget"})
#: Sentences about a link that are shown; the rest are counted.
MOST_SAID: Final = 6


@dataclass(frozen=True, slots=True)
class Shelf:
    """What a page can ask: names, how to tell their state, and where it keeps what was chosen.

    `fingerprint` gives the whole fingerprint of a name.
    """

    names: Sequence[str]
    fingerprint: Callable[[str], str]
    corpus: str = "corpus"
    question: str = "question"


@dataclass(frozen=True, slots=True)
class Missing:
    """A corpus that a link asks for and that is not here."""

    name: str
    fingerprint: str | None
    question: str | None


def shelf_of(records: Sequence[CorpusRecord]) -> Shelf:
    """The corpora of the workspace."""
    marks = {record.name: record.fingerprint for record in records}
    return Shelf(list(marks), marks.__getitem__)


def arrive(
    method: Method,
    shelf: Shelf,
    *,
    key: str,
    words: Mapping[str, tuple[str, ...]] | None = None,
) -> Link | None:
    """Take the link that opened this session, if one did, and set the page's controls by it.

    Call it before any of them is drawn. `words` is what a setting of any text may be in a
    link. Gives the link where one was taken in this run.
    """
    given = _given()
    if given is None:
        return None
    kind = method.settings_type
    link, said = read(given, kind, partial(controls.fits, kind), words)
    if link.method is not None and link.method != method.name:
        said.append(f"The link asks for the method {cut(link.method)}; this page has another.")
    name = _place(link, shelf, said, key=key)
    if link.settings:
        controls.preset(kind, link.settings, key=key)
    if link.step is not None:
        st.session_state[f"{key}:link:step"] = link.step
    if link.goal is not None and link.question is not None and name is not None:
        goals = st.session_state.setdefault("goal", {})
        goals[shelf.fingerprint(name), link.question] = link.goal
    if said:
        st.session_state[f"{key}:link:said"] = said
    return link


def arrive_to_compare(
    kinds: Mapping[str, type[Any]], shelf: Shelf, budgets: tuple[int, int], *, key: str
) -> Several | None:
    """Take the link that opened this session on the page Compare; see `arrive`.

    Corpus and question are placed; the rest is given back for the page to place.
    """
    given = _given()
    if given is None:
        return None

    def check(name: str) -> Check:
        return partial(controls.fits, kinds[name])

    asked, said = read_several(given, kinds, check, budgets)
    _place(asked.link, shelf, said, key=key)
    if said:
        st.session_state[f"{key}:link:said"] = said
    return asked


def _given() -> dict[str, str] | None:
    """The address's parameters, once in a session; None where there are none or no longer."""
    if st.session_state.get(_TAKEN):
        return None
    st.session_state[_TAKEN] = True
    given: dict[str, str] = st.query_params.to_dict()
    if not given:
        return None
    st.session_state[_ASKED] = given
    return given


def _place(link: Link, shelf: Shelf, said: list[str], *, key: str) -> str | None:
    """Put corpus and question where the page looks for them; gives the corpus's name here."""
    name = _corpus(link, shelf, said, key=key)
    if name is not None:
        st.session_state[shelf.corpus] = name
    if link.question is not None:
        st.session_state[shelf.question] = link.question
    return name


def _corpus(link: Link, shelf: Shelf, said: list[str], *, key: str) -> str | None:
    """The name here of the corpus that a link asks for; None where it says none or is missing."""
    if link.corpus is None:
        return None
    mark = link.fingerprint
    try:
        if link.corpus in shelf.names:
            here = shelf.fingerprint(link.corpus)
            if mark is not None and not here.startswith(mark):
                said.append(
                    f"The link was made over another state of “{link.corpus}” (fingerprint "
                    f"{mark[:8]}…; here {here[:8]}…), so what is found may differ."
                )
            return link.corpus
        for name in shelf.names if mark is not None and len(mark) >= MARK else ():
            if shelf.fingerprint(name).startswith(str(mark)):
                said.append(f"The link's corpus “{link.corpus}” is called “{name}” here.")
                return name
    except TracertError as error:
        said.append(str(error))
        return None
    st.session_state[f"{key}:link:missing"] = Missing(link.corpus, mark, link.question)
    return None


def missing(shelf: Shelf, *, key: str) -> Missing | None:
    """The corpus that the link of this page asks for and that is not here.

    Once it was loaded, it is the one that the page asks.
    """
    asked: Missing | None = st.session_state.get(f"{key}:link:missing")
    if asked is not None and asked.name in shelf.names:
        st.session_state[shelf.corpus] = asked.name
        forget_missing(key=key)
        return None
    return asked


def forget_missing(*, key: str) -> None:
    """Ask what is here instead."""
    st.session_state.pop(f"{key}:link:missing", None)


def notices(*, key: str) -> None:
    """What of the link could not be used, until it is closed."""
    name = f"{key}:link:said"
    said = st.session_state.get(name)
    if not said:
        return

    def close() -> None:
        st.session_state.pop(name, None)

    lines = [literal(sentence) for sentence in said[:MOST_SAID]]
    if len(said) > MOST_SAID:
        lines.append(f"So it is with {len(said) - MOST_SAID} more parts of the link.")
    with st.container(border=True, gap="small"):
        st.warning("  \n".join(lines), icon=":material/link_off:")
        st.button("Close", key=f"{key}:link:close", on_click=close, icon=":material/close:")


def step(*, key: str) -> int | None:
    """The step that a link asked for; it is given once."""
    wanted: int | None = st.session_state.pop(f"{key}:link:step", None)
    return wanted


def keep_true(now: Mapping[str, str]) -> None:
    """Take out of the address what a link said and no longer holds.

    `now` is what a link to the present state would say.
    """
    asked = st.session_state.get(_ASKED)
    if asked is None:
        return
    parts = [name for name in asked if name.startswith(PREFIX) or name in _OF_A_RUN]
    if all(asked[name] == now.get(name) for name in parts):
        return
    del st.session_state[_ASKED]
    for name in parts:
        if name in st.query_params:
            del st.query_params[name]


def told(info: CorpusInfo | Missing) -> str:
    """A corpus as a sentence names it: by name and the beginning of its fingerprint."""
    mark = f" (fingerprint {info.fingerprint[:8]}…)" if info.fingerprint else ""
    return f"“{info.name}”{mark}"
