r"""Upper bounds on the total utility, most of them certified by prices of the resources.

`lagrangian` and `utility_sum` are certified by prices (`certificate/check.py`). `continuous`
searches no integers: it takes the utility of every job's optimum over the reals, a geometric
program, and solves the linear relaxation of the knapsack (all reconstructed).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Floats
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.pieces.knapsack.relaxation import linear_relaxation
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import SmdInstance
from ...subproblems.columns import (
    Columns,
    all_columns,
    charged_rows,
    collapsed,
)
from ...subproblems.inner import continuous as relaxed_pair
from ..certificate.check import SmdCertificate


def columns_of(instance: SmdInstance) -> Columns:
    """Return the knapsack of best pairs or, if use is charged, of all pairs."""
    return collapsed(instance) if instance.charging == "reserved" else all_columns(instance)


@method(kind="relaxation", reference="L(lambda) (reconstructed)", formulation="lagrangian")
def lagrangian(instance: SmdInstance, limits: Limits) -> MethodOutcome:
    """Lagrangian bound at the duals of the linear relaxation, recomputed from raw data.

    It is the relaxation's optimum, up to rounding. A basic solution of the relaxation has at most
    as many fractional jobs as there are resources, so that the bound is tight when many jobs are
    admitted. The duals are the certificate.
    """
    columns = columns_of(instance)
    relaxation = linear_relaxation(columns.knapsack, limits)
    if relaxation.duals is None:
        return MethodOutcome(limit_hit=relaxation.limit_hit or "time_s")
    certificate = price_certificate(columns, relaxation.duals)
    return MethodOutcome(
        certificate=certificate,
        limit_hit=relaxation.limit_hit,
        notes={
            "prices": dict(zip(instance.resources, map(float, certificate.prices), strict=True))
        },
    )


def price_certificate(columns: Columns, duals: Floats) -> SmdCertificate:
    """Return the certificate of some duals of the rows."""
    pairs = zip(duals.tolist(), columns.row_scale, strict=True)
    return SmdCertificate(prices=tuple(Fraction(max(0.0, y)) * s for y, s in pairs))


@method(kind="relaxation", reference="sum of utilities (reconstructed)", formulation="utility_sum")
def utility_sum(instance: SmdInstance) -> MethodOutcome:
    """Sum of the best utilities of all jobs.

    Return the sum of all jobs' best utilities: the Lagrangian bound at prices of zero.
    """
    free = (Fraction(0),) * len(instance.capacity)
    return MethodOutcome(certificate=SmdCertificate(prices=free))


@method(kind="relaxation", reference="F7 (reconstructed)", formulation="continuous")
def continuous(instance: SmdInstance, limits: Limits) -> MethodOutcome:
    """Linear relaxation with utilities of the geometric programs.

    A job is charged its reservation, or one worker and one server if only use is charged.
    """
    points = [relaxed_pair(job) for job in instance.jobs]
    kept = [i for i, point in enumerate(points) if point is not None]
    profit = [instance.jobs[i].utility.at(point.tau_s) for i, point in enumerate(points) if point]
    one = np.ones(len(kept), dtype=np.int64)
    rows = charged_rows(instance, np.array(kept, dtype=np.int64), one, one)
    group = np.arange(len(kept), dtype=np.int64)
    relaxation = linear_relaxation(
        Knapsack(np.array(profit), rows.weight, group, rows.capacity), limits
    )
    return MethodOutcome(dual_bound=float(relaxation.bound), limit_hit=relaxation.limit_hit)
