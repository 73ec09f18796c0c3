"""A knapsack of whole jobs: all slots and machines are one volume."""

from __future__ import annotations

import numpy as np

from gadgetopt.pieces.knapsack.core import cg_core
from gadgetopt.pieces.knapsack.problem import Knapsack
from gadgetopt.pieces.knapsack.relaxation import linear_relaxation
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import PdOrsInstance
from ..certificate.check import certificate_of
from .alone import alone, alone_utility, uniform


@method(
    kind="relaxation", reference="volume knapsack (reconstructed)", formulation="volume_knapsack"
)
def volume_knapsack(
    instance: PdOrsInstance, limits: Limits, *, integral: bool = False
) -> MethodOutcome:
    r"""A knapsack of whole jobs in the cluster's volume over the horizon.

    Return the optimum of a knapsack of whole jobs, or of its linear relaxation.

    .. math::
        \max \sum_i \hat u_i x_i, \qquad \sum_i x_i \big(\alpha_i^r N_i + \beta_i^r \lceil N_i /
        \gamma_i \rceil\big) \le T \sum_h C_h^r, \qquad N_i = \lceil W_i / \sigma_i \rceil,

    with :math:`\hat u_i` as in `alone`, and :math:`\sigma_i = 1` where no worker fits on a machine
    with its server. The relaxation's duals are prices that are the same everywhere; their
    certificate proves at least its value.

    Parameters
    ----------
    integral : bool, default False
        True if jobs are not split; the bound is then claimed by the solver.
    """
    rng = fixed_rng()
    jobs = [job for job in instance.terms.jobs if alone_utility(job) > 0]
    if not jobs:
        return alone(instance)
    weight = np.array(
        [
            job.alpha * (n := job.least_worker_slots) + job.beta * job.least_server_slots(n)
            for job in jobs
        ],
        dtype=np.float64,
    )
    capacity = instance.horizon_slots * instance.terms.capacity.sum(axis=0).astype(np.float64)
    profit = np.array([alone_utility(job) for job in jobs])
    knapsack = Knapsack(profit, weight, np.arange(len(jobs)), capacity)
    if integral:
        found = cg_core(knapsack, limits, rng)
        return MethodOutcome(
            dual_bound=found.bound, limit_hit=found.limit_hit, notes={"proof": found.proof}
        )
    relaxation = linear_relaxation(knapsack, limits)
    if relaxation.duals is None:
        return MethodOutcome(limit_hit=relaxation.limit_hit or "time_s")
    certificate = certificate_of(instance, uniform(instance, relaxation.duals))
    return MethodOutcome(certificate=certificate, limit_hit=relaxation.limit_hit)
