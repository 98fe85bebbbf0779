"""Making notes of a document: choose it, see the notes, edit them, save or walk them."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from tracert.corpus.loaders import suffixes, supported
from tracert.corpus.model import Document
from tracert.errors import DocumentError, TracertError
from tracert.indexing import File
from tracert.knowledge.archive import from_zip
from tracert.knowledge.make import MadeNote, notes_of, to_zip
from tracert.reading import read
from tracert.render.numbers import count
from tracert.store.records import CorpusRecord, DocumentRecord
from tracert.ui import visitor
from tracert.ui.limits import limits
from tracert.ui.model import chat_model, named_embedder
from tracert.ui.notes import Source, put
from tracert.ui.safe import literal
from tracert.ui.turns import soon
from tracert.workspace import Workspace

_MADE = "trailgraph:made"
_ERROR = "trailgraph:made-error"


def show(space: Workspace, *, key: str) -> None:
    """Choose a document of the Library, or a file, and make notes of it."""
    chosen = [(record, document) for record in space.corpora() for document in record.documents]
    labels = [f"{document.name} ({record.name})" for record, document in chosen]
    place = st.selectbox(
        "A document of the Library",
        range(len(chosen)),
        index=None,
        format_func=lambda at: labels[at],
        key=f"{key}:document",
        placeholder="Choose one",
    )
    file = st.file_uploader(
        f"or a file ({supported()})",
        type=[suffix.lstrip(".") for suffix in suffixes()],
        max_upload_size=visitor.upload_mb(),
        key=f"{key}:file",
    )
    model = chat_model()
    by_model = model is not None and st.checkbox(
        f"Let {literal(model.name)} write summaries and key points", key=f"{key}:by-model"
    )
    ready = file is not None or place is not None
    if not st.button("Make notes", type="primary", key=f"{key}:go", disabled=not ready):
        return
    bar = st.progress(0.0, "Reading…")

    def tell(done: int, total: int) -> None:
        bar.progress(done / total, f"{done} of {total} notes")

    try:
        with soon(visitor.owner(), visitor.hosted()):
            if file is not None:
                document = _read(File(file.name, file.getvalue()))
            else:
                document = _stored(space, *chosen[place or 0])
            st.session_state[_MADE] = notes_of(
                document,
                named_embedder("wordllama"),
                model if by_model else None,
                on_progress=tell,
            )
    except TracertError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    st.rerun()


def _read(file: File) -> Document:
    """The document of an uploaded file.

    Raises:
        DocumentError: it holds none, or several.
    """
    found = read([file], limits=limits())
    if len(found) > 1:
        raise DocumentError(f"{file.name} holds several files. Pass one of them.")
    (one,) = found
    if one.document is None:
        elsewhere = " The Library asks for it; load the file there." if one.locked else ""
        raise DocumentError(one.message + elsewhere)
    return one.document


def _stored(space: Workspace, record: CorpusRecord, document: DocumentRecord) -> Document:
    """A document as the Library loaded it, from the text in the store."""
    return space.document(record.name, document.fingerprint)


def workshop(space: Workspace, *, key: str) -> None:
    """The notes that were made, if any: see, edit, save as a zip, walk."""
    made: list[MadeNote] | None = st.session_state.get(_MADE)
    if not made:
        return
    with st.container(border=True):
        st.subheader(f"{count(len(made), 'note')} made of {literal(made[0].title)}", anchor=False)
        error = st.session_state.pop(_ERROR, None)
        if error:
            st.error(literal(error), icon=":material/error:")
        left, right = st.columns([2, 3], gap="medium")
        with left:
            at = st.selectbox(
                "Note",
                range(len(made)),
                format_func=lambda at: f"{'· ' * _depth(made, at)}{made[at].title}",
                key=f"{key}:note",
            )
            st.text(made[at].path)
            st.text(f"Parent: {made[at].parent or 'none, an entry point'}")
            st.text(f"Children: {', '.join(made[at].children) or 'none'}")
            st.text(f"Related: {', '.join(made[at].related) or 'none'}")
        with right:
            _edit(made, at, key=key)
        with st.container(horizontal=True, gap="small"):
            st.download_button(
                "Save as a zip",
                lambda: to_zip(made),
                "notes.zip",
                "application/zip",
                key=f"{key}:zip",
                icon=":material/folder_zip:",
                on_click="ignore",
            )
            st.button(
                "Walk these notes",
                type="primary",
                key=f"{key}:walk",
                icon=":material/hiking:",
                on_click=_walk,
                args=(space, made),
            )
            st.button("Put away", key=f"{key}:away", on_click=_away)


def _depth(made: list[MadeNote], at: int) -> int:
    parents = {note.path: note.parent for note in made}
    path, depth = made[at].parent, 0
    while path and depth < 8:
        path, depth = parents.get(path, ""), depth + 1
    return depth


def _edit(made: list[MadeNote], at: int, *, key: str) -> None:
    note = made[at]
    with st.form(f"{key}:edit:{at}:{hash(note)}", border=False):
        title = st.text_input("Title", note.title, max_chars=120)
        summary = st.text_area("Summary", note.summary, height=80, max_chars=400)
        points = st.text_area("Key points, one a line", "\n".join(note.key_points), height=120)
        others = [one.path for one in made if one.path != note.path]
        related = st.multiselect("Related notes", others, [*note.related])
        content = st.text_area("Content", note.content, height=220)
        if st.form_submit_button("Keep the changes"):
            lines = [" ".join(line.split()).strip("\"' ") for line in points.splitlines()]
            made[at] = replace(
                note,
                title=" ".join(title.split()) or note.title,
                summary=" ".join(summary.split()).strip("\"' ") or note.summary,
                key_points=tuple(dict.fromkeys(line for line in lines if line)),
                related=tuple(related),
                content=content.replace("\r\n", "\n").strip() or note.content,
            )
            st.rerun()


def _walk(space: Workspace, made: list[MadeNote]) -> None:
    name = f"{made[0].title}.zip"
    try:
        folder, left_out = from_zip(to_zip(made), name, space.path, visitor.room_for_notes())
    except TracertError as error:
        st.session_state[_ERROR] = str(error)
        return
    name = put(Source(f"{made[0].title} (notes)", folder, left_out))
    st.session_state["trailgraph:notes:next"] = name


def _away() -> None:
    st.session_state.pop(_MADE, None)
