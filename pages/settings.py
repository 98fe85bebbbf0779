"""The settings: the language model, which nothing here needs, prices, and limits of reading."""

import streamlit as st

from tracert.ui import frame, visitor
from tracert.ui.views import guest, limits, prices, settings

frame.enter("pages/settings.py")
st.title("Settings", anchor=False)
st.caption(
    "Everything works without a language model. With one, it writes the goal of a walk and the "
    "answer from the passages found; where it fails, the offline stand-in steps in and says so."
)
if visitor.public():
    guest.show(key="guest")
    guest.model()
else:
    settings.show(key="settings")
    prices.show(key="prices")
    limits.show(key="limits")
