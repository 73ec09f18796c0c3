"""PD-ORS and OASiS: processor time of whole runs as instances grow.

No study measures the parts of a run, or replaces some of them.

Run `python benchmarks/pd_ors_online.py`. It measures processor time on the paper's settings, from
an instance in memory to a decision, derived constants included; the least of several repetitions on
one thread. `machines` and `slots` let one of the two grow; growth by at most the factor of the size
is linear. `parts` shows how the time of the largest runs is spent, `ways` the time of other ways to
fill a slot table.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from gadgetopt.models.pd_ors.algorithms.pd_ors import GRID, decide
from gadgetopt.models.pd_ors.baselines import oasis
from gadgetopt.models.pd_ors.data.generate.presets import paper
from gadgetopt.models.pd_ors.instance import PdOrsInstance
from gadgetopt.models.pd_ors.subproblems import kernel
from gadgetopt.models.pd_ors.subproblems.kernel import Progress
from gadgetopt.models.pd_ors.subproblems.prices import PriceTable, price_range
from gadgetopt.models.pd_ors.subproblems.slot_methods import SlotMethod, SlotOptions
from gadgetopt.system.result import Limits, MethodOutcome


def pd_ors(
    instance: PdOrsInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    log_price_span: float | None = None,
    slot_method: SlotMethod = "auto",
    progress: Progress = "auto",
) -> MethodOutcome:
    """Run PD-ORS with a span of prices and a way to fill slots."""
    seed = int(rng.integers(2**62)) if slot_method == "rounding" else 0
    options = SlotOptions(slot_method, grid=GRID, seed=seed)
    prices = price_range(instance, log_price_span=log_price_span)
    return decide(instance, limits, prices, options, progress=progress)


METHODS: dict[str, Callable[..., MethodOutcome]] = {
    "PD-ORS": pd_ors,
    "OASiS": lambda instance, limits, _, **options: oasis.oasis(instance, limits, **options),
}
MACHINES = (10, 100, 300, 1000)
SLOTS = (10, 20, 40, 80)
#: Functions in which a run spends its time, with a description.
PARTS: dict[str, tuple[Any, str]] = {
    "slot tables": (kernel, "slot_table"),
    "slots combined": (kernel, "plans"),
    "prices": (PriceTable, "take"),
}


def run(
    method: Callable[..., MethodOutcome], size: dict[str, Any], options: dict[str, Any], seed: int
) -> tuple[float, MethodOutcome, PdOrsInstance]:
    """Return the processor seconds of a run on a new instance without cached constants."""
    instance = paper(np.random.default_rng(seed), **size)
    began = time.process_time()
    outcome = method(instance, Limits(), np.random.default_rng(seed), **options)
    return time.process_time() - began, outcome, instance


def growth_table(what: str, sizes: tuple[int, ...], arguments: argparse.Namespace) -> None:
    print(f"\n### {arguments.jobs} jobs, growing {what}, work times {arguments.work_scale:g}\n")
    print("| machines | slots | method | s | ms/job | times | size times | accepted | utility |")
    print("|---" * 9 + "|")
    before: dict[str, tuple[int, float]] = {}
    for number in sizes:
        size = size_of(arguments, **{"machines" if what == "machines" else "horizon_slots": number})
        for name, method in METHODS.items():
            seconds, outcome = math.inf, None
            for _ in range(arguments.repetitions):
                took, outcome, _ = run(method, size, options(arguments), arguments.seed)
                seconds = min(seconds, took)
            assert outcome is not None
            per_job = 1e3 * seconds / arguments.jobs
            last = before.get(name)
            grown = ["", ""]
            if last is not None:
                grown = [f"{per_job / last[1]:.2f}", f"{number / last[0]:.2f}"]
            cells = [f"{size['machines']:,}", str(size["horizon_slots"]), name, f"{seconds:.2f}"]
            cells += [f"{per_job:.1f}", *grown, *decided(outcome)]
            print("| " + " | ".join(cells) + " |", flush=True)
            before[name] = (number, per_job)


def parts_table(arguments: argparse.Namespace) -> None:
    print("\n### Share of time, PD-ORS\n")
    print("| machines | slots | " + " | ".join(PARTS) + " | the rest | s |")
    print("|---" * (len(PARTS) + 4) + "|")
    sizes = [size_of(arguments, machines=MACHINES[-1]), size_of(arguments, horizon_slots=SLOTS[-1])]
    for size in [size_of(arguments), *sizes]:
        with timed() as seconds:
            total, _, _ = run(pd_ors, size, options(arguments), arguments.seed)
        shares = [seconds[part] / total for part in PARTS]
        cells = [f"{size['machines']:,}", str(size["horizon_slots"])]
        cells += [f"{100 * share:.0f} %" for share in [*shares, 1 - sum(shares)]]
        print("| " + " | ".join([*cells, f"{total:.2f}"]) + " |", flush=True)


@contextmanager
def timed() -> Iterator[dict[str, float]]:
    """Measure the processor seconds of all calls of each part."""
    seconds: dict[str, float] = defaultdict(float)

    def watched(part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            began = time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                seconds[part] += time.process_time() - began

        return call

    patches = [
        patch.object(place, name, watched(part, getattr(place, name)))
        for part, (place, name) in PARTS.items()
    ]
    for one in patches:
        one.start()
    try:
        yield seconds
    finally:
        for one in patches:
            one.stop()


def ways_table(arguments: argparse.Namespace) -> None:
    size = size_of(arguments, machines=10)
    print(f"\n### Ways to fill a slot table, 10 machines, {size['horizon_slots']} slots\n")
    print("| slot_method | progress | s | accepted | utility |")
    print("|---" * 5 + "|")
    for slot_method in ("auto", "greedy", "exact_dp", "rounding"):
        for progress in ("auto", "exact") if slot_method == "greedy" else ("auto",):
            chosen = {**options(arguments), "slot_method": slot_method, "progress": progress}
            seconds, outcome, _ = run(pd_ors, size, chosen, arguments.seed)
            cells = [slot_method, progress, f"{seconds:.1f}", *decided(outcome)]
            print("| " + " | ".join(cells) + " |", flush=True)


def decided(outcome: MethodOutcome) -> list[str]:
    accepted = sum(schedule is not None for schedule in outcome.solution.schedules)
    return [str(accepted), f"{outcome.claimed_objective:.1f}"]


def size_of(arguments: argparse.Namespace, **changes: int) -> dict[str, Any]:
    size = {"jobs": arguments.jobs, "machines": 100, "horizon_slots": 20}
    return {**size, "work_scale": arguments.work_scale, **changes}


def options(arguments: argparse.Namespace) -> dict[str, Any]:
    return {"log_price_span": arguments.log_price_span}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    sections = ("machines", "slots", "parts", "ways")
    parser.add_argument("sections", nargs="*", default=[], help=", ".join(sections))
    parser.add_argument("--jobs", type=int, default=50)
    parser.add_argument("--work-scale", type=float, default=0.05)
    parser.add_argument("--log-price-span", type=float, default=None)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    run(
        pd_ors, size_of(arguments, machines=10), {}, arguments.seed
    )  # modules that are imported on first use
    for section in arguments.sections or sections:
        if section == "machines":
            growth_table("machines", MACHINES, arguments)
        elif section == "slots":
            growth_table("slots", SLOTS, arguments)
        elif section == "parts":
            parts_table(arguments)
        elif section == "ways":
            ways_table(arguments)
        else:
            parser.error(f"{section}: expected one of {', '.join(sections)}")


if __name__ == "__main__":
    main()
