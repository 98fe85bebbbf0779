"""The Evaluate page: many questions with known passages, several methods, honest figures."""

from tracert.ui import frame
from tracert.ui.views import evaluate

frame.enter("pages/evaluate.py")
evaluate.page()
