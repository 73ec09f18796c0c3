r"""Trees from one GPU, reduced to a few, in the manner of Blink.

1. The packing scheme A1 collects spanning trees rooted at one worker: undirected trees that
   reduce towards it and broadcast away from it, or trees of the one stage that there is.
2. The best rate :math:`\hat R` of these trees is a linear program.
3. As few of them as reach :math:`(1 - \eta) \hat R` are kept (F8e), eta = 0.05.

Blink's scheme for several servers (reduce inside, exchange across, broadcast inside) is left out:
an instance does not say which workers share a server. Servers that are linked are packed like any
other network.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.solvers import seed_of
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ..algorithms.exact_plans import (
    RatedTrees,
    disconnection,
    exact_pairs,
    pruned,
)
from ..algorithms.forest_packing import collect_trees
from ..instance import ForestPackingInstance
from ..outcome import plan_outcome
from ..packing import Pair, required_shares
from ..subproblems.fewest_trees import Fewest, fewest_trees
from ..subproblems.price_oracles import FoundTree, UndirectedOracle, make_oracle
from ..subproblems.roots import directed_from
from ..subproblems.tree_master import TreeMaster


@method(kind="baseline", reference="Blink; A1, F8e")
def blink(
    instance: ForestPackingInstance,
    limits: Limits,
    *,
    eps: float = 0.1,
    eta: float = 0.05,
    unit_trees: bool = False,
    selection_s: float = 5.0,
) -> MethodOutcome:
    r"""Trees from one GPU, reduced to a few (reconstructed).

    Pack trees from one worker and keep the fewest that reach :math:`(1-\eta)` of their rate.

    A baseline in the manner of Blink (reconstructed).

    Parameters
    ----------
    instance : ForestPackingInstance
        The root is the given one, or the first worker.
    limits : Limits
    eps : float, default 0.1
        Accuracy of the packing scheme.
    eta : float, default 0.05
        Part of the rate that may be lost (reconstructed).
    unit_trees : bool, default False
        If True, rates are multiples of the unit of capacity, as Blink's are. Where no such trees
        reach the target, rates are free.
    selection_s : float, default 5
        Seconds after which the selection stops with its best result. If there is none, the trees of
        the smallest rates are dropped, as long as they carry no more than `eta` of the rate
        together.

    Raises
    ------
    ModelRefused
        If several roots have given shares, stages take turns, or an allreduce's trees cannot be
        used in both directions, as cables differ between them.
    """
    clock = Clock(limits)
    rooted = _rooted(instance)
    root = rooted.network.index[rooted.root] if rooted.root is not None else 0
    packing = collect_trees(rooted, eps, 0.01, clock.limits(part=0.5))
    if not packing.trees:
        return plan_outcome(instance, [], notes={"disconnected": disconnection(instance.network)})
    pairs = [_pair(rooted, tree, root) for tree in packing.trees]
    oracle = make_oracle(rooted)
    undirected = isinstance(oracle, UndirectedOracle)
    master = TreeMaster(
        oracle,
        rooted.stages,
        rooted.network.num_workers,
        "any" if undirected else {root: Fraction(1)},
    )
    master.add(packing.trees)
    status = master.solve(clock.limits())
    plan, rate = RatedTrees(packing.trees, np.array(packing.amounts) / packing.rho), packing.rate
    # An LP that stops early may return a lower rate than the packing it started from.
    if status in (Status.OPTIMAL, Status.FEASIBLE) and master.rate > rate:
        plan, rate = RatedTrees(master.trees, master.rates), master.rate
    best = Fraction(rate)
    packed_s = clock.elapsed_s
    seed = seed_of(fixed_rng())
    target = (1 - Fraction(eta)) * best
    chosen = Fewest([], 0, "time_s")
    for step in [instance.network.unit, None] if unit_trees else [None]:
        if not chosen.pairs and selection_s > 0 and not clock.expired:
            chosen = fewest_trees(
                instance,
                pairs,
                target,
                clock.limits(),
                selection_s=selection_s,
                step=step,
                seed=seed,
            )
    if not chosen.pairs:
        # No selection in time: drop the trees of the smallest rates.
        kept = exact_pairs(rooted, pruned(plan, eta), fill=True)
        chosen = Fewest(kept, 0, "time_s")
    return plan_outcome(
        instance,
        chosen.pairs,
        limit_hit=chosen.limit_hit if limits.time_s is not None else None,
        notes={
            "trees_found": len(pairs),
            "rate_of_all_trees": float(best),
            "trees_kept": len(chosen.pairs),
            "trees_needed_at_least": chosen.at_least,
            "selection_proved": chosen.limit_hit is None,
        },
        phases_s={"packing": packed_s, "selection": clock.elapsed_s - packed_s},
    )


def _rooted(instance: ForestPackingInstance) -> ForestPackingInstance:
    """Return the instance with one root; refuse instances that Blink's trees do not fit."""
    if len(required_shares(instance) or [0]) > 1:
        raise ModelRefused(f"blink: root_mode: {instance.root_mode!r}, expected free or one root")
    if instance.sequential:
        raise ModelRefused("blink: stage_mode: 'sequential', expected 'overlap'")
    if instance.in_network:
        raise ModelRefused("blink: in_network: true, expected false")
    rooted = instance
    if instance.root_mode != "fixed":
        update = {"root_mode": "fixed", "root": instance.workers[0], "root_share": None}
        rooted = instance.model_copy(update=update)
    if len(instance.stages) == 2 and not isinstance(make_oracle(rooted), UndirectedOracle):
        raise ModelRefused("blink: links: expected cables that are equal in both directions")
    return rooted


def _pair(instance: ForestPackingInstance, tree: FoundTree, root: int) -> Pair:
    """Return a tree as a pair rooted at the root."""
    away = directed_from(root, tree.route_tuples())
    inward = tuple(route[::-1] for route in away)
    rate = instance.network.unit
    if len(instance.stages) == 2:
        return Pair(root, inward, None, rate)
    if instance.stages == ("reduce",):
        return Pair(root, inward, (), rate)
    return Pair(root, (), away, rate)
