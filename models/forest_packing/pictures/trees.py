"""Picture of a packing: the trees are drawn as lanes inside the links.

Every direction of a link is a pale band as wide as its capacity, and every tree is a strip of its
own colour, as wide as its rate, on the bands it uses: a band that is covered is full. Dark strips
reduce, light ones broadcast.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go

from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.tolerance import Number
from gadgetopt.reporting.figures import (
    BRIGHT,
    INK,
    PALE,
    TEMPLATE,
    mixed,
)
from gadgetopt.system.declaring import picture

from ..instance import (
    ForestPackingInstance,
    ForestPackingSolution,
    Stage,
    TreePair,
)
from ..network import Network
from .layout import Layout, lay_out

_BAND, _REST = "#efefef", "#606060"

#: Part of white in the colour of the broadcast strips.
_LIGHT = 0.5

#: Width in pixels of the outline of a tree that is shown alone, which may be thin.
_OUTLINE = 1.6

#: Margins in pixels, which hold the legend and the title.
_LEFT, _RIGHT, _TOP, _BOTTOM = 30, 270, 100, 20


@dataclass(frozen=True)
class TreeGroup:
    """Trees that are drawn in one colour: one tree, or all that are too small to be told apart."""

    name: str
    colour: str
    trees: tuple[TreePair, ...]


@dataclass(frozen=True)
class Strip:
    """Load of some trees on an arc in one stage, GB/s, and its offset in the arc's band.

    `owner` is the position of the `TreeGroup`.
    """

    owner: int
    stage: Stage
    arc: tuple[int, int]
    start: float
    rate: float


@picture()
def trees(instance: ForestPackingInstance, solution: ForestPackingSolution) -> go.Figure:
    """The packed trees on the topology.

    Draw the trees of a feasible plan on the network, the largest rates in colours of their own.

    The menu shows one tree alone, the legend hides and shows any.
    """
    network = instance.network
    layout = lay_out(network, half_duplex=instance.duplex == "half")
    shown = shown_trees(instance, solution)
    strips = pack_strips(instance, shown)

    figure = go.Figure(_bands(instance, layout))
    owner = [-1]
    for i, group in enumerate(shown):
        for trace in _tree_traces(network, layout, group, [s for s in strips if s.owner == i]):
            figure.add_trace(trace)
            owner.append(i)
    figure.add_traces([_link_hover(instance, layout, shown, strips), *_nodes(instance, layout)])
    owner += [-1] * (len(figure.data) - len(owner))
    rings = _roots(network, layout, shown)
    figure.add_traces(list(rings.values()))
    owner += list(rings)

    _lay_out_trees(figure, instance, solution, layout)
    if len(shown) > 1:
        figure.update_layout(updatemenus=[_menu(shown, owner)])
    return figure


# -- loads and lanes -----------------------------------------------------------------------------


def shown_trees(
    instance: ForestPackingInstance, solution: ForestPackingSolution
) -> list[TreeGroup]:
    """Return the trees by rate, those beyond the palette together."""
    used = [tree for tree in solution.trees if tree.rate_gbyte_per_s > 0]
    ranked = sorted(used, key=lambda tree: -tree.rate_gbyte_per_s)
    alone = len(BRIGHT) if len(ranked) <= len(BRIGHT) else len(BRIGHT) - 1
    groups = [
        TreeGroup(
            f"tree {k}: root {tree.root}, {written_rate(tree.rate_gbyte_per_s)} GB/s",
            colour,
            (tree,),
        )
        for k, (tree, colour) in enumerate(zip(ranked[:alone], BRIGHT, strict=False), 1)
    ]
    if rest := tuple(ranked[alone:]):
        total = written_rate(sum(tree.rate_gbyte_per_s for tree in rest))
        groups.append(TreeGroup(f"{len(rest)} others: {total} GB/s", _REST, rest))
    return groups


def pack_strips(instance: ForestPackingInstance, shown: Sequence[TreeGroup]) -> list[Strip]:
    """Place the loads of all trees side by side in the bands, from the inner edge outwards.

    The two directions of a half-duplex cable are in one band.
    """
    index = instance.network.index
    filled: defaultdict[tuple[int, int], float] = defaultdict(float)
    strips = []
    for i, group in enumerate(shown):
        for stage in instance.stages:
            for (u, v), rate in sorted(stage_loads(group.trees, stage).items()):
                arc = (index[u], index[v])
                band = arc if instance.duplex == "full" else (min(arc), max(arc))
                strips.append(Strip(i, stage, arc, filled[band], rate))
                filled[band] += rate
    return strips


def stage_loads(trees: Iterable[TreePair], stage: Stage) -> dict[tuple[int, int], float]:
    """Load of each arc, GB/s, by the instance's node numbers."""
    loads: defaultdict[tuple[int, int], float] = defaultdict(float)
    for tree in trees:
        for path in tree.in_tree if stage == "reduce" else tree.broadcast_tree:
            for arc in pairwise(path):
                loads[arc] += float(tree.rate_gbyte_per_s)
    return loads


