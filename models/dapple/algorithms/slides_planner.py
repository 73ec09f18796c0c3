r"""HPGO, the planner's earlier name: what the slides of its author say, one pipeline on all GPUs.

The pivot is the slowest stage or link. The latency is the slides' later one, which adds what lies
behind the pivot (`gadgetopt.pieces.pipeline.pivot_latency`, ending "slides"; its first one is that
of `dapple_reading` with `pivot="slowest"`). Four policies place stages; gaps first is the fourth.
The peak of memory is, with W the bytes of parameters, A those of activations of a microbatch, and
stages :math:`i = 1..s`,

.. math:: 2 W_i + (s - i + 1) A_i.

As the slides write A for a profiled batch, a microbatch counts as one. They do not divide A by the
replicas of the stage, which the evaluator does. Source: `docs/presentation/HPGO.md` of the
repository LER0ever/HPGO.

The slides also replicate the whole pipeline, at most the square root of the GPUs times. Such plans
are none of this problem, whose stages share every microbatch: they are left out.
"""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import DappleInstance, DappleSolution
from .planner import Reading, planned
from .schedules import Warmup

#: Copies of the parameters that the slides count on a GPU. By definition.
WEIGHTS_FACTOR = 2


@method(kind="heuristic", reference="slides of the planner's author, HPGO")
def hpgo(instance: DappleInstance, limits: Limits, *, warmup: Warmup = "best") -> MethodOutcome:
    """The planner's earlier form: slowest pivot, four placement policies, a later latency.

    Return the plan of the least latency by the slides, scheduled by warm-up numbers. No ratio is
    proven.

    Parameters
    ----------
    instance : DappleInstance
    limits : Limits
        `time_s` stops between two prefixes.
    warmup : "A", "B" or "best", default "best"
        As of `dapple`.

    Notes
    -----
    The search is that of `dapple`, with one best prefix for each number of layers planned and set
    of GPUs occupied. The notes have `peak_bytes_slides`, the largest peak of a stage, and, where
    the instance has a limit of memory, `largest_microbatch`: the largest power of two that a
    microbatch may be times as large as now.
    """
    reading = Reading(pivot="slowest", ending="slides", placement="slides")
    outcome = planned(instance, limits, warmup, reading)
    if not isinstance(outcome.solution, DappleSolution):
        return outcome
    plan = outcome.solution.plan
    outcome.notes["peak_bytes_slides"] = float(max(peaks_bytes(instance, plan)))
    if instance.options.memory_bytes is not None:
        outcome.notes["largest_microbatch"] = float(largest_microbatch(instance, plan))
    return outcome


def peaks_bytes(instance: DappleInstance, plan: Plan) -> list[Fraction]:
    """Return the slides' peak of memory of every stage."""
    return [fixed + growing for fixed, growing in _bytes(instance, plan)]


def largest_microbatch(instance: DappleInstance, plan: Plan) -> Fraction:
    """Return the largest power of two by which a microbatch may grow within the memory, or 0.

    The parameters stay, the activations grow with the microbatch. Half a microbatch, a quarter and
    so on are powers of two, too; 0 if the parameters alone do not fit.
    """
    memory = decimal_rational(instance.options.memory_bytes or 0)
    powers = []
    for fixed, growing in _bytes(instance, plan):
        if memory <= fixed:
            return Fraction(0)
        if growing:
            powers.append(_power_of_two((memory - fixed) / growing))
    return min(powers, default=Fraction(instance.num_microbatches))


def _bytes(instance: DappleInstance, plan: Plan) -> list[tuple[Fraction, Fraction]]:
    """Return 2 W_i and (s - i + 1) A_i of every stage."""
    chain, stages = instance.chain, len(plan.stage_layers)
    return [
        (
            WEIGHTS_FACTOR * Fraction(chain.param_sum_bytes[end] - chain.param_sum_bytes[first]),
            (stages - n) * Fraction(chain.stash_sum_bytes[end] - chain.stash_sum_bytes[first]),
        )
        for n, (first, end) in enumerate(plan.stage_layers)
    ]


def _power_of_two(value: Fraction) -> Fraction:
    """Return the largest power of two that is at most a positive number."""
    power = Fraction(2) ** (value.numerator.bit_length() - value.denominator.bit_length())
    return power if power <= value else power / 2
