"""Parallel machines: formulations, exact search on large and difficult instances, and ratios.

Three tables of random instances, solved in this process on one thread:

- `ladder`: variables, constraints, bound of the linear relaxation, bound at the root of HiGHS, and
  seconds to the optimum, per formulation on the same instances, with the bounds that have
  certificates below;
- `exact`: our search beside HiGHS and CP-SAT on the assignment model and CP-SAT on the ordered one,
  under one time limit;
- `hard`: our search alone on more of the instances with two to four jobs a machine;
- `ratios`: makespans over optima, mean and worst.

Run `python benchmarks/parallel_machines.py [ladder exact hard ratios] [--time-limit 20] [--seeds
2]`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyomo.environ as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.models.parallel_machines.data.generate.presets import non_uniform, uniform
from gadgetopt.models.parallel_machines.instance import ParallelMachinesInstance
from gadgetopt.solvers import highs
from gadgetopt.solvers.standard_form import StandardForm, compile_model
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Result, Status
from gadgetopt.trust.run import solve

PROBLEM = problem("parallel_machines")

#: Name, number of jobs and machines, shortest and longest processing time.
LADDER = (("20 on 8, to 100", 20, 8, 1, 100), ("30 on 12, to 100", 30, 12, 1, 100))
EXACT = (
    ("1000 on 50, 1 to 100", 1000, 50, 1, 100),
    ("1000 on 50, 100 to 200", 1000, 50, 100, 200),
    ("100 on 40, 1 to 1000", 100, 40, 1, 1000),
    ("40 on 13, 1 to 1000", 40, 13, 1, 1000),
)
HARD = (
    ("40 on 13, 1 to 1000", 40, 13, 1, 1000),
    ("60 on 20, 1 to 10,000", 60, 20, 1, 10_000),
    ("100 on 40, 1 to 1000", 100, 40, 1, 1000),
    ("100 on 33, 1 to 1000", 100, 33, 1, 1000),
    ("100 on 25, 1 to 1000", 100, 25, 1, 1000),
    ("200 on 80, 1 to 1000", 200, 80, 1, 1000),
    ("100 on 30, 100 to 200", 100, 30, 100, 200),
)
CONTENDERS = (
    "bin_search",
    "assignment@highs",
    "assignment@cpsat",
    "ordered_assignment@cpsat",
    "cp_cumulative",
)
HEURISTICS = ("list_scheduling", "lpt", "multifit", "differencing", "local_search")
RATIOS: tuple[tuple[str, Callable[[np.random.Generator], ParallelMachinesInstance]], ...] = (
    ("1 to 20, 100 on 10", lambda rng: uniform(rng, machines=10, longest_s=20)),
    ("1 to 100, 100 on 25", lambda rng: uniform(rng, machines=25)),
    ("1 to 100, 100 on 40", uniform),
    ("50 to 100, 100 on 30", lambda rng: uniform(rng, machines=30, shortest_s=50)),
    (
        "100 to 200, 100 on 30",
        lambda rng: uniform(rng, machines=30, shortest_s=100, longest_s=200),
    ),
    ("1 to 1000, 60 on 20", lambda rng: uniform(rng, jobs=60, machines=20, longest_s=1000)),
    ("non-uniform, 100 on 10", non_uniform),
)


def run(instance: ParallelMachinesInstance, method: str, time_s: float) -> tuple[Result, float]:
    begin = time.perf_counter()
    result = solve(Document(PROBLEM, "instance", "drawn", instance), method, Limits(time_s=time_s))
    return result, time.perf_counter() - begin


def drawn(row: tuple[str, int, int, int, int], seed: int) -> ParallelMachinesInstance:
    _, jobs, machines, shortest_s, longest_s = row
    return uniform(
        np.random.default_rng(seed),
        jobs=jobs,
        machines=machines,
        shortest_s=shortest_s,
        longest_s=longest_s,
    )


def root_bound(form: StandardForm, time_s: float) -> float:
    """Return HiGHS's bound after the root node, with its cuts and presolve."""
    solver = highs.pass_form(form)
    solver.setOptionValue("mip_max_nodes", 1)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("time_limit", time_s)
    solver.run()
    return float(solver.getInfo().mip_dual_bound)


def lp_bound(model: Any) -> float:
    pyo.TransformationFactory("core.relax_integer_vars").apply_to(model)
    outcome = highs.solve_form(compile_model(model), Limits())
    return float(outcome.objective or 0)


