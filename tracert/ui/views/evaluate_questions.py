"""The questions of a run, and one of them opened: the method's walk beside plain top-k."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from tracert.errors import TracertError
from tracert.evaluation.detail import Detail
from tracert.evaluation.evaluate import Run
from tracert.evaluation.ground import Ground
from tracert.evaluation.run import Head
from tracert.evaluation.work import Results, runs_of
from tracert.render.evaluation_tables import OUTCOMES, Measured, outcome, question_rows
from tracert.render.numbers import count
from tracert.render.passage import glimpse
from tracert.trace import Trace
from tracert.ui import evaluating
from tracert.ui.glossary import explain
from tracert.ui.model import chat_model
from tracert.ui.safe import literal
from tracert.ui.session import view as view_of
from tracert.ui.views import stage
from tracert.ui.views.evaluate_figures import column
from tracert.workspace import Workspace

_ALL = "All"
#: The page of each method that has one and asks a corpus.
_PAGES = {"tracert_rag": "pages/tracert_rag.py", "treehop": "pages/treehop.py"}


@st.fragment
def show(
    space: Workspace, head: Head, measured: Sequence[Measured], results: Results, *, key: str
) -> None:
    """The table of the questions and, below it, the one that is selected.

    It is a fragment: a filter or a click redraws this alone.
    """
    with st.container(border=True):
        st.subheader("The questions", help=explain("won and lost"), anchor=False)
        place = _method(measured, key=key)
        rows = question_rows(measured, place)
        shown = _filter(measured[place], key=key)
        chosen = _table(rows, shown, key=f"{key}:questions:{place}")
    if chosen is not None:
        with st.container(border=True):
            try:
                _question(space, head, measured, results, place, chosen, key=key)
            except TracertError as error:
                st.error(literal(str(error)), icon=":material/error:")


def _method(measured: Sequence[Measured], *, key: str) -> int:
    moving = next((at for at, one in enumerate(measured) if not one.plain), 0)
    return int(
        st.selectbox(
            "Method",
            range(len(measured)),
            index=moving,
            format_func=[one.label for one in measured].__getitem__,
            key=f"{key}:method",
        )
    )


def _filter(one: Measured, *, key: str) -> list[int]:
    """The places of the questions that are shown."""
    how = [outcome(one, detail) for detail in one.evaluation.details]
    names = [_ALL, *OUTCOMES]
    wanted = st.segmented_control(
        "Against plain top-k",
        names,
        default=_ALL,
        required=True,
        format_func=lambda name: f"{name} ({len(how) if name == _ALL else how.count(name):,})",
        key=f"{key}:filter",
        help=explain("won and lost"),
    )
    return [place for place, each in enumerate(how) if wanted in (_ALL, each)]


def _table(rows: dict[str, list[Any]], shown: list[int], *, key: str) -> int | None:
    """The place of the question that is selected."""
    if not shown:
        st.caption("No question went so.")
        return None
    event = st.dataframe(
        {name: [values[place] for place in shown] for name, values in rows.items()},
        key=f"{key}:{len(shown)}",
        hide_index=True,
        height=min(388, 38 + 35 * len(shown)),
        on_select="rerun",
        selection_mode="single-row",
        placeholder="–",
        column_config={
            **{name: column(name) for name in rows},
            "Question": st.column_config.TextColumn(width="large"),
            "Against top-k": st.column_config.TextColumn(width="small"),
            "Hops": st.column_config.NumberColumn(width="small", format="%d"),
            "Points": st.column_config.NumberColumn(
                help=explain("paired difference"), format="%+.0f", width="small"
            ),
            "Id": st.column_config.TextColumn(width="small"),
            "ms": st.column_config.NumberColumn(format="%.1f", width="small"),
        },
        alt="The questions with their recall, sortable; select one to open its traces.",
    )
    st.caption("Select a row to open the question: the walk beside plain top-k.")
    chosen = event.selection.rows
    return shown[chosen[0]] if chosen and chosen[0] < len(shown) else None


# --- one question -------------------------------------------------------------------------


def _question(
    space: Workspace,
    head: Head,
    measured: Sequence[Measured],
    results: Results,
    place: int,
    chosen: int,
    *,
    key: str,
) -> None:
    one = measured[place]
    detail = one.evaluation.details[chosen]
    question = results.questions[chosen]
    st.subheader("The question", anchor=False)
    st.text(detail.question)
    with st.spinner("Opening the data…"):
        ground = evaluating.ground_of(space, head)
    answer = ground.items[question].answer
    if answer:
        st.text(f"Answer: {answer}")
    _gold(ground, measured, chosen)
    _elsewhere(head, ground, one, detail, key=key)
    run = runs_of(ground, head, chat_model())[place]
    asks = detail.model_calls > 0 and run.model is not None
    if asks and not st.session_state.get(f"{key}:{place}:{question}:ask"):
        st.caption(
            f"{literal(one.label)} asked {count(detail.model_calls, 'time')} a language model for "
            "this question; its walk is not kept."
        )
        if not st.button("Ask again and show the walk", key=f"{key}:ask:{place}:{question}"):
            return
        st.session_state[f"{key}:{place}:{question}:ask"] = True
    own, plain = _traces(head.id, place, question, len(detail.evidence), run)
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown(f"**{literal(one.label)}**")
        _walk(own, key=f"{key}:own:{place}:{question}")
    with right:
        st.markdown("**Plain top-k**, at as many passages")
        if plain is None:
            st.caption("Over notes plain search is no method of its own and leaves no trace.")
        else:
            _walk(plain, key=f"{key}:plain:{place}:{question}")


def _walk(trace: Trace, *, key: str) -> None:
    stage.show(trace, view_of(key, trace), key=key)
    stop = trace.result.stop
    st.caption(literal(f"{stop.message} {stop.remedy}".strip()))


@st.cache_resource(max_entries=24, show_spinner="Walking again…")
def _traces(
    id: str,  # noqa: ARG001 the key
    place: int,  # noqa: ARG001 the key
    question: int,
    many: int,
    _run: Run,
) -> tuple[Trace, Trace | None]:
    return _run.trace(question), _run.baseline_trace(question, max(1, many))


def _gold(ground: Ground, measured: Sequence[Measured], chosen: int) -> None:
    """Each gold passage and the rank at which each method found it."""
    first = measured[0].evaluation.details[chosen]
    rows: dict[str, list[Any]] = {"Hop": [], "Gold passage": [], "In": []}
    for passage in first.gold:
        title, text = ground.text(passage.ids[0]) if passage.ids else ("", "Nothing holds it here.")
        rows["Hop"].append(passage.depth)
        # Passages of a pool are whole; those of a corpus are mostly cut in a word.
        cut = ground.kind == "corpus"
        rows["Gold passage"].append(glimpse(text, 400) if cut else " ".join(text.split())[:400])
        rows["In"].append(title)
    for one in measured:
        detail = one.evaluation.details[chosen]
        rows[one.label] = [_rank(detail, passage.ids) for passage in detail.gold]
    st.dataframe(
        rows,
        hide_index=True,
        placeholder="–",
        column_config={
            "Gold passage": st.column_config.TextColumn(width="large"),
            **{
                one.label: st.column_config.NumberColumn(
                    width="small", help="The place at which it was found."
                )
                for one in measured
            },
        },
        alt="The gold passages and the place at which each method found them.",
    )


def _rank(detail: Detail, ids: Sequence[str]) -> int | None:
    return next((at for at, id in enumerate(detail.evidence, 1) if id in ids), None)


def _elsewhere(head: Head, ground: Ground, one: Measured, detail: Detail, *, key: str) -> None:
    """The question on the method's own page, with its map and all its panels."""
    page = _PAGES.get(one.evaluation.setup.method)
    if page is None or ground.kind != "corpus":
        return
    if st.button(
        f"Open on the page of {literal(one.label)}",
        key=f"{key}:elsewhere",
        icon=":material/open_in_new:",
        type="tertiary",
    ):
        st.session_state["corpus"] = str(head.ground["corpus"])
        st.session_state["question"] = detail.question
        st.switch_page(page, query_params={})
