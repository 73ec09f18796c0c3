r"""Near-optimal forest packing by multiplicative weights, with a plan and its certificate.

Algorithm A1, with the schedule of A2. The paper's own approximation is not known to us; this one is
reconstructed. It repeatedly reserves rate for a cheapest tree under prices that grow with the load.
Every price vector on the way proves a bound, :math:`R^* \le \sum_i c_i y_i / \pi(y)`.
"""

from __future__ import annotations

import numpy as np

from gadgetopt.search.clock import Clock
from gadgetopt.search.watched import watched_stage
from gadgetopt.system.declaring import method
from gadgetopt.system.result import (
    Limits,
    MethodOutcome,
    Status,
    TracePoint,
)

from ..instance import ForestPackingInstance
from ..outcome import plan_outcome
from ..packing import required_shares, total_rate
from ..subproblems.price_oracles import Oracle, make_oracle
from ..subproblems.tree_master import Roots, TreeMaster
from .exact_plans import (
    RatedTrees,
    disconnection,
    exact_pairs,
    prove,
    pruned,
)
from .multiplicative_weights import Packing, pack_columns
from .schedule import best_chunks, phases, pipeline_notes

#: Entries of the LP over all trees found up to which it is solved; else it takes the heaviest.
#: Tuned: `benchmarks/constants.py`.
_LP_ENTRIES = 50_000
#: Trees the LP starts with if it cannot take all. Tuned: `benchmarks/constants.py`.
_LP_TREES = 100
#: Part of the time limit that the packing may take if the LP follows.
#: Tuned: `benchmarks/constants.py`.
_PACKING_PART = 0.6
#: Relative differences of rates in floating point that do not count.
#: Tuned: `benchmarks/constants.py`.
_NOISE = 1e-9
#: Part of the rate that is enough for the LP's few trees when the time is up.
#: Tuned: `benchmarks/constants.py`.
_LEAST_IN_HASTE = 0.9


@method(kind="approximation", reference="A1, A2")
def forest_packing(
    instance: ForestPackingInstance,
    limits: Limits,
    *,
    eps: float = 0.1,
    prune: float = 1e-3,
) -> MethodOutcome:
    r"""Near-optimal packing by multiplicative weights (reconstructed).

    Return trees of total rate :math:`R \ge (1-\varepsilon)^2 (1-\eta) R^*` (T4), and a bound.

    Our reading of the paper's near-optimal packing (reconstructed): algorithm A1, then A2. The
    trees of A1 and their roots are those of `plain`, tested. They get their best rates together
    (the LP (F1) on these columns, A2.1); on large networks the LP takes the trees of the largest
    rates, as many as are needed to keep the rate, which leaves far fewer trees.

    Parameters
    ----------
    instance : ForestPackingInstance
    limits : Limits
        `time_s` ends the packing early; plan and bound are then those found so far.
    eps : float, default 0.1
        Accuracy, 0 < eps < 1.
    prune : float, default 1e-3
        :math:`\eta`: the trees of the smallest rates are dropped as long as they carry no more than
        this part of the rate together. (A2.1 drops every tree below this part, which together may
        be more; the ratio would not hold.)

    Returns
    -------
    MethodOutcome
        With a certificate of prices. The trace has the rate and the bound of each iteration that
        reduced the gap by two per cent or more.

    Raises
    ------
    ValueError
        If `eps` is not between 0 and 1, or `prune` not in [0, 1).
    ModelRefused
        If switches copy and sum for more than ten workers.

    Notes
    -----
    :math:`O(\varepsilon^{-2} M \log M)` oracle calls for M rows.
    """
    return polished_packing(instance, limits, eps=eps, target_gap=0.0, prune=prune)


def polished_packing(
    instance: ForestPackingInstance, limits: Limits, *, eps: float, target_gap: float, prune: float
) -> MethodOutcome:
    """Return the plan of A1, which may stop at a gap, and A2.

    Raises
    ------
    ValueError
        If `eps` is not between 0 and 1, or `prune` not in [0, 1).
    """
    if not 0 <= prune < 1:
        raise ValueError(f"prune: {prune} is not in [0, 1)")
    clock = Clock(limits)
    with clock.phase("packing"):
        oracle = make_oracle(instance)
        packing = packed(
            oracle, watched_stage(limits, clock.limits(part=_PACKING_PART)), eps, target_gap
        )
    plan = RatedTrees(packing.trees, np.array(packing.amounts) / (packing.rho or 1.0))
    if packing.trees:
        with clock.phase("polish"):
            plan = _polished(instance, oracle, packing, clock.limits(), plan)
    return scheduled(instance, oracle, packing, pruned(plan, prune), clock, fill=True)


