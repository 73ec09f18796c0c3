r"""CP-SAT model of all slots together, for any model of the rings of a slot.

The scaling and its correction are (reconstructed). Job i has a total :math:`k_i = \sum_t
\kappa_i[t] \le K_i`, and its utility is an element of the table :math:`\lfloor S u_i(k) \rfloor`.
Since utilities are rounded down, every decision is worth at least its value in the model. With B
the model's bound,

.. math:: OPT \le \frac{1}{S} \Big( B + \sum_i \max_k
    \big( S u_i(k) - \lfloor S u_i(k) \rfloor \big) \Big),

which is B / S if all utilities are multiples of 1 / S.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from gadgetopt.errors import ModelRefused, SolverError
from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.tolerance import Number
from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.search.watched import solver_watched
from gadgetopt.solvers import seed_of, solve_model
from gadgetopt.solvers.cpsat import solve_cp, value_of
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...formulations.embedding import EMBEDDING
from ...formulations.joint import (
    SlotScope,
    decode,
    joint_model,
    refuse_too_large,
    scopes_of,
)
from ...instance import (
    GadgetInstance,
    GadgetSolution,
)
from ...subproblems.routing import mapping_of
from ...subproblems.slot_problem import Mapping as RingMapping
from ...subproblems.slot_problem import (
    SlotProblem,
    ring,
)
from ...terms import Terms

#: Limit on the sum of all scaled utilities, which doubles still represent. By definition.
LARGEST_TOTAL = 2**52
#: Default of S, unless the sum is then above `LARGEST_TOTAL` or below `FINE_TOTAL`.
#: Tuned: `benchmarks/constants.py`.
SCALE = 10**9
FINE_TOTAL, LARGEST_SCALE = 10**11, 10**100


@dataclass(frozen=True)
class CpSlot:
    """The variables of one slot.

    Attributes
    ----------
    size : dict
        kappa_i by job, as a linear expression.
    workers : dict
        y_is by job and server.
    uses : dict
        Literals by job and link, each for one use of the link; empty on two-tier clusters.
    """

    size: Mapping[int, Any]
    workers: Mapping[tuple[int, int], Any]
    uses: Mapping[tuple[int, int], Sequence[Any]]


@dataclass(frozen=True)
class CpWay:
    """A CP-SAT model of the rings of a slot.

    Attributes
    ----------
    add : callable
        `add(model, scope)` adds a slot and returns its variables.
    num_variables : callable
        `num_variables(scope)` is the approximate number of variables that it adds.
    """

    add: Callable[[cp_model.CpModel, SlotScope], CpSlot]
    num_variables: Callable[[SlotScope], int]


@dataclass(frozen=True)
class ScaledTables:
    """Utilities of all jobs as integers.

    Attributes
    ----------
    table : tuple of tuple of int
        floor(S u_i(k)).
    scale : int
        S.
    lost : Fraction
        The largest loss of a decision by rounding, over all jobs, in units of 1 / S.
    """

    table: tuple[tuple[int, ...], ...]
    scale: int
    lost: Fraction

    def bound(self, model_bound: Number) -> Fraction:
        """Return the bound on the utility that follows from a bound on the model's objective."""
        return (Fraction(model_bound) + self.lost) / self.scale


def scaled_tables(utilities: Iterable[Floats], scale: int) -> ScaledTables:
    """Round the tables of utilities of all jobs down to multiples of 1 / scale.

    Raises
    ------
    ModelRefused
        If they are too large for the scale.
    """
    tables, lost = [], Fraction(0)
    for utility in utilities:
        exact = [scale * Fraction(u) for u in utility.tolist()]
        whole = [math.floor(u) for u in exact]
        lost += max(u - v for u, v in zip(exact, whole, strict=True))
        tables.append(tuple(whole))
    if sum(table[-1] for table in tables) > LARGEST_TOTAL:
        raise ModelRefused(f"utilities times {scale} are too large, expected a smaller scale")
    return ScaledTables(tuple(tables), scale, lost)


