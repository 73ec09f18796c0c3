r"""Ring selection (steps 1 to 3 of Algorithm 2): relax (12)-(19) and pick a size per job.

The relaxation equals the one without links (proposition P3, reconstructed): if all workers of a
ring are spread alike, no flow is needed. With one resource it has a closed form; with several it is
solved as

.. math::
    \max \textstyle\sum \pi_{i\kappa} \varrho^u_{i\kappa}, \qquad
    \sum_{\kappa, u} \varrho^u_{i\kappa} \le 1, \qquad
    \sum_{i,\kappa} \kappa l_i^r \varrho^u_{i\kappa} \le C_u^r.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gadgetopt.errors import SolverError
from gadgetopt.solvers.columns import ColumnPool
from gadgetopt.solvers.persistent import PersistentLp
from gadgetopt.solvers.scaling import cost_unit
from gadgetopt.system.result import Limits

from .hull import fractional_choice
from .slot_problem import SlotProblem

#: Shares below this are zero. Tuned: `benchmarks/constants.py`.
ZERO = 1e-9


@dataclass(frozen=True)
class RingSelection:
    """Optimum of the relaxation and the selected ring sizes.

    Attributes
    ----------
    bound : float
        Upper bound on the slot's optimum: the value of the linear relaxation; if HiGHS solved it,
        recomputed from the duals and rounded outward.
    shares : tuple of dict
        chi-bar of each size of each job, where positive.
    sizes : tuple of int
        kappa_i of each job; 0 if the job is dropped for the slot.
    """

    bound: float
    shares: tuple[dict[int, float], ...]
    sizes: tuple[int, ...]


def select_rings(problem: SlotProblem, limits: Limits) -> RingSelection:
    r"""Solve the relaxation and select a size for each job.

    The size is :math:`\kappa_i = \arg\max \pi_{i\kappa} \bar\chi_{i\kappa}`; ties go to the
    smallest size (reconstructed).

    Raises
    ------
    TimeoutError
        If a limit is reached first.
    """
    bound, shares = _relaxation(problem, limits)
    sizes = []
    for x, share in zip(problem.jobs, shares, strict=True):
        ranked = [(-x.gain[k] * part, k) for k, part in share.items()]
        sizes.append(min(ranked)[1] if ranked else 0)
    return RingSelection(bound, shares, tuple(sizes))


def _relaxation(problem: SlotProblem, limits: Limits) -> tuple[float, tuple[dict[int, float], ...]]:
    terms = problem.terms
    if terms.capacity.shape[1] == 1:
        demands = [int(x.job.demand[0]) for x in problem.jobs]
        gains = [x.gain for x in problem.jobs]
        choice = fractional_choice(gains, demands, int(terms.capacity.sum()))
        return choice.value, choice.shares
    lp = PersistentLp("max", cost_unit=cost_unit([x.gain.max() for x in problem.jobs]))
    jobs, servers = len(problem.jobs), len(terms.servers)
    resources = terms.capacity.shape[1]
    upper = np.concatenate([np.ones(jobs), terms.capacity.ravel().astype(float)])
    empty = np.empty(0)
    lp.add_rows(np.full(len(upper), -np.inf), upper, np.zeros(len(upper)), empty, empty)
    rings: ColumnPool[tuple[int, int]] = ColumnPool(lp, most=1.0)
    for j, x in enumerate(problem.jobs):
        needed = np.flatnonzero(x.job.demand)
        for size in range(1, x.most + 1):
            for s in range(servers):
                rows = np.r_[j, jobs + s * resources + needed]
                values = np.r_[1.0, size * x.job.demand[needed]]
                rings.add((j, size, s), (j, size), float(x.gain[size]), rows, values)
    rings.enter()
    status = lp.solve(limits)
    if lp.limit_hit:
        raise TimeoutError("the relaxation of a slot took longer than the time limit")
    if status != "optimal":
        raise SolverError(f"the relaxation of a slot ended as {status}")
    shares: list[dict[int, float]] = [{} for _ in problem.jobs]
    for (j, size), part in rings.used(ZERO):
        shares[j][size] = shares[j].get(size, 0.0) + part
    return lp.dual_bound, tuple(shares)
