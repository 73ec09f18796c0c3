"""Throughput over memory: the best found, what bounds it, and the published slots as marks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import plotly.graph_objects as go

from gadgetopt.errors import ModelRefused
from gadgetopt.reporting.figures import BLUE, INK, LEGEND_ABOVE, TEMPLATE
from gadgetopt.system.declaring import picture
from gadgetopt.system.result import Limits

from ..baselines.fixed import one, published, two
from ..baselines.improver import improver
from ..evaluate import evaluate
from ..instance import OneflowActorsInstance, OneflowActorsSolution, Zone
from ..proving.exact.close_gap import close_gap
from ..subproblems.ways import lifetimes, slots_for

#: Amounts of memory at which the best is asked for, and seconds of each. By definition.
POINTS, POINT_S = 12, 2.0


@picture(of="instance")
def draw(instance: OneflowActorsInstance) -> go.Figure:
    """The best throughput for each amount of memory; all memories grow by the same part.

    From one slot in every register to those that longest ways ask for at the load, and more.
    """
    fewest = tuple(register.fewest for register in instance.registers)
    plain = instance.model_copy(update={"zones": ()})
    load = max(sum(plain.ticks[a] for a in actors) for actors in plain.actors_of_stream.values())
    needed = tuple(slots_for(plain, lifetimes(plain), Fraction(load)))
    zones = list(plain.registers_of_zone)
    least = {zone: plain.used_bytes(zone, fewest) for zone in zones}
    more = {zone: plain.used_bytes(zone, needed) - least[zone] for zone in zones}
    shares = [Fraction(3 * n, 2 * (POINTS - 1)) for n in range(POINTS)]
    totals, found, bounds = [], [], []
    for share in shares:
        limited = tuple(
            Zone(name=zone, capacity_bytes=least[zone] + share * more[zone]) for zone in zones
        )
        at = plain.model_copy(update={"zones": limited})
        outcome = close_gap(at, Limits(time_s=POINT_S), np.random.default_rng(0))
        totals.append(float(sum(zone.capacity_bytes for zone in limited)))
        value = None
        if isinstance(outcome.solution, OneflowActorsSolution):
            value = evaluate(at, outcome.solution).objective
        found.append(None if value is None else float(value))
        certified = evaluate_bound(at, outcome.certificate, outcome.dual_bound)
        bounds.append(certified)
    figure = go.Figure()
    for name, line, values in (
        ("best found", {"color": BLUE, "width": 2}, found),
        ("no throughput is higher", {"color": INK, "dash": "dash"}, bounds),
    ):
        figure.add_scatter(
            x=totals, y=values, mode="lines", line={**line, "shape": "hv"}, name=name
        )
    marks = _marks(plain)
    figure.add_scatter(
        x=[x for x, _ in marks.values()],
        y=[y for _, y in marks.values()],
        mode="markers+text",
        text=list(marks),
        textposition="bottom center",
        marker={"color": INK, "size": 9, "symbol": "diamond"},
        name="published slots, first come first served",
    )
    figure.update_layout(
        title={
            "text": "The throughput against memory",
            "subtitle": {"text": f"best found and proved bound within {POINT_S:g} s a point"},
        },
        template=TEMPLATE,
        legend=LEGEND_ABOVE,
        xaxis={"title": {"text": "bytes of all memories"}},
        yaxis={"title": {"text": "microbatches a second"}},
    )
    return figure


def evaluate_bound(
    instance: OneflowActorsInstance, certificate: object, claimed: object
) -> float | None:
    """Return the bound that a certificate proves, or the one that a solver claims."""
    from ..proving.certificate import OneflowActorsCertificate, check_bound

    if isinstance(certificate, OneflowActorsCertificate):
        proved = check_bound(instance, certificate)
        return None if proved is None else float(proved)
    return float(claimed) if isinstance(claimed, int | float | Fraction) else None


def _marks(instance: OneflowActorsInstance) -> dict[str, tuple[float, float]]:
    """Return memory and throughput of the published slots that are possible, by their names."""
    found: dict[tuple[float, float], list[str]] = {}
    for method in (one, two, published, improver):
        try:
            solution = method(instance).solution
        except ModelRefused:
            continue
        evaluation = evaluate(instance, solution)  # type: ignore[arg-type]
        if evaluation.objective is not None:
            x = float(evaluation.components["memory_bytes"])
            found.setdefault((x, float(evaluation.objective)), []).append(method.__name__)
    return {", ".join(names): mark for mark, names in found.items()}
