"""Column generation on the tree-pair LP, and its optimum in rational numbers (A3)."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, Status

from ...algorithms.multiplicative_weights import pack_columns
from ...instance import ForestPackingCertificate, ForestPackingInstance, Prices
from ...packing import required_shares
from ...subproblems.price_certificates import prices_written, rounded_prices
from ...subproblems.price_oracles import (
    FoundTree,
    Oracle,
    RootedOracle,
    UndirectedOracle,
    make_oracle,
)
from ...subproblems.tree_generation import (
    Generated,
    Start,
    balanced_start,
    generate_trees,
    no_start,
)
from ...subproblems.tree_master import (
    ExactPacking,
    TreeMaster,
)
from ..certificate.check import check_bound
from .rational_duals import best_certificate, singletons_certificate

#: Accuracy to which Garg and Koenemann's scheme is run for its trees.
#: Tuned: `benchmarks/constants.py`.
START_EPS = 0.1
START_GAP = 0.02


def garg_koenemann_start(oracle: Oracle, limits: Limits) -> Start:
    """Return the trees of A1, run with eps 0.1 until its rate is within 2 % of its bound."""
    found = pack_columns(
        oracle, Clock(limits).limits(part=0.5), eps=START_EPS, target_gap=START_GAP
    )
    return Start(found.trees, found.amounts, found.prices, found.bound)


WarmStart = Literal["balanced", "garg_koenemann", "none"]

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
    warm_start: WarmStart = "balanced",
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


def packing_certificate(
    instance: ForestPackingInstance, oracle: UndirectedOracle | RootedOracle, found: Generated
) -> ForestPackingCertificate:
    """Return the certificate of the lowest bound; no trees span the workers if that is 0."""
    if found.bound == 0.0:
        return ForestPackingCertificate(proof=Prices())  # whatever the prices
    candidates = []
    if found.exact is not None:
        exact = ForestPackingCertificate(
            proof=prices_written(instance, oracle.exact_row_prices(found.exact.prices))
        )
        if check_bound(instance, exact) == found.exact.rate:
            return exact
        candidates.append(exact)
    if found.prices is not None:
        prices, optimal = oracle.row_prices(found.prices), found.limit_hit is None
        rounded = rounded_prices(instance, prices, optimal=optimal)
        candidates += [rounded.certificate] if rounded else []
    return best_certificate(instance, candidates) or singletons_certificate(instance)
