r"""Column generation on the tree-pair LP: explicit optimal trees.

Algorithm A3. Columns are undirected trees where the network lets each be used in both directions
(F5; over the closure of switches F7.3), else in-trees and out-trees (F1), each over cheapest paths
through switches.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.compiled import COMPILED
from gadgetopt.pieces.graphs.arborescence_peeling import compile_loops
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.cable_trees import out_of_scope
from ..algorithms.tree_plans import exact_plan
from ..certificate import check_bound
from ..instance import ForestPackingInstance
from ..outcome import plan_outcome
from .arborescence_packing import arborescence_packing
from .tree_columns import WARM_STARTS, pack_trees, packing_certificate


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
            certificate=packing_certificate(instance, oracle, found),
            notes={"disconnected": True},
        )
    with clock.phase("certificate"):
        certificate = packing_certificate(instance, oracle, found)
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
