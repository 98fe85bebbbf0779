"""An opened trace walked again here, by the replies that it carries, and laid over itself."""

from __future__ import annotations

import streamlit as st

from tracert.errors import TracertError
from tracert.language.record import Replayer
from tracert.methods.registry import method
from tracert.trace import NodeKind, Trace
from tracert.ui import notes, resources
from tracert.ui.link import changed
from tracert.ui.model import embedder_for
from tracert.ui.safe import literal
from tracert.ui.session import held_key
from tracert.workspace import Workspace

#: The longest text of a reply that is shown.
LONGEST = 4000


def show(trace: Trace, *, key: str) -> None:
    """What the model said in this run, and a button that runs it again without the model."""

    def run() -> None:
        try:
            made = walked(resources.workspace(), trace)
        except TracertError as error:
            st.session_state[f"{key}:again-problem"] = str(error)
            return
        st.session_state[held_key(key)] = trace
        st.session_state[f"{key}:opened"] = made

    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if trace.replies is not None:
            _said(trace, key=key)
        if is_here(resources.workspace(), trace):
            st.button(
                "Run it again here",
                on_click=run,
                key=f"{key}:again",
                icon=":material/replay:",
                help="The same question with the same settings over the corpus as it is here. The "
                "model's replies are taken from the trace; no model is asked. The opened trace is "
                "held as A, the new run is B.",
            )
    problem = st.session_state.pop(f"{key}:again-problem", None)
    if problem:
        st.error(literal(problem), icon=":material/error:")


def _said(trace: Trace, *, key: str) -> None:
    replies = trace.replies
    if replies is None:
        return
    many = len(replies.replies)
    label = "1 reply of the model" if many == 1 else f"{many:,} replies of the model"
    with st.popover(label, icon=":material/forum:", key=f"{key}:replies"):
        st.caption(f"By {literal(replies.model)}, in the order in which they came.")
        for number, reply in enumerate(replies.replies[:50], start=1):
            st.markdown(f"**{number}**")
            if reply.text:
                st.text(reply.text[:LONGEST])
            for _, name, arguments in reply.calls:
                st.text(f"{name}({arguments[:LONGEST]})")
        if many > 50:
            st.caption(f"The trace holds {many - 50:,} more.")


def is_here(space: Workspace, trace: Trace) -> bool:
    """Whether what the trace walked over is here by name."""
    if method(trace.method).needs == "knowledge":
        return trace.corpus.name in notes.shelf()
    return any(record.name == trace.corpus.name for record in space.corpora())


def walked(space: Workspace, trace: Trace) -> Trace:
    """The run again: same question, settings and goal, with the replies that the trace holds.

    Raises:
        TracertError: what cannot be done, and what to do instead.
    """
    asked = method(trace.method)
    corpus = graph = embedder = None
    if asked.needs == "knowledge":
        source = notes.shelf()[trace.corpus.name]
        graph = space.open_notes(source.folder, name=source.name)
    else:
        corpus = trace.corpus.name
        embedder = embedder_for(space.corpus(corpus))
    typed = bool(trace.steps) and trace.steps[0].values.get("goal_source") == "typed"
    goal = next((node.text for node in trace.nodes if node.kind is NodeKind.GOAL), None)
    return space.ask(
        trace.question,
        corpus=corpus,
        knowledge=graph,
        embedder=embedder,
        method=asked,
        # A setting that may name a file is left out: the trace may come from anyone.
        settings=changed(trace.settings, asked.settings_type),
        goal=goal if typed else None,
        model=None if trace.replies is None else Replayer(trace.replies),
        with_map="auto" if trace.map is not None else False,
    )
