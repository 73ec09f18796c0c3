"""PD-ORS: ratios to certified optima, and exact methods.

Run `python benchmarks/pd_ors.py [ratios exact sweep]`. `ratios`: one row per instance at the
paper's scale, 20 slots. The optimum lies between the utility of the best decision and the least
upper bound; the row names the method behind each end, and marks bounds that were checked from a
certificate (*); others are claimed by a solver. For each algorithm it shows the utility and, in
brackets, the interval of its ratio, [utility / bound, utility / best], or one number if the
interval is closed. Dorm has half a second for each of its programs, so its utility depends on the
machine.

`exact`: gap, and time to the gap that a prototype reached, on instances of the same settings. The
prototype drew other instances, so the figures compare settings, not runs.

`sweep`: means of the ratio intervals as jobs, machines or slots grow.

One thread, wall-clock seconds. Objectives are the evaluator's.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gadgetopt.models.pd_ors.data.generate.presets import (
    desk,
    paper,
)
from gadgetopt.models.pd_ors.instance import PdOrsInstance
from gadgetopt.numbers.tolerance import agrees
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import (
    Limits,
    Result,
    Status,
    Voucher,
)
from gadgetopt.trust.run import solve

ALGORITHMS = {
    "PD-ORS": "pd_ors",
    "PD-ORS, k = 10": "pd_ors_price_span",
    "OASiS": "oasis",
    "FIFO": "fifo",
    "DRF": "drf",
    "Dorm": "dorm:event_time_s=0.5",
}
#: Seconds for each of them; the time limit is that of bounds and searches.
ALGORITHM_S = 120.0
#: Methods that bound the optimum with a certificate, and methods that search for it.
BOUNDS = ("price_bound", "column_lp")
SEARCHES = ("branch_and_check", "priced_search", "branch_and_price")

#: Machines, jobs and work_scale of `ratios`: the paper's settings, then shorter jobs.
SIZES = [(H, jobs, 1.0) for H in (10, 30, 50, 100) for jobs in (10, 25, 50, 100)]
SIZES += [(10, 50, 0.05), (30, 50, 0.05), (100, 50, 0.05), (30, 100, 0.05)]

#: The growing dimension of `sweep`, and the fixed ones.
SWEEPS: dict[str, tuple[tuple[int, ...], dict[str, int]]] = {
    "jobs": ((10, 20, 30, 40, 50), {"machines": 100, "horizon_slots": 20}),
    "machines": ((10, 20, 30, 50, 100), {"jobs": 50, "horizon_slots": 20}),
    "horizon_slots": ((10, 20, 40, 80), {"jobs": 30, "machines": 30}),
}


@dataclass(frozen=True)
class Reported:
    """Result of a prototype: gap in percent and seconds, for each of its instances."""

    preset: str
    size: dict[str, int]
    gaps: tuple[float, ...]
    seconds: tuple[str, ...]


REPORTED = (
    Reported("paper", {"jobs": 50, "machines": 100}, (0.0, 0.0), ("56", "39")),
    Reported("paper", {"jobs": 100, "machines": 100}, (0.23,), ("> 33",)),
    Reported("paper", {"jobs": 50, "machines": 30}, (3.9,), ("> 17",)),
    Reported("paper", {"jobs": 50, "machines": 10}, (math.inf,), ("90",)),
    Reported("desk", {"horizon_slots": 6, "machines": 3, "jobs": 6, "largest_batch": 6},
             (0.0, 0.0), ("4.5", "14")),
    Reported("desk", {"horizon_slots": 8, "machines": 4, "jobs": 8, "largest_batch": 8},
             (3.3,), ("60",)),
    Reported("desk", {"horizon_slots": 6, "machines": 3, "jobs": 8, "largest_batch": 4},
             (0.0, 0.0), ("8.7", "1.3")),
    Reported("desk", {"horizon_slots": 8, "machines": 3, "jobs": 8, "largest_batch": 4},
             (0.0, 0.0), ("22.5", "1.5")),
    Reported("desk", {"horizon_slots": 8, "machines": 4, "jobs": 10, "largest_batch": 4},
             (0.0, 0.0), ("1.5", "25")),
    Reported("desk", {"horizon_slots": 10, "machines": 4, "jobs": 12, "largest_batch": 4},
             (0.0, 0.0), ("8.4", "7.0")),
)  # fmt: skip
PRESETS = {"paper": paper, "desk": desk}


@dataclass
class Interval:
    """The interval of the optimum, and the methods that give its ends."""

    best: float = 0.0
    bound: float = math.inf
    best_by: str = "-"
    bound_by: str = "-"

    def add(self, name: str, result: Result) -> None:
        """Tighten the interval by the result of a run."""
        if result.status is Status.ERROR:
            print(f"{name}: {result.reason}", file=sys.stderr)
        if result.status is Status.ERROR or result.refused:
            return
        if result.objective is not None and float(result.objective) > self.best:
            self.best, self.best_by = float(result.objective), name
        # A bound that is lower only by rounding does not replace a certified one.
        if result.bound is not None and float(result.bound) < self.bound * (1 - 1e-9):
            verified = "*" if result.bound_voucher is Voucher.VERIFIED else ""
            self.bound, self.bound_by = float(result.bound), name + verified

    @property
    def closed(self) -> bool:
        """True if the optimum is known."""
        return bool(agrees(self.best, self.bound))

    @property
    def width(self) -> float:
        """Width in percent of the best value."""
        return 0.0 if self.closed else 100 * (self.bound - self.best) / max(self.best, 1e-10)

    def ratio(self, value: float) -> tuple[float, float]:
        """Return the least and greatest possible value / optimum."""
        if self.closed:
            return value / self.best, value / self.best
        return value / self.bound, value / max(self.best, 1e-10)


@dataclass
class Measured:
    """The utility of each algorithm on an instance, and the interval of the optimum."""

    values: dict[str, float] = field(default_factory=dict)
    interval: Interval = field(default_factory=Interval)
    time_s: float = 0.0


def measured(instance: PdOrsInstance, seed: int, limit_s: float) -> Measured:
    """Run the algorithms, the bounds, and searches until the interval is closed."""
    began = time.perf_counter()
    out = Measured()
    document = document_of(instance)
    for name, method in ALGORITHMS.items():
        result = solve(document, method, Limits(time_s=ALGORITHM_S), seed)
        out.values[name] = float(result.objective or 0.0)
        out.interval.add(name, result)
    for method in (*BOUNDS, *SEARCHES):
        if not out.interval.closed:
            out.interval.add(method, solve(document, method, Limits(time_s=limit_s), seed))
    out.time_s = time.perf_counter() - began
    return out


def document_of(instance: PdOrsInstance) -> Document:
    return Document(problem=problem("pd_ors"), kind="instance", name="drawn", data=instance)


def ratios(arguments: argparse.Namespace) -> None:
    print("\n### Ratios to the optimum, 20 slots\n")
    head = ["H", "I", "work", "seed", "best", "bound", "width %", "best by", "bound by", "s"]
    table_head([*head, *ALGORITHMS])
    for H, jobs, work_scale in arguments.sizes or SIZES:
        for seed in arguments.seeds:
            instance = paper(
                np.random.default_rng(seed), jobs=jobs, machines=H, work_scale=work_scale
            )
            found = measured(instance, seed, arguments.time_limit)
            it = found.interval
            cells = [str(H), str(jobs), f"{work_scale:g}", str(seed), f"{it.best:.2f}"]
            cells += [f"{it.bound:.2f}", f"{it.width:.2f}", it.best_by, it.bound_by]
            cells += [f"{found.time_s:.0f}"]
            cells += [f"{v:.1f} ({spread(it.ratio(v))})" for v in found.values.values()]
            table_row(cells)


def sweep(arguments: argparse.Namespace) -> None:
    for what, (numbers, rest) in SWEEPS.items():
        fixed = ", ".join(f"{name} {number}" for name, number in rest.items())
        print(f"\n### Mean ratios as {what} grow: {fixed}, work {arguments.work_scale:g}\n")
        table_head([what, "instances", "certified", "widest %", "s", *ALGORITHMS])
        for number in numbers:
            size: dict[str, Any] = {**rest, what: number, "work_scale": arguments.work_scale}
            runs = [
                measured(paper(np.random.default_rng(seed), **size), seed, arguments.time_limit)
                for seed in arguments.seeds
            ]
            # If no utility can be earned, every ratio is 0 / 0.
            earned = [run for run in runs if run.interval.best > 0]
            cells = [str(number), str(len(earned)), str(sum(r.interval.closed for r in earned))]
            cells += [f"{max((r.interval.width for r in earned), default=0.0):.2f}"]
            cells += [f"{np.mean([run.time_s for run in runs]):.0f}"]
            for name in ALGORITHMS:
                each = [run.interval.ratio(run.values[name]) for run in earned]
                cells.append(spread(tuple(np.mean(each, axis=0))) if each else "-")
            table_row(cells)


def exact(arguments: argparse.Namespace) -> None:
    print(f"\n### {arguments.method}, beside a prototype on other instances of these settings\n")
    head = ["preset", "T, H, I", "prototype: gap %", "s", "seed", "best", "bound", "gap %"]
    table_head([*head, "s to its gap", "s"])
    for reported in REPORTED:
        target = max(reported.gaps)
        for seed in arguments.seeds:
            rng = np.random.default_rng(seed)
            instance: PdOrsInstance = PRESETS[reported.preset](rng, **reported.size)
            limits = Limits(time_s=arguments.time_limit)
            result = solve(document_of(instance), arguments.method, limits, seed)
            it = Interval()
            it.add(arguments.method, result)
            size = (instance.horizon_slots, len(instance.machines), len(instance.jobs))
            batch = f", F {reported.size['largest_batch']}" if reported.preset == "desk" else ""
            cells = [reported.preset, f"{size[0]}, {size[1]}, {size[2]}{batch}"]
            cells += ["; ".join("none" if g == math.inf else f"{g:g}" for g in reported.gaps)]
            cells += ["; ".join(reported.seconds), str(seed)]
            cells += [f"{it.best:.2f}", f"{it.bound:.2f}", f"{it.width:.3f}"]
            reached = time_to(result, target) if it.width <= target else None
            when = "not reached" if reached is None else f"{reached:.1f}"
            cells += ["-" if target == math.inf else when, f"{result.time_s:.1f}"]
            table_row(cells)


def time_to(result: Result, gap: float) -> float:
    """Return the time at which the trace first reached a gap, in percent; else the end."""
    for point in result.trace:
        if point.incumbent is None or point.bound is None or not point.incumbent > 0:
            continue
        if agrees(point.incumbent, point.bound):
            return point.time_s
        if 100 * float(point.bound - point.incumbent) <= gap * float(point.incumbent):
            return point.time_s
    return result.time_s


def size_of(text: str) -> tuple[int, int, float]:
    """Read machines, jobs and work_scale."""
    H, jobs, work_scale = text.split(",")
    return int(H), int(jobs), float(work_scale)


def spread(ratio: tuple[float, ...]) -> str:
    """Return an interval as text, or one number if its ends are equal."""
    low, high = (f"{x:.2f}" for x in ratio)
    return low if low == high else f"{low}-{high}"


def table_head(cells: list[str]) -> None:
    table_row(cells)
    print("|---" * len(cells) + "|", flush=True)


def table_row(cells: list[str]) -> None:
    print("| " + " | ".join(cells) + " |", flush=True)


SECTIONS = {"ratios": ratios, "exact": exact, "sweep": sweep}
#: Seeds of instances, and seconds for each bound and search.
DEFAULTS = {"ratios": ([1], 20.0), "exact": ([0, 1, 2, 3, 4, 5], 40.0), "sweep": ([1, 2], 5.0)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--seeds", type=int, nargs="+", help="of instances")
    parser.add_argument("--time-limit", type=float, help="seconds for each bound and search")
    parser.add_argument("--sizes", type=size_of, nargs="+", help="of ratios: machines,jobs,work")
    parser.add_argument("--work-scale", type=float, default=1.0, help="of sweep")
    parser.add_argument("--method", default="portfolio", help="of exact")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"{unknown[0]}: not one of {', '.join(SECTIONS)}")
    for name in arguments.sections or SECTIONS:
        seeds, limit_s = DEFAULTS[name]
        chosen = argparse.Namespace(**vars(arguments))
        chosen.seeds = arguments.seeds or seeds
        chosen.time_limit = limit_s if arguments.time_limit is None else arguments.time_limit
        SECTIONS[name](chosen)
    return 0


if __name__ == "__main__":
    sys.exit(main())
