"""Which questions are asked, and what they are searched in."""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import streamlit as st

from tracert.errors import DatasetError, TracertError
from tracert.evaluation.datasets import Read, read_data
from tracert.evaluation.gold_chain import to_jsonl
from tracert.render.numbers import count
from tracert.store.records import CorpusRecord
from tracert.trace import Value
from tracert.ui import evaluating, notes, resources, visitor
from tracert.ui.glossary import explain
from tracert.ui.model import embedders
from tracert.ui.safe import literal
from tracert.ui.views import builtin
from tracert.workspace import Workspace

BUILTIN, FILE, CHAINS = "Built-in questions", "A file", "My gold chains"
OWN, SECOND, CORPUS, NOTES = (
    "The paragraphs of the questions",
    "A second file",
    "A corpus of the Library",
    "A graph of notes",
)
_FORMATS: Final = {
    "hotpotqa": "HotpotQA",
    "2wikimultihopqa": "2WikiMultiHopQA",
    "musique": "MuSiQue",
    "multihop-rag": "MultiHop-RAG",
    "quoted": "Questions with quotations",
}
_KINDS: Final = ["jsonl", "json", "gz"]
#: A file above this is refused; no more of it than this is read.
_MOST_BYTES: Final = 500_000_000
#: Rows that could not be read, as many as are shown.
_FAULTS: Final = 20

File = tuple[str, bytes]


@dataclass(frozen=True, slots=True)
class Data:
    """What a run reads and where it searches.

    `embedder` is None where it is yet to be chosen. `record` is the corpus, where it is one.
    """

    title: str
    ground: Mapping[str, Value]
    files: Mapping[str, File]
    questions: int
    embedder: str | None
    record: CorpusRecord | None = None

    @property
    def needs(self) -> Literal["corpus", "knowledge"]:
        """What a method has to walk."""
        return "knowledge" if self.ground["kind"] == "notes" else "corpus"


def show(space: Workspace, *, key: str) -> Data | None:
    """The choice of the questions; None, with a way on, while there is nothing to ask."""
    sources = [BUILTIN, FILE, CHAINS] if resources.questions_file() else [FILE, CHAINS]
    # The value is set through the session alone, since the gold chains set it, too.
    if st.session_state.get(f"{key}:source") not in sources:
        st.session_state[f"{key}:source"] = sources[0]
    source = st.segmented_control(
        "Questions",
        sources,
        required=True,
        key=f"{key}:source",
        persist_state="session",
        help=explain("gold"),
    )
    if source == BUILTIN:
        return _builtin(space, key=f"{key}:builtin")
    if source == CHAINS:
        return _chains(space, key=f"{key}:chains")
    return _file(space, key=f"{key}:file")


# --- the built-in questions ---------------------------------------------------------------------


def _builtin(space: Workspace, *, key: str) -> Data | None:
    path = resources.questions_file()
    if path is None:
        return None
    file = (path.name, path.read_bytes())
    read = _read(file)
    where = st.segmented_control(
        "Searched in",
        ["The text", "The notes"],
        default="The text",
        required=True,
        key=f"{key}:where",
        persist_state="session",
        help="The same content stands as a document and as a graph of notes. TrailGraph walks the "
        "notes, all others search the text.",
    )
    _described(read, file[0])
    if where == "The notes":
        if notes.builtin_notes() is None:
            return None
        ground = {"kind": "notes", "folder": "", "name": notes.BUILTIN}
        return Data(
            "Built-in questions on the notes", ground, {"data": file}, len(read.items), None
        )
    records = [one for one in space.corpora() if resources.is_builtin(one)]
    if not records:
        st.info("The built-in text is not in the Library.", icon=":material/library_books:")
        builtin.offer(space, key=key)
        return None
    record = record_of(records, key=key) if len(records) > 1 else records[0]
    if record is None:
        return None
    return _on_corpus(f"Built-in questions on {record.name}", record, file, read)


# --- a file -----------------------------------------------------------------------------------


