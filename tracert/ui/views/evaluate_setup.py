"""A new run: the questions, the methods, the budget; and the button that begins it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from tracert.errors import TracertError
from tracert.evaluation.run import MethodPlan
from tracert.evaluation.summary import SEED
from tracert.evaluation.work import model_calls
from tracert.render.numbers import count
from tracert.ui import evaluating
from tracert.ui.glossary import explain
from tracert.ui.model import chat_model, settings
from tracert.ui.safe import literal
from tracert.ui.views import evaluate_data, evaluate_methods
from tracert.workspace import Workspace

#: The budget at first, and the most: `k` of plain top-k.
_K, _MOST = 10, 50


def show(space: Workspace, *, key: str) -> None:
    """The form."""
    with st.container(border=True):
        st.subheader("The questions", anchor=False)
        try:
            data = evaluate_data.show(space, key=f"{key}:data")
        except TracertError as error:
            st.error(literal(str(error)), icon=":material/error:")
            return
    if data is None:
        return
    with st.container(border=True):
        st.subheader("The methods", anchor=False)
        plans = evaluate_methods.show(data.needs, key=f"{key}:methods")
        left, right = st.columns(2, gap="medium")
        with left:
            k = st.slider(
                "Budget: passages in all",
                1,
                _MOST,
                _K,
                key=f"{key}:k",
                help=explain("budget of passages"),
                persist_state="session",
            )
        with right:
            embedder = evaluate_data.embedder(data, key=f"{key}:embedder")
    asks, ready = _model(space, data, plans, key=key)
    refused = st.session_state.pop(f"{key}:refused", None)
    if refused:
        st.error(literal(refused), icon=":material/error:")

    def begin() -> None:
        try:
            head = evaluating.runs().begin(
                title=data.title,
                methods=plans,
                k=k,
                embedder=embedder,
                ground=data.ground,
                seeds={"bootstrap": SEED},
                files=data.files,
                asks_model=asks,
            )
            evaluating.start(space, head)
        except TracertError as error:
            st.session_state[f"{key}:refused"] = str(error)
            return
        st.session_state[f"{key}:run"] = head.id
        st.session_state[f"{key}:view"] = "Results"

    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            "Start",
            type="primary",
            icon=":material/play_arrow:",
            key=f"{key}:start",
            disabled=not plans or not ready,
            on_click=begin,
        )
        asked = count(data.questions * len(plans), "question")
        st.caption(
            f"{count(data.questions, 'question')} × {count(len(plans), 'method')}: {asked} asked. "
            "It goes on in the background, can be stopped and resumed, and is kept."
            if plans
            else "Choose a method at least."
        )


def _model(
    space: Workspace, data: evaluate_data.Data, plans: Sequence[MethodPlan], *, key: str
) -> tuple[bool, bool]:
    """Whether a language model is to be asked, and whether that is settled."""
    over = None if data.record is None else space.open(data.record.name)
    calls = {plan.label: model_calls(plan, data.questions, over) for plan in plans}
    calls = {label: number for label, number in calls.items() if number}
    if not calls:
        return False, True
    model = chat_model()
    if model is None:
        st.caption(
            f":material/cloud_off: {literal(', '.join(calls))} could ask a language model. None is "
            "named on the Settings page, so the offline stand-ins work."
        )
        return False, True
    with st.container(border=True):
        asks = st.toggle(
            f"Let the methods ask {literal(model.name)}",
            key=f"{key}:asks",
            help="Off: the offline stand-ins work, and nothing is sent.",
        )
        if not asks:
            return False, True
        each = ", ".join(f"{label} {number:,}" for label, number in calls.items())
        number = sum(calls.values())
        st.text(f"About {count(number, 'call')} of the model at most: {each}.")
        limit = settings().calls
        if limit and limit < number:
            st.warning(
                f"The session's budget is {count(limit, 'call')}; beyond it the offline stand-ins "
                "step in, and the figures would mix the two. Raise it on the Settings page.",
                icon=":material/payments:",
            )
        agreed = st.checkbox(f"Yes, make up to {count(number, 'call')}", key=f"{key}:agreed")
    return True, agreed
