"""The Tracert page: ask, and watch the walk from the question to its goal."""

from tracert.ui import frame
from tracert.ui.views import studio, tracert_rag

frame.enter("pages/tracert_rag.py")
studio.page(tracert_rag.NAME, tracert_rag.show, tracert_rag.replay)
