"""Pipelines: certified optimal plans of real profiles, and schedules of fixed plans.

No study describes plans stage by stage, or solves schedules of fixed plans, which are no instances
of a system.

Tables, one thread:

- `exact`: least iteration time over all plans and orders (SPP's problem, method `exact_spp`), how
  it is proved and how long that takes; profiles of PipeDream and DAPPLE on machines with 12 GB/s
  inside and 1.25 GB/s across;
- `schedule`: random plans: ours beside CP-SAT without the order by index, and HiGHS on the
  scheduling model.

`benchmarks/pipeline_scale.py` prints how SPP and the simulators grow. Profiles are read from
../shared/data beside the repository, or from --data: `pipedream/` and `dapple/` there; those that
are missing are left out.

Run `python benchmarks/pipeline.py [exact schedule] [--time-limit 120] [--seeds 3]`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
from pipeline_schedules import exact_schedule, scheduling_model

from gadgetopt.models.spp.data.importers.profiles import pipedream_profile
from gadgetopt.pieces.pipeline.bound import head_load_tail
from gadgetopt.pieces.pipeline.cp_schedule import cp_schedule
from gadgetopt.pieces.pipeline.one_machine import one_machine_bound
from gadgetopt.pieces.pipeline.orders import round_orders
from gadgetopt.pieces.pipeline.shop import Shop, shop_of_times
from gadgetopt.pieces.pipeline.simulator import simulate
from gadgetopt.solvers import highs
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.system.data import Instance
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.trust.run import solve

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

#: Profile, machines x GPUs.
EXACT = (
    ("pipedream/vgg16.graph.txt", "4x4"),
    ("dapple/vgg-19-pbs-32.txt", "4x4"),
    ("pipedream/gnmt.graph.txt", "4x4"),
    ("pipedream/resnet50.graph.txt", "4x4"),
    ("pipedream/alexnet.graph.txt", "4x4"),
    ("pipedream/vgg16.graph.txt", "4x8"),
    ("dapple/vgg-19-pbs-32.txt", "4x8"),
    ("pipedream/gnmt.graph.txt", "4x8"),
)
MICROBATCHES = (16, 32)
#: Stages, microbatches, longest transfer; a stage's forward block takes 50 to 150.
SCHEDULES = ((8, 32, 150), (8, 32, 250), (8, 64, 250), (16, 64, 200))


def exact(data: Path, time_s: float, seeds: int) -> Iterator[str]:
    """Yield rows of optimal plans of SPP's problem; seconds are of the processor."""
    yield (
        "| profile | GPUs | M | layers | iteration, ms | speedup | replicas of the stages "
        "| gap, % | vouched | plans | left | calls of CP-SAT | s |"
    )
    yield "|---|---|---:|---:|---:|---:|---|---:|---|---:|---:|---:|---:|"
    rng = np.random.default_rng(0)
    for name, cluster in EXACT:
        for count in MICROBATCHES:
            if (data / name).exists():
                found = pipedream_profile(
                    [data / name], rng, cluster=cluster, microbatches=count
                ).instances
                yield _solved(name, cluster, found[0][1], time_s)


def _solved(name: str, cluster: str, instance: Instance, time_s: float) -> str:
    start = time.process_time()
    document = Document(problem("spp"), "instance", name, instance)
    result = solve(document, "exact_spp", Limits(time_s=time_s))
    took = time.process_time() - start
    profile = Path(name).name.partition(".")[0]
    count = instance.num_microbatches  # type: ignore[attr-defined]
    chain = instance.chain  # type: ignore[attr-defined]
    where = f"| {profile} | {cluster} | {count} | {len(chain.fwd_s)} "
    if result.solution is None or result.objective is None:
        return f"{where}| {result.status} {result.reason or ''} | | | | | | | | {took:.1f} |"
    alone = count * (chain.fwd_sum_s[-1] + chain.bwd_sum_s[-1])
    replicas = ", ".join(str(x) for x in result.solution.plan.replicas)  # type: ignore[attr-defined]
    notes = result.notes
    cells = (
        f"{float(result.objective) * 1e3:.4f}",
        f"{float(alone / Fraction(result.objective)):.3f}",
        replicas,
        f"{100 * (result.gap or 0):.4f}",
        result.bound_voucher,
        notes.get("plans enumerated", 0),
        notes.get("plans left", 0),
        notes.get("calls of CP-SAT", 0),
        f"{took:.1f}",
    )
    return where + "".join(f"| {cell} " for cell in cells) + "|"


