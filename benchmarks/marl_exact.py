"""Placement solved to optimality: formulations by plain solvers beside column generation.

Tables of random instances, solved in this process on one thread:

- `small`: the sizes of the dossier's table: relaxations, and seconds to the optimum of F1 and F2 by
  HiGHS, F1 by CP-SAT and `price_and_close`, all under one time limit, of which F1 has a quarter.
  The last column is how many times faster `price_and_close` is than F2 by HiGHS, at least where
  that is not closed;
- `large`: gangs on tens of servers, and thousands of single tasks in classes, beside F2c by HiGHS:
  gap, seconds to one percent and to the end;
- `slots`: F3 by HiGHS and by CP-SAT, and all plans.

Run `python benchmarks/marl_exact.py [small large slots] [--time-limit 60] [--seeds 2]`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyomo.environ as pyo

from gadgetopt.models.marl.placement.data.generate.presets import (
    leaf_spine,
    single_rack,
    single_tasks,
)
from gadgetopt.models.marl.placement.instance import PlacementInstance
from gadgetopt.models.marl.queueing.data.generate.presets import poisson
from gadgetopt.models.marl.subproblems.contents import lots_of
from gadgetopt.solvers.highs import solve_form
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.system.files import Document
from gadgetopt.system.methods import find_formulation
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Result, Status
from gadgetopt.trust.run import solve

PLACEMENT, QUEUEING = problem("marl_placement"), problem("marl_queueing")

#: Jobs drawn, servers of 4 GPUs, racks.
SMALL = ((6, 4, 1), (10, 5, 1), (12, 6, 2), (13, 7, 1), (16, 8, 1), (16, 8, 2), (20, 10, 1))

#: Part of the time limit that F1 has.
F1_PART = 1 / 4

Draw = Callable[[np.random.Generator], PlacementInstance]

LARGE: tuple[tuple[str, Draw], ...] = (
    ("60 / 40 / 2", lambda rng: leaf_spine(rng, jobs=60, servers_per_rack=20, load=0.9)),
    ("60 / 30 / 2, full", lambda rng: leaf_spine(rng, jobs=70, servers_per_rack=15)),
    ("800 single tasks / 250", single_tasks),
    ("800, 8 classes / 250", lambda rng: single_tasks(rng, classes=8)),
    (
        "2400, 12 classes / 700",
        lambda rng: single_tasks(rng, classes=12, jobs=2400, servers=700),
    ),
    (
        "900, 8 classes / 130 of 8 GPUs",
        lambda rng: single_tasks(rng, classes=8, jobs=900, servers=130, gpus=8),
    ),
)

#: Jobs drawn, servers, GPUs of each, slots.
SLOTS = ((6, 3, 2, 12), (6, 2, 4, 10), (8, 2, 4, 10), (10, 3, 4, 10))


def run(system: Any, instance: Any, method: str, time_s: float) -> tuple[Result, float]:
    """Return a judged result and the seconds of the method, with the check of its certificate."""
    begin = time.perf_counter()
    result = solve(Document(system, "instance", "drawn", instance), method, Limits(time_s=time_s))
    return result, time.perf_counter() - begin


def cell(result: Result, seconds: float) -> str:
    """Return the seconds to the optimum, or how far the run came."""
    if result.refused:
        return "refused"
    if result.status is Status.OPTIMAL:
        return f"{seconds:.2f}"
    return "no placement" if result.gap is None else f"gap {100 * result.gap:.1f} %"


def lp_bound(name: str, instance: PlacementInstance, time_s: float) -> float | None:
    """Return the optimum of a formulation's linear relaxation."""
    model = find_formulation(PLACEMENT, name).build(instance)
    pyo.TransformationFactory("core.relax_integer_vars").apply_to(model)
    outcome = solve_form(compile_model(model), Limits(time_s=time_s))
    return None if outcome.objective is None else float(outcome.objective)


def below(bound: float | None, optimum: float) -> str:
    """Return by how many percent a bound is below the optimum."""
    return "" if bound is None else f"{100 * (1 - bound / optimum):.2f} %"