def packed(oracle: Oracle, limits: Limits, eps: float, target_gap: float | None) -> Packing:
    """Return the trees of A1 with their rates and the best prices.

    Raises
    ------
    ValueError
        If `eps` is not between 0 and 1.
    """
    if not 0 < eps < 1:
        raise ValueError(f"eps: {eps} is not between 0 and 1")
    return pack_columns(oracle, limits, eps=eps, target_gap=target_gap)


def scheduled(
    instance: ForestPackingInstance,
    oracle: Oracle,
    packing: Packing,
    plan: RatedTrees,
    clock: Clock,
    *,
    fill: bool,
) -> MethodOutcome:
    """Return a plan with its schedule (A2) and the certificate of the packing's best prices.

    Parameters
    ----------
    fill : bool
        Scale the rates until the fullest row is full.
    """
    with clock.phase("plan"):
        pairs = exact_pairs(instance, plan, fill=fill)
    with clock.phase("schedule"):
        pipelines = phases(instance, pairs)
        chunks = best_chunks(pipelines, instance.hop_latency_s)
    with clock.phase("certificate"):
        proved = prove(instance, oracle, packing.prices)
    notes: dict[str, object] = {
        "iterations": packing.iterations,
        "iterations_bound": packing.iterations_bound,
        "trees_found": len(packing.trees),
        "pairs": len(pairs),
        **pipeline_notes(pipelines, chunks, instance.hop_latency_s),
    }
    if not packing.trees:
        notes["disconnected"] = disconnection(instance.network)
    outcome = plan_outcome(
        instance,
        pairs,
        certificate=None if proved is None else proved.certificate,
        dual_bound=None if proved is None else proved.bound,
        chunks=chunks,
        limit_hit=packing.limit_hit,
        notes=notes,
        phases_s=clock.phases_s,
    )
    last = TracePoint(clock.elapsed_s, total_rate(pairs), outcome.dual_bound)
    outcome.trace = (*packing.trace, last)
    return outcome


def collect_trees(
    instance: ForestPackingInstance, eps: float, target_gap: float, limits: Limits
) -> Packing:
    """Return the trees that the packing finds, with rates, prices and bound: a warm start (A1)."""
    return pack_columns(make_oracle(instance), limits, eps=eps, target_gap=target_gap)


# -- best rates of the trees found -------------------------------------------------------------


def _polished(
    instance: ForestPackingInstance,
    oracle: Oracle,
    packing: Packing,
    limits: Limits,
    plan: RatedTrees,
) -> RatedTrees:
    """Return the LP's rates of the trees found, or `plan` if there is no time for them.

    Keeps the LP's prices in `packing` if they prove a lower bound.
    """
    clock = Clock(limits)
    heaviest = sorted(range(len(plan.trees)), key=lambda k: (-plan.rates[k], k))
    entries = sum(len(tree.elements) for tree in plan.trees)
    number = len(heaviest) if entries <= _LP_ENTRIES else _LP_TREES
    roots: Roots = "any" if plan.trees[0].stage is None else required_shares(instance) or "free"
    master = TreeMaster(oracle, instance.stages, instance.network.num_workers, roots)
    fewer, rate = plan, 0.0
    while True:
        master.add(plan.trees[k] for k in heaviest[:number])
        status = master.solve(clock.limits())
        if status in (Status.OPTIMAL, Status.FEASIBLE):
            fewer, rate = RatedTrees(master.trees, master.rates), master.rate
        if (
            status is not Status.OPTIMAL
            or rate >= packing.rate * (1 - _NOISE)
            or number >= len(heaviest)
        ):
            break
        number *= 2
    least = 1 - _NOISE
    if status is Status.OPTIMAL:
        column = oracle(master.prices)
        if column is not None and column.price > 0 and 1 / column.price < packing.bound:
            packing.bound, packing.prices = 1 / column.price, master.prices
    else:
        packing.limit_hit = packing.limit_hit or master.limit_hit
        # A plan of thousands of large trees would take longer to write down than the limit allows.
        least = _LEAST_IN_HASTE if entries > _LP_ENTRIES else least
    return fewer if rate >= packing.rate * least else plan
