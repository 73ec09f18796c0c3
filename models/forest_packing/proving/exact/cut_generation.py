r"""Cut generation: solve the cut LP with violated cuts only, then decompose its loads into trees.

Algorithm A3 on formulation F3. Begin with the cuts of single workers; solve; add the cuts that the
solution violates; repeat. The duals of every solution prove an upper bound on the rate.

At the end loads, rates and duals are solved in rational numbers from the basis, and separated once
more without a tolerance. The loads are then cut into integer trees (`exact_trees`), so that rate
and bound are equal as fractions. Where numbers pass 64 bits the loads are decomposed by columns
(`load_decomposition`); where undirected trees suffice (F5), these are generated with the rate known
beforehand.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Bools, Floats
from gadgetopt.search.clock import Clock
from gadgetopt.search.watched import Trace
from gadgetopt.system.declaring import method
from gadgetopt.system.result import (
    Limits,
    MethodOutcome,
    Status,
)

from ...instance import (
    ForestPackingCertificate,
    ForestPackingInstance,
    Stage,
)
from ...packing import (
    Pair,
    fit,
    total_rate,
)
from ...subproblems.arc_loads.cut_lp import CutLp
from ...subproblems.arc_loads.exact_loads import (
    ExactLoads,
    ExactMultipliers,
    exact_optimum,
)
from ...subproblems.arc_loads.exact_trees import pack_exactly
from ...subproblems.arc_loads.load_decomposition import pack_found_loads
from ...subproblems.price_oracles import (
    FoundTree,
    UndirectedOracle,
    make_oracle,
)
from ...subproblems.tree_master import ExactPacking
from ..certificate.check import check_bound
from ..proved_outcome import proved_outcome
from .rational_duals import (
    best_certificate,
    cut_certificate,
    cuts_written,
    singletons_certificate,
)
from .separation import Separator
from .tree_columns import (
    pack_trees,
    packed_again,
    packing_certificate,
)
from .tree_plans import exact_plan

#: A rate below this part of its scale is a rounding error of 0. Tuned: `benchmarks/constants.py`.
NO_RATE = 1e-11


@method(kind="exact", reference="F3, A3", formulation="cuts", backend="highs")
def cut_generation(
    instance: ForestPackingInstance,
    limits: Limits,
    *,
    trees: bool = True,
) -> MethodOutcome:
    """Cuts separated by maximum flows, then trees peeled off the loads in integers.

    Return the optimal rate's certificate, a rational cut family (F3), and optimal trees (A3).

    Parameters
    ----------
    instance : ForestPackingInstance
    limits : Limits
        When the time is up, the last solution's duals still give a bound, and the trees found so
        far a plan.
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
    # No `Search`: there is no plan before the end, and bounds are floats until their certificate.
    trace = Trace(limits, clock)
    single = np.eye(instance.network.num_workers, instance.network.num_nodes, dtype=bool)
    first = [(stage, row) for stage in lp.stages for row in single]
    rounds, limit_hit = _generate(lp, clock, trace, first)
    exact = None
    if lp.solved and limit_hit is None and lp.rate > NO_RATE * lp.scale:
        exact, more, limit_hit = _exact_optimum(lp, clock, trace)
        rounds += more
    with clock.phase("certificate"):
        certificate = _certificate(instance, lp, exact)
        bound = check_bound(instance, certificate)
    pairs: list[Pair] | None = None
    if trees:
        pairs, stopped = _plan(instance, lp, exact, bound, clock)
        limit_hit = limit_hit or stopped
        if limit_hit is None and total_rate(pairs) != bound:
            pairs, certificate, limit_hit = _by_columns(instance, pairs, certificate, clock)
    return proved_outcome(
        instance,
        pairs,
        certificate=certificate,
        limit_hit=limit_hit,
        trace=tuple(trace.points),
        phases_s=clock.phases_s,
        notes={"rounds": rounds, "cuts": lp.num_cuts},
    )


