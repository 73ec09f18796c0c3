"""Algorithm 1 with slots solved by the configuration program or exactly (reconstructed)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...algorithms.temporal_greedy import (
    RingBounds,
    slot_by_slot,
)
from ...heuristics.ring_bounds import relaxed_rings
from ...instance import GadgetInstance
from ...subproblems.hull import envelope
from ...subproblems.max_ring import largest_rings
from ...subproblems.slot_problem import (
    Mapping,
    SlotProblem,
)
from .slot_solver import solve_slot


@method(kind="online", reference="Algorithm 1 with exact slots (reconstructed)")
def gadget_exact(
    instance: GadgetInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    envelopes: bool = True,
) -> MethodOutcome:
    """Slot by slot, every slot solved exactly.

    Run Algorithm 1 and search every slot for its optimum (reconstructed).

    A slot that has used its share of the time limit keeps the best rings found.

    Parameters
    ----------
    envelopes : bool
        If False, gains are those of the utilities themselves and not of their concave envelopes.
    """
    return _solved_slots(instance, limits, rng, envelopes=envelopes)


@method(kind="online", reference="Algorithm 1 with the configuration program (reconstructed)")
def gadget_config_lp(
    instance: GadgetInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Slot by slot, the configuration program rounded.

    Run Algorithm 1 and round the configuration program of every slot (reconstructed).

    Raises
    ------
    ModelRefused
        If the network is a graph.
    """
    return _solved_slots(instance, limits, rng, search=False)


@method(kind="online", reference="Algorithm 1, q_i[t] from the relaxation (reconstructed)")
def gadget_relaxed_rings(
    instance: GadgetInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """As gadget_exact, with rings as large as the paper's relaxation says.

    Run `gadget_exact` with rings as large as the paper reads off a relaxation (reconstructed).

    The optimum of a slot may have larger rings: see `heuristics/ring_bounds.py`.

    Raises
    ------
    ModelRefused
        If there are several resources.
    """
    terms = instance.terms
    tables, largest = [envelope(job.utility) for job in terms.jobs], largest_rings(terms)

    def relaxed(slot: int, done: Sequence[int]) -> list[int]:
        return relaxed_rings(terms, slot, done, tables, largest)

    return _solved_slots(instance, limits, rng, ring_bounds=relaxed)


def _solved_slots(
    instance: GadgetInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    search: bool = True,
    envelopes: bool = True,
    ring_bounds: RingBounds | None = None,
) -> MethodOutcome:
    """Run Algorithm 1 with `solve_slot`."""
    horizon = instance.terms.horizon
    shortfall: list[float] = []
    cut_short: list[str | None] = []

    def solve(problem: SlotProblem, rng: np.random.Generator, limits: Limits) -> list[Mapping]:
        limits = Clock(limits).limits(part=1 / (horizon - problem.slot + 1))
        found = solve_slot(problem, limits, rng, search=search)
        shortfall.append(0.0 if found.closed else found.bound - found.value)
        cut_short.append(found.limit_hit)
        return list(found.mappings)

    outcome = slot_by_slot(
        instance, solve, rng, limits, envelopes=envelopes, ring_bounds=ring_bounds
    )
    # Largest shortfall from a slot's optimum, measured in the surrogate gains.
    notes = {**outcome.notes, **({"most_lost_in_a_slot": max(shortfall)} if shortfall else {})}
    limit_hit = outcome.limit_hit or next(filter(None, cut_short), None)
    return replace(outcome, limit_hit=limit_hit, notes=notes)
