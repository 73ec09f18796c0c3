"""PD-ORS: success and cost of randomised rounding of the slot programs.

No study counts the roundings of single slots.

`python benchmarks/pd_ors_rounding.py`: for each scaling factor G, 10^4 independent roundings of the
linear optimum of each of 30 random slots (20 machines, 4 resources in the paper's ranges, up to 40
workers). It prints the share of roundings in which all covering rows, all packing rows, and all
rows hold; the cost over the integer optimum; and the same for the lemma's own factor G_delta,
beside the lemma's guarantee. `--plot` writes an HTML plot.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from gadgetopt.models.pd_ors.data.generate.presets import paper
from gadgetopt.models.pd_ors.subproblems.slot_relaxation import SlotLp
from gadgetopt.models.pd_ors.subproblems.slot_tables import Room, exact_table
from gadgetopt.pieces.bicriteria import (
    BicriteriaReport,
    Lemma,
    MixedProgram,
    lemma,
    measure,
)

FACTORS = (0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2, 1.3, 1.4)
DELTAS = (0.1, 0.25, 0.5, 1.0)
#: Okabe and Ito's colours, which colour-blind readers can distinguish.
BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"


@dataclass(frozen=True)
class Slot:
    """A slot program: its rows, the linear optimum and the cost of the integer one."""

    rows: MixedProgram
    x: np.ndarray
    lp_cost: float
    optimum: float


def slots(
    count: int, machines: int, largest_batch: int, load_range: Sequence[float], seed: int
) -> tuple[list[Slot], int]:
    """Draw partly full slots; return those with a fractional linear optimum.

    The second value is the number of drawn slots with an integral linear optimum.
    """
    rng, found = np.random.default_rng(seed), []
    integral = 0
    while len(found) < count:
        instance = paper(rng, jobs=1, machines=machines, largest_batch=largest_batch)
        terms = instance.terms
        job, capacity = terms.jobs[0], terms.capacity
        load = rng.uniform(*load_range, size=(machines, 1))
        room = np.floor(capacity * (1 - load)).astype(np.int64)
        # Exponential prices of the load as in PD-ORS, slightly different by resource.
        price = np.exp(5 * load) * rng.uniform(0.5, 1.5, size=capacity.shape) / capacity.max(axis=0)
        worker, server = price @ job.alpha, price @ job.beta
        n = int(rng.integers(1, job.batch + 1))
        optimum = float(exact_table(job, Room(worker, server, room)).external[n])
        if not math.isfinite(optimum):
            continue
        lp = SlotLp(job, worker, server, room)
        point = lp.point(n)
        if point is None or point.integral:
            integral += point is not None
            continue
        found.append(Slot(lp.rows(n), lp.coordinates(point), point.cost, optimum))
    print(f"{count} slots; {integral} more were drawn whose linear optimum is integral")
    ratios = [s.optimum / s.lp_cost for s in found]
    print(f"integer over linear optimum: mean {mean(ratios):.4f}, largest {max(ratios):.4f}")
    rows = [len(s.rows.limits) for s in found]
    packing, covering = (
        [s.rows.packing_width for s in found],
        [s.rows.covering_width for s in found],
    )
    print(
        f"packing rows {min(rows)}-{max(rows)}, W_b {min(packing):.1f}-{max(packing):.1f}, "
        f"W_a {min(covering):.0f}-{max(covering):.0f}\n"
    )
    return found, integral


def table(title: str, columns: Sequence[str]) -> None:
    print(f"\n### {title}\n\n| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")


def cost_ratio(reports: Sequence[BicriteriaReport], drawn: Sequence[Slot]) -> float | None:
    """Mean cost over the integer optimum, over slots with a success of its successes."""
    ratios = [
        r.feasible_cost_ratio * s.lp_cost / s.optimum
        for r, s in zip(reports, drawn, strict=True)
        if r.feasible_cost_ratio is not None
    ]
    return mean(ratios) if ratios else None


def sweep(drawn: Sequence[Slot], attempts: int, seed: int) -> list[tuple[Any, ...]]:
    """Round with every factor and print the results."""
    columns = (
        "G",
        "P(cover)",
        "P(pack)",
        "P(both)",
        "slots with a success",
        "P(some of 50)",
        "cost / IP",
        "coverage",
        "overload",
        "s",
    )
    table(f"{attempts:,} roundings a slot", columns)
    rows = []
    for G in FACTORS:
        began = time.perf_counter()
        reports = [
            measure(s.rows, s.x, np.random.default_rng((seed, k)), factor=G, attempts=attempts)
            for k, s in enumerate(drawn)
        ]
        cost = cost_ratio(reports, drawn)
        row = (
            G,
            mean(r.covers for r in reports),
            mean(r.packs for r in reports),
            mean(r.both for r in reports),
            mean(r.both > 0 for r in reports),
            mean(1 - (1 - r.both) ** 50 for r in reports),
            cost,
            mean(r.coverage for r in reports),
            mean(r.overload for r in reports),
        )
        rows.append(row)
        shown = [f"{x:.3f}" if x is not None else "-" for x in row[1:]]
        print(
            f"| {G:.2f} | " + " | ".join(shown) + f" | {time.perf_counter() - began:.1f} |",
            flush=True,
        )
    return rows


def theory(drawn: Sequence[Slot], attempts: int, seed: int) -> list[tuple[Any, ...]]:
    """Round with the lemma's factors and print its guarantees beside the results."""
    columns = (
        "regime",
        "tail",
        "delta",
        "slots with a G",
        "mean G",
        "P(its rows fail) <=",
        "measured",
        "cost <=",
        "measured",
        "coverage >=",
        "measured",
        "overload <=",
        "measured",
        "P(both)",
    )
    table("At the lemma's G_delta (bounds and measurements: means over slots)", columns)
    rows = []
    for regime in ("packing", "covering"):
        for tail in ("printed", "corrected", "chernoff"):
            for delta in DELTAS:
                pairs: list[tuple[Lemma, BicriteriaReport]] = []
                for k, s in enumerate(drawn):
                    promise = lemma(s.rows, regime, delta, tail=tail)
                    if promise is not None:
                        rng = np.random.default_rng((seed, k))
                        found = measure(s.rows, s.x, rng, factor=promise.factor, attempts=attempts)
                        pairs.append((promise, found))
                if not pairs:
                    print(f"| {regime} | {tail} | {delta} | 0 |" + " - |" * 10)
                    continue
                fails = mean(1 - (r.packs if regime == "packing" else r.covers) for _, r in pairs)
                row = (
                    mean(p.factor for p, _ in pairs),
                    delta / 3,
                    fails,
                    mean(p.cost_ratio for p, _ in pairs),
                    mean(r.cost_ratio for _, r in pairs),
                    mean(p.coverage for p, _ in pairs),
                    mean(r.coverage for _, r in pairs),
                    mean(p.overload for p, _ in pairs),
                    mean(r.overload for _, r in pairs),
                    mean(r.both for _, r in pairs),
                )
                rows.append((regime, tail, delta, *row))
                shown = " | ".join(f"{x:.3f}" for x in row)
                print(f"| {regime} | {tail} | {delta} | {len(pairs)} | {shown} |", flush=True)
    return rows


