"""Algorithm 2, LP-RS-MDE: ring sizes, the augmented program, its decomposition, and rounding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gadgetopt.errors import SolverError
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ..subproblems.augmented_lp import augmented_lp
from ..subproblems.decomposition import Decomposition, decompose
from ..subproblems.ring_selection import RingSelection, select_rings
from ..subproblems.slot_problem import Mapping, SlotProblem
from .mapping_rounding import (
    PASSES,
    Sample,
    accepted,
    best_choice,
    draw,
    fill,
    violation_free,
)
from .overload_factors import OverloadFactors, overload_factors

#: alpha: the part of the program's value that an accepted draw brings.
ALPHA = 1 / 3

Rounding = Literal["vanilla", "min_load", "max_profit", "violation_free", "knapsack", "fill"]


@dataclass(frozen=True)
class SlotRelaxation:
    """Steps 1 to 5: what is rounded.

    Attributes
    ----------
    selection : RingSelection
    value : float
        L, of the augmented program.
    decomposition : Decomposition
    factors : OverloadFactors
    """

    selection: RingSelection
    value: float
    decomposition: Decomposition
    factors: OverloadFactors


def relax(
    problem: SlotProblem, limits: Limits, *, selected: bool = True, leave_out: bool = True
) -> SlotRelaxation:
    """Run steps 1 to 5 of Algorithm 2.

    Parameters
    ----------
    problem : SlotProblem
    limits : Limits
    selected : bool
        Whether only the selected ring sizes enter the augmented program; with all sizes the factor
        Gamma of the guarantee disappears (reconstructed).
    leave_out : bool
        Whether servers and links that a job cannot use at all are left out for it.

    Raises
    ------
    TimeoutError
        If the time limit is hit first.
    """
    from gadgetopt.solvers.highs import solve_form

    clock = Clock(limits)
    selection = select_rings(problem, clock.limits())
    sizes = [
        ([k] if k else []) if selected else range(1, x.most + 1)
        for x, k in zip(problem.jobs, selection.sizes, strict=True)
    ]
    largest = tuple(max(of_job, default=0) for of_job in sizes)
    factors = overload_factors(problem, largest)
    if not any(largest):
        return SlotRelaxation(selection, 0.0, Decomposition(((),) * len(sizes), 0.0), factors)
    lp = augmented_lp(problem, sizes, leave_out=leave_out)
    solved = solve_form(lp.form, clock.limits())
    if solved.values is None or solved.objective is None:
        if solved.limit_hit:
            raise TimeoutError("the augmented program took longer than the time limit")
        raise SolverError(f"the augmented program ended as {solved.status}")
    decomposition = decompose(problem, lp, solved.values)
    return SlotRelaxation(selection, float(solved.objective), decomposition, factors)


def algorithm_2(
    problem: SlotProblem, relaxation: SlotRelaxation, attempts: int, rng: np.random.Generator
) -> Sample:
    """Run step 6 as printed: the first draw accepted, else that of the least overload.

    Of draws with equal overload the one that brings most is returned (reconstructed).
    """
    samples = draw(problem, relaxation.decomposition.mappings, attempts, rng)
    factors = relaxation.factors
    least = ALPHA * relaxation.value
    # One factor of the resources for all: the theorem's holds for each.
    first = accepted(samples, least, min(factors.beta), factors.gamma)
    return first or min(samples, key=lambda sample: (sample.overload, -sample.value))


def lp_rs_mde(
    problem: SlotProblem,
    limits: Limits,
    rng: np.random.Generator,
    *,
    rounding: Rounding = "fill",
    attempts: int = 100,
    selected: bool = True,
    passes: int = PASSES,
) -> list[Mapping]:
    """Solve a slot with Algorithm 2.

    Parameters
    ----------
    rounding : str
        `vanilla` as printed, whose rings may exceed capacities; `min_load` and `max_profit` are the
        best of its draws by overload and by value; `violation_free`, `knapsack` and `fill` (that is
        `violation_free`, then PLACE for the jobs left over) keep capacities (reconstructed).
    attempts : int
        u_b.
    selected : bool
        As in `relax`.
    passes : int
        As in `violation_free`.
    """
    if not problem.jobs:
        return []
    clock = Clock(limits)
    relaxation = relax(problem, clock.limits(), selected=selected)
    weighted = relaxation.decomposition.mappings
    if rounding == "vanilla":
        return list(algorithm_2(problem, relaxation, attempts, rng).mappings)
    if rounding in ("min_load", "max_profit"):
        samples = draw(problem, weighted, attempts, rng)
        by_load = rounding == "min_load"
        best = min(
            samples, key=lambda x: (x.overload, -x.value) if by_load else (-x.value, x.overload)
        )
        return list(best.mappings)
    if rounding == "knapsack":
        return best_choice(problem, weighted, clock.limits())
    kept = violation_free(problem, weighted, attempts, rng, passes)
    return fill(problem, kept) if rounding == "fill" else kept