def solve_horizon(
    instance: GadgetInstance,
    way: CpWay,
    limits: Limits,
    rng: np.random.Generator,
    scale: int = 0,
    *,
    known: Sequence[Sequence[RingMapping]] = (),
    cap: float = math.inf,
) -> MethodOutcome:
    """Solve all slots together.

    Parameters
    ----------
    instance : GadgetInstance
    way : CpWay
    limits : Limits
    rng : numpy.random.Generator
    scale : int
        Utilities are rounded down to multiples of 1 / scale; with 0, `scale_for` chooses it.
    known : sequence of sequence of Mapping
        Warm start: the rings of all slots.
    cap : float
        A known upper bound on the utility.

    Raises
    ------
    ModelRefused
        If the model is too large, or the utilities are too large for the scale.
    """
    clock = Clock(limits)
    terms = instance.terms
    scopes = scopes_of(terms)
    refuse_too_large(way.num_variables(scope) for scope in scopes.values())
    utilities = [job.utility for job in terms.jobs]
    scale = scale or scale_for(utilities)
    tables = scaled_tables(utilities, scale)
    model = cp_model.CpModel()
    slots = {}
    for t, scope in scopes.items():
        slots[t] = way.add(model, scope)
        if clock.expired:
            return MethodOutcome(limit_hit="time_s")
    utility = sum(
        _worth(model, table, [slot.size[i] for slot in slots.values() if i in slot.size])
        for i, table in enumerate(tables.table)
    )
    model.maximize(utility)
    _add_cap(model, utility, cap, scale)
    if known:
        for t, slot in slots.items():
            add_hint(model, slot, known[t - 1])
    built_s = clock.elapsed_s
    with solver_watched(scale, lambda bound: min(cap, float(tables.bound(bound)))):
        solved = solve_cp(model, clock.limits(), seed_of(rng))
    solution = None
    if solved.values is not None:
        solution = GadgetSolution(
            rings=tuple(
                ring(terms, t, mapping)
                for t, slot in slots.items()
                for mapping in mappings_of(terms, slot, solved)
            )
        )
    return _outcome(solved, solution, tables, built_s, cap)


def scale_for(utilities: Iterable[Floats]) -> int:
    """Return SCALE, or another power of ten if utilities would be too large or too coarse."""
    most, scale = sum(float(u.max()) for u in utilities), SCALE
    while scale > 1 and most * scale > LARGEST_TOTAL:
        scale //= 10
    while most * scale < FINE_TOTAL and scale < LARGEST_SCALE:
        scale *= 10
    return scale


def add_hint(model: cp_model.CpModel, slot: CpSlot, known: Sequence[RingMapping]) -> None:
    """Add given rings as the hint of a slot."""
    there = {(m.job, s): count for m in known for s, count in m.workers}
    for key, y in slot.workers.items():
        model.add_hint(y, there.get(key, 0))


def _add_cap(model: cp_model.CpModel, utility: Any, cap: float, scale: int) -> None:
    """Add a known bound, rounded up: bounds of linear programs may be slightly too low."""
    if math.isfinite(cap):
        model.add(utility <= math.ceil(scale * Fraction(cap)))


def _worth(model: cp_model.CpModel, table: Sequence[int], sizes: Sequence[Any]) -> Any:
    """Return the utility of the sum of ring sizes."""
    k = model.new_int_var(0, len(table) - 1, "k")
    model.add(k == sum(sizes))
    worth = model.new_int_var(table[0], table[-1], "u")
    model.add_element(k, list(table), worth)
    return worth


@dataclass(frozen=True)
class CpSlotResult:
    """Result of CP-SAT for one slot.

    Attributes
    ----------
    mappings : list of Mapping or None
        None if no rings were found in time.
    bound : float or None
        CP-SAT's bound on the total gain, corrected for the rounding of gains.
    limit_hit : str or None
    """

    mappings: list[RingMapping] | None
    bound: float | None
    limit_hit: str | None


