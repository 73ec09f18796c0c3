"""Adversarial online allocation: long streams, the all-knowing seller, and streams from traces.

- `stream`: CPU seconds of policies and of their proofs on streams of 10^4, 10^5 and 10^6 requests,
  and those of 10^6 over those of 10^5: 10 is linear;
- `offline`: the all-knowing seller beside HiGHS and CP-SAT on the same streams, in one run, CPU
  seconds with the building of models;
- `traces`: ratios of the policies on streams from traces, with `--traces DIR`.

Run `python benchmarks/adversarial_online.py [stream offline traces] [--largest 1000000]`. Worst
sequences, games and training: `adversarial_online_exact.py`, `adversarial_online_training.py`.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from gadgetopt.models.adversarial_online.run.data.generate.presets import (
    bid_trace,
    paper,
    upward_drift,
)
from gadgetopt.models.adversarial_online.run.data.importers.traces import (
    muri,
    philly,
)
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Result
from gadgetopt.trust.certificate import certified_bound
from gadgetopt.trust.run import solve

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

POLICIES = ("greedy", "fixed_price", "exp_plain", "exponential", "finite_k", "random_static")


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


def run(instance: Any, method: str, time_limit_s: float) -> Result:
    document = Document(problem=PROBLEM, kind="instance", name="stream", data=instance)
    return solve(document, method, Limits(time_s=time_limit_s))


def bundles(seed: int, requests: int, units: int, resources: int, **more: Any) -> tuple[str, Any]:
    """Return a stream of bundles with its name."""
    name = f"bundles, {requests}, {units} units of {resources}"
    rng = np.random.default_rng(seed)
    return name, bid_trace(rng, requests=requests, units=units, resources=resources, **more)


def offline(time_limit_s: float) -> None:
    print(f"\nThe all-knowing seller, at most {time_limit_s:g} s: CPU seconds, gap if open\n")
    streams = {
        "units, 20,000 requests": upward_drift(
            np.random.default_rng(0), requests=20_000, units=2000
        ),
        **dict(
            [
                bundles(1, 400, 20, 2),
                bundles(2, 1000, 60, 2, types=20),
                bundles(3, 300, 40, 3, types=10),
                bundles(4, 2000, 300, 4, types=30),
                bundles(4, 3000, 300, 5, types=60),
                bundles(4, 1000, 100, 8, types=100),
            ]
        ),
        "bundles, 2000, a price a unit": bundles(0, 2000, 200, 3, types=30, spread=1.001)[1],
    }
    methods = ("offline", "packing@highs", "packing@cpsat")
    for method in methods:  # imports and compilations
        run(streams["bundles, 400, 20 units of 2"], method, time_limit_s)
    print(f"{'stream':<32}{'check':>8}" + "".join(f"{m:>22}" for m in methods))
    for name, instance in streams.items():
        cells, check = [], ""
        for method in methods:
            begin = time.process_time()
            found = run(instance, method, time_limit_s)
            seconds = time.process_time() - begin
            if method == "offline" and found.bound_voucher == "verified":
                begin = time.process_time()
                assert certified_bound(PROBLEM, instance, found.certificate) == found.bound
                spent = time.process_time() - begin
                check, seconds = f"{spent:.3f}", seconds - spent
            gap = "" if found.status == "optimal" else f" gap {found.gap or 1:.2%}"
            cells.append(f"{seconds:.3f} {found.bound_voucher or ''}{gap}")
        print(f"{name:<32}{check:>8}" + "".join(f"{cell:>22}" for cell in cells), flush=True)


def traces(folder: Path, time_limit_s: float) -> None:
    print("\nOptimum over welfare on streams of traces, 1000 GPUs; bound: the policy's own proof\n")
    for reader, name in (
        (philly, "philly.csv"),
        (muri, "muri_trace1.csv"),
        (muri, "muri_trace3.csv"),
    ):
        instance = reader([folder / name], np.random.default_rng(0)).instances[0][1]
        best = run(instance, "offline", time_limit_s)
        print(
            f"{name}: {len(instance.value)} requests, optimum {float(best.objective):.6g}, "
            f"gap {best.gap:.1e}, {best.time_s:.1f} s"
        )
        for policy in POLICIES:
            found = run(instance, policy, time_limit_s)
            if found.objective is None:
                print(f"  {policy:<15} {found.reason}")
                continue
            print(
                f"  {policy:<15}{float(best.objective / found.objective):>8.3f}"
                f"  proved at most {float(found.bound / found.objective):.3f}"
                f"  {found.time_s:.2f} s",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=["stream", "offline"])
    parser.add_argument("--largest", type=int, default=10**6)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--traces", type=Path, default=Path("traces"))
    options = parser.parse_args()
    for table in options.tables:
        if table == "stream":
            stream(options.largest)
        elif table == "offline":
            offline(options.time_limit)
        elif table == "traces":
            traces(options.traces, options.time_limit)
        else:
            parser.error(f"{table}: expected stream, offline or traces")


if __name__ == "__main__":
    main()
