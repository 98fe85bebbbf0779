"""The TrailGraph page: ask a graph of notes, and watch the walk, or walk it yourself."""

import streamlit as st

from tracert.ui import frame, resources
from tracert.ui.notes import NAME as KEY
from tracert.ui.views import about, files, trailgraph

frame.enter("pages/trailgraph.py")

about.show(KEY)
opened = files.opened(key=KEY)
if opened is not None:
    files.banner(opened, key=KEY)
    trailgraph.replay(opened)
    st.stop()

space = resources.workspace()
asked = trailgraph.ask(space)
if asked is not None:
    trailgraph.show(space, asked)
