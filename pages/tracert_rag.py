"""The Tracert page: ask, and watch the walk from the question to its goal."""

import streamlit as st

from tracert.ui import frame, resources
from tracert.ui.views import ask, files, tracert_rag

frame.enter("pages/tracert_rag.py")
KEY = tracert_rag.NAME

opened = files.opened(key=KEY)
if opened is not None:
    files.banner(opened, key=KEY)
    tracert_rag.replay(opened)
    st.stop()

space = resources.workspace()
asked = ask.show(space, key=KEY)
if asked is None:
    files.open_(key=KEY, method=KEY)
else:
    tracert_rag.show(space, asked)
