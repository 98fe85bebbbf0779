"""What a change of the chunking would do, before it is done; and the button that does it."""

from __future__ import annotations

from typing import Final, cast

import numpy as np
import streamlit as st

from tracert.corpus.chunking import Chunking
from tracert.embedding.base import Priced
from tracert.errors import EmbedderError
from tracert.inspecting import Cut, Lengths, recut
from tracert.render.cuts import pieces
from tracert.render.lengths import Series, figure
from tracert.render.numbers import count, seconds
from tracert.render.palette import Theme
from tracert.snapshot import Snapshot
from tracert.ui import components
from tracert.ui.glossary import explain
from tracert.ui.inspected import cut_of, measure, seconds_of
from tracert.ui.jobs import Job
from tracert.ui.model import named_embedder
from tracert.ui.safe import literal
from tracert.ui.session import theme
from tracert.ui.views import progress
from tracert.workspace import Workspace

#: Characters of the text shown with its cuts.
_STRETCH: Final = 1_600
_LARGEST: Final = 4_000


def show(space: Workspace, snapshot: Snapshot, *, key: str) -> None:
    """Sliders, what they would do, and the button that does it."""
    job = st.session_state.get(f"{key}:job")
    if job is not None:
        progress.show(job, key=key)
        if job.running:
            return
    chunking = _sliders(snapshot, key=key)
    now = snapshot.record.chunking
    measured, made = measure(snapshot), cut_of(snapshot, chunking)
    _numbers(snapshot, measured, made)
    st.plotly_chart(
        figure(
            (
                Series("as it is", measured.characters),
                Series("as it would be", made.characters, 1.0 / made.share if made.share else 1.0),
            ),
            "characters",
            theme=cast(Theme, theme()),
        ),
        key=f"{key}:figure",
        theme=None,
        config={"displayModeBar": False},
        alt="Histograms of the lengths of passages as they are and as they would be.",
    )
    _stretch(snapshot, chunking, key=key)
    if not space.may_change(snapshot.record):
        st.caption("This corpus is the host's: it can be looked at by all and changed by none.")
        return
    unchanged = chunking == now and not snapshot.record.origin
    if unchanged:
        st.caption("This is the cut that the corpus has. Move a slider to change it.")
    if st.button(
        f"Re-index into {count(made.passages, 'passage')}",
        type="primary",
        icon=":material/refresh:",
        disabled=unchanged,
        key=f"{key}:go",
    ):
        _begin(space, snapshot, chunking, key=key)
        st.rerun()


def _sliders(snapshot: Snapshot, *, key: str) -> Chunking:
    now = snapshot.record.chunking
    key = f"{key}:{snapshot.record.id}"
    size_key, overlap_key = f"{key}:size", f"{key}:overlap"
    st.session_state.setdefault(size_key, min(max(now.size, 50), _LARGEST))
    left, right = st.columns(2, gap="large")
    size = int(
        left.slider(
            "Chunk size",
            50,
            _LARGEST,
            step=10,
            key=size_key,
            help=explain("chunk size"),
            persist_state="session",
        )
    )
    most = min(size - 1, size * 3 // 4)
    wanted = st.session_state.get(overlap_key, now.overlap)
    st.session_state[overlap_key] = min(int(wanted), most)
    overlap = int(
        right.slider(
            "Overlap",
            0,
            most,
            step=1,
            key=overlap_key,
            help=explain("overlap"),
            persist_state="session",
        )
    )
    st.session_state.setdefault(f"{key}:sentences", now.sentences)
    sentences = st.checkbox(
        "Move the cuts to the ends of sentences", key=f"{key}:sentences", persist_state="session"
    )
    return Chunking(size, overlap, bool(sentences))


def _numbers(snapshot: Snapshot, measured: Lengths, made: Cut) -> None:
    about = "" if made.share >= 1 else "about "
    have = snapshot.info.size
    with st.container(horizontal=True, gap="large"):
        st.metric("Passages", f"{about}{made.passages:,}", _change(made.passages - have), "off")
        if len(made.characters):
            middle = int(np.median(made.characters))
            change = _change(middle - int(np.median(measured.characters)))
            st.metric("Median length", f"{middle:,} characters", change, "off")
        st.metric("Time to re-index", _time(snapshot, made))
    if made.share < 1:
        st.caption(
            f"{made.share:.0%} of the text was cut to see; the number of passages is reckoned "
            "from it."
        )


def _change(by: int) -> str | None:
    return f"{by:+,}" if by else None


def _time(snapshot: Snapshot, made: Cut) -> str:
    embedder = named_embedder(snapshot.info.embedder)
    if isinstance(embedder, Priced):
        st.info(literal(_price(embedder, made)), icon=":material/payments:")
        return "the endpoint's"
    try:
        return f"about {seconds(seconds_of(snapshot, made.chunking, embedder))}"
    except EmbedderError as error:
        st.warning(literal(str(error)), icon=":material/warning:")
        return "unknown"


def _price(embedder: Priced, made: Cut) -> str:
    """What embedding that cut sends and costs, reckoned from the sample."""
    found = embedder.estimate(made.sample)
    scale = made.passages / max(1, found.texts)
    said = f"{made.passages:,} passages with about {found.tokens * scale:,.0f} tokens are sent out"
    if found.dollars is None:
        return said + "; what that costs at this address is not known here."
    return said + f" for about ${found.dollars * scale:,.4f} (prices of {found.prices_as_of})."


def _stretch(snapshot: Snapshot, chunking: Chunking, *, key: str) -> None:
    documents = snapshot.record.documents
    st.subheader("Where the cuts would fall", anchor=False)
    at = 0
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if len(documents) > 1:
            at = st.selectbox(
                "Document",
                range(len(documents)),
                format_func=lambda index: documents[index].name,
                key=f"{key}:{snapshot.record.id}:document",
            )
        document = documents[at]
        last = max(0, document.characters - _STRETCH)
        start = 0
        if last:
            start = st.slider(
                "From which character",
                0,
                last,
                0,
                step=max(1, min(100, last)),
                key=f"{key}:{document.fingerprint[:12]}:from",
            )
    text = snapshot.document_text(document.fingerprint)
    rows = snapshot.rows_of(document.fingerprint)
    starts, ends = snapshot.places
    have = list(
        zip(
            starts[rows.start : rows.stop].tolist(),
            ends[rows.start : rows.stop].tolist(),
            strict=True,
        )
    )
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**As it is**")
        shown = pieces(text, have, start, start + _STRETCH)
        components.passage(shown, key=f"{key}:now", label="The text as it is cut")
    with right:
        st.markdown("**As it would be**")
        then = recut(snapshot, document, text, chunking)
        shown = pieces(text, then, start, start + _STRETCH)
        components.passage(shown, key=f"{key}:then", label="The text as it would be cut")
    st.caption(
        "A number stands where a passage begins. Hatched and underlined: what two passages share."
    )


def _begin(space: Workspace, snapshot: Snapshot, chunking: Chunking, *, key: str) -> None:
    name = snapshot.record.name
    embedder = named_embedder(snapshot.info.embedder)
    st.session_state[f"{key}:job"] = Job(
        f"Re-indexing {name}",
        lambda tell, stop: space.reindex(
            name, chunking=chunking, embedder=embedder, on_progress=tell, cancelled=stop
        ),
    )
