"""The corpora that are there: what each holds, and renaming, cutting anew, deleting."""

from __future__ import annotations

import datetime
from collections.abc import Callable

import streamlit as st

from tracert.corpus.language import is_english
from tracert.errors import TracertError
from tracert.render.numbers import count
from tracert.store.records import CorpusRecord, DocumentRecord
from tracert.ui.glossary import explain
from tracert.ui.jobs import Job
from tracert.ui.model import named_embedder
from tracert.ui.safe import literal
from tracert.ui.views import builtin, inspect
from tracert.ui.views.add import estimate, how
from tracert.workspace import Workspace

#: Embedders that know English alone.
_ENGLISH = ("wordllama", "minilm", "minilm-int8")


def show(space: Workspace, *, key: str) -> None:
    """A card for each corpus."""
    records = space.corpora()
    st.subheader("Corpora", help=explain("corpus"), anchor=False)
    if not records:
        st.info("There is none yet. Add a document above.", icon=":material/library_add:")
    builtin.offer(space, key=key)
    for record in records:
        with st.container(border=True, key=f"{key}-{record.id}"):
            _card(space, record, key=f"{key}:{record.id}")


def _card(space: Workspace, record: CorpusRecord, *, key: str) -> None:
    made = datetime.datetime.fromtimestamp(record.changed).strftime("%d %b %Y, %H:%M")
    characters = sum(document.characters for document in record.documents)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"#### {literal(record.name)}", width="stretch", anchors=False)
        if st.button("Ask", key=f"{key}:ask", icon=":material/arrow_forward:", type="primary"):
            st.session_state["corpus"] = record.name
            # Nobody asked anything yet: a page that has an example for the corpus shows it.
            st.session_state["question"] = st.session_state["ask:opening"] = ""
            st.switch_page("pages/tracert_rag.py", query_params={})
        if st.button(
            "Inspect",
            key=f"{key}:inspect",
            icon=":material/search:",
            type="tertiary",
            help="Its passages one by one, their lengths and neighbours, what is there twice, and "
            "what another cut would do.",
        ):
            st.session_state[inspect.CORPUS] = record.name
            st.switch_page("pages/inspect.py", query_params={})
        if space.may_change(record):
            _rename(space, record, key=key)
            _again(space, record, key=key)
            _delete(space, record, key=key)
        else:
            st.badge("Shared by the host", icon=":material/public:", color="gray")
    st.text(
        f"{count(len(record.documents), 'document')} · {count(record.size, 'passage')} · "
        f"{characters:,} characters · {record.embedder} ({record.dimension} numbers a vector) · "
        f"{_origin(record)} · {made}"
    )
    _language(space, record)
    with st.expander("Documents and passages", icon=":material/article:"):
        _documents(space, record, key=key)


def _origin(record: CorpusRecord) -> str:
    if record.origin:
        return f"from {record.origin}"
    return f"cut at {record.chunking.size} with {record.chunking.overlap} shared"


def _language(space: Workspace, record: CorpusRecord) -> None:
    if record.embedder not in _ENGLISH:
        return
    foreign = [
        document.name
        for document in record.documents[:50]
        if not _english(document.fingerprint, space, record.name)
    ]
    if foreign:
        st.warning(
            f"{literal(', '.join(foreign[:3]))} seems not to be in English, but "
            f"{literal(record.embedder)} is an English model: what is found will be poor. "
            "Re-index with an embedder for that language, over an OpenAI-compatible address.",
            icon=":material/translate:",
        )


@st.cache_data(max_entries=500, show_spinner=False)
def _english(fingerprint: str, _space: Workspace, _name: str) -> bool:
    return is_english(_space.document_text(_name, fingerprint))


