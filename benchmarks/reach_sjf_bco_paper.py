"""Reach of SJF-BCO at the paper's scale: intervals before and now, and what plain solvers do.

For every instance, one after the other in the same run and within the same limit of processor time:
the ladder without GPU bins and nested blocks (before), the ladder (now), and CP-SAT and HiGHS
alone. CP-SAT gets half of the limit for CP-L, which bounds, and half for CP-U, whose schedules are
real; HiGHS solves the class bound, the only formulation of this size that it can take, and has no
schedule. Cells are bound..makespan, the gap in percent of the bound, and seconds of processor time.
Every schedule is evaluated; `voucher` says whether a certificate proves the bound of `now`.

Run `python benchmarks/reach_sjf_bco_paper.py [--time-limit 60] [--seeds 2] [--muri FOLDER]
[--jobs 10000] [--gap 0.01] [--now] [--names paper_s0_2,muri]`. With `--gap` a run ends at that gap,
with `--now` only the ladder runs; `--names` keeps the instances whose names begin so. Ten instances
of the preset `paper` come from `--seeds 2`; `--muri` takes the folder with muri_trace1.csv and
muri_trace3.csv; `--jobs` adds one instance of the preset `scale`, with 8 jobs per server as in the
paper.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from processor_clock import processor_clock, processor_s

import gadgetopt
from gadgetopt.errors import ModelRefused
from gadgetopt.models.sjf_bco.evaluate import evaluate
from gadgetopt.models.sjf_bco.formulations.cp import cp_l, cp_u
from gadgetopt.models.sjf_bco.instance import SjfBcoInstance, SjfBcoSolution
from gadgetopt.models.sjf_bco.proving.certificate.check import check_bound
from gadgetopt.models.sjf_bco.proving.exact.ladder import ladder
from gadgetopt.system.result import Limits, MethodOutcome

HEADER = "| instance | before | s | now | s | voucher | CP-SAT | s | HiGHS | s |"
Run = Callable[[SjfBcoInstance, Limits, np.random.Generator], MethodOutcome]


def instances(arguments: argparse.Namespace) -> Iterator[tuple[str, SjfBcoInstance]]:
    """Yield names and instances."""
    for seed in range(arguments.seeds):
        for document in gadgetopt.generate("sjf_bco", "paper", count=5, seed=seed):
            yield document.name, document.data
    for trace in ("muri_trace1", "muri_trace3") if arguments.muri else ():
        path = arguments.muri / f"{trace}.csv"
        for document in gadgetopt.import_("muri", path, system="sjf_bco"):
            yield document.name, document.data
    if arguments.jobs:
        (document,) = gadgetopt.generate("sjf_bco", "scale", jobs=arguments.jobs)
        yield document.name, document.data


def cells(
    instance: SjfBcoInstance, runs: list[Run], limits: Limits
) -> tuple[list[str], MethodOutcome]:
    """Return interval with gap, and seconds, of runs together; and the outcome of the last."""
    bound, makespan = 0, None
    begun = processor_s()
    for run in runs:
        try:
            with processor_clock():
                found = run(instance, limits, np.random.default_rng(0))
        except ModelRefused:
            return ["refused", "-"], MethodOutcome()
        bound = max(bound, int(found.dual_bound or 0))
        if isinstance(found.solution, SjfBcoSolution):
            checked = evaluate(instance, found.solution)
            if not checked.feasible:
                raise AssertionError(f"not feasible: {checked.violations[0]}")
            makespan = min(int(checked.objective or 0), makespan or 2**62)
    seconds = f"{processor_s() - begun:.1f}"
    if makespan is None:
        return [f"{bound}..", seconds], found
    gap = 100 * (makespan - bound) / bound if bound else float("inf")
    return [f"{bound}..{makespan}, {gap:.1f} %", seconds], found


def plain_highs(
    instance: SjfBcoInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Bound the makespan by HiGHS on the class bound as an ILP."""
    from gadgetopt.models.sjf_bco.proving.bounds.class_bound import build
    from gadgetopt.solvers import solve_model

    found = solve_model(build(instance), limits=limits)
    return MethodOutcome(dual_bound=found.bound)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--muri", type=Path)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--gap", type=float, default=0.0)
    parser.add_argument("--now", action="store_true")
    parser.add_argument("--names", default="")
    arguments = parser.parse_args()
    limits = Limits(time_s=arguments.time_limit, rel_gap=arguments.gap)
    half = replace(limits, time_s=arguments.time_limit / 2)
    print(f"{HEADER}\n{'|---' * 10}|")
    kept = tuple(arguments.names.split(","))
    for name, instance in instances(arguments):
        if not name.startswith(kept):
            continue
        before = cpsat = highs = ["-", "-"]
        if not arguments.now:
            before, _ = cells(instance, [partial(ladder, gpu_bins=False)], limits)
            cpsat, _ = cells(instance, [cp_l, cp_u], half)
            highs, _ = cells(instance, [plain_highs], limits)
        now, found = cells(instance, [ladder], limits)
        proved = found.certificate and check_bound(instance, found.certificate)
        voucher = "verified" if proved == found.dual_bound else "solver"
        print(f"| {' | '.join([name, *before, *now, voucher, *cpsat, *highs])} |", flush=True)


if __name__ == "__main__":
    main()
