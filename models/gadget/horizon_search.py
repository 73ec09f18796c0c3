"""A model of all slots, searched from a schedule on and below a bound (reconstructed)."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gadgetopt.errors import ModelRefused, SolverError
from gadgetopt.result import Limits, MethodOutcome, Status
from gadgetopt.solvers import solve_model

from . import circulation
from .cp_circuit import circuits
from .cp_joint import solve_horizon
from .cp_tree import CP_TREE
from .instance import GadgetInstance
from .joint import decode
from .slot_problem import Mapping


def search_horizon(
    instance: GadgetInstance,
    limits: Limits,
    rng: np.random.Generator,
    known: Sequence[Sequence[Mapping]] = (),
    cap: float = math.inf,
) -> MethodOutcome:
    """Search C3 on a two-tier cluster and C2 on a graph; F2 on one with too many paths for C2.

    Parameters
    ----------
    instance : GadgetInstance
    limits : Limits
    rng : numpy.random.Generator
    known : sequence of sequence of Mapping
        Rings of all slots to start from.
    cap : float
        A bound on the utility that is known to hold.

    Raises
    ------
    ModelRefused
        If the models are too large.
    """
    if instance.terms.tree is not None:
        return solve_horizon(instance, CP_TREE, limits, rng, known=known, cap=cap)
    begun = time.perf_counter()
    try:
        return solve_horizon(instance, circuits(), limits, rng, known=known, cap=cap)
    except ModelRefused:
        if limits.time_s is not None:
            left = max(0.0, limits.time_s - (time.perf_counter() - begun))
            limits = replace(limits, time_s=left)
        return _circulations(instance, limits, int(rng.integers(2**31 - 1)))


def _circulations(instance: GadgetInstance, limits: Limits, seed: int) -> MethodOutcome:
    model = circulation.build(instance)
    solved = solve_model(model, "highs", limits, seed)
    if solved.status is Status.ERROR:
        raise SolverError(solved.reason)
    return MethodOutcome(
        solution=None if solved.values is None else decode(model, instance),
        dual_bound=solved.bound,
        limit_hit=solved.limit_hit,
        versions=solved.versions,
    )
