r"""Completion time of a job as a sum of linear ratios over a polygon, the form of Algorithm 1.

.. math::
    \zeta(x) = \sum_j \zeta_j(x), \qquad \zeta_j(x) = \frac{a_j^\top x + q_j}{c_j^\top x + d_j},
    \qquad x = (w, p) \in \Omega = \{w \ge 1,\ p \ge 1,\ O w + G p \le v\}

The paper prints :math:`x \ge 0`, over which 1/w has no maximum; with :math:`w, p \ge 1` all ratios
are positive and bounded (reconstructed). Ratios that are identically 0 are dropped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gadgetopt.errors import SolverError
from gadgetopt.numbers.arrays import Floats
from gadgetopt.solvers.persistent import PersistentLp
from gadgetopt.system.result import Limits, Status

from ..instance import Job
from .inner import largest_real_p, largest_real_w, real_rows

#: (a_w, a_p, q) and (c_w, c_p, d) of each shape of ratio.
SHAPES = {
    "w": ((1, 0, 0), (0, 0, 1)),
    "p": ((0, 1, 0), (0, 0, 1)),
    "1/w": ((0, 0, 1), (1, 0, 0)),
    "1/p": ((0, 0, 1), (0, 1, 0)),
    "w/p": ((1, 0, 0), (0, 1, 0)),
    "p/w": ((0, 1, 0), (1, 0, 0)),
}

#: The ratios that join w and p.
COUPLING = ("w/p", "p/w")


@dataclass(frozen=True)
class Ratio:
    """zeta_j: a positive coefficient times one of `SHAPES`."""

    shape: str
    coefficient: float

    @property
    def numerator(self) -> Floats:
        """a_w, a_p, q."""
        return self.coefficient * np.array(SHAPES[self.shape][0], dtype=float)

    @property
    def denominator(self) -> Floats:
        """c_w, c_p, d."""
        return np.array(SHAPES[self.shape][1], dtype=float)

    def at(self, w: Any, p: Any) -> Any:
        """Value at numbers or arrays."""
        (a_w, a_p, q), (c_w, c_p, d) = SHAPES[self.shape]
        return self.coefficient * (a_w * w + a_p * p + q) / (c_w * w + c_p * p + d)


def ratios(job: Job) -> list[Ratio]:
    """Return the ratios of a job's time; its constant is not among them."""
    tau = job.completion_time
    terms = {
        "w": tau.per_w,
        "p": tau.per_p,
        "1/w": tau.one_over_w,
        "1/p": tau.one_over_p,
        "w/p": tau.w_over_p,
        "p/w": tau.p_over_w,
    }
    return [Ratio(shape, coefficient) for shape, coefficient in terms.items() if coefficient > 0]


def ranges(job: Job, of: Sequence[Ratio]) -> list[tuple[float, float]]:
    """Return l_j and phi_j, the least and the greatest value of each ratio over Omega.

    In closed form (reconstructed): every shape has its extremes at (1, 1), (w_max, 1), (1, p_max).
    """
    w_max, p_max = largest_real_w(job, 1.0), largest_real_p(job)
    corners = ((1.0, 1.0), (w_max, 1.0), (1.0, p_max))
    values = [[ratio.at(*corner) for corner in corners] for ratio in of]
    return [(min(here), max(here)) for here in values]


def optimum(
    job: Job,
    ratio: Ratio,
    bounded: Sequence[Ratio] = (),
    nu: Sequence[float] = (),
    sense: Literal["min", "max"] = "min",
    limits: Limits | None = None,
) -> tuple[float, float, float] | None:
    r"""Return w, p and the least value of a ratio over Omega while others are at most nu_j.

    By the linear program of Charnes and Cooper: with :math:`t = 1 / (c^\top x + d)`,
    :math:`y = t x`,

    .. math::
        \min\ a^\top y + q t \quad \text{s.t.}\quad A y - b t \le 0,\quad c^\top y + d t = 1,\quad
        (a_j - \nu_j c_j)^\top y + (q_j - \nu_j d_j)\, t \le 0,\quad y, t \ge 0

    Omega is bounded, so t > 0 and x = y / t. Rows are scaled to a greatest coefficient of 1, and
    the objective is divided by the ratio's coefficient.

    Parameters
    ----------
    job : Job
        Whose (1, 1) fits.
    ratio : Ratio
    bounded : sequence of Ratio
    nu : sequence of float
    sense : "min" or "max"
        "max" seeks the greatest value instead.
    limits : Limits, optional

    Returns
    -------
    (w, p, value) or None
        None if no point satisfies the bounds.

    Raises
    ------
    TimeoutError
        If time is up first.
    """
    omega = [[-1.0, 0.0, 1.0], [0.0, -1.0, 1.0]]
    omega += [[O_r, G_r, -v_r] for O_r, G_r, v_r in real_rows(job) if O_r or G_r]
    cuts = [r.numerator - n * r.denominator for r, n in zip(bounded, nu, strict=True)]
    rows = np.array([*omega, *cuts, ratio.denominator])
    rows[:-1] /= np.abs(rows[:-1]).max(axis=1, keepdims=True)
    at_row, at_column = np.nonzero(rows)
    lp = PersistentLp(sense, primal_feasibility_tolerance=1e-9, dual_feasibility_tolerance=1e-9)
    lp.add_columns(ratio.numerator / ratio.coefficient, [0.0] * 3, [math.inf] * 3)
    lp.add_rows(
        [-math.inf] * (len(rows) - 1) + [1.0],
        [0.0] * (len(rows) - 1) + [1.0],
        np.searchsorted(at_row, np.arange(len(rows))),
        at_column,
        rows[at_row, at_column],
    )
    status = lp.solve(limits or Limits())
    if status is Status.INFEASIBLE:
        return None
    if status is not Status.OPTIMAL:
        if lp.limit_hit == "time_s":
            raise TimeoutError
        raise SolverError(f"the linear program of a ratio ended with {status}")
    y_w, y_p, t = lp.values
    return float(y_w / t), float(y_p / t), ratio.coefficient * lp.objective
