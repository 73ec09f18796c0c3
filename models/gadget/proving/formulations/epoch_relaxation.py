r"""Epoch relaxation in Pyomo: total capacity between arrivals, an upper bound.

The relaxation is (reconstructed); `proving/exact/epoch_form.py` has it as arrays. Sets: jobs i;
epochs e, the intervals between arrivals, :math:`n_e` slots long; levels k of job i, totals worth
more than any smaller total; and, where the table is concave, increments p of falling slope
:math:`v_{ip}` and width :math:`d_{ip}` on top of the last level :math:`L_i`.

.. math::
    \max\ & \textstyle\sum_i \big( u_i(0) + \sum_k (u_i(k) - u_i(0)) \chi_{ik}
        + \sum_p v_{ip} \delta_{ip} \big) \\
    & \textstyle\sum_e z_{ie} \ge \sum_k k \chi_{ik} + \sum_p \delta_{ip} \quad \forall i \\
    & \textstyle\sum_k \chi_{ik} \le 1, \qquad
      \delta_{ip} \le d_{ip} \chi_{i L_i} \quad \forall i, p \\
    & \textstyle\sum_i l_i^r z_{ie} \le n_e \sum_s C_s^r \quad \forall e, r \\
    & 0 \le z_{ie} \le n_e \bar N_i, \quad \chi_{ik} \in \{0, 1\}, \quad
      0 \le \delta_{ip} \le d_{ip} \qquad \text{(D8)}

:math:`\bar N_i` is the largest ring of the job that can be embedded alone. Jobs do not train before
they arrive, and the table ends at the budget (3). A job without a chosen level is worth
:math:`u_i(0)`. A job with a concave table has no levels; its increments start at 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.core as pyo

from gadgetopt.numbers.exact import ROUNDING
from gadgetopt.system.declaring import formulation

from ...instance import GadgetInstance
from ...subproblems.max_ring import largest_rings
from ..certificate.epochs import epochs_of
from .totals import add_totals


@formulation(
    name="epochs",
    model_class="MILP",
    strength="relaxation",
    equations="(D8) (reconstructed)",
    objective_error=ROUNDING,
)
def build(instance: GadgetInstance) -> pyo.ConcreteModel:
    """Worker-slots per job and epoch, without bandwidth and server boundaries.

    Build the epoch relaxation (reconstructed); its values are totals, not a decision.
    """
    terms = instance.terms
    epochs = epochs_of(terms)
    total_capacity = terms.capacity.sum(axis=0).tolist()
    n = epochs.length.tolist()
    m = pyo.ConcreteModel("epochs")
    m.E = pyo.RangeSet(0, len(n) - 1, doc="epochs")
    m.R = pyo.RangeSet(0, len(instance.resources) - 1, doc="resources")
    add_totals(m, terms, epochs, largest_rings(terms))

    @m.Constraint(m.E, m.R, doc="(D8): the cluster's capacity in all slots of the epoch")
    def capacity(m: Any, e: int, r: int) -> Any:
        users = np.flatnonzero(epochs.first <= e).tolist()
        load = [int(terms.jobs[i].demand[r]) * m.z[i, e] for i in users if terms.jobs[i].demand[r]]
        return sum(load) <= n[e] * total_capacity[r] if load else pyo.Constraint.Skip

    return m
