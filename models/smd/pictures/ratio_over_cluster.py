"""Picture of each policy's utility over the optimum, by the size of the cluster."""

from __future__ import annotations

import plotly.graph_objects as go

from gadgetopt.errors import InputError
from gadgetopt.reporting.figures import INK, PALETTE, TEMPLATE
from gadgetopt.system.declaring import picture
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.run import solve

from ..instance import SmdInstance

#: Capacities of the clusters, as parts of the sum of all reservations.
_PARTS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
#: Time limit of each run of a method.
_LIMITS = Limits(time_s=5.0)
_POLICIES = (
    ("smd_exact", "SMD"),
    ("smd", "SMD, Algorithm 3 with k = 2"),
    ("esw", "ESW"),
    ("optimus", "Optimus, fill"),
    ("optimus:stop=stop", "Optimus, stop"),
    ("greedy", "greedy"),
)
#: Up to so many jobs, all columns are searched for the value of released reservations.
_FEW_JOBS = 60


@picture(of="instance")
def ratio_over_cluster(instance: SmdInstance) -> go.Figure:
    """Utility over the optimum against the size of the cluster.

    Draw each policy's utility over the optimum, for clusters of parts of all reservations.

    Most policies admit jobs exactly, so that their ratios measure the workers and servers chosen.
    If reservations are charged, the optimum with only use charged is drawn too: it shows what
    releasing the rest of the reservations would be worth.

    Raises
    ------
    InputError
        If no optimum is found in time.
    """
    total = [sum(job.reservation_limit[r] for job in instance.jobs) for r in _resources(instance)]
    figure = go.Figure()
    optimum: dict[float, float] = {}
    clusters = {part: _cluster(instance, [part * x for x in total]) for part in _PARTS}
    for part, document in clusters.items():
        result = solve(document, "cg_core", _LIMITS)
        if result.status is Status.OPTIMAL and result.objective:
            optimum[part] = float(result.objective)
    if not optimum:
        raise InputError("no cluster has an optimum that is found in time")
    for k, (method, name) in enumerate(_POLICIES):
        ratios = {
            part: float(found) / optimum[part]
            for part in optimum
            if (found := solve(clusters[part], method, _LIMITS).objective) is not None
        }
        figure.add_trace(_line(name, ratios, PALETTE[k % len(PALETTE)]))
    if instance.charging == "reserved" and len(instance.jobs) <= _FEW_JOBS:
        released = {}
        for part, best in optimum.items():
            used = clusters[part].data.model_copy(update={"charging": "used"})
            result = solve(_document(used), "cg_core", _LIMITS)
            if result.status is Status.OPTIMAL and result.objective:
                released[part] = float(result.objective) / best
        figure.add_trace(_line("optimum if only use is charged", released, INK, dash="dot"))
    figure.add_hline(y=1, line={"color": INK, "width": 1})
    figure.update_layout(
        title={
            "text": f"Utility over the optimum, {len(instance.jobs)} jobs",
            "subtitle": {"text": "jobs are admitted exactly, unless said otherwise"},
        },
        template=TEMPLATE,
        xaxis={"title": {"text": "cluster, % of all reservations"}},
        yaxis={"title": {"text": "utility / optimum"}},
    )
    return figure


def _resources(instance: SmdInstance) -> range:
    return range(len(instance.resources))


def _cluster(instance: SmdInstance, capacity: list[float]) -> Document:
    # Whole units keep the knapsacks in whole numbers.
    whole = tuple(float(int(x)) for x in capacity)
    return _document(instance.model_copy(update={"capacity": whole}))


def _document(instance: SmdInstance) -> Document:
    return Document(problem=problem("smd"), kind="instance", name="cluster", data=instance)


def _line(name: str, ratios: dict[float, float], color: str, dash: str = "solid") -> go.Scatter:
    return go.Scatter(
        x=[100 * part for part in ratios],
        y=list(ratios.values()),
        name=name,
        mode="lines+markers",
        line={"color": color, "dash": dash},
    )
