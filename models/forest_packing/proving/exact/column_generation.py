r"""Column generation on the tree-pair LP: explicit optimal trees.

Algorithm A3. Columns are undirected trees where the network lets each be used in both directions
(F5; over the closure of switches F7.3), else in-trees and out-trees (F1), each over cheapest paths
through switches. Instances on which trees peeled off in integers are found sooner are handed over.
"""

from __future__ import annotations

from dataclasses import replace

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.compiled import COMPILED
from gadgetopt.search.clock import Clock
from gadgetopt.search.watched import watched_stage
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import ForestPackingInstance
from ...subproblems.cable_trees import out_of_scope
from ...subproblems.price_oracles import (
    RootedOracle,
    make_oracle,
)
from ..certificate.check import check_bound
from ..proved_outcome import proved_outcome
from .arborescence_packing import arborescence_packing
from .cut_generation import cut_generation
from .tree_columns import (
    WARM_STARTS,
    WarmStart,
    pack_trees,
    packing_certificate,
)
from .tree_plans import exact_plan

#: Part of the time that cut generation has before columns take over again.
#: Tuned: `benchmarks/constants.py`.
CUTS_PART = 0.75
#: Most numbers of a flow to every worker with which edge splitting is faster than columns.
#: Tuned: `benchmarks/constants.py`.
MOST_SPLIT = 100_000


def _successor(instance: ForestPackingInstance) -> str | None:
    """Return the method that is faster on an instance, None if columns are.

    Integers peeled off cables, or off the loads of the cut LP, are faster on dense networks without
    switches, and no more than fractions of a second slower on sparse half-duplex ones. Over
    switches columns are where undirected trees suffice, and where there is much to split off
    (`benchmarks/forest_packing_trees.toml`, `benchmarks/forest_packing_dense.toml`).
    """
    if not COMPILED:
        return None
    if out_of_scope(instance) is None:
        return "arborescence_packing"
    network = instance.network
    if not network.switches:
        return "cut_generation" if network.rows else None
    flows = network.num_workers * (network.num_nodes + 1) ** 2
    if flows <= MOST_SPLIT and isinstance(make_oracle(instance), RootedOracle):
        return "cut_generation"
    return None


def _handed_over(
    instance: ForestPackingInstance, limits: Limits, clock: Clock
) -> MethodOutcome | None:
    """Return the outcome of the faster method, None if there is none or it refuses."""
    successor = _successor(instance)
    if successor is None:
        return None
    if successor == "cut_generation":
        outcome = cut_generation(instance, watched_stage(limits, clock.limits(part=CUTS_PART)))
    else:
        try:
            outcome = arborescence_packing(instance, clock.limits())
        except ModelRefused:  # numbers of more than 61 bits
            return None
    return replace(outcome, notes={**outcome.notes, "handed_over": successor})


@method(kind="exact", reference="F1, F5, F7.3; A3", formulation="tree_pairs", backend="highs")
def column_generation(
    instance: ForestPackingInstance,
    limits: Limits,
    *,
    smoothing: float = 0.8,
    warm_start: WarmStart = "balanced",
    hand_over: bool = True,
) -> MethodOutcome:
    """Trees priced by spanning trees or arborescences, smoothed.

    Return optimal trees with rates, and prices that certify the rate (A3).

    Parameters
    ----------
    instance : ForestPackingInstance
    limits : Limits
    smoothing : float
        Weight of the best prices so far in the prices of a round, 0 <= smoothing < 1.
    warm_start : str
        Where the first trees come from: "balanced" (a greedy packing with balanced loads),
        "garg_koenemann" (A1) or "none".
    hand_over : bool
        Whether instances on which another method is faster are left to it where loops are
        compiled: cables to `arborescence_packing`, other networks without switches to
        `cut_generation`, and with switches where trees are directed and there is little to split
        off. If that takes three quarters of the time, columns have the rest.

    Returns
    -------
    MethodOutcome
        Rate and bound are equal as fractions, unless a limit was hit or a vertex is not found in
        rational numbers; then they agree to 1e-9. On a network that does not connect its workers
        the empty plan.

    Raises
    ------
    ModelRefused
        If switches copy and sum, or a parameter has another value.
    """
    if instance.in_network:
        raise ModelRefused(
            "column_generation assumes switches that only forward; where they copy and sum "
            "(in_network), pricing is a Steiner tree problem: use forest_packing"
        )
    if not 0 <= smoothing < 1:
        raise ModelRefused(f"smoothing: {smoothing}, expected at least 0 and below 1")
    if warm_start not in WARM_STARTS:
        raise ModelRefused(f"warm_start: {warm_start!r} is not one of {', '.join(WARM_STARTS)}")
    clock = Clock(limits)
    first = _handed_over(instance, limits, clock) if hand_over else None
    if first is not None and (first.limit_hit != "time_s" or clock.expired):
        return first
    outcome = _by_columns(instance, watched_stage(limits, clock.limits()), smoothing, warm_start)
    return outcome if first is None else _better(first, outcome)


def _by_columns(
    instance: ForestPackingInstance, limits: Limits, smoothing: float, warm_start: WarmStart
) -> MethodOutcome:
    oracle, found = pack_trees(instance, limits, smoothing=smoothing, warm_start=warm_start)
    clock = Clock()
    if found.bound == 0.0:
        return proved_outcome(
            instance,
            [],
            certificate=packing_certificate(instance, oracle, found),
            notes={"disconnected": True},
        )
    with clock.phase("certificate"):
        certificate = packing_certificate(instance, oracle, found)
    with clock.phase("exact plan"):
        bound = check_bound(instance, certificate)
        pairs = exact_plan(instance, found.trees, found.rates, bound, exact=found.exact)
    return proved_outcome(
        instance,
        pairs,
        certificate=certificate,
        limit_hit=found.limit_hit,
        trace=tuple(found.trace),
        phases_s={**found.phases_s, **clock.phases_s},
        notes={"trees_generated": len(found.trees), "rounds": found.rounds},
    )


def _better(first: MethodOutcome, second: MethodOutcome) -> MethodOutcome:
    """Return the second outcome with the first one's plan or bound where that is better."""
    assert second.dual_bound is not None
    if first.dual_bound is not None and first.dual_bound < second.dual_bound:
        second = replace(second, dual_bound=first.dual_bound, certificate=first.certificate)
    if (first.claimed_objective or 0) > (second.claimed_objective or 0):
        second = replace(second, solution=first.solution, claimed_objective=first.claimed_objective)
    if second.claimed_objective == second.dual_bound:
        return replace(second, limit_hit=None)
    return second
