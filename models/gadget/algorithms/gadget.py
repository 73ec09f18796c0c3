"""GADGET as a method: Algorithm 1 with a choice of what solves its slots."""

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
from .lp_rs_mde import Rounding, lp_rs_mde
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
) -> MethodOutcome:
    """Run Algorithm 1.

    Parameters
    ----------
    slot_solver : str
        `lp_rs_mde` is Algorithm 2. `config_lp` rounds the configuration program where sizes by
        capacity do not find the optimum, `exact` searches on until it is found or the slot has had
        its share of the time limit; `greedy` places the best workers next, in near-linear time (all
        reconstructed).
    rounding : str
        Of Algorithm 2, as in `lp_rs_mde`. With `vanilla`, as printed, rings may exceed capacities,
        and what comes out is then no solution.
    attempts : int
        u_b, roundings of a slot.
    utility_surrogate : str
        What gains are computed from: the concave envelopes of the utilities (reconstructed), or
        these as they are, as printed. A sigmoid brings nothing at first, and no job may ever start.
    idle_tiebreak : bool
        Whether no GPU idles for a tie (reconstructed).
    q_mode : str
        The largest ring of a job in a slot: what budgets and servers allow, or what the paper reads
        off a relaxation, which is no bound (both reconstructed).
    selected : bool
        Of Algorithm 2: whether one ring size of each job enters the augmented program, or all, with
        which the factor Gamma is gone (reconstructed).
    passes : int
        Of `violation_free` and `fill`: how often jobs without a ring are drawn for in an attempt.

    Raises
    ------
    ModelRefused
        If the augmented program of a slot is too large, or there are several resources and the
        largest rings are to be read off the relaxation.
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
            # Of the slots' optima, on the gains that were gone by.
            **({"most_lost_in_a_slot": max(shortfall)} if shortfall else {}),
        },
    )
