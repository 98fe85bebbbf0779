"""What all tests of pages share: nothing is fitted in the background or left in a cache."""

from __future__ import annotations

import pytest
import streamlit as st


@pytest.fixture(autouse=True)
def _no_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test waits for UMAP or leaves it running, and none sees what another one cached."""
    monkeypatch.setattr("tracert.workspace.Workspace._begin_fit", lambda self, over: None)
    st.cache_resource.clear()
    st.cache_data.clear()
