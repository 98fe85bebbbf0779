"""The frame of the app: the pages and what every page needs. `streamlit run app.py`."""

import streamlit as st

from tracert.ui import ICON, components, frame, style

st.set_page_config(page_title="Tracert", page_icon=ICON, layout="wide")
st.logo(ICON, size="large")
page = st.navigation(
    [
        st.Page("pages/tracert_rag.py", title="Tracert", icon=":material/timeline:", default=True),
        st.Page("pages/trailgraph.py", title="TrailGraph", icon=":material/account_tree:"),
        st.Page("pages/treehop.py", title="TreeHop", icon=":material/alt_route:"),
        st.Page("pages/compare.py", title="Compare", icon=":material/compare_arrows:"),
        st.Page("pages/evaluate.py", title="Evaluate", icon=":material/query_stats:"),
        st.Page("pages/baselines.py", title="Baselines", icon=":material/straighten:"),
        st.Page("pages/library.py", title="Library", icon=":material/library_books:"),
        st.Page("pages/inspect.py", title="Inspect", icon=":material/search:", visibility="hidden"),
        st.Page("pages/settings.py", title="Settings", icon=":material/settings:"),
    ],
    position="top",
)
frame.entered()
components.load()
style.load()
frame.run(page)
