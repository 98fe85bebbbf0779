"""The TreeHop page: ask, and watch the question's vector move from hop to hop."""

from tracert.ui import frame
from tracert.ui.views import studio, treehop

frame.enter("pages/treehop.py")
studio.page(treehop.NAME, treehop.show, treehop.replay, treehop.FIRST, treehop.WORDS)
