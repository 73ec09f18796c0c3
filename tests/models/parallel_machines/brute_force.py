"""The first witness: every assignment, and small random instances to try it on."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import strategies as st

from gadgetopt.models.parallel_machines.evaluate import evaluate
from gadgetopt.models.parallel_machines.instance import (
    ParallelMachinesInstance,
    ParallelMachinesSolution,
)
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Result
from gadgetopt.trust.run import solve


def optimum(instance: ParallelMachinesInstance) -> int:
    """The least makespan of all assignments, the first job being on the first machine."""
    machines, jobs = range(instance.used_machines), len(instance.processing_s)
    return min(
        evaluate(instance, ParallelMachinesSolution(machine=(0, *rest))).objective
        for rest in itertools.product(machines, repeat=jobs - 1)
    )


def small_instance(rng: np.random.Generator, most_jobs: int = 7) -> ParallelMachinesInstance:
    """Up to some jobs on up to four machines; machines without a job and equal jobs occur."""
    jobs = int(rng.integers(1, most_jobs + 1))
    longest_s = int(rng.choice([3, 10, 40, 200]))
    return ParallelMachinesInstance(
        machines=int(rng.integers(1, 5)),
        processing_s=tuple(rng.integers(1, longest_s + 1, size=jobs).tolist()),
    )


@st.composite
def small_instances(draw: st.DrawFn, most_jobs: int = 6) -> ParallelMachinesInstance:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return small_instance(rng, most_jobs)


def instance_of(machines: int, *times_s: int) -> ParallelMachinesInstance:
    return ParallelMachinesInstance(machines=machines, processing_s=times_s)


def run(instance: ParallelMachinesInstance, method: str, time_s: float = 60) -> Result:
    """What the toolkit makes of a method on an instance."""
    document = Document(problem("parallel_machines"), "instance", "test", instance)
    return solve(document, method, Limits(time_s=time_s))
