"""Processor time of every system's methods as instances grow, size doubled by size.

No study measures slopes: a size after which nothing is measured is not known beforehand.

    python benchmarks/slopes.py                       # all systems, to 60 s of processor time
    python benchmarks/slopes.py --only smd gadget --most-s 10
    python benchmarks/slopes.py --only mip --within gadgetopt.solvers.highs:solve_form

Sizes are doubled until a run would take longer than `--most-s`, 14 times at most. Everything that
grows with the size is named: machines grow with the jobs where a system has both. Links of forest
packing grow with the square of the workers, so that its size is the number of links. The slope is
that of the logarithms of time and size over the last two doublings; runs under 0.05 s are left out
of it. 1 is linear, 2 quadratic. The time is that of the method alone, without its check and without
compiling, the least of two runs where it is short. Methods that look at the clock see the
processor's time, so that other work on the machine changes little. With `--within` only the time in
a function of a module counts.
"""

from __future__ import annotations

import argparse
import importlib
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.compiling import compiling_s
from gadgetopt.system.methods import find_method
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.trust.run import warm_up

#: Seconds under which a run tells nothing about a slope, and under which it is repeated.
LEAST_S, REPEATED_S = 0.05, 1.0

#: Doublings after which a method whose time does not grow has been seen enough.
MOST_DOUBLINGS = 14

#: Seconds in the function that `--within` names; empty if it names none.
within: list[float] = []

#: A size, the seconds of a run, and the limit that ended it.
Point = tuple[int, float, str]


@dataclass(frozen=True)
class Growth:
    """Methods of a system on instances of a preset that grow.

    Attributes
    ----------
    grows : mapping of str to number
        Options of the preset that grow, with what the first size is multiplied by.
    fixed : mapping
        Other options.
    counted : str
        Field of the instance whose length is its size, where that grows faster than the options.
    """

    system: str
    preset: str
    methods: tuple[str, ...]
    first: int
    grows: Mapping[str, float]
    fixed: Mapping[str, Any]
    counted: str = ""


def growth(
    system: str,
    preset: str,
    methods: str,
    first: int,
    grows: Mapping[str, float],
    counted: str = "",
    **fixed: Any,
) -> Growth:
    """Return a row; methods are separated by spaces."""
    return Growth(system, preset, tuple(methods.split()), first, grows, fixed, counted)


JOBS = {"jobs": 1.0}
GROWTHS = (
    growth("a_srpt", "paper", "a_srpt easy", 250, {"jobs": 1, "servers": 0.032}),
    growth("adsp_rates", "uniform", "adsp exact_rates", 25, {"workers": 1}),
    growth("adsp_training", "paper", "bsp adsp", 9, {"workers": 1}),
    growth("adversarial_bundles", "paper", "exponential minimax", 2, {"horizon": 1}),
    growth("adversarial_online_policy", "paper", "share_policy minimax", 4, {"levels": 1}),
    growth("adversarial_online_run", "paper", "finite_k offline", 500, {"requests": 1}),
    growth("adversarial_online_sequence", "paper", "chain dynamic_program", 8, {"levels": 1}),
    growth("bgl_cache", "paper", "bgl path_order", 50, {"caves": 1}),
    growth("bgl_partition", "paper", "bgl ldg", 500, {"nodes": 1}),
    growth("bgl_resources", "paper", "parametric", 24, {"store_cores": 1, "worker_cores": 0.4}),
    growth("dapple", "random", "dapple", 12, {"layers": 1}),
    growth("dapple", "random", "dapple", 2, {"machines": 1}),
    growth(
        "forest_packing",
        "paper",
        "forest_packing column_generation",
        8,
        {"workers": 1},
        counted="links",
    ),
    growth("gadget", "paper", "gadget fifo", 50, {"jobs": 1, "servers": 0.5}),
    growth("knapsack", "paper", "greedy cg_core", 100, {"items": 1}),
    growth("marl_placement", "paper", "lif greedy_jct", 30, {"jobs": 1, "servers_per_rack": 0.33}),
    growth("marl_queueing", "paper", "lif greedy_jct", 10, {"jobs": 1, "slots": 1.4}),
    growth("mip", "knapsack", "round_lp", 500, {"items": 1}),
    growth("oneflow_actors", "training", "published critical_cycle", 8, {"layers": 1}),
    growth("oneflow_sbp", "paper", "compiler_greedy auto_parallel", 10, {"layers": 1}),
    growth(
        "parallel_machines",
        "uniform",
        "lpt multifit differencing local_search bin_search",
        1000,
        {"jobs": 1, "machines": 0.333},
    ),
    growth("pd_ors", "paper", "pd_ors fifo", 25, {"jobs": 1, "machines": 2}),
    growth("pipeline_schedules", "equal", "zb1p zb_auto", 16, {"microbatches": 1}, devices=8),
    growth("pipeline_schedules", "paper", "formulas", 4, {"devices": 1}),
    growth("sjf_bco", "scale", "sjf_bco sjf_bco_sweep", 500, JOBS),
    growth("smd", "independent_limits", "smd_greedy greedy cg_core", 100, JOBS),
    growth("smd", "paper", "cg_core", 50, JOBS, charging="used", sgd_mode="mixed"),
    growth("spp", "paper", "spp", 12, {"layers": 1}),
    growth("spp", "paper", "spp", 2, {"machines": 1}),
)


