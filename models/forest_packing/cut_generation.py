r"""Cut generation: the value of the cut LP (F3) with the cuts it needs, and trees for it (A3).

Begin with the cuts of single workers; solve; add the cuts that the solution violates; repeat. Every
solution's duals prove an upper bound on the rate, and the last one's the optimum. The loads are
then decomposed into trees (`support.py`); where undirected trees do (F5), these are generated with
the rate known beforehand.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.result import Limits, MethodOutcome, Status, TracePoint

from .certificate import certified_bound
from .column_generation import pack_trees
from .cut_lp import CutLp
from .instance import ForestPackingInstance, Stage
from .network import Floats
from .outcome import plan_outcome
from .packing import Pair
from .price_oracles import FoundTree, UndirectedOracle, make_oracle
from .rational_duals import cut_certificate, singletons_certificate
from .separation import Bools, Separator
from .support import pack_found_loads
from .tree_plans import exact_plan

#: A rate below this part of its scale is rounding of 0.
NO_RATE = 1e-11


def cut_generation(
    instance: ForestPackingInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    trees: bool = True,
) -> MethodOutcome:
    """Return the optimal rate's certificate, a rational cut family (F3), and optimal trees (A3).

    Parameters
    ----------
    instance : ForestPackingInstance
    limits : Limits
        When the time is up, the last solution's duals still give a bound, and what trees there are
        a plan.
    rng : numpy.random.Generator
        Not used.
    trees : bool, default True
        Whether to decompose the loads into trees; without them there is a bound and no plan.

    Raises
    ------
    ModelRefused
        If switches copy and sum.
    """
    if instance.in_network:
        raise ModelRefused(
            "cut_generation is of switches that only forward; where they copy and sum "
            "(in_network), its cuts without balances are only a relaxation"
        )
    began = time.perf_counter()

    def left() -> Limits:
        if limits.time_s is None:
            return limits
        return replace(limits, time_s=max(0.0, limits.time_s - (time.perf_counter() - began)))

    lp = CutLp(instance)
    phases = {"model": time.perf_counter() - began, "solve": 0.0, "separation": 0.0}
    trace: list[TracePoint] = []
    rounds, limit_hit = _generate(lp, left, phases, trace, began)
    at = time.perf_counter()
    certificate = cut_certificate(instance, lp.multipliers()) if lp.solved else None
    certificate = certificate or singletons_certificate(instance)
    bound = certified_bound(instance, certificate)
    phases["certificate"] = time.perf_counter() - at
    pairs: list[Pair] | None = None
    if trees:
        at = time.perf_counter()
        pairs = []
        if lp.solved and lp.rate > NO_RATE * lp.scale:
            found, rates, stopped = _trees(instance, lp, left())
            limit_hit = limit_hit or stopped
            phases["trees"] = time.perf_counter() - at
            at = time.perf_counter()
            pairs = exact_plan(instance, found, rates, bound)
            phases["exact plan"] = time.perf_counter() - at
    return plan_outcome(
        instance,
        pairs,
        certificate=certificate,
        limit_hit=limit_hit,
        trace=tuple(trace),
        phases_s=phases,
        notes={"rounds": rounds, "cuts": lp.num_cuts},
    )


def _generate(
    lp: CutLp,
    left: Callable[[], Limits],
    phases: dict[str, float],
    trace: list[TracePoint],
    began: float,
) -> tuple[int, str | None]:
    """Solve and separate until no cut is violated; return the rounds and the limit that was hit."""
    network = lp.network
    separators = {
        stage: Separator(network.num_nodes, network.num_workers, lp.tails[stage], lp.heads[stage])
        for stage in lp.stages
    }
    single = np.eye(network.num_workers, network.num_nodes, dtype=bool)
    new: list[tuple[Stage, Bools]] = [(stage, row) for stage in lp.stages for row in single]
    rounds = 0
    while lp.add_cuts(new):
        at = time.perf_counter()
        status = lp.solve(left())
        phases["solve"] += time.perf_counter() - at
        if status is not Status.OPTIMAL:
            return rounds, lp.limit_hit
        rounds += 1
        trace.append(TracePoint(time.perf_counter() - began, None, lp.rate))
        at = time.perf_counter()
        new = []
        for stage, separator in separators.items():
            violated = separator.violated(lp.loads(stage), lp.root_rates, lp.rate)
            new += [(stage, inside) for inside in violated]
        phases["separation"] += time.perf_counter() - at
        if (time_s := left().time_s) is not None and time_s <= 0:
            return rounds, "time_s"
    return rounds, None


def _trees(
    instance: ForestPackingInstance, lp: CutLp, limits: Limits
) -> tuple[list[FoundTree], Floats, str | None]:
    """Return trees of the rate, their rates in GB/s, and the limit that was hit."""
    if isinstance(make_oracle(instance), UndirectedOracle):
        _, found = pack_trees(instance, limits, upper=lp.rate)
        return found.trees, found.rates, found.limit_hit
    began = time.perf_counter()
    packed = []
    for k, stage in enumerate(instance.stages):
        rest = limits
        if limits.time_s is not None:
            # What is left is shared by the stages that are left.
            spent = time.perf_counter() - began
            rest = replace(limits, time_s=(limits.time_s - spent) / (len(instance.stages) - k))
        packed.append(pack_found_loads(instance, stage, lp.loads(stage), lp.root_rates, rest))
    return (
        [tree for found in packed for tree in found.trees],
        np.concatenate([found.rates for found in packed]),
        next((found.limit_hit for found in packed if found.limit_hit), None),
    )
