"""All work of an iteration, spread evenly over all GPUs."""

from __future__ import annotations

from fractions import Fraction

from .instance import SppInstance


def even_work_s(instance: SppInstance) -> Fraction:
    """Return M times the work of all layers over the speed of all GPUs."""
    chain = instance.chain
    forward = chain.fwd_sum_s[-1] * (2 if instance.options.recompute else 1)
    work = instance.num_microbatches * (forward + chain.bwd_sum_s[-1])
    return work / sum(instance.cluster.gpu_speeds, Fraction(0))
