r"""The evaluator: the time of the slowest stage, exactly.

.. math::
    \max\Big\{\frac{T_1}{c_1}, \frac{T_2}{c_2}, T_{net}, \frac{T_3}{c_3}, \frac{D_I}{b_I},
    \frac{a}{c_4} + d + \frac{D_{II}}{b_{II}}, T_{gpu}\Big\}

with :math:`c_1 + c_2 \le C_{gs}`, :math:`c_3 + c_4 \le C_{wm}` and
:math:`b_I + b_{II} \le B_{pcie}`.
"""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.system.result import Evaluation, Violation

from .instance import ResourcesInstance, ResourcesSolution


def evaluate(instance: ResourcesInstance, solution: ResourcesSolution) -> Evaluation:
    """Recompute the time of the slowest stage of an allocation, and what it exceeds.

    Returns
    -------
    Evaluation
        Components: the seven terms of (9), in seconds a mini-batch.
    """
    used = (
        ("store_cores", solution.request_cores + solution.construct_cores, instance.store_cores),
        ("worker_cores", solution.process_cores + solution.cache_cores, instance.worker_cores),
        ("pcie_units", solution.subgraph_units + solution.feature_units, instance.pcie_units),
    )
    violations = tuple(
        Violation(name, f"{have} of them", wanted - have)
        for name, wanted, have in used
        if wanted > have
    )
    times = stage_times(instance, solution)
    return Evaluation(max(times.values()), violations, dict(times))


def stage_times(instance: ResourcesInstance, solution: ResourcesSolution) -> dict[str, Fraction]:
    """Return the seven terms of (9), in seconds."""
    return {
        "request_s": instance.request_core_s / solution.request_cores,
        "construct_s": instance.construct_core_s / solution.construct_cores,
        "net_s": instance.net_s,
        "process_s": instance.process_core_s / solution.process_cores,
        "subgraph_copy_s": instance.subgraph_unit_s / solution.subgraph_units,
        "cache_s": instance.cache_core_s / solution.cache_cores
        + instance.cache_floor_s
        + instance.feature_unit_s / solution.feature_units,
        "gpu_s": instance.gpu_s,
    }
