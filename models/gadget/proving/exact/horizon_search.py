"""Search of a model of all slots, with a warm start and a known bound."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.solvers import seed_of, solve_model
from gadgetopt.system.result import Limits, MethodOutcome

from ...formulations.joint import decode
from ...instance import GadgetInstance
from ...subproblems.slot_problem import Mapping
from ..formulations import circulation
from ..formulations.cp_circuit import circuits
from ..formulations.cp_joint import solve_horizon
from ..formulations.cp_tree import CP_TREE


def search_horizon(
    instance: GadgetInstance,
    limits: Limits,
    rng: np.random.Generator,
    known: Sequence[Sequence[Mapping]] = (),
    cap: float = math.inf,
) -> MethodOutcome:
    """Solve `cp_tree` on a two-tier cluster and `cp_circuit` on a graph (reconstructed).

    Graphs with too many paths for `cp_circuit` are solved as `circulation`.

    Parameters
    ----------
    instance : GadgetInstance
    limits : Limits
    rng : numpy.random.Generator
    known : sequence of sequence of Mapping
        Warm start: the rings of all slots.
    cap : float
        A known upper bound on the utility.

    Raises
    ------
    ModelRefused
        If the models are too large.
    """
    if instance.terms.tree is not None:
        return solve_horizon(instance, CP_TREE, limits, rng, known=known, cap=cap)
    clock = Clock(limits)
    try:
        return solve_horizon(instance, circuits(), limits, rng, known=known, cap=cap)
    except ModelRefused:
        return _circulations(instance, clock, seed_of(rng))


def _circulations(instance: GadgetInstance, clock: Clock, seed: int) -> MethodOutcome:
    with clock.phase("build"):
        model = circulation.build(instance)
    solved = solve_model(model, "highs", clock.limits(), seed)
    found = None if solved.values is None else decode(model, instance)
    return MethodOutcome.of(solved, found, phases_s=clock.phases_s)