# -- schedules of fixed plans -------------------------------------------------------------------


def schedule(data: Path, time_s: float, seeds: int) -> Iterator[str]:
    """Yield rows of schedules of random plans."""
    yield (
        "| stages | M | longest transfer | seed | PE / bound | one-machine bound / (S6) "
        "| ours: gap, %; s | CP-SAT without index order: gap, %; s | HiGHS: gap, %; s |"
    )
    yield "|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    for stages, count, longest in SCHEDULES:
        for seed in range(seeds):
            shop = random_shop(stages, count, longest, seed)
            bound = one_machine_bound(shop)
            rounds = simulate(shop, round_orders(shop))
            cells = [_cell(run, shop, time_s) for run in (_ours, _plain_cp_sat, _highs)]
            yield (
                f"| {stages} | {count} | {longest} | {seed} | {rounds.makespan / bound:.5f} "
                f"| {bound / head_load_tail(shop).value:.5f} | {' | '.join(cells)} |"
            )


def random_shop(stages: int, count: int, longest_transfer: int, seed: int) -> Shop:
    """Return stages of 50 to 150 forward and about twice that backward, and random transfers."""
    rng = np.random.default_rng(seed)
    f: list[Fraction] = []
    b: list[Fraction] = []
    for q in range(2 * stages - 1):
        forward = float(rng.uniform(5, longest_transfer) if q % 2 else rng.uniform(50, 150))
        backward = forward if q % 2 else 2 * forward * (1 + float(rng.uniform(-0.1, 0.1)))
        f.append(Fraction(round(1000 * forward), 1000))
        b.append(Fraction(round(1000 * backward), 1000))
    return shop_of_times(f, b, [Fraction(0)] * len(f), count)


Found = tuple[float | None, float | None]


def _cell(run: Callable[[Shop, Limits], Found], shop: Shop, time_s: float) -> str:
    """Return the gap between a method's schedule and its own bound, and its seconds."""
    start = time.perf_counter()
    value, bound = run(shop, Limits(time_s=time_s))
    took = time.perf_counter() - start
    if value is None or bound is None:
        return f"no schedule; {took:.1f}"
    return f"{100 * (1 - bound / value):.3f}; {took:.1f}"


def _ours(shop: Shop, limits: Limits) -> Found:
    found = exact_schedule(shop, limits, np.random.default_rng(0))
    assert found.schedule is not None
    return float(found.schedule.makespan_s), float(found.bound * shop.unit)


def _plain_cp_sat(shop: Shop, limits: Limits) -> Found:
    """CP-SAT with the bound (S6), the last stage merged and the order of rounds as a hint."""
    start = simulate(shop, round_orders(shop))
    found = cp_schedule(shop, limits, start=start, index_order=False, most_ticks=10**7)
    assert found.schedule is not None
    return float(found.schedule.makespan_s), float(found.bound * shop.unit)


def _highs(shop: Shop, limits: Limits) -> Found:
    begin = time.perf_counter()
    form = compile_model(scheduling_model(shop))
    left = Limits(time_s=max(0.0, (limits.time_s or 0) - (time.perf_counter() - begin)))
    found = highs.solve_form(form, left)
    return (
        None if found.objective is None else float(found.objective),
        None if found.bound is None else float(found.bound),
    )


TABLES = {"exact": exact, "schedule": schedule}


def main() -> None:
    """Print the tables asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tables", nargs="*", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--time-limit", type=float, default=120.0)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--data", type=Path, default=DATA)
    asked = parser.parse_args()
    for name in asked.tables:
        for line in TABLES[name](asked.data, asked.time_limit, asked.seeds):
            print(line, flush=True)
        print()


if __name__ == "__main__":
    main()
