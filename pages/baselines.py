"""The Baselines page: what the methods are measured against, shown in the same theatre."""

from tracert.ui import frame
from tracert.ui.views import baselines

frame.enter("pages/baselines.py")
baselines.page()
