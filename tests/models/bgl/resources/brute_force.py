"""The first witness: every allocation, and small random instances."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from gadgetopt.models.bgl.resources.evaluate import evaluate
from gadgetopt.models.bgl.resources.instance import ResourcesInstance, ResourcesSolution
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Result
from gadgetopt.trust.run import solve


def optimum(instance: ResourcesInstance) -> Fraction | None:
    """The least time of all allocations of all cores and units; None if there is none."""
    splits = (
        [(c, whole - c) for c in range(1, whole)]
        for whole in (instance.store_cores, instance.worker_cores, instance.pcie_units)
    )
    names = ("request_cores", "construct_cores", "process_cores", "cache_cores")
    names += ("subgraph_units", "feature_units")
    times = [
        evaluate(
            instance, ResourcesSolution(**dict(zip(names, itertools.chain(*shares), strict=True)))
        ).objective
        for shares in itertools.product(*splits)
    ]
    return min(times, default=None)


def small_instance(rng: np.random.Generator) -> ResourcesInstance:
    """Stages of a few seconds, some of them of none, and up to six cores or units each."""

    def work(most: float) -> Fraction:
        if rng.random() < 0.1:
            return Fraction(0)
        return Fraction(int(rng.integers(1, 1 + int(10 * most))), int(rng.choice([1, 3, 7, 10])))

    return ResourcesInstance(
        request_core_s=work(3),
        construct_core_s=work(3),
        net_s=work(0.3),
        process_core_s=work(2),
        subgraph_unit_s=work(2),
        feature_unit_s=work(2),
        cache_core_s=work(2),
        cache_floor_s=work(0.1),
        gpu_s=work(0.3),
        store_cores=int(rng.integers(1, 7)),
        worker_cores=int(rng.integers(1, 7)),
        pcie_units=int(rng.integers(1, 6)),
    )


@st.composite
def small_instances(draw: st.DrawFn) -> ResourcesInstance:
    return small_instance(np.random.default_rng(draw(st.integers(0, 2**32 - 1))))


def run(instance: ResourcesInstance, method: str, time_s: float = 60) -> Result:
    """What the toolkit makes of a method on an instance."""
    document = Document(problem("bgl_resources"), "instance", "test", instance)
    return solve(document, method, Limits(time_s=time_s))
