"""Figures 4 to 7 of the GADGET paper on our instances, beside the paper's values.

No study holds figures against those of a paper, or measures shares of embedded jobs, which no
objective knows.

Values of Figures 4 and 7 are read off the plots, those of 5 and 6 are printed. Optima over the
whole horizon are intervals: the best schedule found and the bound of the epoch relaxation. The
statements below each table compare trends and are computed from its numbers.

`python benchmarks/gadget_figures.py 4 --seeds 3`; without a number all figures, in about five
minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import mean
from typing import Any

import numpy as np

from gadgetopt.models.gadget import PROBLEM
from gadgetopt.models.gadget.algorithms.temporal_greedy import GreedyRun, temporal_greedy
from gadgetopt.models.gadget.data.generate.presets import (
    Arrivals,
    contended,
    paper,
)
from gadgetopt.models.gadget.evaluate import evaluate
from gadgetopt.models.gadget.heuristics.gadget_greedy import with_idle_workers
from gadgetopt.models.gadget.heuristics.roundings import rounded_slot
from gadgetopt.models.gadget.heuristics.slot_greedy import slot_greedy
from gadgetopt.models.gadget.instance import GadgetInstance
from gadgetopt.models.gadget.proving.knapsack_bound import knapsack_bound
from gadgetopt.models.gadget.subproblems.hull import envelope
from gadgetopt.models.gadget.subproblems.slot_problem import slot_problem
from gadgetopt.system.result import Limits

JOBS = [40, 60, 80, 100]
FIGURE_4 = {
    "gadget": [2831, 4331, 4910, 5519],
    "drf": [1975, 2167, 2428, 2651],
    "tiresias": [1654, 1886, 2176, 2240],
    "fifo": [1170, 1346, 1433, 1436],
}
FIGURE_5 = {
    4.0: [95.56, 90.90, 84.61, 84.82],
    3.0: [92.67, 86.71, 76.87, 66.03],
    2.0: [89.72, 70.76, 59.31, 47.97],
    1.0: [74.07, 55.26, 40.33, 32.75],
}
FIGURE_6 = {
    4.0: [95.23, 91.02, 84.52, 84.62],
    2.0: [95.43, 91.23, 84.91, 82.15],
    1.0: [94.89, 91.43, 84.61, 82.05],
    0.5: [93.32, 86.62, 77.23, 58.93],
}
FIGURE_7 = ([10, 20, 30, 40, 50], [0.6132, 0.6786, 0.7342, 0.7673, 0.7812])
ROUNDINGS: dict[str, dict[str, Any]] = {
    "one rounding within capacities": {"rounding": "violation_free", "attempts": 1},
    "the best of 100": {"rounding": "violation_free", "attempts": 100},
    "the same, filled": {"rounding": "fill", "attempts": 100},
    "as printed, beyond capacities": {"rounding": "vanilla", "attempts": 100},
}

#: Mean and variance of a priority, uniform on [1, 100].
PRIORITY_MEAN, PRIORITY_VARIANCE = 50.5, 99**2 / 12

Regime = Callable[[np.random.Generator, int], GadgetInstance]
REGIMES: dict[str, Regime] = {
    "printed ranges, budgets in iterations": lambda rng, n: paper(rng, jobs=n),
    "printed ranges, budgets in worker-slots": lambda rng, n: paper(
        rng, jobs=n, budget_units="worker_slots"
    ),
    "contended: 8 servers, 20 slots": lambda rng, n: contended(rng, jobs=n),
}


#: Name, arrivals, and number of slots over which the embedded ratio is measured.
SETTINGS: tuple[tuple[str, Arrivals, int], ...] = (
    ("arrivals in the first half", "uniform_first_half", 200),
    ("all at start, first slot", "all_at_start", 1),
)


def figure_4(seeds: int) -> None:
    header("Figure 4: total utility over jobs", JOBS)
    for name, values in FIGURE_4.items():
        row(f"{name}, paper", values, 0)
    sums = [n * PRIORITY_MEAN for n in JOBS]
    deviations = [(n * PRIORITY_VARIANCE) ** 0.5 for n in JOBS]
    row("all priorities together, mean", sums, 0)
    above = zip(FIGURE_4["gadget"], sums, deviations, strict=True)
    row("standard deviations of the paper's GADGET above it", [(v - m) / d for v, m, d in above], 1)
    for name, regime in REGIMES.items():
        header(f"Figure 4, {name}: utility over the bound of the optimum", JOBS)
        found: dict[str, list[float]] = {}
        for n in JOBS:
            ratios: dict[str, list[float]] = {}
            for seed in range(seeds):
                instance = regime(np.random.default_rng(seed), n)
                for policy, value in utilities(instance).items():
                    ratios.setdefault(policy, []).append(value)
            for policy, values in ratios.items():
                found.setdefault(policy, []).append(mean(values))
        for policy, values in found.items():
            row(policy, values, 3)
        order = list(FIGURE_4)
        last = {policy: values[-1] for policy, values in found.items()}
        in_order = all(last[a] > last[b] for a, b in pairwise(order))
        compare("GADGET > DRF > Tiresias > FIFO at 100 jobs", True, in_order)
        ahead = all(last["gadget"] > last[b] for b in order[1:])
        compare("GADGET is ahead of all at 100 jobs", True, ahead)
        lead = [found["gadget"][k] / max(found[b][k] for b in order[1:]) for k in range(len(JOBS))]
        compare("its lead grows with the jobs", True, rising(lead))


def utilities(instance: GadgetInstance) -> dict[str, float]:
    """Return the utility of every policy over the bound of the offline optimum."""
    offline = run("offline", instance, time_s=20.0, restarts=3)
    bound = offline.dual_bound
    found = {"best schedule": evaluate(instance, offline.solution).objective / bound}
    found["gadget"] = float(utility_of(instance, greedy(instance))) / bound
    found["gadget, literal"] = float(utility_of(instance, greedy(instance, literal=True))) / bound
    for policy in ("drf", "tiresias", "fifo"):
        outcome = run(policy, instance)
        found[policy] = evaluate(instance, outcome.solution).objective / bound
    return found


def figures_5_and_6(seeds: int) -> None:
    for number, values, option in (
        (5, FIGURE_5, "node_factor"),
        (6, FIGURE_6, "edge_factor"),
    ):
        header(f"Figure {number}: embedded jobs, % of those active, over jobs", JOBS)
        for factor, printed in values.items():
            row(f"{option} {factor:g}, paper", printed, 1)
        for name, arrivals, first_slots in SETTINGS:
            found = {
                factor: [
                    mean(embedded(seeds, n, option, factor, arrivals, first_slots)) for n in JOBS
                ]
                for factor in values
            }
            for factor, shares in found.items():
                row(f"{option} {factor:g}, {name}", shares, 1)
            least, most = min(values), max(values)
            compare(
                f"{name}: fewer are embedded of 100 jobs than of 40, at factor {least:g}",
                values[least][-1] < values[least][0],
                found[least][-1] < found[least][0],
            )
            compare(
                f"{name}: fewer of 100 jobs are embedded at factor {least:g} than at {most:g}",
                values[least][-1] < values[most][-1],
                found[least][-1] < found[most][-1],
            )
    shares = ", ".join(f"{100 / 3 / n:.1%} of {n} jobs" for n in JOBS[1:])
    print(f"\n* 100 GPUs full of rings of three would hold {shares}: Figure 5 at factor 1")


def figure_7(seeds: int) -> None:
    """Print the share of a slot's optimum, counting GPUs only, that Algorithm 2 reaches.

    It uses 12 servers, because the augmented program has one copy of every flow per server.
    """
    jobs, printed = FIGURE_7
    header("Figure 7: Algorithm 2 over the optimum of a slot, over jobs", jobs)
    row("paper", printed, 3)
    found: dict[str, list[float]] = {}
    for n in jobs:
        ratios: dict[str, list[float]] = {}
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            terms = paper(rng, jobs=n, servers=12, arrivals="all_at_start").terms
            tables = [envelope(job.utility) for job in terms.jobs]
            problem = slot_problem(terms, 1, [0] * n, tables)
            gains = {x.job.index: x.gain for x in problem.jobs}
            bound = knapsack_bound(problem).bound
            for name, options in ROUNDINGS.items():
                rings = rounded_slot(
                    problem, Limits(), np.random.default_rng(seed), program="highs", **options
                )
                value = sum(float(gains[m.job][m.size]) for m in rings)
                ratios.setdefault(name, []).append(value / bound)
        for name, values in ratios.items():
            found.setdefault(name, []).append(mean(values))
    for name, values in found.items():
        row(name, values, 3)
    one = found["one rounding within capacities"]
    compare("one rounding within capacities loses more than a tenth", True, max(one) < 0.9)
    compare("more jobs, a better ratio", True, one[-1] > one[0])


def embedded(
    seeds: int, jobs: int, option: str, factor: float, arrivals: Arrivals, first_slots: int
) -> list[float]:
    """Return the percentage of active jobs with a ring, by seed, as the mean over slots."""
    shares = []
    for seed in range(seeds):
        # The second sweep uses the largest value of the first.
        factors = {"node_factor": 4.0, option: factor}
        rng = np.random.default_rng(seed)
        done = greedy(paper(rng, jobs=jobs, arrivals=arrivals, **factors))
        slots = list(zip(done.mappings, done.active.tolist(), strict=True))[:first_slots]
        shares.append(100 * mean(len(rings) / active for rings, active in slots if active))
    return shares


def greedy(instance: GadgetInstance, *, literal: bool = False) -> GreedyRun:
    """Run Algorithm 1 with gains of the concave envelopes, or of the sigmoids themselves."""
    tables = None if literal else [envelope(job.utility) for job in instance.terms.jobs]
    return temporal_greedy(
        instance.terms,
        lambda problem, rng, limits: slot_greedy(
            with_idle_workers(problem) if literal else problem
        ),
        np.random.default_rng(0),
        Limits(),
        tables=tables,
    )


def utility_of(instance: GadgetInstance, done: GreedyRun) -> float:
    jobs = zip(instance.terms.jobs, done.done.tolist(), strict=True)
    return sum(float(job.utility[z]) for job, z in jobs)


def run(
    method: str, instance: GadgetInstance, time_s: float | None = None, **parameters: Any
) -> Any:
    declared = next(m for m in PROBLEM.methods if m.name == method)
    rng = np.random.default_rng(0)
    return declared.run(instance, Limits(time_s), rng, **{**declared.parameters, **parameters})


def header(title: str, columns: Sequence[int]) -> None:
    print(f"\n{title}\n\n| | " + " | ".join(map(str, columns)) + " |")
    print("|---" * (len(columns) + 1) + "|")


def row(name: str, values: Sequence[float], digits: int) -> None:
    print(f"| {name} | " + " | ".join(f"{v:.{digits}f}" for v in values) + " |")


def compare(statement: str, plotted: bool, found: bool) -> None:
    """Print for a statement if it holds in the paper and here."""
    said = "agrees" if plotted == found else "does not agree"
    print(f"* {statement}: {plotted} in the paper, {found} here: {said}")


def rising(values: Sequence[float]) -> bool:
    return all(b > a for a, b in pairwise(values))


FIGURES: dict[str, Callable[[int], None]] = {"4": figure_4, "5-6": figures_5_and_6, "7": figure_7}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", nargs="*", default=[], metavar="FIGURE", help=", ".join(FIGURES))
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    for name in arguments.figures or list(FIGURES):
        if name not in FIGURES:
            parser.error(f"{name!r} is not one of {', '.join(FIGURES)}")
        FIGURES[name](arguments.seeds)


if __name__ == "__main__":
    main()
