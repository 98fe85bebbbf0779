"""The Library: load documents, see what is there, change it."""

import streamlit as st

from tracert.ui import frame, resources, visitor
from tracert.ui.views import add, collection, guest, locked, progress, shelf

frame.enter("pages/library.py")
KEY = "library"

st.title("Library", anchor=False)
st.caption(
    "Documents are cut into passages and turned into vectors by the host of this app. Upload "
    "nothing that the host may not see."
    if visitor.public()
    else "Documents are cut into passages and turned into vectors on this machine. Nothing "
    "leaves it unless you choose an embedder that is reached over a network."
)
guest.show(key="guest")
space = resources.workspace()
if resources.mended() and not visitor.public():
    st.info(resources.mended(), icon=":material/healing:")
job = st.session_state.get(f"{KEY}:job")
if job is not None:
    progress.show(job, key=KEY)
    locked.show(job, key=KEY)
if job is None or not job.running:
    add.show(space, key=KEY)
    if not visitor.public():
        collection.show(space, key=f"{KEY}:chroma")
shelf.show(space, key="shelf")
