from __future__ import annotations

import plotly.graph_objects as go
import pytest

from tracert.render.palette import DARK, LIGHT
from tracert.render.plotted import map_backdrop


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_the_tools_of_a_map_cover_neither_its_legend_nor_its_points(palette):
    """Plotly lays half-black upon a clear paper, and a row of tools over a legend on top."""
    bar = go.Figure(layout=map_backdrop(palette)).layout.modebar
    assert bar.orientation == "v"
    assert bar.bgcolor == "rgba(0,0,0,0)"
    assert {bar.color, bar.activecolor} == {palette.faint, palette.ink}
