"""The objective over the fewest commits and the threshold of local steps."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from gadgetopt.errors import InputError
from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.reporting.figures import TEMPLATE
from gadgetopt.system.declaring import picture

from ..instance import AdspRatesInstance
from ..tables import Tables, objective

#: Thresholds and fewest commits drawn.
_THRESHOLDS, _STARTS = 80, 40


@picture(of="instance")
def draw(instance: AdspRatesInstance) -> go.Figure:
    """The objective over fewest commits and threshold."""
    if instance.model.kind == "momentum_cap":
        raise InputError("model.kind: the momentum cap has no thresholds to draw")
    tables = Tables.of(instance)
    last = max(1, min(instance.largest_equal_rate, _STARTS))
    top = float(tables.local_steps(1).max())
    thresholds = np.geomspace(1, max(top, 1.001), _THRESHOLDS)
    values = np.full((_THRESHOLDS, last), np.nan)
    for k, theta in enumerate(thresholds):
        for c in range(1, last + 1):
            commits = fewest_commits(tables, theta, c)
            high = np.minimum(tables.most, c + instance.window)
            if (commits <= high).all() and int(commits.sum()) <= instance.cap:
                local = float(tables.local_steps(commits).max())
                values[k, c - 1] = float(objective(instance, tables.steps(commits).mean(), local))
    values[~np.isfinite(values)] = np.nan
    figure = go.Figure(
        go.Heatmap(
            x=list(range(1, last + 1)),
            y=thresholds,
            z=values,
            colorscale="Viridis",
            reversescale=True,
            colorbar={"title": {"text": "objective"}},
        )
    )
    figure.update_layout(
        title={
            "text": "Objective over window start and threshold",
            "subtitle": {"text": "white: the window or the cap allows no such decision"},
        },
        template=TEMPLATE,
        xaxis={"title": {"text": "fewest commits of a worker"}},
        yaxis={"title": {"text": "most local steps between two commits"}, "type": "log"},
    )
    return figure


def fewest_commits(tables: Tables, threshold: float, start: int) -> Ints:
    """Return the fewest commits, `start` at least, with no more local steps than a threshold."""
    wanted: Floats = tables.period_steps / (threshold + tables.commit_steps)
    commits: Ints = np.maximum(start, np.ceil(wanted - 1e-12)).astype(np.int64)
    return commits