def ladder(time_s: float, seeds: int) -> Iterator[str]:
    head = ("instance", "formulation", "variables", "constraints", "LP bound", "root bound")
    yield f"| {' | '.join(head)} | optimum | s |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|"
    for row in LADDER:
        for seed in range(seeds):
            instance = drawn(row, seed)
            best = run(instance, "bin_search", time_s)[0].objective
            name = f"{row[0]} #{seed}"
            for formulation in PROBLEM.formulations:
                if formulation.strength != "exact":
                    continue
                try:
                    model = formulation.build(instance)
                except ModelRefused as refusal:
                    yield f"| {name} | `{formulation.name}` | {refusal} | | | | {best} | |"
                    continue
                form = compile_model(model)
                root = root_bound(form, time_s)
                relaxed = lp_bound(model)
                cells = []
                for backend in ("highs", "cpsat"):
                    found, took_s = run(instance, f"{formulation.name}@{backend}", time_s)
                    closed = found.status is Status.OPTIMAL
                    cells.append(f"{took_s:.2f}" if closed else f"open {found.bound}")
                yield (
                    f"| {name} | `{formulation.name}` | {len(form.columns):,} | {len(form.rows):,} "
                    f"| {relaxed:.2f} | {root:.2f} | {best} | {cells[0]} HiGHS, {cells[1]} CP-SAT |"
                )
            for method in ("combinatorial", "dual_feasible", "pattern_bound"):
                found, took_s = run(instance, method, time_s)
                yield (
                    f"| {name} | `{method}` (certified) | | | {found.bound} | | {best} "
                    f"| {took_s:.2f} |"
                )


def exact(time_s: float, seeds: int) -> Iterator[str]:
    yield from _closed(EXACT, CONTENDERS, time_s, seeds)


def hard(time_s: float, seeds: int) -> Iterator[str]:
    yield from _closed(HARD, ("bin_search",), time_s, seeds)


def _closed(
    rows: tuple[tuple[str, int, int, int, int], ...],
    methods: tuple[str, ...],
    time_s: float,
    seeds: int,
) -> Iterator[str]:
    yield "| instances | method | closed | of these certified | mean s | longest s | mean gap |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    for row in rows:
        for method in methods:
            found = [run(drawn(row, seed), method, time_s) for seed in range(seeds)]
            if all(r.refused for r, _ in found):
                yield f"| {row[0]} | `{method}` | {found[0][0].reason} | | | | |"
                continue
            closed = [r for r, _ in found if r.status is Status.OPTIMAL]
            certified = sum(r.bound_voucher == "verified" for r in closed)
            took = [t for _, t in found]
            gaps = [1.0 if r.gap is None else r.gap for r, _ in found]
            yield (
                f"| {row[0]} | `{method}` | {len(closed)} of {seeds} | {certified} "
                f"| {sum(took) / seeds:.2f} | {max(took):.2f} | {100 * sum(gaps) / seeds:.2f} % |"
            )


def ratios(time_s: float, seeds: int) -> Iterator[str]:
    yield "| times | " + " | ".join(f"`{m}`" for m in HEURISTICS) + " |"
    yield "|---|" + "---:|" * len(HEURISTICS)
    for name, draw in RATIOS:
        instances = [draw(np.random.default_rng(seed)) for seed in range(seeds)]
        best = [run(i, "bin_search", time_s)[0].bound for i in instances]
        cells = []
        for method in HEURISTICS:
            found = [
                float(run(i, method, time_s)[0].objective / b)
                for i, b in zip(instances, best, strict=True)
            ]
            cells.append(f"{sum(found) / seeds:.4f}, {max(found):.4f}")
        yield f"| {name} | " + " | ".join(cells) + " |"


TABLES = {"ladder": ladder, "exact": exact, "hard": hard, "ratios": ratios}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    parser.add_argument("--time-limit", type=float, default=20.0)
    parser.add_argument("--seeds", type=int, default=2)
    options = parser.parse_args()
    run(drawn(LADDER[0], 0), "bin_search", 60)  # imports do not count
    for name in options.tables or TABLES:
        print(f"\n{name}\n")
        for line in TABLES[name](options.time_limit, options.seeds):
            print(line, flush=True)


if __name__ == "__main__":
    main()
