"""Does fix-and-optimise pay for periods that stay open? Windows of time, annealing, CP-SAT.

No study stops at processor time, or runs what the library does not have.

Two chunks a device, as in `pipeline_schedules_chunks.toml`. Three searches go on from the same
schedule, the best of the published ones, list schedules and some rounds of annealing, for the same
processor time:

- `windows`: all operations that start within a window of time may change their order, and the
  device may not change that of the others; CP-SAT looks for less, window by window;
- `annealing`: more rounds;
- `CP-SAT`: the whole problem, from the schedule as a hint.

Run `python benchmarks/pipeline_schedules_windows.py [--seconds 10] [--window 1000]`.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from ortools.sat.python import cp_model

from gadgetopt.models.pipeline_schedules.cells import Operation
from gadgetopt.models.pipeline_schedules.data.generate.presets import equal
from gadgetopt.models.pipeline_schedules.formulations.cp import ScheduleModel
from gadgetopt.models.pipeline_schedules.formulations.decoding import starts_of
from gadgetopt.models.pipeline_schedules.heuristics.annealing import GROWTH, HOT, MOVES, Annealing
from gadgetopt.models.pipeline_schedules.heuristics.rules import offer, try_rules
from gadgetopt.models.pipeline_schedules.instance import (
    PipelineSchedulesInstance,
    PipelineSchedulesSolution,
)
from gadgetopt.models.pipeline_schedules.proving.bounds.formulas import all_bounds, machine_bounds
from gadgetopt.models.pipeline_schedules.proving.exact.close_gap import try_published
from gadgetopt.models.pipeline_schedules.shop import next_below, shop_of
from gadgetopt.search.state import Search
from gadgetopt.system.result import Limits

#: Rounds of annealing before the comparison.
ROUNDS = 2
#: CP-SAT's deterministic time for one window.
WINDOW_WORK = 0.5

Schedules = Search[PipelineSchedulesSolution]


class Case:
    """An instance, and what the searches share."""

    def __init__(self, placement: str, in_flight: int):
        self.instance: PipelineSchedulesInstance = equal(
            np.random.default_rng(0),
            devices=4,
            microbatches=8,
            chunks=2,
            placement="v" if placement == "v" else "loop",
            forward_us=149,
            input_grad_us=147,
            weight_grad_us=100,
            transfer_us=5,
            in_flight=in_flight,
            objective="period",
        )
        self.shop = shop_of(self.instance)
        self.bound = max(t for t, _ in (*all_bounds(self.shop), *machine_bounds(self.shop)))
        self.walk = Annealing(self.instance, self.shop)

    def search(self, start: PipelineSchedulesSolution | None = None) -> Schedules:
        """Return a search that knows the bound, and a schedule."""
        search: Schedules = Search("min", Limits(time_s=10**6), gap=0.0)
        search.prove(Fraction(self.bound, self.instance.ticks_per_s))
        if start is not None:
            offer(self.instance, start, search)
        return search

    def ticks(self, search: Schedules) -> Fraction:
        """Return the incumbent's length."""
        return Fraction(search.value) * self.instance.ticks_per_s

    def anneal(self, search: Schedules, n: int, rng: np.random.Generator) -> None:
        """Make the n-th round of annealing."""
        assert search.best is not None
        moves, hot = MOVES * GROWTH ** min(2, n // len(HOT)), HOT[n % len(HOT)]
        offer(self.instance, self.walk.anneal(search.best, moves, hot, search.clock, rng), search)

    def solve(self, search: Schedules, model: ScheduleModel, work: float) -> None:
        """Let CP-SAT minimise, for so much deterministic time, and offer what it finds."""
        model.model.minimize(model.length)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.max_deterministic_time = work
        if solver.solve(model.model) in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            values = np.zeros(len(model.model.proto.variables))
            for x in model.start.values():
                values[x.index] = solver.value(x)
            offer(self.instance, model.decode(values, self.instance), search)

    def model(self, search: Schedules) -> ScheduleModel:
        """Return the model of shorter schedules."""
        below = next_below(self.ticks(search), self.shop.most_denominator)
        return ScheduleModel(self.shop, math.floor(below))


def windows(case: Case, search: Schedules, seconds: float, window: float) -> None:
    """Go through windows that overlap by half, until the time is up or a pass finds nothing."""
    end, before = time.process_time() + seconds, None
    while before != search.value and not search.closed:
        before, at = search.value, 0.0
        while at < case.ticks(search) and time.process_time() < end:
            case.solve(search, _within(case, search, at, at + window), WINDOW_WORK)
            at += window / 2


def _within(case: Case, search: Schedules, begin: float, end: float) -> ScheduleModel:
    """Return the model in which only operations that start within a window change places."""
    assert search.best is not None
    starts, model = starts_of(case.instance, search.best), case.model(search)
    for cells in search.best.cells:
        order = [op for (op,) in cells]
        low, high = (sum(starts[op] < at for op in order) for at in (begin, end))
        chain: list[list[Operation]] = [[op] for op in order[:low]]
        chain += [order[low:high]] if low < high else []
        chain += [[op] for op in order[high:]]
        for earlier, later in itertools.pairwise(chain):
            for a, b in itertools.product(earlier, later):
                model.model.add(model.start[b] >= model.end(a))
    return model


def annealing(case: Case, search: Schedules, seconds: float, window: float) -> None:
    """Go on with annealing."""
    end, rng = time.process_time() + seconds, np.random.default_rng(1)
    for n in itertools.count(ROUNDS):
        if search.closed or time.process_time() >= end:
            return
        case.anneal(search, n, rng)


def whole(case: Case, search: Schedules, seconds: float, window: float) -> None:
    """Let CP-SAT look for less, with the schedule's starts as a hint."""
    model = case.model(search)
    model.hint({op: int(x) for op, x in starts_of(case.instance, search.best).items()})
    case.solve(search, model, seconds)


Arm = Callable[[Case, Schedules, float, float], None]
ARMS: tuple[Arm, ...] = (windows, annealing, whole)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="of the processor, a search")
    parser.add_argument("--window", type=float, default=1000.0, help="ticks")
    args = parser.parse_args()
    print("| placement, memory | bound | from | windows | annealing | CP-SAT |")
    print("|---|---:|---:|---:|---:|---:|")
    for placement, in_flight in itertools.product(("v", "loop"), (8, 9, 14)):
        case = Case(placement, in_flight)
        start, rng = case.search(), np.random.default_rng(0)
        try_published(case.instance, start)
        try_rules(case.instance, case.shop, start)
        for n in range(ROUNDS):
            case.anneal(start, n, rng)
        cells = []
        for arm in ARMS:
            search, began = case.search(start.best), time.process_time()
            arm(case, search, args.seconds, args.window)
            cells.append(f"{float(case.ticks(search)):g}, {time.process_time() - began:.0f} s")
        found = f"{float(case.ticks(start)):g}"
        row = [f"{placement}, {in_flight}", str(case.bound), found, *cells]
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
