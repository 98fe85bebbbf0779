"""How much of a file is read in this session: what the host set, or the person on the Settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import streamlit as st

from tracert.corpus.loaders import Limits
from tracert.corpus.loaders.limits import changed, from_environment, set_by

_KEPT: Final = "limits"


def limits() -> Limits:
    """The limits in force. What the environment sets is the host's and stays.

    Raises:
        SettingError: a limit in the environment is none.
    """
    kept: dict[str, str] = st.session_state.get(_KEPT, {})
    fixed = set_by()
    return changed(
        from_environment(), {name: text for name, text in kept.items() if name not in fixed}
    )


def keep(values: Mapping[str, str]) -> None:
    """Keep limits by name for this session.

    Raises:
        SettingError: one of them is out of range.
    """
    changed(Limits(), values)
    st.session_state[_KEPT] = dict(values)