def _file(space: Workspace, *, key: str) -> Data | None:
    file = _given(
        "A file of questions: JSON lines, plain or gzipped",
        "The documented form, or HotpotQA, 2WikiMultiHopQA, MuSiQue and MultiHop-RAG as they are "
        "published. Which it is, is told by the rows.",
        key=f"{key}:data",
    )
    if file is None:
        st.caption(
            "A line is one question with its paragraphs: "
            '`{"question": …, "answer": …, "paragraphs": [{"title": …, "text": …, '
            '"is_supporting": true}]}`. The view *Gold chains* makes such a file by clicking.'
        )
        return None
    read = _read(file)
    _described(read, file[0])
    where = _where(read, key=key)
    name = Path(file[0]).name
    if where == CORPUS:
        record = record_of(space.corpora(), key=key)
        return _on_corpus(f"{name} on {record.name}", record, file, read) if record else None
    if where == NOTES:
        shelf = notes.shelf()
        chosen = st.selectbox("Notes", list(shelf), key=f"{key}:notes")
        folder = "" if chosen == notes.BUILTIN else str(shelf[chosen].folder)
        ground = {"kind": "notes", "folder": folder, "name": chosen}
        return Data(f"{name} on {chosen}", ground, {"data": file}, len(read.items), None)
    if where == OWN:
        passages = len({each for item in read.items for each in item.paragraphs})
        st.caption(f"The {passages:,} paragraphs of all questions are searched together.")
        return Data(name, {"kind": "pool"}, {"data": file}, len(read.items), None)
    second = _given(
        "The passages: a line {title, text} each, or the articles of MultiHop-RAG",
        "All of them are searched for every question.",
        key=f"{key}:passages",
    )
    if second is None:
        return None
    files = {"data": file, "passages": second}
    return Data(f"{name} in {second[0]}", {"kind": "pool"}, files, len(read.items), None)


def _where(read: Read, *, key: str) -> str:
    formats = {item.dataset for item in read.items}
    choices = [OWN, SECOND, CORPUS]
    default = OWN
    if formats == {"multihop-rag"}:
        choices, default = [SECOND, OWN], SECOND
    elif formats == {"quoted"}:
        choices, default = [CORPUS], CORPUS
        if any(item.notes for item in read.items) and notes.shelf():
            choices = [CORPUS, NOTES]
    chosen: str = st.segmented_control(
        "Searched in",
        choices,
        default=default,
        required=True,
        key=f"{key}:where:{default}",
        help="In a corpus, a gold paragraph is a quotation of the document named as its title.",
    )
    return chosen


def _given(label: str, help: str, *, key: str) -> File | None:
    """A file that was uploaded or named by its path; it stays while one looks at other views."""
    kept: File | None = st.session_state.get(f"{key}:kept")

    def forget() -> None:
        st.session_state.pop(f"{key}:kept", None)

    def upload() -> None:
        file = st.session_state[f"{key}:upload"]
        if file is not None:
            st.session_state[f"{key}:kept"] = (file.name, file.getvalue())

    if kept is not None:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.badge("File", icon=":material/description:", color="violet")
            st.text(f"{kept[0]} ({len(kept[1]) / 1e6:,.1f} MB)", width="stretch")
            st.button("Take another", key=f"{key}:forget", on_click=forget, type="tertiary")
        return kept
    st.file_uploader(
        label,
        type=_KINDS,
        max_upload_size=visitor.upload_mb(),
        key=f"{key}:upload",
        on_change=upload,
        help=help,
    )
    if visitor.public():
        return None
    with st.expander("Or name a file on this machine", icon=":material/folder_open:"):
        path = st.text_input("Path", key=f"{key}:path", placeholder="/data/hotpot_dev.json")
        if st.button("Take it", key=f"{key}:take", disabled=not path.strip()):
            st.session_state[f"{key}:kept"] = _from_disk(path.strip())
            st.rerun()
    return None


def _from_disk(named: str) -> File:
    path = Path(named)
    try:
        path = path.expanduser()
        if not path.is_file():
            raise DatasetError(f"{named} is no file. Check the path.")
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError, RuntimeError) as error:
        raise DatasetError(f"{named} cannot be read. Check the path and the permission.") from error
    if len(data) > _MOST_BYTES:
        raise DatasetError(
            f"{path.name} has more than the {_MOST_BYTES / 1e6:.0f} MB that are read. Split it."
        )
    return path.name, data


# --- gold chains ------------------------------------------------------------------------------


