"""GADGET (Algorithm 1) as a method, with a choice of slot solvers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, MethodOutcome

from ..instance import GadgetInstance
from ..subproblems.hull import envelope
from ..subproblems.max_ring import largest_rings
from ..subproblems.ring_bounds import relaxed_rings
from ..subproblems.schedule import as_solution
from ..subproblems.slot_problem import Mapping, SlotProblem
from .lp_rs_mde import Program, Rounding, lp_rs_mde
from .mapping_rounding import PASSES
from .slot_greedy import slot_greedy
from .slot_solver import solve_slot
from .temporal_greedy import temporal_greedy


def gadget(
    instance: GadgetInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    slot_solver: Literal["lp_rs_mde", "config_lp", "exact", "greedy"] = "lp_rs_mde",
    rounding: Rounding = "fill",
    attempts: int = 100,
    utility_surrogate: Literal["concave_envelope", "true"] = "concave_envelope",
    idle_tiebreak: bool = False,
    q_mode: Literal["bound", "lp_paper"] = "bound",
    selected: bool = True,
    passes: int = PASSES,
    program: Program = "closed_form",
) -> MethodOutcome:
    """Run Algorithm 1.

    Parameters
    ----------
    slot_solver : str
        `lp_rs_mde` is Algorithm 2. `config_lp` rounds the configuration program if the ring sizes
        by total capacity do not give the optimum. `exact` then searches until it has the optimum or
        the slot has used its share of the time limit. `greedy` adds the most valuable worker next,
        in near-linear time. (All but Algorithm 2 reconstructed.)
    rounding : str
        Rounding of Algorithm 2, as in `lp_rs_mde`. With `vanilla`, as printed, rings may exceed
        capacities; the result is then infeasible.
    attempts : int
        u_b, the number of roundings per slot.
    utility_surrogate : str
        Functions from which gains are computed: the concave envelopes of the utilities
        (reconstructed), or the utilities themselves, as printed. The first workers of a sigmoid
        gain almost nothing, so with the latter a job may never start.
    idle_tiebreak : bool
        If True, no GPU idles because of a tie (reconstructed).
    q_mode : str
        The largest ring of a job in a slot: the limit by budgets and servers (`bound`), or the
        value that the paper derives from a relaxation, which is not a bound (both reconstructed).
    selected : bool
        If True, Algorithm 2 puts only the selected ring size of each job into the augmented
        program; if False, all sizes, which removes the factor Gamma (reconstructed).
    passes : int
        How often `violation_free` and `fill` draw again for jobs without a ring in an attempt.
    program : str
        How Algorithm 2 solves the augmented program: with `highs`, or in closed form where it has
        one (reconstructed). It has many optimal points, and these are in general two of them.

    Raises
    ------
    ModelRefused
        If the augmented program of a slot is too large, or `q_mode` is `lp_paper` and there are
        several resources.
    """
    terms = instance.terms
    concave = utility_surrogate == "concave_envelope"
    tables = [envelope(job.utility) for job in terms.jobs] if concave else None

    shortfall: list[float] = []
    cut_short: list[str | None] = []

    def solve(problem: SlotProblem, rng: np.random.Generator, limits: Limits) -> list[Mapping]:
        if slot_solver == "greedy":
            return slot_greedy(problem)
        if slot_solver != "lp_rs_mde":
            limits = Clock(limits).limits(part=1 / (terms.horizon - problem.slot + 1))
            found = solve_slot(problem, limits, rng, search=slot_solver == "exact")
            shortfall.append(0.0 if found.closed else found.bound - found.value)
            cut_short.append(found.limit_hit)
            return list(found.mappings)
        return lp_rs_mde(
            problem,
            limits,
            rng,
            rounding=rounding,
            attempts=attempts,
            selected=selected,
            passes=passes,
            program=program,
        )

    largest = largest_rings(terms)

    def relaxed(slot: int, done: Sequence[int]) -> list[int]:
        by = tables or [job.utility for job in terms.jobs]
        return relaxed_rings(terms, slot, done, by, largest)

    run = temporal_greedy(
        terms,
        solve,
        rng,
        limits,
        tables=tables,
        largest=largest,
        idle_tiebreak=idle_tiebreak,
        ring_bounds=relaxed if q_mode == "lp_paper" else None,
    )
    return MethodOutcome(
        solution=as_solution(terms, run),
        limit_hit=run.limit_hit or next(filter(None, cut_short), None),
        notes={
            "longest_slot_s": float(run.slot_s.max()),
            "most_active_jobs": int(run.active.max()),
            # Largest shortfall from a slot's optimum, measured in the surrogate gains.
            **({"most_lost_in_a_slot": max(shortfall)} if shortfall else {}),
        },
    )
