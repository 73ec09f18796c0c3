"""Figures 4 to 7 of the SJF-BCO paper on our instances, beside the paper's values.

No study holds figures against those of a paper and says which of its trends come out.

Instances are the `paper` preset, averaged over seeds. Absolute values cannot agree, because the
paper does not give the data behind its ranges; the statements below each table compare trends and
are computed from its numbers.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from statistics import mean
from typing import Any

import numpy as np

from gadgetopt.models.sjf_bco.algorithms.sjf_bco import kappa_stages
from gadgetopt.models.sjf_bco.baselines.first_fit import first_fit, list_scheduling
from gadgetopt.models.sjf_bco.data.generate.presets import paper
from gadgetopt.models.sjf_bco.evaluate import evaluate
from gadgetopt.models.sjf_bco.heuristics.load_limits import sjf_bco_feasible
from gadgetopt.models.sjf_bco.instance import SjfBcoInstance
from gadgetopt.models.sjf_bco.subproblems.placement import (
    Availability,
    Batch,
    Stage,
    run,
    solution_of,
)
from gadgetopt.models.sjf_bco.subproblems.pools import RandomGpus
from gadgetopt.system.result import Limits

METHODS: dict[str, Callable[..., Any]] = {
    "SJF-BCO": sjf_bco_feasible,
    "LS": partial(list_scheduling, theta_search="feasible"),
    "FF": partial(first_fit, theta_search="feasible"),
}
NAMES = ("SJF-BCO", "LS", "FF", "RAND")
READINGS: tuple[Availability, ...] = ("idle", "queue")
#: Read off the plots, to about one slot.
FIGURE_4 = {
    "makespan": [535, 595, 719, 1128],
    "mean completion": [178, 187, 452, 261],
    "min completion": [14, 14, 16, 16],
}
FIGURE_5 = {1: 626, 2: 564, 4: 541, 8: 535, 10: 700, 16: 749, 32: 736}
FIGURE_6 = {
    "SJF-BCO": [939, 715, 535],
    "LS": [1160, 870, 595],
    "FF": [1404, 963, 719],
    "RAND": [1488, 1260, 1128],
}
FIGURE_7 = {1: 1043, 2: 882, 4: 730, 8: 538}


def instances(seeds: int, **parameters: Any) -> list[SjfBcoInstance]:
    return [paper(np.random.default_rng(seed), **parameters) for seed in range(seeds)]


def measured(name: str, instance: SjfBcoInstance, availability: Availability) -> tuple[float, ...]:
    """Return makespan, mean and smallest completion time; the horizon if no schedule was found."""
    rng = np.random.default_rng(0)
    if name == "RAND":
        # Its one run, at theta = T, counts even if it ends after the horizon.
        batch = Batch(instance)
        pool = partial(RandomGpus, rng=rng, by_server=True)
        stages = [Stage(range(len(instance.jobs)), pool)]
        limit = batch.limit(instance.horizon_slots)
        solution = solution_of(batch, run(batch, stages, limit, availability))
    else:
        # The literal bisection finds no FF schedule below the horizon when GPUs have queues.
        outcome = METHODS[name](instance, Limits(), availability=availability)
        if outcome.solution is None:
            return (float(instance.horizon_slots),) * 3
        solution = outcome.solution
    evaluation = evaluate(instance, solution)
    parts = evaluation.components
    mean_completion, first = parts["mean_completion_slots"], parts["min_completion_slots"]
    return float(evaluation.objective or 0), float(mean_completion), float(first)


def row(name: str, values: Sequence[float]) -> None:
    print(f"| {name} | " + " | ".join(f"{v:.0f}" for v in values) + " |")


def header(title: str, columns: Sequence[Any]) -> None:
    print(f"\n### {title}\n\n| | " + " | ".join(map(str, columns)) + " |")
    print("|---" * (len(columns) + 1) + "|")


def compare(statement: str, theirs: bool, ours: bool) -> None:
    print(f"* {statement}: paper {theirs}, here {ours}: {'agree' if theirs == ours else 'DIFFER'}")


def falling(values: Sequence[float]) -> bool:
    return all(a > b for a, b in pairwise(values))


def figure_4(seeds: int) -> None:
    names = list(NAMES)
    header("Figure 4: 20 servers", names)
    for metric, values in FIGURE_4.items():
        row(f"{metric}, paper", values)
    found = {}
    for reading in READINGS:
        for k, metric in enumerate(FIGURE_4):
            found[reading, metric] = [
                mean(measured(name, i, reading)[k] for i in instances(seeds)) for name in names
            ]
            row(f"{metric}, {reading}", found[reading, metric])
    for reading in READINGS:
        for metric in ("makespan", "mean completion"):
            theirs, ours = FIGURE_4[metric], found[reading, metric]
            for k, name in enumerate(names[1:], start=1):
                compare(
                    f"{reading}, {metric}: SJF-BCO below {name}",
                    theirs[0] < theirs[k],
                    ours[0] < ours[k],
                )


def figure_5(seeds: int) -> None:
    kappas = list(FIGURE_5)
    header("Figure 5: makespan over kappa", kappas)
    theirs = list(FIGURE_5.values())
    row("paper", theirs)
    for reading in READINGS:
        ours = []
        for kappa in kappas:
            spans = []
            for instance in instances(seeds):
                batch = Batch(instance)
                stages = kappa_stages(batch, kappa, "least_loaded")
                spans.append(run(batch, stages, batch.unlimited, reading).makespan or 0)
            ours.append(mean(spans))
        row(f"here, {reading}", ours)
        best, here = kappas[theirs.index(min(theirs))], kappas[ours.index(min(ours))]
        agree = "agree" if best == here else "DIFFER"
        print(f"\n* {reading}: best kappa: paper {best}, here {here}: {agree}")
        compare(f"{reading}: falls from kappa 1 to 8", falling(theirs[:4]), falling(ours[:4]))
        compare(f"{reading}: kappa 10 above kappa 8", theirs[4] > theirs[3], ours[4] > ours[3])
        compare(f"{reading}: kappa 32 above kappa 8", theirs[6] > theirs[3], ours[6] > ours[3])


def figure_6(seeds: int) -> None:
    servers = [10, 15, 20]
    header("Figure 6: makespan over servers", servers)
    for name, values in FIGURE_6.items():
        row(f"{name}, paper", values)
    for reading in READINGS:
        found = {}
        for name in NAMES:
            found[name] = [
                mean(
                    measured(name, i, reading)[0]
                    for i in instances(seeds, servers=s, horizon_slots=1500)
                )
                for s in servers
            ]
            row(f"{name}, {reading}", found[name])
        print()
        for name, theirs in FIGURE_6.items():
            compare(f"{reading}, {name}: falls with servers", falling(theirs), falling(found[name]))
        best = [min(FIGURE_6, key=lambda m: FIGURE_6[m][k]) for k in range(len(servers))]
        here = [min(found, key=lambda m: found[m][k]) for k in range(len(servers))]
        print(f"* {reading}: best method: paper {best}, here {here}")


def figure_7(seeds: int) -> None:
    factors = list(FIGURE_7)
    header("Figure 7: makespan over lambda at kappa = 1", factors)
    theirs = list(FIGURE_7.values())
    row("paper", theirs)
    for reading in READINGS:
        ours = []
        for factor in factors:
            spans = []
            for instance in instances(seeds, server_spread_factor=float(factor)):
                batch = Batch(instance)
                stages = kappa_stages(batch, 1, "least_loaded")
                spans.append(run(batch, stages, batch.unlimited, reading).makespan or 0)
            ours.append(mean(spans))
        row(f"here, {reading}", ours)
        print()
        compare(f"{reading}: falls with lambda", falling(theirs), falling(ours))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    seeds = parser.parse_args().seeds
    print(f"{seeds} seeds, theta bisected to feasibility (Figures 5, 7: no limit; RAND: T)")
    for figure in (figure_4, figure_5, figure_6, figure_7):
        figure(seeds)


if __name__ == "__main__":
    main()
