"""SJF-BCO: cost of evaluator, bounds and certificate checks as the slots of a schedule grow.

No study measures memory, the evaluator, and the command that checks a bound.

Run `python benchmarks/sjf_bco_slots.py`. Eight jobs have more and more iterations. Measured are the
processor time of the evaluator and of the energetic bound in this process, the least of several
repetitions, and the processor time and memory of the command `gadgetopt verify --bound` with all
its processes; its time also as a multiple of that of starting Python and importing numpy and
pydantic.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from gadgetopt.models.sjf_bco.energetic import energetic_bound
from gadgetopt.models.sjf_bco.evaluate import evaluate
from gadgetopt.models.sjf_bco.heuristics.local_search import lpt_ils
from gadgetopt.models.sjf_bco.instance import Job, SjfBcoInstance
from gadgetopt.system.files import Document, write
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits

ITERATIONS = [10**3, 10**5, 10**7, 10**9]
REPETITIONS = 5


def instance(iterations: int) -> SjfBcoInstance:
    """Return three gangs that must spread and five jobs of one GPU and one iteration per slot."""
    gangs = [
        Job(gpus=3, iterations=iterations - k, grad_size_mb=1.0, bwd_slots=0.1) for k in range(3)
    ]
    singles = [Job(gpus=1, iterations=iterations - 7 * k, bwd_slots=0.99) for k in range(5)]
    return SjfBcoInstance(
        server_gpus=(2, 2, 2),
        horizon_slots=100 * iterations,
        inter_bw_mb_per_slot=10.0,
        intra_bw_mb_per_slot=100.0,
        gpu_reduce_mb_per_slot=100.0,
        contention_coeff=1.0,
        overhead_coeff=1.0,
        overhead_unit_slots=0.01,
        jobs=(*gangs, *singles),
    )


def milliseconds(call: Callable[[], object]) -> float:
    """Return the least processor time of several calls, in ms."""
    taken = []
    for _ in range(REPETITIONS):
        began = time.process_time()
        call()
        taken.append(time.process_time() - began)
    return 1e3 * min(taken)


def processor_s(command: list[str], folder: Path) -> float:
    """Return the least processor time of a command with all its processes."""
    taken = []
    for _ in range(REPETITIONS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(taken)


def verified(inst: SjfBcoInstance, folder: Path) -> tuple[float, float]:
    """Return the processor time of checking the energetic bound, and its peak memory in MB."""
    system = problem("sjf_bco")
    write(Document(system, "instance", "long", inst, {}), folder / "long.json")
    envelope = {"gadgetopt": 1, "problem": "sjf_bco", "kind": "certificate", "name": "long"}
    proof = folder / "proof.json"
    proof.write_text(json.dumps({**envelope, "data": {"formula": "energetic"}}))
    command = [sys.executable, "-m", "gadgetopt", "verify", "long.json", "--bound", "proof.json"]
    seconds = processor_s(command, folder)
    # The largest of all children so far, so that no row is too small; Linux counts in kB.
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    columns = "iterations, slots, evaluate ms, energetic ms, energetic, verify s, over start, MB"
    print("| " + columns.replace(", ", " | ") + " |")
    print("|---" * 8 + "|")
    first = None
    with tempfile.TemporaryDirectory() as folder:
        start = processor_s([sys.executable, "-c", "import numpy, pydantic"], Path(folder))
        for iterations in ITERATIONS:
            inst = instance(iterations)
            schedule = lpt_ils(inst, Limits(), np.random.default_rng(0), restarts=5).solution
            makespan = evaluate(inst, schedule).objective
            evaluating = milliseconds(lambda: evaluate(inst, schedule))  # noqa: B023
            bounding = milliseconds(lambda: energetic_bound(inst))  # noqa: B023
            first = first or (evaluating, bounding)
            seconds, megabytes = verified(inst, Path(folder))
            print(
                f"| {iterations:,} | {makespan:,} | {evaluating:.2f} | {bounding:.2f} "
                f"| {energetic_bound(inst):,} | {seconds:.2f} | {seconds / start:.1f} "
                f"| {megabytes:.0f} |",
                flush=True,
            )
    print(
        f"\nlast to first row: evaluate {evaluating / first[0]:.2f}, "
        f"energetic {bounding / first[1]:.2f}"
    )


if __name__ == "__main__":
    main()