def solve_slot(
    problem: SlotProblem,
    way: CpWay,
    limits: Limits,
    seed: int = 0,
    *,
    known: Sequence[RingMapping] = (),
    cap: float = math.inf,
    scale: int = 0,
) -> CpSlotResult:
    """Solve the problem of one slot.

    Parameters
    ----------
    problem : SlotProblem
    way : CpWay
    limits : Limits
    seed : int
    known : sequence of Mapping
        Warm start: rings of the slot.
    cap : float
        A known upper bound on the total gain.
    scale : int
        Gains are rounded down to multiples of 1 / scale; with 0, `scale_for` chooses it.

    Raises
    ------
    ModelRefused
        If the model is too large, or the gains are too large for the scale.
    """
    clock = Clock(limits)
    scope = SlotScope(problem.terms, {x.job.index: x.most for x in problem.jobs if x.most > 0})
    refuse_too_large([way.num_variables(scope)])
    gains = [x.gain for x in problem.jobs]
    scale = scale or scale_for(gains)
    tables = scaled_tables(gains, scale)
    model = cp_model.CpModel()
    slot = way.add(model, scope)
    gain = sum(
        _worth(model, table, [slot.size[x.job.index]] if x.most > 0 else [])
        for x, table in zip(problem.jobs, tables.table, strict=True)
    )
    model.maximize(gain)
    _add_cap(model, gain, cap, scale)
    if known:
        add_hint(model, slot, known)
    solved = solve_cp(model, clock.limits(), seed)
    if solved.status in (Status.ERROR, Status.INFEASIBLE):
        raise SolverError(solved.reason or "CP-SAT calls the slot infeasible")
    return CpSlotResult(
        None if solved.values is None else mappings_of(problem.terms, slot, solved),
        None if solved.bound is None else min(cap, float(tables.bound(solved.bound))),
        solved.limit_hit,
    )


@method(
    name="cp_embedding",
    kind="exact",
    reference="(12)-(19) in CP-SAT (reconstructed)",
    formulation="embedding",
    backend="cpsat",
)
def solve_embedding(
    instance: GadgetInstance,
    limits: Limits,
    *,
    scale: int = 0,
) -> MethodOutcome:
    """The embedding program by CP-SAT, utilities rounded and the bound corrected.

    Solve the embedding program by CP-SAT with utilities rounded down (reconstructed).

    Parameters
    ----------
    scale : int
        S; with 0 it follows from the sum of the utilities.

    Raises
    ------
    ModelRefused
        If the model is too large, or the utilities are too large for the scale.
    """
    rng = fixed_rng()
    clock = Clock(limits)
    utilities = [job.utility for job in instance.terms.jobs]
    tables = scaled_tables(utilities, scale or scale_for(utilities))
    model = joint_model(
        instance.terms, EMBEDDING, [np.array(table, dtype=float) for table in tables.table]
    )
    built_s = clock.elapsed_s
    # Handing the model to the solver would take as long again.
    if clock.expired:
        return MethodOutcome(limit_hit="time_s")
    with solver_watched(tables.scale, lambda bound: float(tables.bound(bound))):
        solved = solve_model(model, "cpsat", clock.limits(), seed_of(rng))
    found = None if solved.values is None else decode(model, instance)
    return _outcome(solved, found, tables, built_s)


def mappings_of(terms: Terms, slot: CpSlot, solved: SolverOutcome) -> list[RingMapping]:
    """Return the rings of an incumbent in a slot."""
    values = solved.values
    assert values is not None
    workers: dict[int, dict[int, int]] = {i: {} for i in slot.size}
    uses: dict[int, dict[int, int]] = {i: {} for i in slot.size}
    for (i, s), y in slot.workers.items():
        workers[i][s] = value_of(values, y)
    for (i, e), literals in slot.uses.items():
        uses[i][e] = sum(value_of(values, x) for x in literals)
    found = (mapping_of(terms, i, workers[i], uses[i]) for i in slot.size)
    return [mapping for mapping in found if mapping is not None]


def _outcome(
    solved: SolverOutcome,
    solution: GadgetSolution | None,
    tables: ScaledTables,
    built_s: float,
    cap: float = math.inf,
) -> MethodOutcome:
    # Doing nothing is feasible, so CP-SAT must be wrong.
    if solved.status is Status.INFEASIBLE:
        raise SolverError("CP-SAT calls the model infeasible")
    return MethodOutcome.of(
        solved,
        solution,
        scale=tables.scale,
        bound_of=lambda bound: min(cap, float(tables.bound(bound))),
        phases_s={"build": built_s},
        notes={"rounding_of_the_bound": float(tables.lost / tables.scale)},
    )