# -- traces of the trees -----------------------------------------------------------------------


def _bands(instance: ForestPackingInstance, layout: Layout) -> go.Scatter:
    """The links, as wide as their capacities."""
    network = instance.network
    corners = [
        layout.strip(u, v, 0.0, float(c), tip=False)
        for (u, v), c in zip(network.arcs, network.capacity, strict=True)
        if u < v or instance.duplex == "full"
    ]
    return _filled(corners, _BAND, name="free capacity", legendrank=2000)


def _tree_traces(
    network: Network, layout: Layout, group: TreeGroup, strips: Sequence[Strip]
) -> Iterator[go.Scatter]:
    """The strips of a tree, one trace for each stage."""
    colours: list[tuple[Stage, str]] = [
        ("reduce", group.colour),
        ("broadcast", lightened(group.colour)),
    ]
    first = True
    for stage, colour in colours:
        corners = [layout.strip(*s.arc, s.start, s.rate) for s in strips if s.stage == stage]
        if corners:
            yield _filled(
                corners, colour, name=group.name, legendgroup=group.colour, showlegend=first
            )
            first = False


def _filled(corners: Sequence[Floats], colour: str, **options: Any) -> go.Scatter:
    """Polygons in one trace."""
    gap = np.full((1, 2), np.nan)
    points = np.vstack([gap, *(part for c in corners for part in (c, c[:1], gap))])
    return go.Scatter(
        x=points[1:, 0].round(2),
        y=points[1:, 1].round(2),
        fill="toself",
        fillcolor=colour,
        mode="lines",
        line={"width": 0, "color": colour},
        hoverinfo="skip",
        **options,
    )


def _link_hover(
    instance: ForestPackingInstance,
    layout: Layout,
    shown: Sequence[TreeGroup],
    strips: Sequence[Strip],
) -> go.Scatter:
    """Invisible points with the hover text of the bands."""
    network = instance.network
    on_arc: defaultdict[tuple[int, int], list[Strip]] = defaultdict(list)
    for strip in strips:
        on_arc[strip.arc].append(strip)
    points, texts = [], []
    for arc, capacity in zip(network.arcs, network.capacity_float, strict=True):
        u, v = (network.labels[w] for w in arc)
        load = sum(s.rate for s in on_arc[arc])
        shared = " of both directions" if instance.duplex == "half" else ""
        lines = [f"<b>{u} to {v}</b>: {load:.4g} of {capacity:.4g} GB/s{shared}"]
        lines += [
            f"{shown[s.owner].name.split(':')[0]}: {s.stage} {s.rate:.4g}" for s in on_arc[arc]
        ]
        points.append(layout.on_band(*arc, 0.0, float(capacity)))
        texts.append("<br>".join(lines))
    at = np.array(points).reshape(-1, 2)
    return go.Scatter(
        x=at[:, 0],
        y=at[:, 1],
        mode="markers",
        marker={"size": 10, "color": "rgba(0,0,0,0)"},
        text=texts,
        hoverinfo="text",
        showlegend=False,
    )


def _nodes(instance: ForestPackingInstance, layout: Layout) -> Iterator[go.Scatter]:
    """Workers as circles, switches as squares, with their numbers."""
    network = instance.network
    n = network.num_workers
    kinds = [("worker", range(n), "circle", PALE, INK)]
    if network.switches:
        kinds.append(("switch", network.switches, "square", INK, PALE))
    for name, nodes, symbol, fill, text in kinds:
        labels = [network.labels[v] for v in nodes]
        at = layout.position[list(nodes)]
        yield go.Scatter(
            x=at[:, 0],
            y=at[:, 1],
            name=name,
            mode="markers+text",
            marker={
                "symbol": symbol,
                "size": 2 * layout.radius,
                "color": fill,
                "line": {"color": INK, "width": 1.5},
            },
            text=labels if layout.radius >= 6 else None,
            textfont={"color": text, "size": min(14, max(8, 0.85 * layout.radius))},
            hovertext=[f"{name} {label}" for label in labels],
            hoverinfo="text",
            legendrank=1990,
        )


