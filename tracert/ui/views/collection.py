"""Opening a collection that another program keeps in Chroma."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import streamlit as st

from tracert.chroma import elsewhere
from tracert.embedding.registry import names as embedder_names
from tracert.errors import TracertError
from tracert.foreign import Listed, listed
from tracert.render.numbers import count
from tracert.ui.glossary import explain
from tracert.ui.jobs import Job
from tracert.ui.model import named_embedder
from tracert.ui.safe import literal
from tracert.workspace import Workspace

_FOLDER: Final = "A folder"
_SERVER: Final = "The Chroma server"


def show(space: Workspace, *, key: str) -> None:
    """The form; it starts a job that the page shows."""
    with st.expander("Open a Chroma collection", icon=":material/database:"):
        st.caption(
            "Texts and vectors that another program stored are taken as they are: nothing is "
            "embedded again, and nothing is written to its store."
        )
        asked, folder = _place(key)
        found_key = f"{key}:found"
        with st.container(horizontal=True):
            if st.button("Look inside", key=f"{key}:look", disabled=not asked):
                _look(folder, found_key)
        kept = st.session_state.get(found_key)
        if kept is None or kept[0] != folder:
            return
        found: list[Listed] = kept[1]
        if not found:
            st.info("There is no collection of another program in it.")
            return
        _choose(space, folder, found, key=key)


def _place(key: str) -> tuple[bool, Path | None]:
    """Whether a place is given, and the folder; None is the server."""
    kind = _FOLDER
    if elsewhere() is not None:
        kind = st.radio("Where it is", [_FOLDER, _SERVER], key=f"{key}:kind", horizontal=True)
    if kind == _SERVER:
        return True, None
    given = st.text_input(
        "Folder of the Chroma store, on the machine where this app runs",
        key=f"{key}:folder",
        placeholder="The folder that has chroma.sqlite3 in it",
    ).strip()
    return bool(given), Path(given)


def _look(folder: Path | None, found_key: str) -> None:
    st.session_state.pop(found_key, None)
    try:
        with st.spinner("Looking inside…"):
            st.session_state[found_key] = (folder, listed(folder))
    except TracertError as error:
        st.error(literal(str(error)), icon=":material/error:")


def _choose(space: Workspace, folder: Path | None, found: list[Listed], *, key: str) -> None:
    """Which collection, what made its vectors, and what the corpus is called."""
    at = st.selectbox(
        "Collection",
        range(len(found)),
        format_func=lambda index: f"{found[index].name} ({count(found[index].rows, 'row')})",
        key=f"{key}:collection:{len(found)}",
    )
    chosen = found[at]
    made_by = (
        f"It says that {chosen.made_by} made them."
        if chosen.made_by
        else ("It does not say what made them.")
    )
    if chosen.dimension is None:
        st.info("This collection is empty. Choose another one.")
        return
    st.text(
        f"{count(chosen.rows, 'row')} with vectors of {chosen.dimension:,} numbers, compared by "
        f"{chosen.space}. {made_by}"
    )
    left, right = st.columns(2)
    with left:
        embedder = _embedder(chosen, key=f"{key}:{at}")
    with right:
        name = st.text_input(
            "Name of the corpus", chosen.name[:120], max_chars=120, key=f"{key}:{at}:name"
        ).strip()
    taken = any(record.name == name for record in space.corpora())
    replace = taken and st.checkbox(
        "Take the place of the corpus of that name", key=f"{key}:{at}:replace"
    )
    if st.button(
        f"Open {count(chosen.rows, 'row')} as a corpus",
        type="primary",
        disabled=not name or (taken and not replace),
        key=f"{key}:{at}:go",
    ):
        made = named_embedder(embedder)
        st.session_state["library:job"] = Job(
            f"Opening {chosen.name}",
            lambda tell, stop: space.adopt(
                folder,
                chosen.name,
                name,
                embedder=made,
                replace=replace,
                on_progress=tell,
                cancelled=stop,
            ),
        )
        st.rerun()


def _embedder(chosen: Listed, *, key: str) -> str:
    """The embedder for questions, the one that the collection names to begin with."""
    known = list(embedder_names())
    kind, _, model = chosen.embedder.partition(":")
    name = st.selectbox(
        "Embedder that made the vectors",
        known,
        index=known.index(kind) if kind in known else 0,
        key=f"{key}:embedder",
        help=explain("embedder"),
    )
    if name != "openai":
        return name
    model = st.text_input(
        "Model that embeds",
        model or "text-embedding-3-small",
        key=f"{key}:model",
        help="Asked at the address of the Settings page, with its key.",
    ).strip()
    return f"openai:{model}" if model else name
