r"""Pyomo model of all slots together, for any model of the rings of a slot.

Every slot t has a block of its own, in which :math:`\kappa_i[t]` is the size of job i's ring; the
module that adds the block defines the rings. A job's total enters the objective by one-hot levels
(reconstructed) :math:`\chi_{ik}`, and where its table of utilities is concave by increments
:math:`\delta_{ip}` of falling slope :math:`v_{ip}` on top of the last level :math:`\bar k_i`:

.. math::
    \max\ & \textstyle\sum_i \big( u_i(0) + \sum_k (u_i(k) - u_i(0)) \chi_{ik}
        + \sum_p v_{ip} \delta_{ip} \big) \\
    & \textstyle\sum_k \chi_{ik} \le 1, \qquad
      \delta_{ip} \le w_{ip} \chi_{i \bar k_i} \quad \forall i, p \\
    & \textstyle\sum_k k \chi_{ik} + \sum_p \delta_{ip} \le \sum_t \kappa_i[t] \le K_i
        \quad \forall i

The increments of a job without levels start at 0. Levels worth no more than a smaller level are
left out, so the total may exceed the level. With a horizon of one slot and the gains
:math:`\pi_{i\kappa}` as tables this is the slot problem (10)-(12).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.memory import MOST_CELLS

from ..instance import GadgetSolution
from ..subproblems.levels import levels_of
from ..subproblems.max_ring import largest_rings
from ..subproblems.routing import mapping_of
from ..subproblems.slot_problem import Mapping as RingMapping
from ..subproblems.slot_problem import ring
from ..terms import JobTerms, Terms

if TYPE_CHECKING:
    from ..instance import GadgetInstance


#: Limit on the variables of a model of all slots; larger models only fill the memory.
MOST_VARIABLES = MOST_CELLS // 40


@dataclass(frozen=True)
class SlotScope:
    """Data of the block of a slot.

    Attributes
    ----------
    terms : Terms
    largest : dict of int to int
        q_i, the largest ring of every job that may run, by its number in the instance.
    """

    terms: Terms
    largest: Mapping[int, int]

    def servers(self, i: int) -> list[int]:
        """Return the positions of the servers that can hold a worker of the job."""
        return [int(s) for s in np.flatnonzero(self.terms.jobs[i].per_server > 0)]

    def links(self, i: int) -> list[int]:
        """Return the positions of the links wide enough for the job."""
        return [
            int(e) for e in np.flatnonzero(self.terms.link_mbps >= self.terms.jobs[i].bandwidth)
        ]

    def most(self, i: int, s: int) -> int:
        """Return the largest number of workers of the job on a server."""
        return min(self.largest[i], int(self.terms.jobs[i].per_server[s]))


@dataclass(frozen=True)
class SlotModel:
    """A Pyomo model of the rings of a slot.

    Attributes
    ----------
    name : str
    add : callable
        `add(block, scope)` adds to the block `size[i]`, kappa_i; `workers[i, s]`; and, if the
        decision needs it, `uses[i, e]`, the number of times that the ring uses a link.
    num_variables : callable
        `num_variables(scope)` is the approximate number of variables that it adds.
    """

    name: str
    add: Callable[[Any, SlotScope], None]
    num_variables: Callable[[SlotScope], int]


def scopes_of(terms: Terms, largest: Sequence[int] | None = None) -> dict[int, SlotScope]:
    """Return the scope of every slot in which some job may run."""
    largest = largest_rings(terms) if largest is None else largest
    scopes = {}
    for t in range(1, terms.horizon + 1):
        present = {
            job.index: largest[job.index]
            for job in terms.jobs
            if job.arrival <= t and largest[job.index] > 0
        }
        if present:
            scopes[t] = SlotScope(terms, present)
    return scopes


def joint_model(
    terms: Terms,
    way: SlotModel,
    tables: Sequence[Floats] | None = None,
    largest: Sequence[int] | None = None,
) -> pyo.ConcreteModel:
    """Build the model of all slots.

    Parameters
    ----------
    terms : Terms
    way : SlotModel
    tables : sequence of array, optional
        Utilities to use in place of u_i.
    largest : sequence of int, optional
        Bounds on ring sizes; by default the largest rings that can be embedded alone.

    Raises
    ------
    ModelRefused
        If the model has more than `MOST_VARIABLES` variables.
    """
    jobs = [
        job if tables is None else replace(job, utility=tables[job.index]) for job in terms.jobs
    ]
    return _model(way, scopes_of(terms, largest), jobs)


def refuse_too_large(num_variables: Iterable[int]) -> None:
    """Raise ModelRefused if the slots together have too many variables.

    Raises
    ------
    ModelRefused
        If there are more than `MOST_VARIABLES`.
    """
    count = 0
    for more in num_variables:
        count += more
        if count > MOST_VARIABLES:
            raise ModelRefused(f"the slots have more than {MOST_VARIABLES} variables together")


def _model(
    way: SlotModel, scopes: Mapping[int, SlotScope], jobs: Sequence[JobTerms]
) -> pyo.ConcreteModel:
    refuse_too_large(way.num_variables(scope) for scope in scopes.values())
    run = {i for scope in scopes.values() for i in scope.largest}
    levels = {job.index: levels_of(job) for job in jobs if job.index in run}
    worth = {
        (i, int(k)): float(u)
        for i, x in levels.items()
        for k, u in zip(x.level, x.level_worth, strict=True)
    }
    last = {i: int(x.level[-1]) for i, x in levels.items() if len(x.level)}
    piece = {
        (i, p): (int(width), float(slope))
        for i, x in levels.items()
        for p, (width, slope) in enumerate(zip(x.width, x.slope, strict=True))
    }
    most = {job.index: job.max_total for job in jobs}

    m = pyo.ConcreteModel(way.name)
    m.I = pyo.Set(initialize=list(levels), doc="jobs that may run")
    m.T = pyo.Set(initialize=list(scopes), doc="slots in which one may")
    m.K = pyo.Set(dimen=2, initialize=list(worth), doc="levels of the jobs")
    m.P = pyo.Set(dimen=2, initialize=list(piece), doc="increments of the jobs")
    m.chi_total = pyo.Var(m.K, domain=pyo.Binary, doc="job i reaches level k")
    m.delta = pyo.Var(
        m.P,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, i, p: (0, piece[i, p][0]),
        doc="worker-slots of increment p",
    )

    @m.Block(m.T, doc="rings of slot t")
    def slot(b: Any, t: int) -> None:
        way.add(b, scopes[t])

    @m.Expression(m.I, doc="worker-slots of job i")
    def total(m: Any, i: int) -> Any:
        return sum(m.slot[t].size[i] for t in m.T if i in scopes[t].largest)

    @m.Constraint(m.I, doc="a job reaches one level, if any")
    def one_level(m: Any, i: int) -> Any:
        chosen = [m.chi_total[i, int(k)] for k in levels[i].level]
        return sum(chosen) <= 1 if chosen else pyo.Constraint.Skip

    @m.Constraint(m.P, doc="increments come on top of the last level")
    def increments_on_top(m: Any, i: int, p: int) -> Any:
        if i not in last:
            return pyo.Constraint.Skip
        return m.delta[i, p] <= piece[i, p][0] * m.chi_total[i, last[i]]

    @m.Constraint(m.I, doc="a job trains its level and increments")
    def reached(m: Any, i: int) -> Any:
        asked = sum(int(k) * m.chi_total[i, int(k)] for k in levels[i].level)
        asked += sum(m.delta[i, p] for p in range(len(levels[i].width)))
        return asked <= m.total[i]

    @m.Constraint(m.I, doc="(3), (11): no more than the budgets allow")
    def budget(m: Any, i: int) -> Any:
        return m.total[i] <= most[i]

    m.utility = pyo.Objective(
        expr=float(sum(job.utility[0] for job in jobs))
        + sum(u * m.chi_total[key] for key, u in worth.items())
        + sum(slope * m.delta[key] for key, (_, slope) in piece.items()),
        sense=pyo.maximize,
        doc="(10)",
    )
    return m


def decode(m: pyo.ConcreteModel, instance: GadgetInstance) -> GadgetSolution:
    """Return the rings of all slots."""
    terms = instance.terms
    return GadgetSolution(
        rings=tuple(
            ring(terms, t, mapping) for t in m.T for mapping in mappings_of(m.slot[t], terms)
        )
    )


def mappings_of(b: Any, terms: Terms) -> list[RingMapping]:
    """Return the rings that the values of a slot's block describe."""
    workers: dict[int, dict[int, int]] = {}
    for i, s in b.workers:
        workers.setdefault(i, {})[s] = round(pyo.value(b.workers[i, s]))
    uses: dict[int, dict[int, int]] = {}
    if terms.tree is None:
        for i, e in b.uses:
            uses.setdefault(i, {})[e] = round(pyo.value(b.uses[i, e]))
    found = (mapping_of(terms, i, of_job, uses.get(i, {})) for i, of_job in workers.items())
    return [mapping for mapping in found if mapping is not None]