def draw(rows: list[tuple[Any, ...]], lemmas: list[tuple[Any, ...]], attempts: int) -> go.Figure:
    """Plot probabilities and cost over G; below, the lemma's bounds beside the measurements."""
    figure = make_subplots(
        rows=2,
        cols=2,
        subplot_titles=(
            "part of the roundings",
            "cost over the integer optimum, of successes",
            "own rows fail, at the lemma's G",
            "cost over the linear optimum, at the lemma's G",
        ),
        vertical_spacing=0.16,
    )
    G = [r[0] for r in rows]
    for name, at, color, dash in (
        ("every covering row holds", 1, BLUE, "dash"),
        ("every packing row holds", 2, ORANGE, "dot"),
        ("all rows hold", 3, GREEN, "solid"),
        ("some of 50 attempts", 5, RED, "dashdot"),
    ):
        figure.add_scatter(
            x=G,
            y=[r[at] for r in rows],
            name=name,
            mode="lines+markers",
            line={"color": color, "dash": dash},
            row=1,
            col=1,
        )
    for regime, color, symbol in (
        ("packing", ORANGE, "triangle-left"),
        ("covering", BLUE, "triangle-right"),
    ):
        mine = [r for r in lemmas if r[0] == regime and r[1] == "corrected"]
        figure.add_scatter(
            x=[r[3] for r in mine],
            y=[r[-1] for r in mine],
            text=[f"delta = {r[2]}" for r in mine],
            name=f"all rows hold, lemma's G, {regime}",
            mode="markers",
            marker={"color": color, "symbol": symbol, "size": 12},
            row=1,
            col=1,
        )
    figure.add_scatter(
        x=G,
        y=[r[6] for r in rows],
        name="mean over successes",
        mode="lines+markers",
        line={"color": GREEN},
        showlegend=False,
        row=1,
        col=2,
    )
    for col in (1, 2):
        figure.add_vline(x=1, line={"color": "#999999", "width": 1}, row=1, col=col)
    add_bounds(figure, lemmas)
    figure.update_xaxes(title_text="G (logarithmic)", type="log", row=1, col=1)
    figure.update_xaxes(title_text="G", row=1, col=2)
    figure.update_xaxes(title_text="delta", row=2)
    figure.update_yaxes(type="log", row=2, col=2)
    figure.update_layout(
        title={
            "text": "Rounding G times the linear optimum of a slot",
            "subtitle": {"text": f"{attempts:,} roundings of each slot at every point"},
        },
        template="plotly_white",
        legend={"orientation": "h", "y": -0.12},
        height=850,
    )
    return figure