def drawn(row: Growth, size: int) -> Any:
    """Return the instance of a row that has a size."""
    preset = next(g for g in problem(row.system).generators if g.name == row.preset)
    grown = {name: max(1, round(size * by)) for name, by in row.grows.items()}
    return preset.generate(np.random.default_rng(0), **grown, **row.fixed)


def measured(row: Growth, method: str, size: int, most_s: float) -> Point:
    """Return the size of an instance, the time of a method, and the limit that ended it."""
    system = problem(row.system)
    call = find_method(system, method)
    warm_up(system, call.method)
    seconds, hit = math.inf, ""
    for _ in range(2):
        # A new instance each time, because an instance keeps what it computed.
        instance = drawn(row, size)
        within[:] = [0.0 for _ in within]
        began, compiling = time.process_time(), compiling_s()
        outcome = call.method.run(
            instance, Limits(time_s=10 * most_s), np.random.default_rng(0), **call.parameters
        )
        taken = time.process_time() - began - (compiling_s() - compiling)
        seconds = min(seconds, *(within or [taken]))
        hit = getattr(outcome, "limit_hit", None) or ""
        if seconds > REPEATED_S:
            break
    return len(getattr(instance, row.counted)) if row.counted else size, seconds, hit


def points(row: Growth, method: str, most_s: float) -> tuple[list[Point], str]:
    """Return points until the next size would take too long, and what else ended them."""
    found: list[Point] = []
    size, before = row.first, 0.0
    while True:
        try:
            counted, seconds, hit = measured(row, method, size, most_s)
        except Exception as error:  # one row must not end the table
            refused = isinstance(error, ModelRefused)
            return found, f"; {size:,}: {'refused' if refused else type(error).__name__}: {error}"
        found.append((counted, seconds, hit))
        grew = seconds / before if before > LEAST_S else 2.0
        if hit or seconds * max(2.0, grew) > most_s or len(found) > MOST_DOUBLINGS:
            return found, ""
        size, before = 2 * size, seconds


def slope(found: list[Point]) -> float | None:
    """Return the slope over the last two doublings that took long enough."""
    told = [(math.log(n), math.log(s)) for n, s, hit in found if s > LEAST_S and not hit][-3:]
    if len(told) < 2:
        return None
    (n, s), (more, longer) = told[0], told[-1]
    return (longer - s) / (more - n)


def watch(named: str) -> None:
    """Let the time in a function count, named as MODULE:FUNCTION."""
    module, function = named.split(":")
    home = importlib.import_module(module)
    original = getattr(home, function)

    def timed(*given: Any, **options: Any) -> Any:
        began = time.process_time()
        try:
            return original(*given, **options)
        finally:
            within[0] += time.process_time() - began

    setattr(home, function, timed)
    within[:] = [0.0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[], help="systems")
    parser.add_argument("--methods", nargs="+", default=[])
    parser.add_argument("--most-s", type=float, default=60.0)
    parser.add_argument("--within", default="", metavar="MODULE:FUNCTION")
    given = parser.parse_args()
    if given.within:
        watch(given.within)
    time.perf_counter = time.process_time
    print("| system | preset | method | slope | sizes and seconds |\n|---|---|---|---:|---|")
    for row in GROWTHS:
        if given.only and row.system not in given.only:
            continue
        for method in row.methods:
            if given.methods and method not in given.methods:
                continue
            found, ended = points(row, method, given.most_s)
            steep = slope(found)
            sizes = ", ".join(
                f"{n:,}: {seconds:.2g}" + (f" ({hit})" if hit else "") for n, seconds, hit in found
            )
            what = (row.counted or " ".join(row.grows)) + "".join(
                f", {k} {v}" for k, v in row.fixed.items()
            )
            told = "-" if steep is None else f"{steep:.2f}"
            print(
                f"| {row.system} | {row.preset}: {what} | {method} | {told} | {sizes}{ended} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
