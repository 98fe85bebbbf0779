"""Which notes are walked: choosing, loading from a folder, a zip or files, and their checks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from tracert.errors import TracertError
from tracert.knowledge.archive import from_files, from_zip, unpacked
from tracert.knowledge.checks import KINDS
from tracert.knowledge.model import Fault
from tracert.knowledge.opened import OpenGraph
from tracert.render.numbers import count
from tracert.ui import visitor
from tracert.ui.glossary import explain
from tracert.ui.notes import BUILTIN, Source, put, shelf
from tracert.ui.safe import literal
from tracert.ui.views import knowledge_make
from tracert.workspace import Workspace

#: The state that holds the name of the notes in use.
CHOSEN = "trailgraph:notes"


def choose() -> Source | None:
    """The notes in use; None where there are none yet."""
    known = shelf()
    if not known:
        return None
    names = list(known)
    if st.session_state.get(CHOSEN) not in known:
        st.session_state[CHOSEN] = BUILTIN if BUILTIN in known else names[0]
    name = st.selectbox(
        "Notes",
        names,
        key=CHOSEN,
        format_func=str,
        help=explain("knowledge graph"),
        persist_state="session",
    )
    return known[name]


def load(space: Workspace, *, key: str) -> None:
    """A popover with every way to bring in notes."""
    # Another key is another popover, and that one is closed.
    name = f"{key}:load:{st.session_state.get(f'{key}:load-serial', 0)}"
    with st.popover("Load notes", icon=":material/drive_folder_upload:", key=name):
        error = st.session_state.pop(f"{key}:load-error", None)
        if error:
            st.error(literal(error), icon=":material/error:")
        names = ["Zip or files", "From a document"]
        upload, make, *folder = st.tabs(names if visitor.public() else [*names, "Folder"])
        with upload:
            _upload(space, key=key)
        for tab in folder:
            with tab:
                _folder(space, key=key)
        with make:
            knowledge_make.show(space, key=f"{key}:make")


def _upload(space: Workspace, *, key: str) -> None:
    serial = st.session_state.get(f"{key}:load-serial", 0)
    given = st.file_uploader(
        "A zip of a folder of notes, or the notes themselves (.md)",
        type=["zip", "md", "markdown"],
        accept_multiple_files=True,
        max_upload_size=visitor.upload_mb(),
        key=f"{key}:files:{serial}",
    )
    if given and st.button("Open them", type="primary", key=f"{key}:open-files"):
        files = [(file.name, file.getvalue()) for file in given]
        _taken(lambda: _source(space, files), key=key)
        st.rerun()


def _source(space: Workspace, files: list[tuple[str, bytes]]) -> Source:
    zips = [(name, data) for name, data in files if name.lower().endswith(".zip")]
    if zips:
        name, data = zips[0]
        folder, left_out = from_zip(data, name, space.path, visitor.room_for_notes())
        return Source(name.rsplit(".", 1)[0] or "Notes", folder, left_out)
    folder, left_out = from_files(dict(files), space.path, visitor.room_for_notes())
    return Source(f"{count(len(files), 'uploaded note')}", folder, left_out)


def _folder(space: Workspace, *, key: str) -> None:
    written = st.text_input(
        "Folder of notes on the machine that runs Tracert",
        key=f"{key}:folder",
        placeholder="/home/me/notes",
        max_chars=1000,
        help="It is only read; the index lies in Tracert's own data folder.",
    )

    def made() -> Source:
        path = Path(written.strip()).expanduser()
        folder, left_out = unpacked(path, space.path)
        return Source(path.stem if path.is_file() else path.name or str(path), folder, left_out)

    ready = bool(written.strip())
    if st.button("Open the folder", type="primary", key=f"{key}:open-folder", disabled=not ready):
        _taken(made, key=key)
        st.rerun()


def _taken(make: Callable[[], Source], *, key: str) -> None:
    """Put what is made on the shelf and use it; where it cannot be made, keep the reason."""
    try:
        source = make()
    except TracertError as error:
        st.session_state[f"{key}:load-error"] = str(error)
        return
    use(source)
    serial = st.session_state.get(f"{key}:load-serial", 0)
    st.session_state[f"{key}:load-serial"] = serial + 1


def use(source: Source) -> None:
    """Walk these notes from the next run on."""
    # The box that chooses is drawn before: what it shows may only be set before the next run.
    name = put(source)
    st.session_state[f"{CHOSEN}:next"] = name


def settle() -> None:
    """Take over what `use` asked for; call it before `choose`."""
    name = st.session_state.pop(f"{CHOSEN}:next", None)
    if name is not None and name in shelf():
        st.session_state[CHOSEN] = name
        st.session_state["trailgraph:question"] = ""


# --- checks -----------------------------------------------------------------------------------


def checks(opened: OpenGraph, source: Source, *, key: str) -> None:
    """What was found when the notes were opened, and every fault with its fix."""
    faults = [*source.left_out, *opened.graph.faults]
    label = "no faults" if not faults else count(len(faults), "fault")
    report = opened.graph.report
    with st.expander(
        f"{count(report.notes, 'note')}, {count(report.links, 'link')}, {label}",
        icon=":material/rule:",
        key=f"{key}:checks",
    ):
        st.text(report.sentence)
        if not faults:
            st.caption("Every link leads somewhere, and every note can be reached.")
            return
        _table(faults, key=key)


def _table(faults: list[Fault], *, key: str) -> None:
    kinds = list(dict.fromkeys(fault.kind for fault in faults))
    st.dataframe(
        {
            "File": [fault.file for fault in faults],
            "Line": [fault.line or None for fault in faults],
            "Kind": [fault.kind.replace("_", " ") for fault in faults],
            "What is wrong": [fault.message for fault in faults],
            "What to do": [fault.fix for fault in faults],
        },
        hide_index=True,
        key=f"{key}:faults",
        height=min(320, 38 + 35 * len(faults)),
        column_config={
            "What is wrong": st.column_config.TextColumn(width="large"),
            "What to do": st.column_config.TextColumn(width="large"),
        },
        alt="The faults of the notes with file, line and what to do.",
    )
    meant = "; ".join(f"{kind.replace('_', ' ')}: {KINDS[kind]}" for kind in kinds if kind in KINDS)
    st.caption(f"{literal(meant)}. A broken note never stops the others.")
