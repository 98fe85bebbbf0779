"""The Compare page: one question, several methods, one budget."""

from tracert.ui import frame
from tracert.ui.views import compare

frame.enter("pages/compare.py")
compare.page()
