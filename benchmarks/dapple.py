"""DAPPLE: agreement of all routes, plans beside the bound, and integer programs beside labels.

- `agreement`: random instances of three layers on three GPUs by enumeration of plans and orders, by
  labels with CP-SAT and, with transfers of two values, by both integer programs; and whether
  bound, optimum and planner are in order;
- `networks`: chains like the paper's networks on its hardware: iteration times over the bound;
- `programs`: the least bound and the least iteration time by integer programs in HiGHS, beside the
  label search and the exact search, on the same instances.

Run `python benchmarks/dapple.py [agreement networks programs] [--instances 300] [--time-limit 60]`
from the top of the repository; it takes the enumeration from the tests.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.models.dapple.data.generate.networks import (
    HARDWARE,
    NETWORKS,
    paper,
)
from gadgetopt.models.dapple.data.generate.presets import random_chain
from gadgetopt.models.dapple.instance import DappleInstance
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Result, Status
from gadgetopt.trust.run import solve

PROBLEM = problem("dapple")
TESTS = Path(__file__).parents[1]

#: Layers, machines, GPUs of each, microbatches.
PROGRAMS = ((6, 2, 2, 4), (8, 2, 2, 6), (12, 2, 4, 8), (24, 2, 4, 16), (25, 2, 8, 32))
METHODS = ("data_parallel", "gpipe", "straight", "pipedream", "dapple", "dapple_code")


def main() -> None:
    """Print the tables asked for."""
    tables = {"agreement": agreement, "networks": networks, "programs": programs}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", help=", ".join(tables))
    parser.add_argument("--instances", type=int, default=300)
    parser.add_argument("--time-limit", type=float, default=60.0)
    given = parser.parse_args()
    for name in given.tables or tables:
        if name not in tables:
            parser.error(f"{name!r}, expected one of {', '.join(tables)}")
        tables[name](given)


def solved(instance: DappleInstance, method: str, time_s: float) -> Result:
    """Return the judged result of a method."""
    document = Document(PROBLEM, "instance", "benchmark", instance)
    return solve(document, method, Limits(time_s=time_s))


def agreement(given: argparse.Namespace) -> None:
    """Count the random instances on which routes agree."""
    sys.path.insert(0, str(TESTS))
    chains = importlib.import_module("tests.models.dapple.chains")
    brute_force = importlib.import_module("tests.models.dapple.brute_force")
    counts: dict[str, list[bool]] = {}

    def count(what: str, *, holds: bool) -> None:
        counts.setdefault(what, []).append(holds)

    for seed in range(given.instances):
        instance = chains.drawn(seed)
        optimum = brute_force.optimum(instance)
        exact = solved(instance, "exact_plans", 60)
        count("labels and CP-SAT = enumeration", holds=exact.objective == optimum)
        count("closed", holds=exact.status is Status.OPTIMAL)
        together = solved(instance, "cp_joint", 60)
        proved = together.status is Status.OPTIMAL and together.bound == optimum
        count("cp_joint = enumeration, closed", holds=proved and together.objective == optimum)
        bound = solved(instance, "least_bound", 60)
        planned = solved(instance, "dapple", 60)
        ordered = close(bound.bound, optimum) and planned.objective >= optimum
        count("bound <= optimum <= DAPPLE", holds=ordered)
        count("DAPPLE's plan and order optimal", holds=planned.objective == optimum)
        assert planned.evaluation is not None
        latency = planned.evaluation.components["latency_paper_s"]
        count("latency below the optimum", holds=latency < optimum)
        for name, expected in (("joint", optimum), ("bound", brute_force.least_bound(instance))):
            result = solved(instance, f"{name}@highs", 60)
            if not result.refused:
                value = result.bound if name == "bound" else result.objective
                agrees = value is not None and abs(value - expected) <= 1e-6 * max(1, expected)
                count(f"{name}@highs = enumeration", holds=bool(agrees))
    print("\n### Agreement\n\n| what | instances |\n|---|---|")
    for name, found in counts.items():
        print(f"| {name} | {sum(found)} of {len(found)} |")


def close(bound: Any, optimum: Any) -> bool:
    """Return True if a bound is no larger than an optimum, up to rounding."""
    return bound is not None and float(bound) <= float(optimum) * (1 + 1e-9)


def networks(given: argparse.Namespace) -> None:
    """Print iteration times over the best bound."""
    print("\n### Networks like the paper's: iteration time over the bound\n")
    columns = ("network, hardware", "M", *METHODS, "latency of dapple", "exact_plans", "s")
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for model in NETWORKS:
        for hardware in HARDWARE:
            instance = paper(np.random.default_rng(0), model=model, hardware=hardware)
            exact = solved(instance, "exact_plans", given.time_limit)
            assert exact.bound is not None
            bound = float(exact.bound)
            cells = [f"{model}, {hardware}", str(instance.num_microbatches)]
            latency = 0.0
            for method in METHODS:
                result = solved(instance, method, given.time_limit)
                cells.append(ratio(result, bound))
                if method == "dapple" and result.evaluation is not None:
                    latency = float(result.evaluation.components["latency_paper_s"])
            cells += [f"{latency / bound:.3f}", ratio(exact, bound), f"{exact.time_s:.1f}"]
            print(f"| {' | '.join(cells)} |", flush=True)


def ratio(result: Result, bound: float) -> str:
    """Return the ratio of a result to a bound in words."""
    if result.objective is None:
        return "-"
    value = f"{float(result.objective) / bound:.3f}"
    return f"**{value}**" if result.status is Status.OPTIMAL else value


def programs(given: argparse.Namespace) -> None:
    """Print integer programs beside the searches."""
    print("\n### Integer programs beside labels\n")
    columns = ("L, GPUs, M", "bound@highs", "least_bound", "joint@highs", "exact_plans")
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for layers, machines, gpus, microbatches in PROGRAMS:
        instance = random_chain(
            np.random.default_rng(1),
            layers=layers,
            machines=machines,
            gpus_per_machine=gpus,
            microbatches=microbatches,
            comm_model="simple",
        )
        limited = instance.options.model_copy(update={"max_stages": 4})
        instance = instance.model_copy(update={"options": limited})
        cells = [f"{layers}, {machines} x {gpus}, {microbatches}"]
        for method in columns[1:]:
            try:
                cells.append(outcome(solved(instance, method, given.time_limit)))
            except ModelRefused:
                cells.append("too large")
        print(f"| {' | '.join(cells)} |", flush=True)


def outcome(result: Result) -> str:
    """Return bound, objective and seconds of a result in words."""
    if result.refused:
        return "too large"
    bound = "-" if result.bound is None else f"{float(result.bound):.6f}"
    value = "-" if result.objective is None else f"{float(result.objective):.6f}"
    return f"{bound} / {value}, {result.time_s:.2f} s"


if __name__ == "__main__":
    main()
