r"""Cut generation: solve the cut LP with violated cuts only, then decompose its loads into trees.

Algorithm A3 on formulation F3. Begin with the cuts of single workers; solve; add the cuts that the
solution violates; repeat. The duals of every solution prove an upper bound on the rate; those of
the last one prove the optimum. The loads are then decomposed into trees (`load_decomposition.py`);
where undirected trees suffice (F5), these are generated with the rate known beforehand.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Bools, Floats
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import (
    Limits,
    MethodOutcome,
    Status,
    TracePoint,
)

from ..algorithms.tree_plans import exact_plan
from ..certificate import check_bound
from ..instance import ForestPackingInstance, Stage
from ..outcome import plan_outcome
from ..packing import Pair
from ..subproblems.cut_lp import CutLp
from ..subproblems.load_decomposition import pack_found_loads
from ..subproblems.price_oracles import FoundTree, UndirectedOracle, make_oracle
from ..subproblems.rational_duals import cut_certificate, singletons_certificate
from ..subproblems.separation import Separator
from ..subproblems.tree_master import ExactPacking
from .column_generation import pack_trees, packed_again

#: A rate below this part of its scale is a rounding error of 0.
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
        When the time is up, the last solution's duals still give a bound, and the trees found so
        far a plan.
    rng : numpy.random.Generator
        Not used.
    trees : bool, default True
        If True, decompose the loads into trees; if False, return a bound and no plan.

    Raises
    ------
    ModelRefused
        If switches copy and sum.
    """
    if instance.in_network:
        raise ModelRefused(
            "cut_generation assumes switches that only forward; where they copy and sum "
            "(in_network), its cuts without balances are only a relaxation"
        )
    clock = Clock(limits)
    with clock.phase("model"):
        lp = CutLp(instance)
    trace: list[TracePoint] = []
    rounds, limit_hit = _generate(lp, clock, trace)
    with clock.phase("certificate"):
        certificate = cut_certificate(instance, lp.multipliers()) if lp.solved else None
        certificate = certificate or singletons_certificate(instance)
        bound = check_bound(instance, certificate)
    pairs: list[Pair] | None = None
    if trees:
        pairs = []
        if lp.solved and lp.rate > NO_RATE * lp.scale:
            with clock.phase("trees"):
                found, rates, stopped, exact = _trees(instance, lp, clock.limits())
                if exact is None:
                    found, rates, exact = packed_again(instance, found, rates, clock.limits())
            limit_hit = limit_hit or stopped
            with clock.phase("exact plan"):
                pairs = exact_plan(instance, found, rates, bound, exact)
    return plan_outcome(
        instance,
        pairs,
        certificate=certificate,
        limit_hit=limit_hit,
        trace=tuple(trace),
        phases_s=clock.phases_s,
        notes={"rounds": rounds, "cuts": lp.num_cuts},
    )


def _generate(lp: CutLp, clock: Clock, trace: list[TracePoint]) -> tuple[int, str | None]:
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
        with clock.phase("solve"):
            status = lp.solve(clock.limits())
        if status is not Status.OPTIMAL:
            return rounds, lp.limit_hit
        rounds += 1
        trace.append(TracePoint(clock.elapsed_s, None, lp.rate))
        new = []
        with clock.phase("separation"):
            for stage, separator in separators.items():
                violated = separator.violated(lp.loads(stage), lp.root_rates, lp.rate)
                new += [(stage, inside) for inside in violated]
        if clock.expired:
            return rounds, "time_s"
    return rounds, None


def _trees(
    instance: ForestPackingInstance, lp: CutLp, limits: Limits
) -> tuple[list[FoundTree], Floats, str | None, ExactPacking | None]:
    """Return trees of the rate, their rates in GB/s, the limit that was hit, and exact rates."""
    if isinstance(make_oracle(instance), UndirectedOracle):
        _, found = pack_trees(instance, limits, upper=lp.rate)
        return found.trees, found.rates, found.limit_hit, found.exact
    clock = Clock(limits)
    packed = []
    for k, stage in enumerate(instance.stages):
        # The remaining time is shared by the remaining stages.
        rest = clock.limits(part=1 / (len(instance.stages) - k))
        packed.append(pack_found_loads(instance, stage, lp.loads(stage), lp.root_rates, rest))
    return (
        [tree for found in packed for tree in found.trees],
        np.concatenate([found.rates for found in packed]),
        next((found.limit_hit for found in packed if found.limit_hit), None),
        None,
    )
