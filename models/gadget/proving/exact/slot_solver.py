"""Exact solution of one slot, from the cheapest proof to a search.

The paper has no exact method (reconstructed). The steps are:

1. ring sizes by total capacity alone; if they can be embedded, they are optimal (proposition P5);
2. the configuration program with tightened bandwidths, and its roundings;
3. CP-SAT, from the best rings and below the best bound; on graphs this is the only step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gadgetopt.numbers.tolerance import CLOSED_GAP
from gadgetopt.search.clock import Clock
from gadgetopt.solvers import seed_of
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...algorithms.mapping_rounding import (
    fill,
    violation_free,
)
from ...heuristics.slot_greedy import slot_greedy
from ...instance import (
    GadgetInstance,
    GadgetSolution,
)
from ...subproblems.placement import (
    Room,
    embed,
)
from ...subproblems.slot_problem import (
    Mapping,
    SlotProblem,
    ring,
)
from ..bounds.config_lp import (
    ConfigLp,
    config_lp,
)
from ..bounds.slot_bounds import (
    one_slot,
    proof_of_prices,
)
from ..certificate.check import GadgetCertificate
from ..formulations import cp_joint
from ..formulations.cp_circuit import circuits
from ..formulations.cp_tree import CP_TREE
from ..knapsack_bound import knapsack_bound

#: Roundings of the configuration program. Tuned: `benchmarks/constants.py`.
ATTEMPTS = 30


@dataclass(frozen=True)
class SlotResult:
    """Rings of a slot and a bound on its optimum.

    Attributes
    ----------
    mappings : tuple of Mapping
    value : float
        Sum of their gains.
    bound : float
        Upper bound on the optimum of the slot.
    proof : str
        The step after which value and bound met, or the last step.
    certificate : GadgetCertificate or None
        Certificate of the bound; None if the bound is CP-SAT's.
    limit_hit : str or None
    """

    mappings: tuple[Mapping, ...]
    value: float
    bound: float
    proof: str
    certificate: GadgetCertificate | None = None
    limit_hit: str | None = None

    @property
    def closed(self) -> bool:
        """True if the rings are optimal."""
        return self.bound - self.value <= CLOSED_GAP * abs(self.bound)


def solve_slot(
    problem: SlotProblem,
    limits: Limits,
    rng: np.random.Generator,
    *,
    search: bool = True,
) -> SlotResult:
    """Solve a slot to optimality, or return rings and a bound.

    Parameters
    ----------
    problem : SlotProblem
    limits : Limits
    rng : numpy.random.Generator
    search : bool
        If True, CP-SAT searches where the configuration program leaves a gap, or where the network
        is a graph, which has no such program.

    Raises
    ------
    ModelRefused
        If the network is a graph and `search` is False, or the model is too large.
    """
    clock = Clock(limits)
    bound = knapsack_bound(problem).bound
    best = SlotResult((), 0.0, bound, "sizes by capacity", GadgetCertificate())
    if problem.terms.tree is not None or not search:
        best = _on_tree(problem, clock.limits(), rng)
    if best.closed or not search:
        return best
    found = cp_joint.solve_slot(
        problem,
        circuits() if problem.terms.tree is None else CP_TREE,
        clock.limits(),
        seed_of(rng),
        known=best.mappings,
        cap=best.bound,
    )
    best = _better(problem, best, found.mappings)
    best = replace(best, proof="CP-SAT", limit_hit=found.limit_hit)
    if found.bound is None or found.bound >= best.bound:
        return best
    return replace(best, bound=found.bound, certificate=None)


def _on_tree(problem: SlotProblem, limits: Limits, rng: np.random.Generator) -> SlotResult:
    """Return rings and bound by total capacity or by the configuration program."""
    clock = Clock(limits)
    room = Room(problem.terms)
    choice = knapsack_bound(problem)
    best = SlotResult((), 0.0, choice.bound, "sizes by capacity", GadgetCertificate())
    if choice.sizes is not None:
        wanted = [(x.job, k) for x, k in zip(problem.jobs, choice.sizes, strict=True) if k]
        best = _better(problem, best, embed(room, wanted))
    if not best.closed:
        best = _better(problem, best, slot_greedy(problem))
    if not best.closed:
        config = config_lp(problem, clock.limits())
        best = replace(best, proof="configuration program", limit_hit=config.limit_hit)
        if config.bound < best.bound:
            best = replace(best, bound=config.bound, certificate=proof_of_prices(config.prices))
        best = _rounded(problem, best, config, rng)
    return best


@method(
    kind="exact",
    reference="exact slot solver, proposition P5 (reconstructed)",
    formulation="slot_exact",
)
def slot_exact(instance: GadgetInstance, limits: Limits, rng: np.random.Generator) -> MethodOutcome:
    """One slot: total capacity, configuration program, then CP-SAT.

    Raises
    ------
    ModelRefused
        If the horizon has several slots.
    """
    problem, idle = one_slot(instance)
    found = solve_slot(problem, limits, rng)
    return MethodOutcome(
        solution=GadgetSolution(rings=tuple(ring(problem.terms, 1, m) for m in found.mappings)),
        dual_bound=idle + found.bound,
        certificate=found.certificate,
        limit_hit=found.limit_hit,
        notes={"closed by" if found.closed else "last step": found.proof},
    )


def _rounded(
    problem: SlotProblem, best: SlotResult, config: ConfigLp, rng: np.random.Generator
) -> SlotResult:
    kept = violation_free(problem, config.mappings, ATTEMPTS, rng)
    return _better(problem, best, fill(problem, kept))


def _better(problem: SlotProblem, best: SlotResult, mappings: list[Mapping] | None) -> SlotResult:
    """Return the best rings so far."""
    if mappings is None:
        return best
    gains = {x.job.index: x.gain for x in problem.jobs}
    value = float(sum(gains[mapping.job][mapping.size] for mapping in mappings))
    return replace(best, mappings=tuple(mappings), value=value) if value > best.value else best
