"""The gates on one query and one passage: what Forget took, what Update added, and the next query.

The vectors are computed from the trace's own vectors and the weights that it names, so that they
can be seen without the corpus too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import streamlit as st

from tracert.errors import EmbedderError, TraceError
from tracert.methods.treehop import GateReading, Near, nearest, nearest_passages, read_gates
from tracert.methods.treehop.gates import QueryModel
from tracert.render import tree
from tracert.render.frames import frame, last
from tracert.render.gates import figure, text
from tracert.render.palette import Theme
from tracert.render.words import called, quoted, title
from tracert.trace import NodeKind, Trace, Vector
from tracert.ui.live import Live, node_of
from tracert.ui.model import named_embedder
from tracert.ui.safe import literal
from tracert.ui.session import View, theme

#: Words or passages listed for a vector.
WORDS, PASSAGES = 8, 4
#: The first letter after those of the Latin alphabet and its accented forms.
_LATIN_ENDS: Final = "\u0250"
EQUATION = r"q'=\mathrm{norm}\big(q-\mathrm{Forget}(q,c)+\mathrm{Update}(q,c)\big)"


@dataclass(frozen=True, slots=True)
class Pair:
    """A query and a passage, by id, and the query that the gates made of them in the run."""

    query: str
    passage: str
    made: tree.Query | None


def show(trace: Trace, view: View, live: Live, model: QueryModel | None, *, key: str) -> None:
    """The gates on what is selected; `model` where the trace cannot name its weights itself."""
    pair = _chosen(trace, view, key=key)
    if pair is None:
        return
    try:
        reading = read_gates(trace, pair.query, pair.passage, model)
    except TraceError as error:
        st.caption(literal(str(error)))
        return
    now = frame(trace, last(trace))
    query, passage = (called(trace, now, id) for id in (pair.query, pair.passage))
    quote = quoted(trace, pair.passage)
    st.text(f"q is {query}, c is {passage}" + ("" if passage == quote else f", {quote}"))
    st.latex(EQUATION)
    st.plotly_chart(
        figure(reading, theme=cast(Theme, theme())),
        key=f"{key}:gates",
        theme=None,
        config={"displayModeBar": False},
        alt=text(reading),
    )
    _lengths(reading, pair)
    _near(trace, live, reading)


def pairs_of(trace: Trace, view: View) -> list[Pair]:
    """The pairs that the selection may mean, the likeliest first; none for a fused query."""
    node = next((one for one in trace.nodes if one.id == view.node), None)
    query = tree.query_of(trace, view.node)
    if query is not None and query.step > 0:
        return [made] if (made := _maker(query)) is not None else []
    if node is not None and node.kind is NodeKind.CHUNK:
        found = _finder(trace, view)
        if found is not None:
            own = Pair(found.id, node.id, tree.made_by(trace, found.id, node.id))
            before = _maker(found)
            return [own] if own.made is not None or before is None else [before, own]
    root = tree.root(trace)
    kept = tree.kept(trace.steps[0]) if trace.steps else ()
    if root is None or not kept:
        return []
    return [Pair(root, kept[0], tree.made_by(trace, root, kept[0]))]


def _finder(trace: Trace, view: View) -> tree.Query | None:
    """The query that the selected passage is seen with: that which kept it, else the one in hand.

    A passage that no query kept is seen with the query in hand, if that found it.
    """
    id = view.node or ""
    found = tree.finder(trace, id)
    if found is not None and id in tree.kept(trace.steps[found.step]):
        return found
    now = frame(trace, view.step)
    return found if now.candidate(id) is None else tree.query_of(trace, now.in_hand)


def _maker(query: tree.Query) -> Pair | None:
    if query.parent is None or query.passage is None:
        return None
    return Pair(query.parent, query.passage, query)


def _chosen(trace: Trace, view: View, *, key: str) -> Pair | None:
    pairs = pairs_of(trace, view)
    if not pairs:
        query = tree.query_of(trace, view.node)
        if query is not None and query.fused > 1:
            st.caption(
                f"{query.name} was made of {query.fused} passages fused into one context. Select "
                "one of them to see the gates on it alone."
            )
        else:
            st.caption("The gates need a query and a passage; this walk found none.")
        return None
    if len(pairs) == 1:
        return pairs[0]
    labels = {index: _label(trace, pair) for index, pair in enumerate(pairs)}
    index = st.segmented_control(
        "Pair",
        list(labels),
        format_func=labels.__getitem__,
        default=0,
        required=True,
        key=f"{key}:pair:{pairs[1].query}:{pairs[1].passage}",
        label_visibility="collapsed",
    )
    return pairs[index or 0]


def _label(trace: Trace, pair: Pair) -> str:
    if pair.made is not None:
        return f"How {pair.made.name} was made"
    query = tree.query_of(trace, pair.query)
    name = query.name if query is not None else "q"
    number = frame(trace, last(trace)).order.get(pair.passage)
    return f"{name} with " + (f"passage {number}" if number else "this passage")


def _lengths(reading: GateReading, pair: Pair) -> None:
    end = (
        f"The run searched with it as {pair.made.name}."
        if pair.made is not None
        else "This pair made no next query in the run; this is what the gates would do."
    )
    kinds = reading.similarities
    st.caption(
        f"Gates: {literal(reading.model)}. Cosine of q and c {kinds['query_passage']:.3f}, of q′ "
        f"and q {kinds['next_query']:.3f}, of q′ and c {kinds['next_passage']:.3f}. {end}"
    )


# --- what the vectors are near to ---------------------------------------------------------


def _near(trace: Trace, live: Live, reading: GateReading) -> None:
    vectors = (
        ("The query was about", reading.query),
        ("Forget took", reading.forget),
        ("Update added", reading.update),
        ("The next query is about", reading.following),
    )
    words = _words(trace)
    with st.container(horizontal=True, gap="medium"):
        for heading, vector in vectors:
            near = _nearest(trace, live, vector, words)
            with st.container(width=150 if words else 260):
                st.markdown(f"**{heading}**")
                st.text(
                    "\n".join(f"{one.similarity:.2f}  {one.label}" for one in near) or "nothing"
                )
    what = "words" if words else "passages"
    pieces = " Some are only beginnings of words, such as “philosoph”." if words else ""
    st.caption(
        f":material/info: Approximate: the {what} whose vectors are nearest to each vector, with "
        "the cosine. A vector of the gates is no text's, so they say what it is near to, not "
        f"what it means.{pieces}"
    )


def _nearest(
    trace: Trace, live: Live, vector: Vector, words: tuple[list[str], Any] | None
) -> list[Near]:
    if words is not None:
        return nearest(vector, *words, count=WORDS)
    if live.near is None or not vector.any():
        return nearest_passages(vector, trace, PASSAGES)
    found = []
    for id, cosine in live.near(vector, PASSAGES):
        node = node_of(trace, live, id)
        found.append(Near(id if node is None else title(node), cosine))
    return found


def _words(trace: Trace) -> tuple[list[str], Any] | None:
    """The words of the embedder with their vectors; None where it has none."""
    if trace.corpus.embedder != "wordllama":
        return None
    words = _word_vectors()
    return words if words is not None and words[1].shape[1] == trace.corpus.dimension else None


@st.cache_resource(show_spinner=False)
def _word_vectors() -> tuple[list[str], Any] | None:
    from tracert.embedding.wordllama import WordLlama

    found = named_embedder(WordLlama.name)
    try:
        return readable(*found.words()) if isinstance(found, WordLlama) else None
    except EmbedderError:
        return None


def readable(words: Sequence[str], vectors: Any) -> tuple[list[str], Any]:
    """The words in Latin letters with their vectors: the embedder's own language is English."""
    places = [place for place, word in enumerate(words) if max(word) < _LATIN_ENDS]
    return [words[place] for place in places], vectors[places]
