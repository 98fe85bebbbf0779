"""What is asked of which corpus: the top of a page."""

from __future__ import annotations

import streamlit as st

from tracert.store.records import CorpusRecord
from tracert.ui import resources
from tracert.ui.glossary import explain
from tracert.ui.running import Asked
from tracert.ui.safe import literal
from tracert.ui.views import builtin
from tracert.ui.views import examples as examples_view
from tracert.workspace import BUILTIN, Workspace

#: Examples shown as buttons; the rest are one click further.
EXAMPLES = 3
_ABOUT = "Questions of the built-in text, with their number of hops"


def show(space: Workspace, *, key: str, first: tuple[str, ...] = resources.FIRST) -> Asked | None:
    """Corpus, question and examples; None, with a way on, where there is nothing to ask yet.

    `first` are the ids of the examples that lead on this page.
    """
    records = space.corpora()
    if not records:
        st.info("There is no corpus yet. Load a document first.", icon=":material/upload_file:")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.page_link(
                "pages/library.py", label="Go to the Library", icon=":material/library_books:"
            )
            builtin.offer(space, key=key)
        return None
    examples = resources.examples(first)
    left, middle, right = st.columns([2, 6.4, 1], vertical_alignment="bottom")
    with left:
        record = _corpus(records)
    known = examples if resources.is_builtin(record) else []
    with middle:
        question = _question(known[0].text if known else "")
    with right:
        st.button("Ask", type="primary", width="stretch", key=f"{key}:ask")
    if known:
        examples_view.show(known, EXAMPLES, "question", _ABOUT, key=key)
    if not question.strip():
        st.info(
            f"{literal(record.name)} is ready: {record.size:,} passages. Type a question.",
            icon=":material/edit:",
        )
        return None
    goal = st.session_state.get("goal", {}).get((record.fingerprint, question))
    return Asked(record, question.strip(), goal)


def _corpus(records: list[CorpusRecord]) -> CorpusRecord:
    by_name = {record.name: record for record in records}
    names = list(by_name)
    wanted = st.session_state.get("corpus")
    if wanted not in by_name:
        wanted = BUILTIN if BUILTIN in by_name else names[0]
    # Set again at each run: on the first run of another page a widget of the same key would
    # else give its default, and not what the session holds.
    st.session_state["corpus"] = wanted
    name = st.selectbox(
        "Corpus",
        names,
        key="corpus",
        help=explain("corpus"),
        bind="query-params",
    )
    return by_name[name]


def _question(default: str) -> str:
    """The question; one that the app opened with, and nobody touched, is each page's own."""
    opening = st.session_state.get("ask:opening")
    asked = st.session_state.get("question", opening)
    if asked == opening:
        asked = st.session_state["ask:opening"] = default
    st.session_state["question"] = asked
    return st.text_input(
        "Question",
        key="question",
        placeholder="Ask something that needs more than one passage",
        max_chars=2000,
        bind="query-params",
    )


def stays() -> None:
    """Let the question stand on every page, as one that a person typed."""
    st.session_state["ask:opening"] = None
