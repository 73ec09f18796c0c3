r"""Column generation on the tree-pair LP: explicit optimal trees.

Algorithm A3. Columns are undirected trees where the network lets each be used in both directions
(F5; over the closure of switches F7.3), else in-trees and out-trees (F1), each over cheapest paths
through switches.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.compiled import COMPILED
from gadgetopt.pieces.graphs.arborescence_peeling import compile_loops
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ..algorithms.cable_trees import out_of_scope
from ..algorithms.multiplicative_weights import pack_columns
from ..algorithms.tree_plans import exact_plan
from ..certificate import ForestPackingCertificate, Prices, check_bound
from ..instance import ForestPackingInstance
from ..outcome import plan_outcome
from ..packing import required_shares
from ..subproblems.price_oracles import (
    FoundTree,
    Oracle,
    RootedOracle,
    UndirectedOracle,
    make_oracle,
)
from ..subproblems.rational_duals import (
    best_certificate,
    price_certificate,
    prices_written,
    singletons_certificate,
)
from ..subproblems.tree_generation import (
    Generated,
    Start,
    balanced_start,
    generate_trees,
    no_start,
)
from ..subproblems.tree_master import ExactPacking, TreeMaster
from .arborescence_packing import arborescence_packing

#: Accuracy to which Garg and Koenemann's scheme is run for its trees.
START_EPS = 0.1
START_GAP = 0.02


def garg_koenemann_start(oracle: Oracle, limits: Limits) -> Start:
    """Return the trees of A1, run with eps 0.1 until its rate is within 2 % of its bound."""
    found = pack_columns(
        oracle, Clock(limits).limits(part=0.5), eps=START_EPS, target_gap=START_GAP
    )
    return Start(found.trees, found.amounts, found.prices, found.bound)


WARM_STARTS = {
    "balanced": balanced_start,
    "garg_koenemann": garg_koenemann_start,
    "none": no_start,
}


def pack_trees(
    instance: ForestPackingInstance,
    limits: Limits,
    *,
    smoothing: float = 0.8,
    warm_start: str = "balanced",
    upper: float = math.inf,
) -> tuple[UndirectedOracle | RootedOracle, Generated]:
    """Return an optimal packing of trees, and the oracle that found them.

    Its rates are in floating point; those of its `exact` packing, if there is one, are rational.
    """
    if not instance.network.rows:  # no links, no trees
        return make_oracle(instance), Generated([], np.zeros(0), 0.0, 0.0, None)
    oracle, master = _master(instance)
    start = WARM_STARTS[warm_start]
    found = generate_trees(
        oracle, master, limits, warm_start=start, smoothing=smoothing, upper=upper
    )
    if found.limit_hit is None and found.bound > 0:
        clock = Clock()
        with clock.phase("exact vertex"):
            found.trees = master.trees
            found.exact = master.exact_optimum(oracle.exact_capacity)
        found.phases_s.update(clock.phases_s)
    return oracle, found


def _master(
    instance: ForestPackingInstance,
) -> tuple[UndirectedOracle | RootedOracle, TreeMaster]:
    oracle = make_oracle(instance)
    shares = required_shares(instance)
    undirected = isinstance(oracle, UndirectedOracle)
    master = TreeMaster(
        oracle,
        instance.stages,
        instance.network.num_workers,
        "any" if undirected else "free" if shares is None else shares,
    )
    return oracle, master


def packed_again(
    instance: ForestPackingInstance, trees: list[FoundTree], rates: Floats, limits: Limits
) -> tuple[list[FoundTree], Floats, ExactPacking | None]:
    """Return the best rational rates of given trees; the given rates if these are not found."""
    oracle, master = _master(instance)
    master.add(trees)
    if master.solve(limits) is not Status.OPTIMAL:
        return trees, rates, None
    return master.trees, master.rates, master.exact_optimum(oracle.exact_capacity)


def _certificate(
    instance: ForestPackingInstance, oracle: UndirectedOracle | RootedOracle, found: Generated
) -> ForestPackingCertificate:
    """Return the certificate of the lowest bound."""
    candidates = []
    if found.exact is not None:
        exact = prices_written(instance, oracle.exact_row_prices(found.exact.prices))
        if check_bound(instance, exact) == found.exact.rate:
            return exact
        candidates.append(exact)
    if found.prices is not None:
        rounded = price_certificate(instance, oracle.row_prices(found.prices))
        candidates += [rounded] if rounded else []
    return best_certificate(instance, candidates) or singletons_certificate(instance)


def prepare(instance: ForestPackingInstance) -> None:
    """Compile the loops of `arborescence_packing` where it takes over."""
    if _is_peeled(instance):
        compile_loops()


def _is_peeled(instance: ForestPackingInstance) -> bool:
    """Return True if `arborescence_packing` serves an instance, and fast."""
    return COMPILED and out_of_scope(instance) is None


def column_generation(
    instance: ForestPackingInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    smoothing: float = 0.8,
    warm_start: str = "balanced",
    hand_over: bool = True,
) -> MethodOutcome:
    """Return optimal trees with rates, and prices that certify the rate (A3).

    Parameters
    ----------
    instance : ForestPackingInstance
    limits : Limits
    rng : numpy.random.Generator
        Not used.
    smoothing : float
        Weight of the best prices so far in the prices of a round, 0 <= smoothing < 1.
    warm_start : str
        Where the first trees come from: "balanced" (a greedy packing with balanced loads),
        "garg_koenemann" (A1) or "none".
    hand_over : bool
        Whether an instance that `arborescence_packing` serves is left to it where loops are
        compiled: it is faster, and needs fewer trees.

    Returns
    -------
    MethodOutcome
        A plan that is within 1e-9 of the certified bound, relatively, unless a limit was hit. On a
        network that does not connect its workers the empty plan.

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
    if hand_over and _is_peeled(instance):
        with suppress(ModelRefused):  # numbers of more than 61 bits
            outcome = arborescence_packing(instance, limits, rng)
            return replace(outcome, notes={**outcome.notes, "handed_over": "arborescence_packing"})
    oracle, found = pack_trees(instance, clock.limits(), smoothing=smoothing, warm_start=warm_start)
    clock = Clock()
    if found.bound == 0.0:
        return plan_outcome(
            instance,
            [],
            # At any prices there is no tree that spans the workers.
            certificate=ForestPackingCertificate(proof=Prices()),
            notes={"disconnected": True},
        )
    with clock.phase("certificate"):
        certificate = _certificate(instance, oracle, found)
    with clock.phase("exact plan"):
        bound = check_bound(instance, certificate)
        pairs = exact_plan(instance, found.trees, found.rates, bound, exact=found.exact)
    return plan_outcome(
        instance,
        pairs,
        certificate=certificate,
        limit_hit=found.limit_hit,
        trace=tuple(found.trace),
        phases_s={**found.phases_s, **clock.phases_s},
        notes={"trees_generated": len(found.trees), "rounds": found.rounds},
    )
