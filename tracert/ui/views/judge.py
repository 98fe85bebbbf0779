"""The paper's judge on the answers of several methods: scores, the best, and its disagreement."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import streamlit as st

from tracert.errors import SettingError, TracertError
from tracert.language.base import ChatModel
from tracert.language.judge import CRITERIA, Judgement, judge
from tracert.language.prices import dollars
from tracert.render.numbers import count, seconds
from tracert.trace import Trace
from tracert.ui.model import chat_model
from tracert.ui.prices import prices, written
from tracert.ui.safe import literal

_WHAT: Final = (
    "As in the Tracert-RAG paper a model gives each answer 1 to 10 for comprehensiveness, "
    "engagement, depth and clarity, and names the best. It sees letters, no methods, in random "
    "order, and is asked again with the order turned round: what changes then is the judge's own "
    "unrest, not the answers'."
)


def show(traces: Mapping[str, Trace], *, key: str, called: Callable[[str], str] = str) -> None:
    """The button that asks the judge, and what it said of exactly these answers.

    Args:
        traces: the runs with their answers, by method, of one question.
        key: of the controls and of what is kept.
        called: the name of a method as it is shown.
    """
    answers = {
        name: trace.result.answer.text
        for name, trace in traces.items()
        if trace.result.answer is not None and trace.result.answer.sentences
    }
    st.markdown("**The judge**", help=_WHAT)
    if len(answers) < 2:
        st.caption("The judge compares answers: there must be two at least.")
        return
    question = next(iter(traces.values())).question
    model = chat_model()
    mark = (question, tuple(sorted(answers.items())), model.name if model else None)
    kept = st.session_state.get(f"{key}:judged")
    made: Judgement | None = kept[1] if kept is not None and kept[0] == mark else None
    if model is None:
        st.caption(
            ":material/cloud_off: The judge is a language model. Name one in Settings, better a "
            "larger one than wrote the answers."
        )
        return
    if made is None:
        _offer(question, answers, traces, model, mark, key=key)
        return
    result(made, key=key, called=called)


def _offer(
    question: str,
    answers: Mapping[str, str],
    traces: Mapping[str, Trace],
    model: ChatModel,
    mark: Any,
    *,
    key: str,
) -> None:
    error = st.session_state.pop(f"{key}:fault", None)
    if error:
        st.error(literal(error), icon=":material/gavel:")
    own = [
        trace.result.answer.source == model.name
        for trace in traces.values()
        if trace.result.answer is not None
    ]
    if any(own) and not all(own):
        st.caption(
            ":material/info: Some of the answers are the judge's own, the others are extracts. "
            "Let it write all of them first for a fair comparison."
        )
    if st.button(
        f"Let {literal(model.name)} judge",
        key=f"{key}:judge",
        icon=":material/gavel:",
        help=f"Two calls over {len(answers)} answers; one more for a reply that cannot be read.",
    ):
        with st.status("The judge reads…") as status:
            try:
                made = judge(
                    question,
                    answers,
                    model,
                    on_round=lambda number: status.update(
                        label=f"Round {number} of 2" + (", turned round" if number == 2 else "")
                    ),
                )
                st.session_state[f"{key}:judged"] = (mark, made)
            except TracertError as fault:
                st.session_state[f"{key}:fault"] = str(fault)
        st.rerun()


def result(made: Judgement, *, key: str, called: Callable[[str], str] = str) -> None:
    """A judgement: the winner or the disagreement, the scores, and what the order changed."""
    if made.winner is not None:
        st.success(
            f"Both rounds name {literal(called(made.winner))} the best.", icon=":material/gavel:"
        )
    else:
        st.warning(
            f"The rounds disagree: first {literal(called(made.first.best))} is the best, and with "
            f"the order turned round {literal(called(made.second.best))}.",
            icon=":material/balance:",
        )
    names = sorted(made.names, key=lambda name: (-made.overall(name), name))
    columns = {
        each.capitalize(): st.column_config.NumberColumn(format="%.1f", help=asks.capitalize())
        for each, asks in CRITERIA.items()
    }
    st.dataframe(
        {
            "Method": [called(name) for name in names],
            **{each.capitalize(): [made.mean(name, each) for name in names] for each in CRITERIA},
            "Overall": [made.overall(name) for name in names],
            "Named the best": [_named(made, name) for name in names],
        },
        key=f"{key}:scores",
        hide_index=True,
        column_config={**columns, "Overall": st.column_config.NumberColumn(format="%.2f")},
        alt="The mean scores of both rounds by method and criterion.",
    )
    st.caption(
        f"Means of two rounds by {literal(made.model)}. With the order turned round a score moved "
        f"by {made.disagreement:.2f} points on average: differences below that mean nothing."
        + (" A reply could not be read at first and was asked for again." if _retried(made) else "")
    )
    st.caption(_cost(made))
    with st.expander("What the order changed", icon=":material/swap_vert:"):
        st.dataframe(
            {
                "Method": [called(name) for name in names],
                "Place, first round": [made.first.order.index(name) + 1 for name in names],
                **{
                    each.capitalize(): [
                        _moved(made.first.scores[name].of(each), made.second.scores[name].of(each))
                        for name in names
                    ]
                    for each in CRITERIA
                },
            },
            key=f"{key}:moved",
            hide_index=True,
            alt="The scores of the first round and of the second.",
        )


def _cost(made: Judgement) -> str:
    """What the judge itself took, which is no method's."""
    spent = made.cost
    try:
        price = written(dollars(spent, made.model, prices()))
    except SettingError:  # the table of what the methods cost says what is wrong with it
        price = written(None)
    return (
        f"The judge took {count(spent.model_calls, 'call')}, {spent.prompt_tokens:,} tokens sent, "
        f"{spent.completion_tokens:,} written, {seconds(sum(spent.seconds.values()))}; cost: "
        f"{literal(price)}."
    )


def _named(made: Judgement, name: str) -> str:
    rounds = (made.first.best == name) + (made.second.best == name)
    return ("", "in one round", "in both rounds")[rounds]


def _moved(first: int, second: int) -> str:
    return str(first) if first == second else f"{first} → {second}"


def _retried(made: Judgement) -> bool:
    return made.first.retried or made.second.retried
