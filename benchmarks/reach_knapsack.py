"""Knapsacks of many rows and of many groups: our default before and now, and plain solvers.

    python benchmarks/reach_knapsack.py [--time 10] [--cpu] [--seeds 2] [--methods now ...] [FAMILY]

A family is ROWSxITEMS, single items as Chu and Beasley draw them (preset `paper`, tightness 0.25,
0.5 and 0.75 for the seeds 0, 1, 2, ...), or mmkp-GROUPS (preset `multiple_choice`: 10 items a
group, 10 rows). Every method gets the same seconds of the wall clock on one thread, one by one, or
with `--cpu` the same seconds of the processor, whatever else the machine does:

- before: `cg_core` with `sharpening=mip` and without the compiled enumeration, as it was;
- now: `cg_core` as it is;
- highs, cpsat, scip: the plain model, one binary variable an item, default settings.

Every choice is checked against the capacities. The gap is that to the best bound of all methods of
the row's instance, in percent; `cpu s` are seconds of the processor, which are fewer than those of
the clock where other work shares it. A star marks a value below the best one of the instance.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from unittest.mock import patch

import numpy as np
from processor_clock import interrupt_after, processor_clock, processor_s

from gadgetopt.models.knapsack.data.generate.presets import multiple_choice, paper
from gadgetopt.models.knapsack.instance import KnapsackInstance
from gadgetopt.models.knapsack.scaling import scaled
from gadgetopt.pieces.knapsack import core, enumeration, sharpening
from gadgetopt.pieces.knapsack.core import cg_core
from gadgetopt.pieces.knapsack.direct import fits
from gadgetopt.pieces.knapsack.direct import solve_mip as solve_mip_by_the_clock
from gadgetopt.pieces.knapsack.outcome import CoreResult
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

try:
    import pyscipopt
except ImportError:
    pyscipopt = None

FAMILIES = ("5x250", "10x100", "10x250", "30x100", "mmkp-100", "mmkp-200", "mmkp-400")
TIGHTNESS = (0.25, 0.5, 0.75)


def drawn(family: str, seed: int) -> KnapsackInstance:
    rng = np.random.default_rng(seed)
    if family.startswith("mmkp-"):
        return multiple_choice(rng, groups=int(family.removeprefix("mmkp-")))
    rows, items = map(int, family.split("x"))
    return paper(rng, items=items, rows=rows, tightness=TIGHTNESS[seed % len(TIGHTNESS)])


def solve_mip(knapsack: Knapsack, backend: str, limits: Limits, *args, **options) -> CoreResult:
    """Run a solver, with `--cpu` until it has had its seconds of the processor."""
    if not arguments.cpu or limits.time_s is None:
        return solve_mip_by_the_clock(knapsack, backend, limits, *args, **options)
    with interrupt_after(limits.time_s):
        unlimited = replace(limits, time_s=None)
        found = solve_mip_by_the_clock(knapsack, backend, unlimited, *args, **options)
    return replace(found, limit_hit=found.limit_hit and "time_s")


@contextlib.contextmanager
def processor_seconds() -> Iterator[None]:
    """Let the clocks of our own methods count seconds of the processor."""
    if not arguments.cpu:
        yield
        return
    with (
        processor_clock(),
        patch.object(core, "solve_mip", solve_mip),
        patch.object(sharpening, "solve_mip", solve_mip),
    ):
        yield


def before(knapsack: Knapsack, limits: Limits) -> CoreResult:
    with patch.object(enumeration, "COMPILED", False):
        return cg_core(knapsack, limits, np.random.default_rng(0), sharpening="mip")


def now(knapsack: Knapsack, limits: Limits) -> CoreResult:
    return cg_core(knapsack, limits, np.random.default_rng(0))


def scip(knapsack: Knapsack, limits: Limits) -> CoreResult:
    model = pyscipopt.Model()
    model.hideOutput()
    model.setParam("timing/clocktype", 1 if arguments.cpu else 2)
    model.setParam("limits/time", limits.time_s)
    y = [model.addVar(vtype="B", obj=float(p)) for p in knapsack.profit]
    model.setMaximize()
    for r, capacity in enumerate(knapsack.capacity.tolist()):
        weights = knapsack.weight[:, r].tolist()
        model.addCons(
            pyscipopt.quicksum(w * x for w, x in zip(weights, y, strict=True)) <= capacity
        )
    if knapsack.exactly_one:
        starts = knapsack.group_starts
        for i in range(knapsack.num_groups):
            model.addCons(pyscipopt.quicksum(y[starts[i] : starts[i + 1]]) == 1)
    model.optimize()
    solution = model.getBestSol()
    chosen = np.array([c for c, x in enumerate(y) if model.getSolVal(solution, x) > 0.5])
    return CoreResult(chosen, knapsack.value(chosen), model.getDualbound(), "claimed by SCIP")


METHODS: dict[str, Callable[[Knapsack, Limits], CoreResult]] = {
    "before": before,
    "now": now,
    "highs": lambda knapsack, limits: solve_mip(knapsack, "highs", limits),
    "cpsat": lambda knapsack, limits: solve_mip(knapsack, "cpsat", limits),
    "scip": scip,
}


def row(family: str, seed: int, limits: Limits, methods: list[str]) -> None:
    """Run all methods on an instance and print a line for each."""
    instance = drawn(family, seed)
    knapsack = scaled(instance).knapsack
    runs = []
    for name in methods:
        clock, cpu = Clock(), processor_s()
        with processor_seconds():
            found = METHODS[name](knapsack, limits)
        runs.append((name, found, clock.elapsed_s, processor_s() - cpu))
        if found.chosen is not None and not fits(knapsack, found.chosen):
            raise AssertionError(f"{name} on {family}, seed {seed}: does not fit")
    best = max(found.value for _, found, _, _ in runs)
    bound = min(found.bound for _, found, _, _ in runs)
    for name, found, wall_s, cpu_s in runs:
        star = " *" if found.value < best else ""
        value = "none" if found.chosen is None else f"{found.value:.0f}"
        gap = 100 * (bound - found.value) / bound
        print(
            f"| {family} | {seed} | {name} | {value}{star} | {found.bound:.1f} "
            f"| {max(0.0, gap):.3f} | {wall_s:.1f} | {cpu_s:.1f} |",
            flush=True,
        )


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("families", nargs="*", default=FAMILIES, metavar="FAMILY")
    parser.add_argument("--time", type=float, default=10.0, help="seconds of each method")
    parser.add_argument("--cpu", action="store_true", help="seconds of the processor")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=[*METHODS])
    return parser.parse_args()


def main() -> None:
    methods = [name for name in arguments.methods if name != "scip" or pyscipopt is not None]
    if "scip" in arguments.methods and pyscipopt is None:
        print("SCIP: pyscipopt is not installed (extra `minlp`)\n")
    print("| family | seed | method | incumbent | dual bound | gap % | s | cpu s |")
    print("|---|---:|---|---:|---:|---:|---:|---:|", flush=True)
    for family in arguments.families:
        for seed in range(arguments.seeds):
            row(family, seed, Limits(time_s=arguments.time), methods)


if __name__ == "__main__":
    arguments = parsed()
    main()
