"""GADGET with another rounding of a slot, on other gains or with all ring sizes.

The paper's rounding is `vanilla`. The others, the gains of envelopes and the program with all sizes
are ours (reconstructed).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from gadgetopt.pieces.knapsack.direct import solve_mip
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.lp_rs_mde import Program, algorithm_2, relax
from ..algorithms.mapping_rounding import Weighted, draw, fill, violation_free
from ..algorithms.temporal_greedy import slot_by_slot
from ..instance import GadgetInstance
from ..subproblems.loads import loads_of
from ..subproblems.slot_problem import Mapping, SlotProblem

Rounding = Literal["vanilla", "min_load", "max_profit", "violation_free", "knapsack", "fill"]


@method(kind="online", reference="Algorithms 1 and 2, roundings of ours (reconstructed)")
def gadget_rounding(
    instance: GadgetInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    rounding: Rounding = "knapsack",
    attempts: int = 100,
    envelopes: bool = True,
    all_sizes: bool = False,
    program: Program = "closed_form",
) -> MethodOutcome:
    """As gadget, with another rounding, other gains or all ring sizes.

    Run Algorithm 1 with another rounding than that of `gadget` (reconstructed).

    Parameters
    ----------
    rounding : str
        `vanilla` is as printed; its rings may exceed capacities, and the result is then infeasible.
        `min_load` and `max_profit` return the draw of least overload and of most value, and may
        exceed capacities, too. `violation_free` keeps the rings of a draw that fit, `knapsack`
        chooses the best rings of the decomposition, and `fill` places the jobs that
        `violation_free` leaves out, as `gadget` does.
    attempts : int
        u_b, the number of roundings per slot.
    envelopes : bool
        If False, gains are those of the utilities themselves, as printed. The first workers of a
        sigmoid gain almost nothing, so a job may never start.
    all_sizes : bool
        If True, all ring sizes of a job enter the augmented program and not the selected one only,
        which removes the factor Gamma of the guarantee.
    program : str
        How the augmented program is solved: with `highs`, or in closed form where it has one. It
        has many optimal points, and these are in general two of them.

    Raises
    ------
    ModelRefused
        If the augmented program of a slot is too large.
    """

    def solve(problem: SlotProblem, rng: np.random.Generator, limits: Limits) -> list[Mapping]:
        return rounded_slot(
            problem,
            limits,
            rng,
            rounding=rounding,
            attempts=attempts,
            all_sizes=all_sizes,
            program=program,
        )

    return slot_by_slot(instance, solve, rng, limits, envelopes=envelopes)


def rounded_slot(
    problem: SlotProblem,
    limits: Limits,
    rng: np.random.Generator,
    *,
    rounding: Rounding = "knapsack",
    attempts: int = 100,
    all_sizes: bool = False,
    program: Program = "closed_form",
) -> list[Mapping]:
    """Solve a slot with Algorithm 2 and a rounding; the parameters are as in `gadget_rounding`."""
    if not problem.jobs:
        return []
    clock = Clock(limits)
    relaxation = relax(problem, clock.limits(), selected=not all_sizes, program=program)
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
    kept = violation_free(problem, weighted, attempts, rng)
    return fill(problem, kept) if rounding == "fill" else kept


def best_choice(problem: SlotProblem, weighted: Weighted, limits: Limits) -> list[Mapping]:
    """Choose at most one mapping per job by a multidimensional knapsack over all capacities."""
    listed = [(j, k) for j, of_job in enumerate(weighted) for k in range(len(of_job))]
    worth = np.array([problem.jobs[j].gain[weighted[j][k].mapping.size] for j, k in listed])
    useful = np.flatnonzero(worth > 0)
    if not len(useful):
        return []
    listed = [listed[c] for c in useful.tolist()]
    numbers = {j: n for n, j in enumerate(sorted({j for j, _ in listed}))}
    terms = problem.terms
    loads = [loads_of(terms, problem.jobs[j].job, weighted[j][k].mapping) for j, k in listed]
    rows = [np.r_[x.server.ravel(), x.link] for x in loads]
    knapsack = Knapsack(
        profit=worth[useful],
        weight=np.array(rows, dtype=float),
        owner=np.array([numbers[j] for j, _ in listed]),
        capacity=np.r_[terms.capacity.ravel(), terms.link_mbps].astype(float),
    )
    result = solve_mip(knapsack, "highs", limits)
    chosen = [] if result.chosen is None else np.asarray(result.chosen).tolist()
    return [weighted[j][k].mapping for j, k in (listed[c] for c in chosen)]
