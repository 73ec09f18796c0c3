"""Parts of the time that `close_gap` gives to its steps, on two chunks a device in a loop.

No study changes a constant of the library's own modules.

`CONTRADICTION_PART` is for bounds by contradiction, `PAIR_PART` for the relaxation that limits two
devices only. Formulas and schedules alone leave gaps here: for each value of a constant how many
instances are closed, the mean gap of the others, and the mean processor time.

Run `python benchmarks/pipeline_schedules_parts.py PAIR_PART [--values 0.2 0.4 0.8] [--seconds 30]`.
"""

from __future__ import annotations

import argparse
import itertools
import time
from fractions import Fraction

import numpy as np

from gadgetopt.models.pipeline_schedules.data.generate.presets import Aim, equal
from gadgetopt.models.pipeline_schedules.instance import PipelineSchedulesInstance
from gadgetopt.models.pipeline_schedules.proving.exact import close_gap
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.system.result import Limits

AIMS: tuple[Aim, ...] = ("makespan", "period")


def instances() -> list[PipelineSchedulesInstance]:
    """Return the loops of `pipeline_schedules_published_chunks.toml` and `..._chunks.toml`."""
    kinds = (((100, 100, 50), (8, 14)), ((100, 100, 100), (8, 14)), ((149, 147, 100), (8, 9)))
    return [
        equal(
            np.random.default_rng(0),
            devices=4,
            microbatches=8,
            chunks=2,
            forward_us=f,
            input_grad_us=i,
            weight_grad_us=w,
            transfer_us=5,
            in_flight=memory,
            objective=aim,
        )
        for (f, i, w), room in kinds
        for memory, aim in itertools.product(room, AIMS)
    ]


def gap_of(instance: PipelineSchedulesInstance, seconds: float) -> float:
    """Return the gap that `close_gap` leaves."""
    found = close_gap.close_gap(instance, Limits(time_s=seconds), fixed_rng())
    points = [point for point in found.trace if point.bound is not None]
    bound, value = points[-1].bound, found.claimed_objective
    assert bound is not None
    assert value is not None
    return float(1 - Fraction(bound) / Fraction(value))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("constant", choices=("CONTRADICTION_PART", "PAIR_PART"))
    parser.add_argument("--values", type=float, nargs="*", default=[0.2, 0.4, 0.8])
    parser.add_argument("--seconds", type=float, default=30.0, help="for an instance")
    args = parser.parse_args()
    print(f"| `{args.constant}` | closed | mean gap of the others | mean s of the processor |")
    print("|---:|---:|---:|---:|")
    cases = instances()
    for value in args.values:
        setattr(close_gap, args.constant, value)
        start = time.process_time()
        gaps = [gap_of(instance, args.seconds) for instance in cases]
        took = (time.process_time() - start) / len(cases)
        left = [gap for gap in gaps if gap]
        mean = f"{sum(left) / len(left):.2%}" if left else ""
        row = [f"{value:g}", f"{len(gaps) - len(left)} of {len(gaps)}", mean, f"{took:.0f}"]
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
