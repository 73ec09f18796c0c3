r"""HPGO, the planner's earlier name: what the slides of its author say.

The pivot is the slowest stage or link. The latency is the slides' later one, which adds what lies
behind the pivot (`gadgetopt.pieces.pipeline.pivot_latency`, ending "slides"; its first one is that
of `dapple_reading` with `pivot="slowest"`). Four policies place stages; gaps first is the fourth.
The peak of memory is, with W the bytes of parameters, A those of activations of a microbatch, and
stages :math:`i = 1..s`,

.. math:: 2 W_i + (s - i + 1) A_i.

As the slides write A for a profiled batch, a microbatch counts as one. They do not divide A by the
replicas of the stage, which the evaluator does. Source: `docs/presentation/HPGO.md` of the
repository LER0ever/HPGO.

The slides also replicate the whole pipeline, at most the square root of the GPUs times. Where an
instance allows copies, they are tried: GPUs are cut into groups in order, the first group gets the
plan of the least latency for its part of the microbatches, and all others the same; its gradients
are exchanged at the speed of the network where copies are in several machines. Of these plans
the one is taken whose latency, with AllReduce over all copies, is least. Groups that are not alike
in their machines are left out (reconstructed: the slides keep one table for all of it).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.pipeline.pivot_latency import latency_s, pivot_of
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.pieces.pipeline.shop import Shop
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import Copy, DappleInstance, DappleSolution
from ..subproblems.copies import copy_numbers, shops_of_copies, solution_of_copies
from .planner import Reading, planned
from .schedules import Warmup, scheduled

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
    of GPUs occupied. Where the instance allows copies of the pipeline, it tries them. The notes
    have `peak_bytes_slides`, the largest peak of a stage, and, where the instance has a limit of
    memory, `largest_microbatch`: the largest power of two that a microbatch may be times as large
    as now. Both are of one pipeline.
    """
    reading = Reading(pivot="slowest", ending="slides", placement="slides")
    clock = Clock(limits)
    one = instance.model_copy(update={"max_copies": 1})
    outcome = planned(one, limits, warmup, reading)
    if not isinstance(outcome.solution, DappleSolution):
        return outcome
    plan = outcome.solution.plan
    if instance.max_copies > 1:
        outcome = _with_copies(instance, outcome, clock, warmup, reading)
    outcome.notes["peak_bytes_slides"] = float(max(peaks_bytes(instance, plan)))
    if instance.options.memory_bytes is not None:
        outcome.notes["largest_microbatch"] = float(largest_microbatch(instance, plan))
    return outcome


def _with_copies(
    instance: DappleInstance,
    outcome: MethodOutcome,
    clock: Clock,
    warmup: Warmup,
    reading: Reading,
) -> MethodOutcome:
    """Return the plan of the least latency of one or several copies, one being known."""
    best = float(outcome.notes["latency_paper_s"])
    outcome.notes["copies"] = 1
    for copies in copy_numbers(instance):
        group = _group(instance, copies)
        if copies == 1 or copies**2 > instance.num_gpus or group is None or clock.expired:
            continue
        found = planned(group, clock.limits(), warmup, reading).solution
        if not isinstance(found, DappleSolution):
            continue
        sets = [
            tuple(tuple(v + c * group.num_gpus for v in gpus) for gpus in found.stage_devices)
            for c in range(copies)
        ]
        shops = shops_of_copies(instance, found.stage_layers, sets)
        latency = max(_latency_s(shop, reading) for shop in shops)
        if latency < best:
            best = latency
            runs = [scheduled(shop, warmup) for shop in shops]
            parts = [
                Copy(stage_devices=own, warmup=tuple(run.numbers))
                for own, run in zip(sets, runs, strict=True)
            ]
            outcome = replace(
                outcome,
                solution=solution_of_copies(found.stage_layers, parts),
                claimed_objective=max(run.schedule.makespan_s for run in runs),
                notes={**outcome.notes, "latency_paper_s": latency, "copies": copies},
            )
    return outcome


def _group(instance: DappleInstance, copies: int) -> DappleInstance | None:
    """Return the instance of a copy alone; None if the groups' machines are not alike."""
    cluster, size = instance.cluster, instance.num_gpus // copies
    groups, spans = [], False
    for first in range(0, copies * size, size):
        machines: dict[int, int] = {}
        for k in cluster.machine_of[first : first + size]:
            machines[k] = machines.get(k, 0) + 1
        speeds = tuple(cluster.machine_speeds[k] for k in machines)
        spans = spans or cluster.machine_of[0] not in machines
        groups.append((tuple(machines.values()), speeds))
    if len(set(groups)) > 1:
        return None
    counts, speeds = groups[0]
    given = None if cluster.speeds is None else tuple(float(x) for x in speeds)
    changed: dict[str, object] = {"gpus_per_machine": counts, "speeds": given}
    if spans:  # gradients are exchanged with copies in other machines
        between = cluster.allreduce_inter_bytes_per_s or cluster.inter_bytes_per_s
        changed["allreduce_intra_bytes_per_s"] = between
    return instance.model_copy(
        update={
            "cluster": cluster.model_copy(update=changed),
            "num_microbatches": instance.num_microbatches // copies,
            "max_copies": 1,
        }
    )


def _latency_s(shop: Shop, reading: Reading) -> float:
    f, b, a = (row.tolist() for row in shop.in_seconds())
    M = shop.num_microbatches
    return float(latency_s(f, b, a, M, pivot_of(f, b, a, M, reading.pivot), reading.ending))


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
