r"""Column generation on the tree-pair LP: explicit optimal trees.

Algorithm A3. Columns are undirected trees where the network lets each be used in both directions
(F5; over the closure of switches F7.3), else in-trees and out-trees (F1), each over cheapest paths
through switches.
"""

from __future__ import annotations

import math

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.multiplicative_weights import pack_columns
from ..algorithms.tree_plans import exact_plan
from ..certificate import ForestPackingCertificate, Prices, check_bound
from ..instance import ForestPackingInstance
from ..outcome import plan_outcome
from ..packing import required_shares
from ..subproblems.price_oracles import Oracle, UndirectedOracle, make_oracle
from ..subproblems.rational_duals import price_certificate, singletons_certificate
from ..subproblems.tree_generation import (
    Generated,
    Start,
    balanced_start,
    generate_trees,
    no_start,
)
from ..subproblems.tree_master import TreeMaster

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
) -> tuple[Oracle, Generated]:
    """Return an optimal packing of trees in floating point, and the oracle that found them."""
    oracle = make_oracle(instance)
    if not instance.network.rows:  # no links, no trees
        return oracle, Generated([], np.zeros(0), 0.0, 0.0, None)
    shares = required_shares(instance)
    undirected = isinstance(oracle, UndirectedOracle)
    master = TreeMaster(
        oracle,
        instance.stages,
        instance.network.num_workers,
        "any" if undirected else "free" if shares is None else shares,
    )
    start = WARM_STARTS[warm_start]
    return oracle, generate_trees(
        oracle, master, limits, warm_start=start, smoothing=smoothing, upper=upper
    )


def column_generation(
    instance: ForestPackingInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    smoothing: float = 0.8,
    warm_start: str = "balanced",
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
    oracle, found = pack_trees(instance, limits, smoothing=smoothing, warm_start=warm_start)
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
        certificate = (
            None
            if found.prices is None
            else price_certificate(instance, oracle.row_prices(found.prices))
        )
        certificate = certificate or singletons_certificate(instance)
    with clock.phase("exact plan"):
        bound = check_bound(instance, certificate)
        pairs = exact_plan(instance, found.trees, found.rates, bound)
    return plan_outcome(
        instance,
        pairs,
        certificate=certificate,
        limit_hit=found.limit_hit,
        trace=tuple(found.trace),
        phases_s={**found.phases_s, **clock.phases_s},
        notes={"trees_generated": len(found.trees), "rounds": found.rounds},
    )