def _exact_optimum(
    lp: CutLp, clock: Clock, trace: Trace
) -> tuple[tuple[ExactLoads, ExactMultipliers] | None, int, str | None]:
    """Return the optimum in rational numbers, more rounds that it took, and a limit that was hit.

    None if it is not found, or cuts are violated that the solver holds to be satisfied.
    """
    separators = _separators(lp)
    rounds = 0
    while True:
        with clock.phase("exact vertex"):
            found = exact_optimum(lp)
        if found is None:
            return None, rounds, None
        loads = found[0]
        with clock.phase("separation"):
            new = [
                (stage, inside)
                for stage, separator in separators.items()
                for inside in separator.violated_exactly(
                    loads.loads[stage], loads.roots, loads.rate
                )
            ]
        if not new:
            return found, rounds, None
        if clock.expired:
            return None, rounds, "time_s"
        more, limit_hit = _generate(lp, clock, trace, new)
        rounds += more
        if more == 0 or limit_hit is not None:
            return None, rounds, limit_hit


def _certificate(
    instance: ForestPackingInstance,
    lp: CutLp,
    exact: tuple[ExactLoads, ExactMultipliers] | None,
) -> ForestPackingCertificate:
    """Return the certificate of the exact duals if they prove the exact rate, else the best one."""
    candidates = []
    if exact is not None:
        loads, duals = exact
        certificate = cuts_written(instance, duals.cuts, duals.potentials, duals.prices)
        if check_bound(instance, certificate) == loads.rate * loads.unit:
            return certificate
        candidates.append(certificate)
    rounded = cut_certificate(instance, lp.multipliers()) if lp.solved else None
    candidates += [rounded] if rounded else []
    return best_certificate(instance, candidates) or singletons_certificate(instance)


def _plan(
    instance: ForestPackingInstance,
    lp: CutLp,
    exact: tuple[ExactLoads, ExactMultipliers] | None,
    bound: Fraction | None,
    clock: Clock,
) -> tuple[list[Pair], str | None]:
    """Return trees of the rate, and the limit that was hit."""
    if not lp.solved or lp.rate <= NO_RATE * lp.scale:
        return [], None
    if exact is not None:
        with clock.phase("trees"):
            # Switches may prove too many to be split off.
            part = 0.5 if instance.network.switches else 1.0
            own = Clock(clock.limits(part))
            peeled = pack_exactly(instance, exact[0], own, mirrored=lp.mirrored)
        if peeled is not None:
            with clock.phase("exact plan"):
                pairs = fit(instance, peeled[0])
            if not peeled[1]:
                return pairs, "time_s"
            if total_rate(pairs) == bound:
                return pairs, None
    with clock.phase("trees"):
        found, rates, stopped, packing = _trees(instance, lp, clock.limits())
        if packing is None:
            found, rates, packing = packed_again(instance, found, rates, clock.limits())
    with clock.phase("exact plan"):
        pairs = exact_plan(instance, found, rates, bound, packing)
    return pairs, stopped


def _by_columns(
    instance: ForestPackingInstance,
    pairs: list[Pair],
    certificate: ForestPackingCertificate,
    clock: Clock,
) -> tuple[list[Pair], ForestPackingCertificate, str | None]:
    """Return the better plan and bound of those given and those of columns on the network itself.

    Where capacities are far apart in size a basis of the cut LP may be optimal only within the
    solver's tolerances; one of the tree-pair LP then rarely is.
    """
    with clock.phase("trees"):
        oracle, found = pack_trees(instance, clock.limits())
    other = packing_certificate(instance, oracle, found)
    best = best_certificate(instance, [certificate, other]) or certificate
    with clock.phase("exact plan"):
        bound = check_bound(instance, best)
        again = exact_plan(instance, found.trees, found.rates, bound, found.exact)
    return max(pairs, again, key=total_rate), best, found.limit_hit


def _separators(lp: CutLp) -> dict[Stage, Separator]:
    network = lp.network
    return {
        stage: Separator(network.num_nodes, network.num_workers, lp.tails[stage], lp.heads[stage])
        for stage in lp.stages
    }


def _generate(
    lp: CutLp, clock: Clock, trace: Trace, new: list[tuple[Stage, Bools]]
) -> tuple[int, str | None]:
    """Add cuts, solve and separate until none is violated; return the rounds and the limit hit."""
    separators = _separators(lp)
    rounds = 0
    while lp.add_cuts(new):
        with clock.phase("solve"):
            status = lp.solve(clock.limits())
        if status is not Status.OPTIMAL:
            return rounds, lp.limit_hit
        rounds += 1
        trace.note(None, lp.rate)
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