def _roots(network: Network, layout: Layout, shown: Sequence[TreeGroup]) -> dict[int, go.Scatter]:
    """Rings around the roots in the trees' colours, by the position of the `TreeGroup`."""
    rings: dict[int, go.Scatter] = {}
    around: defaultdict[int, int] = defaultdict(int)
    for i, group in enumerate(shown):
        if len(group.trees) > 1:
            continue
        root = network.index[group.trees[0].root]
        x, y = layout.position[root]
        rings[i] = go.Scatter(
            x=[x],
            y=[y],
            mode="markers",
            marker={
                "symbol": "circle-open",
                "size": 2 * layout.radius + 5 + 7 * around[root],
                "color": group.colour,
                "line": {"width": 3},
            },
            hoverinfo="skip",
            legendgroup=group.colour,
            showlegend=False,
        )
        around[root] += 1
    return rings


def _menu(shown: Sequence[TreeGroup], owner: Sequence[int]) -> dict[str, Any]:
    """A menu that shows one tree alone; `owner` of each trace, -1 if it is always visible."""

    def button(label: str, visible: list[bool], outline: float) -> dict[str, Any]:
        change = {"visible": visible, "line.width": [outline] * len(owner)}
        return {"label": label, "method": "restyle", "args": [change]}

    buttons = [button("all trees", [True] * len(owner), 0)]
    for i, group in enumerate(shown):
        buttons.append(button(group.name, [k in (i, -1) for k in owner], _OUTLINE))
    return {
        "buttons": buttons,
        "x": 1.02,
        "xanchor": "left",
        "y": 1.0,
        "yanchor": "top",
        "showactive": True,
    }


def _lay_out_trees(
    figure: go.Figure,
    instance: ForestPackingInstance,
    solution: ForestPackingSolution,
    layout: Layout,
) -> None:
    margin = layout.radius + 24
    low, high = layout.position.min(axis=0) - margin, layout.position.max(axis=0) + margin
    width, height = np.maximum(high - low, [480, 300])
    middle = (low + high) / 2
    used = sum(tree.rate_gbyte_per_s > 0 for tree in solution.trees)
    axis = {"visible": False, "constrain": "domain"}
    figure.update_layout(
        title={
            "text": f"{used} tree{'s' * (used != 1)}, "
            f"{written_rate(total_rate(solution))} GB/s in all",
            "subtitle": {"text": _explained(instance)},
            "x": 0.02,
        },
        template=TEMPLATE,
        width=float(width) + _LEFT + _RIGHT,
        height=float(height) + _TOP + _BOTTOM,
        margin={"l": _LEFT, "r": _RIGHT, "t": _TOP, "b": _BOTTOM},
        xaxis={**axis, "range": [middle[0] - width / 2, middle[0] + width / 2]},
        yaxis={
            **axis,
            "range": [middle[1] - height / 2, middle[1] + height / 2],
            "scaleanchor": "x",
        },
        legend={"x": 1.02, "y": 0.86, "groupclick": "togglegroup", "tracegroupgap": 2},
    )


def _explained(instance: ForestPackingInstance) -> str:
    half = instance.duplex == "half"
    side = "both directions share a band" if half else "traffic keeps to the right"
    stages = "dark: reduce, light: broadcast; " if len(instance.stages) == 2 else ""
    return f"{stages}as wide as the rate, pale: free; {side}; a ring marks a root"


# -- words and colours -------------------------------------------------------------------------


def total_rate(solution: ForestPackingSolution) -> float:
    """Return R, GB/s."""
    return float(sum(tree.rate_gbyte_per_s for tree in solution.trees))


def written_rate(rate: Number) -> str:
    """Return a rate in GB/s as a short text."""
    return f"{float(rate):.4g}"


def lightened(colour: str) -> str:
    """Mix a colour, "#rrggbb", with white."""
    return mixed(colour, PALE, _LIGHT)