def _chains(space: Workspace, *, key: str) -> Data | None:
    sets = evaluating.gold_sets()
    known = sets.names()
    if not known:
        st.info(
            "There is no set of gold chains yet. Make one in the view Gold chains.",
            icon=":material/link:",
        )
        return None
    name = st.selectbox("Set", known, key=f"{key}:set")
    chains = sets.read(name)
    file = (f"{name}.jsonl", to_jsonl(chains, name).encode("ascii"))
    read = _read(file)
    _described(read, file[0])
    where = st.segmented_control(
        "Searched in",
        [CORPUS, OWN],
        default=CORPUS,
        required=True,
        key=f"{key}:where",
        help="In a corpus, a gold passage is a quotation of the document named as its title.",
    )
    if where == OWN:
        return Data(name, {"kind": "pool"}, {"data": file}, len(read.items), None)
    record = record_of(space.corpora(), key=key)
    return _on_corpus(f"{name} on {record.name}", record, file, read) if record else None


# --- shared -----------------------------------------------------------------------------------


def _on_corpus(title: str, record: CorpusRecord, file: File, read: Read) -> Data:
    return Data(
        title,
        {"kind": "corpus", "corpus": record.name},
        {"data": file},
        len(read.items),
        record.embedder,
        record,
    )


def record_of(records: Sequence[CorpusRecord], *, key: str) -> CorpusRecord | None:
    """The corpus that is chosen; None, with a way on, where there is none."""
    by_name = {record.name: record for record in records}
    if not by_name:
        st.info("There is no corpus. Load a document first.", icon=":material/library_books:")
        st.page_link("pages/library.py", label="Go to the Library", icon=":material/library_books:")
        return None
    name = st.selectbox(
        "Corpus",
        list(by_name),
        key=f"{key}:corpus",
        help=explain("corpus"),
    )
    return by_name[name]


def embedder(data: Data, *, key: str) -> str:
    """The embedder: the corpus's own, or one that is chosen."""
    if data.embedder is not None:
        st.text_input(
            "Embedder", data.embedder, disabled=True, key=f"{key}:own", help=explain("embedder")
        )
        return data.embedder
    known = [name for name in embedders() if name != "openai"]
    chosen: str = st.selectbox(
        "Embedder",
        known,
        key=f"{key}:embedder",
        help=f"{explain('embedder')} Passages that were embedded once are not embedded again.",
        persist_state="session",
    )
    return chosen


def _read(file: File) -> Read:
    """The questions of a file, read once for its content.

    Raises:
        DatasetError: it holds no question.
    """
    return _parsed(file[0], hashlib.sha256(file[1]).hexdigest(), file[1])


@st.cache_data(max_entries=8, show_spinner="Reading the questions…")
def _parsed(name: str, sha: str, _data: bytes) -> Read:
    with tempfile.TemporaryDirectory() as folder:
        # A name that stands in no message but as the file's.
        path = Path(folder) / sha
        path.write_bytes(_data)
        try:
            read = read_data(path)
        except TracertError as error:
            said = str(error).replace(str(path), name).replace(sha, name)
            raise DatasetError(said) from error
    return Read(read.items, tuple(each.replace(sha, name, 1) for each in read.faults))


def _described(read: Read, name: str) -> None:
    """What the file is, how many questions of which kind it has, and the rows that are wrong."""
    formats = Counter(_FORMATS.get(item.dataset, "Documented form") for item in read.items)
    types = Counter(item.type or "no type" for item in read.items)
    hops = sorted({item.n_hops for item in read.items})
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for one in formats:
            st.badge(one, icon=":material/check:", color="green")
        kinds = ", ".join(f"{number:,} {kind}" for kind, number in types.most_common(6))
        span = f"{hops[0]} to {hops[-1]} hops" if len(hops) > 1 else count(hops[0], "hop")
        st.text(f"{count(len(read.items), 'question')}: {kinds} · {span}", width="content")
    if read.faults:
        wrong = count(len(read.faults), "row")
        with st.expander(
            f"{wrong} of {literal(name)} could not be read; the rest goes on",
            icon=":material/warning:",
        ):
            st.text("\n".join(read.faults[:_FAULTS]))
            if len(read.faults) > _FAULTS:
                st.caption(f"And {len(read.faults) - _FAULTS:,} more.")
