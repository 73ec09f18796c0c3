"""The table of interference as a heat map, which the problems of the family share."""

from __future__ import annotations

import plotly.graph_objects as go

from gadgetopt.system.declaring import picture

from ...subproblems.heat_map import draw
from ..instance import PlacementInstance


@picture(of="instance")
def interference(instance: PlacementInstance) -> go.Figure:
    """The table of interference as a heat map."""
    return draw(instance)
