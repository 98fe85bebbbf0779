"""Inspect: what a corpus is made of, and what another cut would do to it."""

import streamlit as st

from tracert.errors import TracertError
from tracert.ui import frame, resources
from tracert.ui.safe import literal
from tracert.ui.views import inspect

frame.enter("pages/inspect.py")

st.title("Inspect a corpus", anchor=False)
try:
    inspect.show(resources.workspace(), key="inspect")
except TracertError as error:
    st.error(literal(str(error)), icon=":material/error:")