def small(time_s: float, seeds: int) -> Iterator[str]:
    """Yield the lines of the first table."""
    yield (
        "| jobs / servers / racks | tasks | F1 LP | contents | F2 LP | (C) LP | F1 HiGHS, s "
        "| F1 CP-SAT, s | F2 HiGHS, s | `price_and_close`, s | times faster |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    for jobs, servers, racks in SMALL:
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            instance = (
                single_rack(rng, jobs=jobs, servers=servers)
                if racks == 1
                else leaf_spine(rng, jobs=jobs, racks=racks, servers_per_rack=servers // racks)
            )
            ours, ours_s = run(PLACEMENT, instance, "price_and_close", time_s)
            relaxed, _ = run(PLACEMENT, instance, "configuration_lp", time_s)
            direct, direct_s = run(PLACEMENT, instance, "patterns@highs", time_s)
            f1, f1_s = run(PLACEMENT, instance, "assignment@highs", F1_PART * time_s)
            cp, cp_s = run(PLACEMENT, instance, "assignment_cp", F1_PART * time_s)
            optimum = float(ours.objective or 0)
            closed = direct.status is Status.OPTIMAL
            if closed and ours.status is Status.OPTIMAL:
                assert abs(float(direct.objective or 0) - optimum) <= 1e-5 * optimum
            contents = len(find_formulation(PLACEMENT, "patterns").build(instance).P)
            yield (
                f"| {len(instance.jobs)} / {servers} / {racks} | {instance.num_tasks} "
                f"| {below(lp_bound('assignment', instance, time_s), optimum)} | {contents:,} "
                f"| {below(lp_bound('patterns', instance, time_s), optimum)} "
                f"| {below(float(relaxed.bound or 0), optimum)} "
                f"| {cell(f1, f1_s)} | {cell(cp, cp_s)} | {cell(direct, direct_s)} "
                f"| {cell(ours, ours_s)} | {'' if closed else '> '}{direct_s / ours_s:.0f} |"
            )


def large(time_s: float, seeds: int) -> Iterator[str]:
    """Yield the lines of the second table."""
    yield (
        "| jobs / servers / racks | lots | certified gap | within 1 %, s "
        "| `price_and_close`, s | F2c HiGHS, s |"
    )
    yield "|---|---:|---:|---:|---:|---:|"
    for name, draw in LARGE:
        for seed in range(seeds):
            instance = draw(np.random.default_rng(seed))
            ours, ours_s = run(PLACEMENT, instance, "price_and_close", time_s)
            relaxed, _ = run(PLACEMENT, instance, "configuration_lp", time_s)
            value = float(ours.objective or 0)
            near = next(
                (
                    f"{p.time_s:.2f}"
                    for p in ours.trace
                    if p.incumbent is not None
                    and p.bound is not None
                    and float(p.bound) >= 0.99 * float(p.incumbent)
                ),
                "",
            )
            direct = cell(*run(PLACEMENT, instance, "class_patterns@highs", time_s))
            yield (
                f"| {name} | {len(lots_of(instance, merged=True))} "
                f"| {below(float(relaxed.bound or 0), value)} | {near} | {cell(ours, ours_s)} "
                f"| {direct} |"
            )


def slots(time_s: float, seeds: int) -> Iterator[str]:
    """Yield the lines of the third table."""
    yield (
        "| jobs / servers / GPUs / slots | alone | SRPT | F3 LP | HiGHS, s | CP-SAT, s "
        "| `search_and_close`, s |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for jobs, servers, gpus, horizon in SLOTS:
        for seed in range(seeds):
            instance = poisson(
                np.random.default_rng(seed),
                jobs=jobs,
                servers_per_rack=servers,
                gpus=gpus,
                slots=horizon,
                slots_per_job=1.2,
                slots_between=0.4,
            )
            highs, highs_s = run(QUEUEING, instance, "time_slotted@highs", time_s)
            cpsat, cpsat_s = run(QUEUEING, instance, "time_slotted@cpsat", time_s)
            ours, ours_s = run(QUEUEING, instance, "search_and_close", time_s)
            value = float(ours.objective or highs.objective or cpsat.objective or 0)
            bounds = [
                run(QUEUEING, instance, name, time_s)[0].bound
                for name in ("alone", "srpt", "time_slotted_lp@highs")
            ]
            yield (
                f"| {len(instance.jobs)} / {servers} / {gpus} / {horizon} | "
                + " | ".join(below(None if b is None else float(b), value) for b in bounds)
                + f" | {cell(highs, highs_s)} | {cell(cpsat, cpsat_s)} | {cell(ours, ours_s)} |"
            )


def main() -> None:
    """Print the tables that were asked for."""
    tables = {"small": small, "large": large, "slots": slots}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=list(tables))
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--seeds", type=int, default=2)
    given = parser.parse_args()
    # Modules are imported, and solvers loaded, before anything is timed.
    for method in ("price_and_close", "assignment_cp", "patterns@highs"):
        run(PLACEMENT, single_rack(np.random.default_rng(0), jobs=3, servers=2), method, 10.0)
    for name in given.tables:
        print(f"\n{name}\n")
        for line in tables[name](given.time_limit, given.seeds):
            print(line, flush=True)


if __name__ == "__main__":
    main()
