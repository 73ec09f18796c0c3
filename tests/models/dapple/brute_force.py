"""Everything by enumeration: plans, orders of blocks, and the evaluator's word on each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

from gadgetopt.models.dapple.evaluate import evaluate
from gadgetopt.models.dapple.instance import DappleInstance, DappleSolution
from gadgetopt.pieces.pipeline.plan import Plan


def plans(instance: DappleInstance) -> Iterator[Plan]:
    """Yield all plans, every GPU in a stage or, if they may be idle, in none."""
    L, G = instance.num_layers, instance.num_gpus
    idle = () if instance.options.use_all_gpus else (-1,)
    for stages in range(1, instance.most_stages + 1):
        for cuts in itertools.combinations(range(1, L), stages - 1):
            layers = tuple(itertools.pairwise((0, *cuts, L)))
            for owner in itertools.product((*range(stages), *idle), repeat=G):
                devices = tuple(tuple(v for v in range(G) if owner[v] == n) for n in range(stages))
                if all(devices):
                    yield Plan(stage_layers=layers, stage_devices=devices)


def interleavings(microbatches: int) -> list[tuple[int, ...]]:
    """Return the orders of a machine in which every microbatch goes forward before it goes back.

    Blocks of one kind go by index: some optimal schedule has them so.
    """
    M = microbatches
    found = []
    for places in itertools.combinations(range(2 * M), M):
        forward, backward = iter(range(1, M + 1)), iter(range(1, M + 1))
        order = [next(forward) if k in places else -next(backward) for k in range(2 * M)]
        if all(order.index(m) < order.index(-m) for m in range(1, M + 1)):
            found.append(tuple(order))
    return found


def best_of_plan(instance: DappleInstance, plan: Plan) -> Fraction | None:
    """Return the least iteration time of a plan; None if it has no feasible order."""
    best = None
    kinds = interleavings(instance.num_microbatches)
    for orders in itertools.product(kinds, repeat=2 * plan.num_stages - 1):
        evaluation = evaluate(instance, DappleSolution.of(plan, orders=orders))
        if evaluation.feasible and (best is None or evaluation.objective < best):
            best = evaluation.objective
    return best


def optimum(instance: DappleInstance) -> Fraction | None:
    """Return the least iteration time; None if nothing is feasible."""
    found = (best_of_plan(instance, plan) for plan in plans(instance))
    return min((value for value in found if value is not None), default=None)


def least_bound(instance: DappleInstance) -> Fraction | None:
    """Return the least lower bound of a feasible plan, every order one forward, one backward."""
    bounds = []
    for plan in plans(instance):
        evaluation = evaluate(instance, DappleSolution.of(plan, warmup=[1] * plan.num_stages))
        if evaluation.feasible:
            bounds.append(evaluation.components["lower_bound_s"])
    return min(bounds, default=None)