def _documents(space: Workspace, record: CorpusRecord, *, key: str) -> None:
    documents = record.documents
    event = st.dataframe(
        {
            "Document": [one.name for one in documents],
            "Kind": [one.kind for one in documents],
            "Pages": [one.pages for one in documents],
            "Characters": [one.characters for one in documents],
            "Passages": [one.chunks for one in documents],
        },
        hide_index=True,
        key=f"{key}:documents",
        on_select="rerun",
        selection_mode="single-row",
        height=min(320, 38 + 35 * len(documents)),
        alt=f"The documents of {record.name}.",
        placeholder="–",
    )
    rows = event.selection.rows
    if not rows or rows[0] >= len(documents):
        st.caption("Select a document to see its passages.")
        return
    _passages(space, record, documents[rows[0]], key=key)


def _passages(
    space: Workspace, record: CorpusRecord, document: DocumentRecord, *, key: str
) -> None:
    chunks = space.document_chunks(record.name, document.fingerprint)
    st.dataframe(
        {
            "No.": [one.position for one in chunks],
            "Slide" if document.kind == "pptx" else "Page": [one.page for one in chunks],
            "Heading": [" › ".join(one.heading_path) for one in chunks],
            "From": [one.start for one in chunks],
            "To": [one.end for one in chunks],
            "Text": [one.text for one in chunks],
        },
        hide_index=True,
        key=f"{key}:passages:{document.fingerprint}",
        height=320,
        column_config={"Text": st.column_config.TextColumn(width="large")},
        alt=f"The passages of {document.name}.",
    )
    removable = space.may_change(record) and len(record.documents) > 1
    if removable and st.button("Take this document out", key=f"{key}:out:{document.fingerprint}"):
        _do(lambda: space.remove_document(record.name, document.fingerprint))


def _rename(space: Workspace, record: CorpusRecord, *, key: str) -> None:
    with (
        st.popover("Rename", icon=":material/edit:", type="tertiary"),
        st.form(f"{key}:rename", border=False),
    ):
        new = st.text_input("New name", record.name, max_chars=120, key=f"{key}:rename-new")
        if st.form_submit_button("Rename", type="primary"):
            _do(lambda: space.rename(record.name, new))


def _again(space: Workspace, record: CorpusRecord, *, key: str) -> None:
    with st.popover("Re-index", icon=":material/refresh:", type="tertiary"):
        st.caption("The texts are in the store; the files are not needed.")
        try:
            chunking, embedder = how(record.chunking, record.embedder, key=f"{key}:again")
        except TracertError as error:
            st.error(literal(str(error)))
            return
        if embedder.startswith("openai"):
            _price(space, record, embedder)
        if st.button("Re-index", type="primary", key=f"{key}:again:go"):
            found = named_embedder(embedder)
            st.session_state["library:job"] = Job(
                f"Re-indexing {record.name}",
                lambda tell, stop: space.reindex(
                    record.name,
                    chunking=chunking,
                    embedder=found,
                    on_progress=tell,
                    cancelled=stop,
                ),
            )
            st.rerun()


def _price(space: Workspace, record: CorpusRecord, embedder: str) -> None:
    texts = [
        chunk.text
        for document in record.documents
        for chunk in space.document_chunks(record.name, document.fingerprint)
    ]
    try:
        st.info(literal(estimate(texts, embedder)), icon=":material/payments:")
    except TracertError as error:
        st.error(literal(str(error)))


def _delete(space: Workspace, record: CorpusRecord, *, key: str) -> None:
    with st.popover("Delete", icon=":material/delete:", type="tertiary"):
        st.text(f"Delete {record.name} with its {count(record.size, 'passage')}?")
        st.caption("The files that it was made of stay where they are.")
        if st.button("Delete it", type="primary", key=f"{key}:delete"):
            _do(lambda: space.delete(record.name))


def _do(action: Callable[[], object]) -> None:
    """Do it and show the page anew; where it cannot be done, say why."""
    try:
        action()
    except TracertError as error:
        st.error(literal(str(error)))
        return
    st.rerun()
