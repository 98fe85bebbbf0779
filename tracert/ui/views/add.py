"""Adding documents: upload or paste, into a new corpus or one that is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from tracert.corpus.chunking import Chunking, chunk
from tracert.corpus.loaders import supported
from tracert.embedding.base import Priced
from tracert.errors import TracertError
from tracert.indexing import File
from tracert.inputs import numbered
from tracert.reading import read
from tracert.store.records import CorpusRecord
from tracert.ui import visitor
from tracert.ui.glossary import explain
from tracert.ui.jobs import Job
from tracert.ui.limits import limits
from tracert.ui.model import embedders, named_embedder
from tracert.ui.safe import literal
from tracert.ui.turns import soon
from tracert.ui.views import locked
from tracert.workspace import Workspace

_NEW = "A new corpus"
#: Sizes that can be chosen here; a corpus of another program or of the command line may be cut
#: otherwise.
_LEAST, _MOST = 50, 8000
#: In the Library's address: what the new corpus is to be called, where a link asked for it.
NAME = "name"
_LONGEST_NAME = 120
#: Bytes of a megabyte, as Streamlit counts an upload.
_MEGABYTE = 1024 * 1024


def show(space: Workspace, *, key: str) -> None:
    """The form; it starts a job that the page shows."""
    records = [record for record in space.corpora() if space.may_change(record)]
    serial = st.session_state.get(f"{key}:serial", 0)
    with st.container(border=True):
        st.subheader("Add documents", help=explain("corpus"), anchor=False)
        files = _files(f"{key}:{serial}")
        target = _target(records, files, key=f"{key}:{serial}")
        existing = next((record for record in records if record.name == target), None)
        chunking, embedder = _how(existing, key=key)
        if not files:
            st.caption("Choose files or paste a text; they are read when you press the button.")
            return
        beyond = _beyond(files)
        if beyond:
            st.error(beyond, icon=":material/error:")
            return
        if embedder.startswith("openai"):
            _cost(files, chunking, embedder, key=key)
        count = "1 document" if len(files) == 1 else f"{len(files)} documents"
        ready = bool(target.strip())
        if st.button(f"Index {count}", type="primary", disabled=not ready, key=f"{key}:index"):
            _begin(space, files, target.strip(), existing, chunking, embedder, key=key)
            st.session_state[f"{key}:serial"] = serial + 1
            st.rerun()


def _files(key: str) -> list[File]:
    upload, paste = st.tabs(["Upload", "Paste"])
    files: list[File] = []
    with upload:
        given = st.file_uploader(
            f"Supported: {supported()}, and a zip of such files. The kind is told by the content, "
            "not by the name.",
            accept_multiple_files=True,
            max_upload_size=visitor.upload_mb(),
            key=f"{key}:files",
        )
        for one in given:
            name = numbered(one.name, {file.name for file in files})
            files.append(File(name, one.getvalue()))
    with paste:
        name = st.text_input("Name of the text", "Pasted text", key=f"{key}:name", max_chars=120)
        text = st.text_area("Text", key=f"{key}:text", height=180, placeholder="Paste a text here")
        if text.strip():
            files.append(File(name.strip() or "Pasted text", text.encode("utf-8")))
    return files


def _beyond(files: list[File]) -> str:
    """What to do where a visitor hands in more than may be at once; '' where it is not."""
    most = visitor.upload_mb()
    size = sum(len(file.data) for file in files) / _MEGABYTE
    if most is None or size <= most:
        return ""
    return (
        f"This is {size:,.1f} MB in all; {most:,} MB are taken at once here. Take some out and "
        "load them afterwards."
    )


def _target(records: list[CorpusRecord], files: list[File], *, key: str) -> str:
    left, right = st.columns(2)
    with left:
        choice = st.selectbox("Into", [_NEW, *(r.name for r in records)], key=f"{key}:into")
    with right:
        if choice != _NEW:
            return choice
        of_file = files[0].name.rsplit(".", 1)[0] if files else ""
        default = st.query_params.get(NAME, of_file)[:_LONGEST_NAME]
        return st.text_input(
            "Name of the corpus",
            default,
            key=f"{key}:corpus:{default}",
            max_chars=_LONGEST_NAME,
            placeholder="What you will call it",
        )


def _how(existing: CorpusRecord | None, *, key: str) -> tuple[Chunking, str]:
    if existing is not None:
        made = existing.chunking
        st.caption(
            f"{literal(existing.name)} is cut at {made.size} and {made.overlap} characters and "
            f"embedded by {literal(existing.embedder)}; what is added is treated alike."
        )
        return made, existing.embedder
    with st.expander("How it is cut and embedded", icon=":material/tune:"):
        return how(Chunking(), visitor.embedder(), key=key)


def how(chunking: Chunking, embedder: str, *, key: str) -> tuple[Chunking, str]:
    """Controls for chunking and embedder, with the given values at first."""
    left, middle, right = st.columns(3)
    with left:
        size = st.number_input(
            "Chunk size",
            _LEAST,
            _MOST,
            min(max(chunking.size, _LEAST), _MOST),
            step=50,
            key=f"{key}:size",
            help=explain("chunk size"),
        )
    with middle:
        most = int(size) - 1
        overlap = st.number_input(
            "Overlap",
            0,
            most,
            min(chunking.overlap, most),
            step=10,
            key=f"{key}:overlap:{most < chunking.overlap}",
            help=explain("overlap"),
        )
    with right:
        known = embedders()
        kind = embedder if embedder in known else embedder.partition(":")[0]
        name = st.selectbox(
            "Embedder",
            known,
            index=known.index(kind) if kind in known else 0,
            key=f"{key}:embedder",
            help=explain("embedder"),
        )
    if name == "openai":
        model = st.text_input(
            "Model that embeds",
            embedder.partition(":")[2] or "text-embedding-3-small",
            key=f"{key}:embedding-model",
            help="Asked at the address of the Settings page, with its key.",
        )
        name = f"openai:{model.strip()}" if model.strip() else name
    sentences = st.checkbox(
        "Move the cuts to the ends of sentences", chunking.sentences, key=f"{key}:sentences"
    )
    return Chunking(int(size), int(overlap), sentences), name


def _cost(files: list[File], chunking: Chunking, embedder: str, *, key: str) -> None:
    """What a paid embedder will cost, told before anything is sent."""
    try:
        st.info(
            literal(estimate(_texts(files, chunking, key), embedder)), icon=":material/payments:"
        )
    except TracertError as error:
        st.error(literal(str(error)))


def _texts(files: list[File], chunking: Chunking, key: str) -> list[str]:
    """The passages of the files that can be read; the report says what is wrong with others.

    Kept until something changes, since a page runs again at every click.
    """
    asked = (tuple((file.name, hash(file.data)) for file in files), chunking, limits())
    kept: tuple[object, list[str]] | None = st.session_state.get(f"{key}:texts")
    if kept is None or kept[0] != asked:
        with soon(visitor.owner(), visitor.hosted()):
            documents = [one.document for one in read(files, limits=limits()) if one.document]
        texts = [piece.text for document in documents for piece in chunk(document, chunking)]
        st.session_state[f"{key}:texts"] = kept = asked, texts
    return kept[1]


def estimate(texts: list[str], embedder: str) -> str:
    """A sentence with what embedding these texts will send and cost.

    Raises:
        EmbedderError: the endpoint or its key cannot be used.
    """
    made = named_embedder(embedder)
    if not isinstance(made, Priced):
        return "This embedder runs on this machine and costs nothing."
    return made.estimate(texts).sentence


def _begin(
    space: Workspace,
    files: list[File],
    name: str,
    existing: CorpusRecord | None,
    chunking: Chunking,
    embedder: str,
    *,
    key: str,
) -> None:
    found = named_embedder(embedder)

    def begin(files: Sequence[File], passwords: Mapping[str, str]) -> None:
        bounds = limits()
        st.session_state[f"{key}:job"] = Job(
            f"Indexing into {name}",
            lambda tell, stop: space.index(
                files,
                name,
                chunking=None if existing is not None else chunking,
                embedder=found,
                limits=bounds,
                passwords=passwords,
                on_progress=tell,
                cancelled=stop,
            ),
        )

    begin(files, {})
    st.query_params.pop(NAME, None)
    locked.remember(locked.Batch(tuple(files), begin), key=key)
