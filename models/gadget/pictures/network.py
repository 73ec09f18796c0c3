"""Picture of the rings of one slot on the network, with the load of every link.

On a two-tier cluster servers are columns of their first resource below the switches and the core. A
ring over several servers is a chain of arcs below them; the fuller a link, the darker. In a graph
every hop is drawn along its route.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import networkx as nx
import numpy as np
import plotly.graph_objects as go

from gadgetopt.reporting.figures import (
    GREY,
    INK,
    PALE,
    PALETTE,
    TEMPLATE,
    mixed,
)
from gadgetopt.system.declaring import picture

from ..evaluate import link_loads
from ..instance import (
    GadgetInstance,
    GadgetSolution,
    Graph,
    Ring,
    TwoTier,
)

Point = tuple[float, float]
Loads = dict[tuple[int, int], int]

#: Heights of the layers of a two-tier cluster; the tallest server column ends at 1.
_SWITCH, _CORE = 1.6, 2.2
#: Up to this many nodes, distances in a graph are drawn to scale.
_FEW_NODES = 60
#: Up to this many servers, links are labelled with their loads.
_WRITTEN_SERVERS = 16
#: Factor on the brightness of a colour each time the palette repeats.
_DARKER = 0.7


def busiest_slot(instance: GadgetInstance, solution: GadgetSolution) -> int:
    """Return the slot with the largest sum of link loads; ties go to the most workers."""
    weight: Counter[int] = Counter()
    workers: Counter[int] = Counter()
    for (slot, _), load in link_loads(instance, solution).items():
        weight[slot] += load
    for ring in solution.rings:
        workers[ring.slot] += len(ring.servers)
    slots = range(1, instance.horizon_slots + 1)
    return max(slots, key=lambda t: (weight[t], workers[t], -t))


@picture(name="network")
def plot_tree(instance: GadgetInstance, solution: GadgetSolution) -> go.Figure:
    """Rings and link loads of the busiest slot on the network.

    Draw the rings of the slot whose links carry the most.
    """
    slot = busiest_slot(instance, solution)
    rings = sorted((r for r in solution.rings if r.slot == slot), key=lambda r: r.job)
    loads = {arc: load for (t, arc), load in link_loads(instance, solution).items() if t == slot}
    figure = go.Figure()
    if isinstance(instance.substrate, TwoTier):
        _draw_tree(figure, instance, rings, loads)
    else:
        _draw_graph(figure, instance, rings, loads)
    spanning = sum(len(set(ring.servers)) > 1 for ring in rings)
    figure.update_layout(
        title={
            "text": f"Slot {slot}: {len(rings)} rings, {spanning} over several servers",
            "subtitle": {"text": "links: the darker, the fuller; colours: rings"},
        },
        template=TEMPLATE,
        showlegend=len(rings) <= 30,
        height=620,
        margin={"t": 90, "l": 30, "r": 30, "b": 30},
        xaxis={"visible": False},
        yaxis={"visible": False},
        hovermode="closest",
    )
    return figure


def positions(cluster: TwoTier) -> tuple[list[Point], float]:
    """Return the positions of the nodes, servers at the tops of their columns, and the width.

    Servers of a rack stand side by side; racks are set apart.
    """
    racks = len(cluster.racks)
    order = sorted(range(len(cluster.servers)), key=lambda s: (cluster.servers[s].rack, s))
    x_of, x, last = {}, 0.0, None
    for s in order:
        rack = cluster.servers[s].rack
        x += 0.0 if last is None else 1.0 if rack == last else 1.8
        x_of[s], last = x, rack
    highest = _highest(cluster)
    points = [(x_of[s], server.capacity[0] / highest) for s, server in enumerate(cluster.servers)]
    middle = x / 2
    for k in range(racks):
        mine = [x_of[s] for s in order if cluster.servers[s].rack == k]
        points.append((float(np.mean(mine)) if mine else middle, _SWITCH))
    return [*points, (middle, _CORE)], x


def _draw_tree(
    figure: go.Figure, instance: GadgetInstance, rings: list[Ring], loads: Loads
) -> None:
    cluster = instance.substrate
    assert isinstance(cluster, TwoTier)
    at, width = positions(cluster)
    servers, core = len(cluster.servers), len(at) - 1
    written = servers <= _WRITTEN_SERVERS
    for s, server in enumerate(cluster.servers):
        _tree_link(figure, at, loads, s, servers + server.rack, server.access_mbps, written)
    for k, rack in enumerate(cluster.racks):
        _tree_link(figure, at, loads, servers + k, core, rack.uplink_mbps, written)
    names = [f"  rack {k}" for k in range(len(cluster.racks))]
    figure.add_scatter(
        x=[x for x, _ in at[servers:]],
        y=[y for _, y in at[servers:]],
        mode="markers+text",
        marker={"symbol": "square", "size": 16, "color": PALE, "line": {"color": INK, "width": 2}},
        text=[*names, "core"],
        textposition=["middle right"] * len(names) + ["top center"],
        hoverinfo="skip",
        showlegend=False,
    )
    _draw_columns(figure, instance, cluster, at, rings)
    depth = dict.fromkeys(range(servers), 0)
    for n, ring in enumerate(rings):
        stops = list(dict.fromkeys(ring.servers))
        if len(stops) < 2:
            continue
        level = 1 + max(depth[s] for s in stops)
        for s in range(servers):
            if min(at[v][0] for v in stops) <= at[s][0] <= max(at[v][0] for v in stops):
                depth[s] = max(depth[s], level)
        _arcs(figure, instance, ring, stops, at, level, width, _colour(n))


def _highest(cluster: TwoTier) -> float:
    """Return the largest server capacity of the first resource."""
    return max(server.capacity[0] for server in cluster.servers) or 1.0


def _tree_link(
    figure: go.Figure,
    at: list[Point],
    loads: Loads,
    u: int,
    v: int,
    mbps: int,
    written: bool,
) -> None:
    """Draw a link of a tree; unless routed by detours, rings load both directions alike."""
    up, down = loads.get((u, v), 0), loads.get((v, u), 0)
    part = max(up, down) / mbps if mbps else 0.0
    said = f"{up} up, {down} down of {mbps} Mbit/s"
    # From a short column, straight up past its neighbours.
    (x0, y0), (x1, y1) = (at[u][0], max(1.0, at[u][1])), at[v]
    _line(figure, [at[u], (x0, y0), (x1, y1)], part, said)
    if written and max(up, down):
        figure.add_annotation(
            x=(x0 + x1) / 2,
            y=(y0 + y1) / 2,
            text=f"{100 * part:.0f}%",
            showarrow=False,
            bgcolor=PALE,
            font={"size": 11, "color": INK},
        )


def _line(figure: go.Figure, way: list[Point], part: float, said: str) -> None:
    """Draw a link, wider and darker the fuller it is, with a hover text."""
    *before, a, b = way
    points = [*before, a, ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2), b]
    shade = round(215 - 185 * min(1.0, part))
    figure.add_scatter(
        x=[x for x, _ in points],
        y=[y for _, y in points],
        mode="lines",
        line={"color": f"rgb({shade},{shade},{shade})", "width": 1.5 + 4 * min(1.0, part)},
        hovertext=said,
        hoverinfo="text",
        showlegend=False,
    )


def _draw_columns(
    figure: go.Figure,
    instance: GadgetInstance,
    cluster: TwoTier,
    at: list[Point],
    rings: list[Ring],
) -> None:
    """Draw the first resource of every server as a column with one cell per worker."""
    name = instance.resources[0]
    highest = _highest(cluster)
    filled = [0.0] * len(cluster.servers)
    figure.add_bar(
        x=[x for x, _ in at[: len(filled)]],
        y=[server.capacity[0] / highest for server in cluster.servers],
        width=0.62,
        marker={"color": PALE, "line": {"color": INK, "width": 1.2}},
        hovertext=[
            f"server {s}: {server.capacity[0]:g} {name}" for s, server in enumerate(cluster.servers)
        ],
        hoverinfo="text",
        showlegend=False,
    )
    for n, ring in enumerate(rings):
        each = instance.jobs[ring.job].worker_demand[0] / highest
        base = []
        for s in ring.servers:
            base.append(filled[s])
            filled[s] += each
        figure.add_bar(
            x=[at[s][0] for s in ring.servers],
            y=[each] * len(ring.servers),
            base=base,
            width=0.62,
            marker={"color": _colour(n), "line": {"color": INK, "width": 1.2}},
            text=[str(ring.job)] * len(ring.servers) if len(filled) <= _WRITTEN_SERVERS else None,
            textposition="inside",
            insidetextanchor="middle",
            textfont={"color": INK},
            hovertext=f"job {ring.job}: {len(ring.servers)} workers",
            hoverinfo="text",
            name=f"job {ring.job}",
            legendgroup=str(ring.job),
        )
    figure.update_layout(barmode="overlay")


def _arcs(
    figure: go.Figure,
    instance: GadgetInstance,
    ring: Ring,
    stops: list[int],
    at: list[Point],
    level: int,
    width: float,
    colour: str,
) -> None:
    """Draw a ring below its servers: from each to the next, and from the last to the first."""
    x: list[float | None] = []
    y: list[float | None] = []
    start = -0.03 - 0.02 * level
    for a, b in zip(stops, (*stops[1:], stops[0]), strict=True):
        left, right = at[a][0], at[b][0]
        turn = np.linspace(0, np.pi, 25)
        # A longer hop hangs lower, but less than in proportion.
        drop = 0.10 * level + 0.35 * np.sqrt(abs(right - left) / max(width, 1.0))
        x += [*(left + (right - left) * (1 - np.cos(turn)) / 2).tolist(), None]
        y += [*(start - drop * np.sin(turn)).tolist(), None]
    b_i = instance.jobs[ring.job].ring_bandwidth_mbps
    figure.add_scatter(
        x=x,
        y=y,
        mode="lines",
        line={"color": colour, "width": 3},
        hovertext=f"job {ring.job}: " + " - ".join(map(str, stops)) + f", {b_i} Mbit/s a hop",
        hoverinfo="text",
        legendgroup=str(ring.job),
        showlegend=False,
    )


def _draw_graph(
    figure: go.Figure, instance: GadgetInstance, rings: list[Ring], loads: Loads
) -> None:
    network = instance.substrate
    assert not isinstance(network, TwoTier)
    at = _layout(network)
    for link in network.links:
        used = loads.get((link.source, link.target), 0)
        said = f"{link.source} to {link.target}: {used} of {link.mbps} Mbit/s"
        a, b = _aside(at[link.source], at[link.target], 0.012)
        _line(figure, [a, b], used / link.mbps if link.mbps else 0.0, said)
    for n, ring in enumerate(rings):
        for hop, route in enumerate(ring.routes or ()):
            pairs = [_aside(at[u], at[v], 0.03 + 0.015 * n) for u, v in pairwise(route)]
            for a, b in pairs:
                figure.add_annotation(
                    x=b[0],
                    y=b[1],
                    ax=a[0],
                    ay=a[1],
                    xref="x",
                    yref="y",
                    axref="x",
                    ayref="y",
                    showarrow=True,
                    arrowhead=2,
                    arrowwidth=2.5,
                    arrowcolor=_colour(n),
                    standoff=14,
                    startstandoff=14,
                    hovertext=f"job {ring.job}, hop {hop}",
                    text="",
                )
    here = {v: Counter(ring.job for ring in rings for s in ring.servers if s == v) for v in at}
    lists = ["<br>".join(f"job {i}: {n}" for i, n in here[v].items()) for v in at]
    servers = [node.capacity is not None for node in network.nodes]
    figure.add_scatter(
        x=[at[v][0] for v in at],
        y=[at[v][1] for v in at],
        mode="markers+text",
        marker={
            "symbol": ["circle" if server else "square" for server in servers],
            "size": 30,
            "color": [PALE if server else GREY for server in servers],
            "line": {"color": INK, "width": 2},
        },
        text=[str(v) for v in at],
        hovertext=[f"server {v}<br>{lists[v]}" if servers[v] else f"switch {v}" for v in at],
        hoverinfo="text",
        showlegend=False,
    )
    centre = np.mean(list(at.values()), axis=0)
    for v, listed in zip(at, lists, strict=True):
        outward = at[v] - centre
        x, y = at[v] + 0.22 * outward / max(float(np.hypot(*outward)), 1e-9)
        if listed:
            figure.add_annotation(x=x, y=y, text=listed, showarrow=False, bgcolor=PALE)
    for n, ring in enumerate(rings):
        figure.add_scatter(
            x=[None],
            y=[None],
            mode="markers",
            marker={"symbol": "square", "size": 12, "color": _colour(n)},
            name=f"job {ring.job}: {len(ring.servers)} workers",
        )
    figure.update_yaxes(scaleanchor="x")


def _layout(network: Graph) -> dict[int, np.ndarray]:
    """Return the positions of the nodes of a graph, in the order of their numbers."""
    drawn = nx.Graph([(link.source, link.target) for link in network.links])
    drawn.add_nodes_from(range(len(network.nodes)))
    if len(drawn) <= _FEW_NODES and nx.is_connected(drawn):
        found = nx.kamada_kawai_layout(drawn)
    else:
        found = nx.spring_layout(drawn, seed=0)
    return {v: np.array(found[v]) for v in range(len(drawn))}


def _aside(a: np.ndarray, b: np.ndarray, shift: float) -> tuple[Point, Point]:
    """Return a line shifted to its right, to keep both directions apart."""
    along = (b - a) / float(np.hypot(*(b - a)))
    right = shift * np.array([along[1], -along[0]])
    return tuple((a + right).tolist()), tuple((b + right).tolist())


def _colour(n: int) -> str:
    """Return the colour of the n-th ring of the slot; each repeat of the palette is darker."""
    shade = _DARKER ** (n // len(PALETTE))
    return mixed(PALETTE[n % len(PALETTE)], "#000000", 1 - shade)
