r"""The completion time of a job as a sum of linear ratios over a polygon, as Algorithm 1 takes it.

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
from typing import Any

import numpy as np
import numpy.typing as npt

from gadgetopt.errors import ModelRefused, SolverError
from gadgetopt.result import Limits, Status
from gadgetopt.solvers.persistent import PersistentLp

from .inner import largest_real_p, largest_real_w, real_rows
from .instance import Job

Floats = npt.NDArray[np.float64]

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


class FractionalProgram:
    r"""Least value of one ratio over Omega under bounds on others, by Charnes and Cooper.

    With :math:`t = 1 / (c^\top x + d)` and :math:`y = t x` the program is linear:

    .. math::
        \min\ a^\top y + q t \quad \text{s.t.}\quad A y - b t \le 0,\quad c^\top y + d t = 1,\quad
        (a_j - \nu_j c_j)^\top y + (q_j - \nu_j d_j)\, t \le 0,\quad y, t \ge 0

    Omega is bounded, so t > 0 and x = y / t. Rows are scaled to a greatest coefficient of 1.

    Parameters
    ----------
    job : Job
        Whose (1, 1) fits.
    ratio : Ratio
    sense : "min" or "max"
        Whether `optimum` seeks the least or the greatest value.
    """

    def __init__(self, job: Job, ratio: Ratio, sense: str = "min") -> None:
        omega = [(-1.0, 0.0, 1.0), (0.0, -1.0, 1.0)]
        omega += [(O_r, G_r, -v_r) for O_r, G_r, v_r in real_rows(job) if O_r or G_r]
        self._lp = PersistentLp(
            "max" if sense == "max" else "min",
            primal_feasibility_tolerance=1e-9,
            dual_feasibility_tolerance=1e-9,
        )
        # The objective is scaled too: a coefficient says nothing about where the optimum is.
        self._scale = ratio.coefficient
        cost = ratio.numerator / ratio.coefficient
        self._lp.add_columns(cost, [0.0] * 3, [math.inf] * 3)
        self._add(np.array(omega), -math.inf, 0.0)
        self._add(ratio.denominator[None], 1.0, 1.0)
        self._first_cut = self._lp.num_rows

    def optimum(
        self, bounded: Sequence[Ratio] = (), nu: Sequence[float] = ()
    ) -> tuple[float, float, float] | None:
        """Return w, p and the value where each ratio in `bounded` is at most its nu.

        None if there is no such point.
        """
        cuts = range(self._first_cut, self._lp.num_rows)
        if cuts:
            self._lp.delete_rows(list(cuts))
        if bounded:
            rows = [r.numerator - n * r.denominator for r, n in zip(bounded, nu, strict=True)]
            self._add(np.array(rows), -math.inf, 0.0)
        status = self._lp.solve(Limits())
        if status is Status.INFEASIBLE:
            return None
        if status is not Status.OPTIMAL:
            raise SolverError(f"the linear program of a ratio ended with {status}")
        y_w, y_p, t = self._lp.values
        return float(y_w / t), float(y_p / t), self._scale * self._lp.objective

    def _add(self, rows: Floats, lower: float, upper: float) -> None:
        rows = rows / np.abs(rows).max(axis=1, keepdims=True)
        if not np.isfinite(rows).all():
            raise ModelRefused("numbers of a job are too far apart for linear programs")
        at_row, at_column = np.nonzero(rows)
        starts = np.searchsorted(at_row, np.arange(len(rows)))
        self._lp.add_rows(
            np.full(len(rows), lower),
            np.full(len(rows), upper),
            starts,
            at_column,
            rows[at_row, at_column],
        )
