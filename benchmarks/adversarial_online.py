"""Adversarial online allocation: policies on long streams.

No study measures the parts of a run: policy, evaluator, check.

CPU seconds of policies, of the evaluator and of the check of their proofs, on streams of 10^4, 10^5
and 10^6 requests, and those of 10^6 over those of 10^5: 10 is linear.

Run `python benchmarks/adversarial_online.py [--largest 1000000]`. Worst sequences, games and
training: `adversarial_online_exact.py`, `adversarial_online_training.py`; the all-knowing seller
and traces: the studies `adversarial_offline.toml` and `adversarial_traces.toml`.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from gadgetopt.models.adversarial_online.run.data.generate.presets import (
    bid_trace,
    paper,
    upward_drift,
)
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits

PROBLEM = problem("adversarial_online_run")

SIZES = (10**4, 10**5, 10**6)

#: Streams with a unit of every resource for each hundred requests, and the policies for them.
STREAMS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "units, drifting": (
        lambda n: upward_drift(np.random.default_rng(0), requests=n, units=n // 100),
        ("greedy", "exponential", "finite_k", "one_seed", "random_static"),
    ),
    "units, nine levels": (
        lambda n: paper(np.random.default_rng(0), requests=n, units=n // 100),
        ("finite_k", "share"),
    ),
    "bundles of three resources": (
        lambda n: bid_trace(np.random.default_rng(0), requests=n, units=n // 100, types=40),
        ("greedy", "exponential", "finite_k"),
    ),
}


def stream(largest: int) -> None:
    print("\nCPU seconds: policy with its proof, evaluator, check of the proof\n")
    print(f"{'stream':<28}{'policy':<15}{'requests':>9}{'policy':>8}{'evaluate':>9}{'check':>7}")
    for name, (make, policies) in STREAMS.items():
        seconds: dict[str, list[float]] = {}
        for n in SIZES:
            if n > largest:
                continue
            instance = make(n)
            instance.whole_values, instance.kinds  # noqa: B018 (tables of the instance)
            for policy in policies:
                times = timed(instance, policy)
                seconds.setdefault(policy, []).append(sum(times))
                columns = "".join(f"{t:>{w}.2f}" for t, w in zip(times, (8, 9, 7), strict=True))
                print(f"{name:<28}{policy:<15}{n:>9}{columns}", flush=True)
        for policy, found in seconds.items():
            if len(found) > 1:
                times = found[-1] / found[-2]
                print(f"{name:<28}{policy:<15} largest over the one before: x {times:.1f}")


def timed(instance: Any, policy: str) -> tuple[float, float, float]:
    """Return the seconds of a policy, of the evaluator, and of the check of its proof."""
    method = next(m for m in PROBLEM.methods if m.name == policy)
    marks = [time.process_time()]
    outcome = method.run(instance, Limits(), np.random.default_rng(0))
    marks.append(time.process_time())
    evaluation = PROBLEM.evaluate(instance, outcome.solution)
    marks.append(time.process_time())
    bound = PROBLEM.check_bound(instance, outcome.certificate)
    marks.append(time.process_time())
    assert evaluation.feasible
    assert evaluation.objective <= bound
    return marks[1] - marks[0], marks[2] - marks[1], marks[3] - marks[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=10**6)
    stream(parser.parse_args().largest)


if __name__ == "__main__":
    main()
