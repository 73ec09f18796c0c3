r"""The problem of one job over the reals: a geometric program.

F7 of the page (reconstructed).

Sets: resources r; monomials t of the completion time, with coefficients :math:`\theta_t > 0` and
exponents :math:`(i_t, j_t)` of w and p. Variables: :math:`a = \ln w`, :math:`b = \ln p`.

.. math::
    \min\ & \theta_0 + \sum_t \theta_t\, e^{i_t a + j_t b} \\
    (1)\quad & O^r e^a + G^r e^b \le v^r \\
    (2)\quad & a, b \ge 0

Every term is convex in (a, b), so that any local optimum is the optimum; the paper calls the
problem NP-complete and searches a grid. `continuous` of `inner.py` solves it in closed form and one
golden section; this model is its readable statement.
"""

from __future__ import annotations

import math
from typing import Any

import pyomo.environ as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.models.smd.instance import Job
from gadgetopt.models.smd.subproblems.inner import (
    Point,
    largest_p,
    largest_real_p,
    largest_real_w,
    real_rows,
)
from gadgetopt.models.smd.subproblems.ratios import ratios

#: Exponents of w and p of each shape of ratio.
EXPONENTS = {
    "w": (1, 0),
    "p": (0, 1),
    "1/w": (-1, 0),
    "1/p": (0, -1),
    "w/p": (1, -1),
    "p/w": (-1, 1),
}


def build(job: Job) -> pyo.ConcreteModel:
    """Build the geometric program of a job.

    Raises
    ------
    ModelRefused
        If not even (1, 1) fits.
    """
    if largest_p(job) == 0:
        raise ModelRefused("not even one worker and one server fit")
    rows = [row for row in real_rows(job) if row[0] or row[1]]
    terms = [(ratio.coefficient, *EXPONENTS[ratio.shape]) for ratio in ratios(job)]

    m = pyo.ConcreteModel("inner problem, geometric program")
    m.R = pyo.RangeSet(0, len(rows) - 1)

    # (2), and the bounds that (1) implies.
    m.a = pyo.Var(bounds=(0, math.log(largest_real_w(job, 1.0))), doc="ln w")
    m.b = pyo.Var(bounds=(0, math.log(largest_real_p(job))), doc="ln p")

    @m.Constraint(m.R, doc="(1): inside the reservation")
    def packing(m: Any, r: int) -> Any:
        O_r, G_r, v_r = rows[r]
        workers = O_r * pyo.exp(m.a) if O_r else 0
        servers = G_r * pyo.exp(m.b) if G_r else 0
        return workers + servers <= v_r

    m.time = pyo.Objective(
        expr=job.completion_time.constant
        + sum(theta * pyo.exp(i * m.a + j * m.b) for theta, i, j in terms),
        sense=pyo.minimize,
    )
    return m


def decode(model: pyo.ConcreteModel, job: Job) -> Point:
    """Read the point, and compute its time from the job."""
    w, p = math.exp(pyo.value(model.a)), math.exp(pyo.value(model.b))
    return Point(w, p, float(job.completion_time.at(w, p)))
