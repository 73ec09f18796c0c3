"""Algorithm 2 (LP-RS-MDE): ring sizes, augmented program, decomposition and rounding."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from gadgetopt.errors import SolverError
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ..subproblems.augmented_lp import augmented_lp
from ..subproblems.augmented_optimum import augmented_optimum, has_closed_form
from ..subproblems.decomposition import Decomposition, decompose
from ..subproblems.ring_selection import RingSelection, select_rings
from ..subproblems.slot_problem import Mapping, SlotProblem
from .mapping_rounding import Sample, accepted, draw, fill, violation_free
from .overload_factors import OverloadFactors, overload_factors

#: alpha: the share of the program's value that an accepted draw must reach. By definition.
ALPHA = 1 / 3

#: How the augmented program is solved.
Program = Literal["closed_form", "highs"]


@dataclass(frozen=True)
class SlotRelaxation:
    """Result of steps 1 to 5, the input of the rounding.

    Attributes
    ----------
    problem : SlotProblem
    largest : tuple of int
        The largest ring of each job.
    selection : RingSelection
    value : float
        L, the optimum of the augmented program.
    decomposition : Decomposition
    """

    problem: SlotProblem
    largest: tuple[int, ...]
    selection: RingSelection
    value: float
    decomposition: Decomposition

    @cached_property
    def factors(self) -> OverloadFactors:
        """The theorem's factors, found when asked for: they look at every job on every server."""
        return overload_factors(self.problem, self.largest)


def relax(
    problem: SlotProblem,
    limits: Limits,
    *,
    selected: bool = True,
    leave_out: bool = True,
    program: Program = "closed_form",
) -> SlotRelaxation:
    """Run steps 1 to 5 of Algorithm 2.

    Parameters
    ----------
    problem : SlotProblem
    limits : Limits
    selected : bool
        If True, only the selected ring sizes enter the augmented program; with all sizes the factor
        Gamma of the guarantee disappears (reconstructed).
    leave_out : bool
        If True, servers and links that a job cannot use are left out for it.
    program : str
        `closed_form` takes an optimal point of the augmented program without a solver, where there
        is one resource and every job can use every server (reconstructed); elsewhere, and with
        `highs`, HiGHS solves the program. Both points have the same value, and in general different
        rings.

    Raises
    ------
    TimeoutError
        If the time limit is reached first.
    """
    from gadgetopt.solvers.highs import solve_form

    clock = Clock(limits)
    selection = select_rings(problem, clock.limits())
    sizes = [
        ([k] if k else []) if selected else range(1, x.most + 1)
        for x, k in zip(problem.jobs, selection.sizes, strict=True)
    ]
    largest = tuple(max(of_job, default=0) for of_job in sizes)

    def relaxation(value: float, decomposition: Decomposition) -> SlotRelaxation:
        return SlotRelaxation(problem, largest, selection, value, decomposition)

    if not any(largest):
        return relaxation(0.0, Decomposition(((),) * len(sizes), 0.0))
    if program == "closed_form" and has_closed_form(problem):
        return relaxation(*augmented_optimum(problem, sizes))
    lp = augmented_lp(problem, sizes, leave_out=leave_out)
    solved = solve_form(lp.form, clock.limits())
    if solved.values is None or solved.objective is None:
        if solved.limit_hit:
            raise TimeoutError("the augmented program took longer than the time limit")
        raise SolverError(f"the augmented program ended as {solved.status}")
    return relaxation(float(solved.objective), decompose(problem, lp, solved.values))


def algorithm_2(
    problem: SlotProblem, relaxation: SlotRelaxation, attempts: int, rng: np.random.Generator
) -> Sample:
    """Run step 6 as printed: return the first accepted draw, or else that of least overload.

    Among draws of equal overload the most valuable one is returned (reconstructed). After `relax`
    with HiGHS it is the same result as `plain`, tested.
    """
    samples = draw(problem, relaxation.decomposition.mappings, attempts, rng)
    factors = relaxation.factors
    least = ALPHA * relaxation.value
    first = accepted(samples, least, factors.beta, factors.gamma)
    return first or min(samples, key=lambda sample: (sample.overload, -sample.value))


def lp_rs_mde(
    problem: SlotProblem, limits: Limits, rng: np.random.Generator, *, attempts: int = 100
) -> list[Mapping]:
    """Solve a slot with Algorithm 2, whose rounding respects capacities (reconstructed).

    The draw as printed, whose rings may exceed capacities, is `algorithm_2`.

    Parameters
    ----------
    attempts : int
        u_b, the number of draws.
    """
    if not problem.jobs:
        return []
    weighted = relax(problem, Clock(limits).limits()).decomposition.mappings
    return fill(problem, violation_free(problem, weighted, attempts, rng))