def add_bounds(figure: go.Figure, lemmas: list[tuple[Any, ...]]) -> None:
    """Plot the lemma's bounds and the measurements over delta."""
    for regime, tail, color in (("packing", "chernoff", ORANGE), ("covering", "corrected", BLUE)):
        mine = [r for r in lemmas if r[:2] == (regime, tail)]
        delta = [r[2] for r in mine]
        # Bound and measurement of the rows' failure are columns 4 and 5, those of cost 6 and 7.
        for col, bound, measured in ((1, 4, 5), (2, 6, 7)):
            for name, at, dash in (("bound", bound, "dash"), ("measured", measured, "solid")):
                figure.add_scatter(
                    x=delta,
                    y=[r[at] for r in mine],
                    name=f"{regime}, {name}",
                    mode="lines+markers",
                    line={"color": color, "dash": dash},
                    showlegend=col == 1,
                    row=2,
                    col=col,
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slots", type=int, default=30)
    parser.add_argument("--machines", type=int, default=20)
    parser.add_argument("--largest-batch", type=int, default=40)
    parser.add_argument("--load", type=float, nargs=2, default=(0.3, 1.0), help="of machines")
    parser.add_argument("--attempts", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plot", help="HTML file to write")
    arguments = parser.parse_args()
    drawn, integral = slots(
        arguments.slots,
        arguments.machines,
        arguments.largest_batch,
        arguments.load,
        arguments.seed,
    )
    rows = sweep(drawn, arguments.attempts, arguments.seed)
    at_1 = next(r for r in rows if r[0] == 1.0)
    total = len(drawn) + integral
    print(
        "\nWith the integral optima, which are taken as they are, at G = 1: an attempt succeeds "
        f"with {(integral + len(drawn) * at_1[3]) / total:.3f}, and "
        f"{(integral + len(drawn) * at_1[4]) / total:.3f} of the slots ever"
    )
    lemmas = theory(drawn, arguments.attempts, arguments.seed)
    if arguments.plot:
        draw(rows, lemmas, arguments.attempts).write_html(arguments.plot, include_plotlyjs=True)
        print(f"\n{arguments.plot}")


if __name__ == "__main__":
    main()
