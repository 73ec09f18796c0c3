r"""Columns: a choice of one pair of workers and servers for every admitted job (F2, F4).

Sets: jobs i, pairs :math:`\mathcal F_i = \{(w, p) \in \mathbb Z_{\ge 1}^2 : O_i w + G_i p \le
v_i\}`, resources r. Parameters: :math:`\pi_{iwp} = \mu_i(\tau_i(w, p))`, and what a column is
charged, :math:`a^r_{iwp} = v^r_i` (charging "reserved": F2) or :math:`O^r_i w + G^r_i p` ("used":
F4, reconstructed). Variables: :math:`y_{iwp} = 1` if job i runs with w workers and p servers.

.. math::
    \max\ & \sum_{i,w,p} \pi_{iwp}\, y_{iwp}                                    \tag{1} \\
    & \sum_{i,w,p} a^r_{iwp}\, y_{iwp} \le C^r \quad \forall r                  \tag{2} \\
    & \sum_{w,p} y_{iwp} \le 1 \quad \forall i, \qquad y_{iwp} \in \{0, 1\}

Constraint (3) is in the pairs. With charging "reserved" all columns of a job weigh the same, so
that only its best one matters: see `collapsed.py`. Columns of no utility are left out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyomo.environ as pyo

from gadgetopt.knapsack.problem import Knapsack
from gadgetopt.numbers import decimal_rational

from .inner import Pair, pairs
from .instance import Allocation, SmdInstance, SmdSolution

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Columns:
    """A knapsack of pairs of workers and servers, a group for every job.

    Attributes
    ----------
    knapsack : Knapsack
        Profits are utilities. Rows are in the whole numbers that `row_scale` makes of resources.
        Only jobs of some use are groups.
    job, w, p : ndarray of int, shape (items,)
    row_scale : tuple of Fraction, one for every resource
        What the rows were multiplied by.
    """

    knapsack: Knapsack
    job: Ints
    w: Ints
    p: Ints
    row_scale: tuple[Fraction, ...]

    def solution(self, instance: SmdInstance, chosen: npt.ArrayLike) -> SmdSolution:
        """Return the decision in which the jobs of the chosen items run as these say."""
        given = [Allocation(admit=False)] * len(instance.jobs)
        for c in np.asarray(chosen, dtype=np.int64).tolist():
            given[int(self.job[c])] = Allocation(
                admit=True, num_workers=int(self.w[c]), num_ps=int(self.p[c])
            )
        return SmdSolution(jobs=tuple(given))


def all_columns(instance: SmdInstance) -> Columns:
    """Return a column for every pair of every job that fits its reservation and is of use."""
    found = []
    for i, of in enumerate(instance.jobs):
        table = pairs(of)
        profit = of.utility.over(table.tau_s)
        keep = np.flatnonzero(profit > 0)
        found.append((np.full(len(keep), i), table.w[keep], table.p[keep], profit[keep]))
    job, w, p, profit = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return _columns(instance, job, w, p, profit)


def chosen_columns(instance: SmdInstance, chosen: Sequence[Pair | None]) -> Columns:
    """Return one column for every job: its chosen pair; none if that is missing or of no use."""
    kept = [
        (i, pair, job.utility.at(pair.tau_s))
        for i, (job, pair) in enumerate(zip(instance.jobs, chosen, strict=True))
        if pair is not None
    ]
    kept = [entry for entry in kept if entry[2] > 0]
    return _columns(
        instance,
        np.array([i for i, _, _ in kept], dtype=np.int64),
        np.array([pair.w for _, pair, _ in kept], dtype=np.int64),
        np.array([pair.p for _, pair, _ in kept], dtype=np.int64),
        np.array([u for _, _, u in kept], dtype=np.float64),
    )


def _columns(instance: SmdInstance, job: Ints, w: Ints, p: Ints, profit: Floats) -> Columns:
    weight, capacity, scale = charged_rows(instance, job, w, p)
    # Jobs come in their order; those without a column are no groups.
    owner = np.cumsum(np.diff(job, prepend=job[:1]) > 0, dtype=np.int64)
    return Columns(Knapsack(profit, weight, owner, capacity), job, w, p, scale)


def charged_rows(
    instance: SmdInstance, job: Ints, w: Ints, p: Ints
) -> tuple[Floats, Floats, tuple[Fraction, ...]]:
    """Return what pairs are charged of each resource, the capacities, and what rows were scaled by.

    All are whole numbers. Amounts of so many digits that doubles would not hold them so are rounded
    down, by less than 1e-12 of the largest of their row: no pair that fits is lost.

    Parameters
    ----------
    job, w, p : ndarray of int, shape (items,)
        Numbers of jobs, workers and servers.

    Returns
    -------
    weight : ndarray of float, shape (items, resources)
    capacity : ndarray of float, shape (resources,)
    row_scale : tuple of Fraction, one for every resource
    """
    jobs = instance.jobs
    rows, capacity, scales = [], [], []
    for r, C_r in enumerate(instance.capacity):
        if instance.charging == "reserved":
            limit = [of.reservation_limit[r] for of in jobs]
            scale = _scale({*limit})
            rows.append(_whole(limit, scale)[job])
        else:
            worker = [of.worker_demand[r] for of in jobs]
            server = [of.ps_demand[r] for of in jobs]
            scale = _scale({*worker, *server})
            rows.append(_whole(worker, scale)[job] * w + _whole(server, scale)[job] * p)
        # Of whole weights only whole amounts are used.
        capacity.append(math.floor(decimal_rational(C_r) * scale))
        scales.append(scale)
    return np.column_stack(rows), np.array(capacity, dtype=float), tuple(scales)


#: Bits of the largest amount of a row.
_LARGEST_BITS = 40


def _scale(amounts: set[float]) -> Fraction:
    """Return the least number that makes amounts whole, or a power of two if that is too large."""
    exact = [decimal_rational(x) for x in amounts]
    scale = math.lcm(*(x.denominator for x in exact))
    if scale * max(exact) <= 2**_LARGEST_BITS:
        return Fraction(scale)
    return Fraction(2) ** (_LARGEST_BITS - math.frexp(max(amounts))[1])


def _whole(amounts: Sequence[float], scale: Fraction) -> Floats:
    """Return amounts at a scale, rounded down to whole numbers where they are none."""
    whole = {x: float(math.floor(decimal_rational(x) * scale)) for x in {*amounts}}
    return np.array([whole[x] for x in amounts])


def build(instance: SmdInstance) -> pyo.ConcreteModel:
    """Build (1), (2) over all columns; charged as the instance says: F2 or F4."""
    columns = all_columns(instance)
    knapsack = columns.knapsack
    resources = instance.resources
    keys = list(zip(columns.job.tolist(), columns.w.tolist(), columns.p.tolist(), strict=True))
    of_job: dict[int, list[tuple[int, int, int]]] = {}
    for key in keys:
        of_job.setdefault(key[0], []).append(key)
    profit = dict(zip(keys, knapsack.profit.tolist(), strict=True))
    charge = dict(zip(keys, knapsack.weight.tolist(), strict=True))

    m = pyo.ConcreteModel("columns")
    m.I = pyo.Set(initialize=list(of_job), doc="jobs of some use")
    m.R = pyo.RangeSet(0, len(resources) - 1)
    m.F = pyo.Set(dimen=3, initialize=keys, doc="pairs inside the reservation, (3)")
    m.y = pyo.Var(m.F, domain=pyo.Binary, doc="job i runs with w workers and p servers")

    @m.Constraint(m.R, doc="(2): what is charged fits the cluster")
    def capacity(m: Any, r: int) -> Any:
        terms = [charge[key][r] * m.y[key] for key in keys if charge[key][r]]
        return sum(terms) <= knapsack.capacity[r] if terms else pyo.Constraint.Skip

    @m.Constraint(m.I, doc="a job runs in one way, if at all")
    def one_pair(m: Any, i: int) -> Any:
        return sum(m.y[key] for key in of_job[i]) <= 1

    m.utility = pyo.Objective(
        expr=sum(profit[key] * m.y[key] for key in keys), sense=pyo.maximize, doc="(1)"
    )
    return m


def decode(m: pyo.ConcreteModel, instance: SmdInstance) -> SmdSolution:
    """Admit the jobs of the columns chosen."""
    given = [Allocation(admit=False)] * len(instance.jobs)
    for i, w, p in m.F:
        if pyo.value(m.y[i, w, p]) > 0.5:
            given[i] = Allocation(admit=True, num_workers=w, num_ps=p)
    return SmdSolution(jobs=tuple(given))