def add_capacity(b: Any, scope: SlotScope) -> None:
    """Add (4), equal to (16) with (18): the workers fit their servers."""
    terms = scope.terms
    here: dict[int, list[int]] = {}
    for i in scope.largest:
        for s in scope.servers(i):
            here.setdefault(s, []).append(i)
    b.SR = pyo.Set(
        dimen=2, initialize=[(s, r) for s in sorted(here) for r in range(terms.capacity.shape[1])]
    )

    @b.Constraint(b.SR, doc="(4), (16), (18): workers fit their server")
    def capacity(b: Any, s: int, r: int) -> Any:
        demand = {i: int(terms.jobs[i].demand[r]) for i in here[s]}
        used = [each * b.workers[i, s] for i, each in demand.items() if each]
        return sum(used) <= int(terms.capacity[s, r]) if used else pyo.Constraint.Skip


def add_bandwidth(b: Any, scope: SlotScope) -> None:
    """Add (19) with (17): the hops fit their links."""
    terms = scope.terms
    over: dict[int, list[int]] = {}
    for i, e in b.uses:
        if terms.jobs[i].bandwidth > 0:
            over.setdefault(e, []).append(i)
    b.E = pyo.Set(initialize=sorted(over))

    @b.Constraint(b.E, doc="(17), (19): hops fit their link")
    def bandwidth(b: Any, e: int) -> Any:
        used = sum(terms.jobs[i].bandwidth * b.uses[i, e] for i in over[e])
        return used <= int(terms.link_mbps[e])
