"""The table of prices, to be edited: dollars for a million tokens by model."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import streamlit as st

from tracert.errors import SettingError, TracertError
from tracert.language.prices import LISTED, Price
from tracert.ui.prices import keep, prices
from tracert.ui.safe import literal

_MODEL, _SENT, _WRITTEN, _AS_OF = "Model", "Sent", "Written", "As of"
_HELP: Final = (
    "Dollars for a million tokens. An embedding model writes none. A model that is not here has no "
    "known price: its runs say so."
)


def show(*, key: str) -> None:
    """The table, a button that keeps it and one that goes back to the listed prices."""
    st.subheader("Prices", help=_HELP, anchor=False)
    st.caption(
        "What a million tokens cost, in dollars, by the model's name as the provider has it. The "
        "first rows are OpenAI's own list; prices change, so check yours."
    )
    said = st.session_state.pop(f"{key}:said", None)
    if said is not None:
        (st.success if said[0] else st.error)(literal(said[1]))
    try:
        now = prices()
    except SettingError as error:
        st.error(literal(str(error)), icon=":material/error:")
        now = dict(LISTED)
    serial = st.session_state.get(f"{key}:serial", 0)
    edited = st.data_editor(
        _columns(now),
        key=f"{key}:table:{serial}",
        num_rows="dynamic",
        hide_index=True,
        column_config={
            _MODEL: st.column_config.TextColumn(required=True, max_chars=200, width="medium"),
            _SENT: st.column_config.NumberColumn(
                "Sent, $ a million", min_value=0.0, required=True, format="%.3f"
            ),
            _WRITTEN: st.column_config.NumberColumn(
                "Written, $ a million", min_value=0.0, default=0.0, format="%.3f"
            ),
            _AS_OF: st.column_config.TextColumn(max_chars=40, help="When the price was read."),
        },
        alt="Prices of models in dollars for a million tokens, sent and written.",
    )
    with st.container(horizontal=True, gap="small"):
        if st.button("Keep these prices", key=f"{key}:keep", icon=":material/save:"):
            _keep(edited, key=key)
        if now != LISTED and st.button(
            "Back to the listed prices", key=f"{key}:listed", icon=":material/undo:"
        ):
            _keep(_columns(LISTED), key=key)


def table_of(edited: Mapping[str, Sequence[Any]]) -> dict[str, Price]:
    """The edited columns as prices; rows without a name are left out.

    Raises:
        SettingError: a price is missing or a name stands twice.
    """
    table: dict[str, Price] = {}
    for name, sent, wrote, as_of in zip(
        *(list(edited[column]) for column in (_MODEL, _SENT, _WRITTEN, _AS_OF)), strict=True
    ):
        text = " ".join(str(name or "").split())
        if not text:
            continue
        if text in table:
            raise SettingError(f"The model {text[:40]!r} stands twice. Keep one of the rows.")
        if sent is None or math.isnan(sent):
            raise SettingError(f"The price of {text[:40]!r} is missing. Type it, or take it out.")
        paid = 0.0 if wrote is None or math.isnan(wrote) else float(wrote)
        table[text] = Price(float(sent), paid, str(as_of or "").strip())
    return table


def _columns(table: Mapping[str, Price]) -> dict[str, list[Any]]:
    return {
        _MODEL: list(table),
        _SENT: [each.prompt for each in table.values()],
        _WRITTEN: [each.completion for each in table.values()],
        _AS_OF: [each.as_of for each in table.values()],
    }


def _keep(edited: Mapping[str, Sequence[Any]], *, key: str) -> None:
    try:
        keep(table_of(edited))
        said = (True, "The prices are kept.")
        # A fresh editor, so that it shows what is kept and holds no edits of its own.
        st.session_state[f"{key}:serial"] = st.session_state.get(f"{key}:serial", 0) + 1
    except TracertError as error:
        said = (False, str(error))
    st.session_state[f"{key}:said"] = said
    st.rerun()
