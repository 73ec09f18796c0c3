r"""The integer program of the worst sequence for prices of several resources (reconstructed).

Sets: requests t of T; types j of J with values :math:`v_j` and demands :math:`d_{jr}`; resources r
of R with capacities :math:`C_r`. Variables: :math:`y_{tj} = 1` if request t is of type j;
:math:`a_{tru} = 1` if u units of r are used before t, :math:`\sigma_{tr}` their number;
:math:`\pi_{tr}`, what t has to pay for r; :math:`w_{tj} = 1` if t is of type j and accepted, and
:math:`x_t = \sum_j w_{tj}`; :math:`p_t = 1` if t pays too little, :math:`e_{tr} = 1` if r has too
little left; :math:`z_{tj} = 1` if the offline seller serves t. All amounts are whole, so that too
little is at least 1 too little.

.. math::
    \max\ & q \sum_{t,j} v_j z_{tj} - p \sum_{t,j} v_j w_{tj}                            \tag{R1} \\
    & \textstyle\sum_j y_{tj} \le 1, \quad \sum_j y_{tj} \ge \sum_j y_{t+1,j}            \tag{R2} \\
    & \textstyle\sum_u a_{tru} = 1, \quad \sigma_{tr} = \sum_u u\, a_{tru}, \quad
      \sigma_{0r} = 0                                                                    \tag{R3} \\
    & d_{jr} \varphi_r(u) - M_{r} (2 - y_{tj} - a_{tru}) \le \pi_{tr}
      \le d_{jr} \varphi_r(u) + M_{r} (2 - y_{tj} - a_{tru})                             \tag{R4} \\
    & w_{tj} \le y_{tj}, \quad
      \textstyle\sum_j v_j y_{tj} \ge \sum_r \pi_{tr} - \sum_r M_r (1 - x_t)             \tag{R5} \\
    & \sigma_{tr} + \textstyle\sum_j d_{jr} y_{tj} \le C_r + D_r (1 - x_t)               \tag{R6} \\
    & \textstyle\sum_j y_{tj} - x_t \le p_t + \sum_r e_{tr}                              \tag{R7} \\
    & \textstyle\sum_j v_j y_{tj} \le \sum_r \pi_{tr} - 1 + (v^{max} + 1)(1 - p_t), \quad
      \sigma_{tr} + \sum_j d_{jr} y_{tj} \ge (C_r + 1)\, e_{tr}                          \tag{R8} \\
    & \sigma_{t+1,r} = \sigma_{tr} + \textstyle\sum_j d_{jr} w_{tj}, \quad
      z_{tj} \le y_{tj}, \quad \sum_{t,j} d_{jr} z_{tj} \le C_r                          \tag{R9}

A full resource has a price of its own in the notes; here it is (R6) that keeps a request out.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import formulation

from ..instance import AdversarialOnlineSequenceInstance, AdversarialOnlineSequenceSolution
from .amounts import amounts

#: Constraints (R4) of a model that is still built. Tuned: `benchmarks/constants.py`.
MOST_ROWS = 100_000


@formulation(model_class="ILP", equations="(R1)-(R9)", backends=("highs", "cpsat"))
def build(instance: AdversarialOnlineSequenceInstance) -> pyo.ConcreteModel:
    """Several resources, units used as one-hot states; regret only.

    Raises
    ------
    ModelRefused
        If the payoff is the ratio, which is no linear function; or as `gap_model` does.
    """
    if instance.payoff == "ratio":
        raise ModelRefused("payoff: a ratio is no linear objective; dinkelbach_resources solves it")
    m = gap_model(instance, 1, 1)
    m.objective.set_value(m.objective.expr * amounts(instance).unit)
    return m


def gap_model(instance: AdversarialOnlineSequenceInstance, p: int, q: int) -> pyo.ConcreteModel:
    """Build (R1)-(R9) for q OPT - p ALG in whole amounts.

    Raises
    ------
    ModelRefused
        If the policy is a lottery, or there are too many constraints.
    """
    if len(instance.policy) > 1:
        raise ModelRefused("policy: the model is for one table of each resource, not for a lottery")
    money = amounts(instance)
    C, N, kinds = instance.capacity, instance.horizon, instance.types
    if 2 * N * len(kinds) * (sum(C) + len(C)) > MOST_ROWS:
        raise ModelRefused(f"the integer program has more than {MOST_ROWS} constraints")
    v, price = money.offline, money.prices[0]
    d = [kind.demand for kind in kinds]
    most_demand = [max(row[r] for row in d) for r in range(len(C))]
    M = [most_demand[r] * max(price[r]) for r in range(len(C))]
    m = pyo.ConcreteModel("resources")
    m.T = pyo.RangeSet(0, N - 1)
    m.J = pyo.RangeSet(0, len(kinds) - 1)
    m.R = pyo.RangeSet(0, len(C) - 1)
    m.U = pyo.Set(dimen=2, initialize=[(r, u) for r in m.R for u in range(C[r] + 1)])
    m.y = pyo.Var(m.T, m.J, domain=pyo.Binary, doc="request t is of type j")
    m.a = pyo.Var(m.T, m.U, domain=pyo.Binary, doc="u units of r are used before t")
    m.used = pyo.Var(
        range(N + 1), m.R, domain=pyo.NonNegativeIntegers, bounds=lambda _, t, r: (0, C[r])
    )
    m.pi = pyo.Var(
        m.T, m.R, domain=pyo.NonNegativeIntegers, bounds=lambda _, t, r: (0, M[r]), doc="price"
    )
    m.w = pyo.Var(m.T, m.J, domain=pyo.Binary, doc="request t is of type j and accepted")
    m.p = pyo.Var(m.T, domain=pyo.Binary, doc="request t pays too little")
    m.e = pyo.Var(m.T, m.R, domain=pyo.Binary, doc="too little of r is left for t")
    m.z = pyo.Var(m.T, m.J, domain=pyo.Binary, doc="the offline seller serves t")
    x = {t: sum(m.w[t, j] for j in m.J) for t in m.T}
    comes = {t: sum(m.y[t, j] for j in m.J) for t in m.T}
    value = {t: sum(v[j] * m.y[t, j] for j in m.J) for t in m.T}
    wanted = {(t, r): sum(d[j][r] * m.y[t, j] for j in m.J) for t in m.T for r in m.R}
    pays = {t: money.whole * sum(m.pi[t, r] for r in m.R) for t in m.T}

    @m.Constraint(m.T, doc="(R2): a request has one type")
    def one_type(m: Any, t: int) -> Any:
        return comes[t] <= 1

    @m.Constraint(range(N - 1), doc="(R2): no gaps")
    def no_gaps(m: Any, t: int) -> Any:
        return comes[t] >= comes[t + 1]

    @m.Constraint(m.T, m.R, doc="(R3): one number of units is used")
    def one_state(m: Any, t: int, r: int) -> Any:
        return sum(m.a[t, r, u] for u in range(C[r] + 1)) == 1

    @m.Constraint(m.T, m.R, doc="(R3): it is the number of units used")
    def state(m: Any, t: int, r: int) -> Any:
        return m.used[t, r] == sum(u * m.a[t, r, u] for u in range(C[r] + 1))

    @m.Constraint(m.R, doc="(R3): at first nothing is used")
    def begin(m: Any, r: int) -> Any:
        return m.used[0, r] == 0

    priced = [(t, j, r, u) for t in m.T for j in m.J for r, u in m.U if u < C[r]]

    @m.Constraint(priced, doc="(R4): the price is at least that of the state")
    def price_from_below(m: Any, t: int, j: int, r: int, u: int) -> Any:
        off = 2 - m.y[t, j] - m.a[t, r, u]
        return m.pi[t, r] >= d[j][r] * price[r][u] - M[r] * off

    @m.Constraint(priced, doc="(R4): and at most")
    def price_from_above(m: Any, t: int, j: int, r: int, u: int) -> Any:
        off = 2 - m.y[t, j] - m.a[t, r, u]
        return m.pi[t, r] <= d[j][r] * price[r][u] + M[r] * off

    @m.Constraint(
        m.T, m.J, doc="(R9): price of a full resource: what is not demanded costs nothing"
    )
    def free(m: Any, t: int, j: int) -> Any:
        idle = [r for r in m.R if d[j][r] == 0]
        if not idle:
            return pyo.Constraint.Skip
        return sum(m.pi[t, r] for r in idle) <= sum(M[r] for r in idle) * (1 - m.y[t, j])

    @m.Constraint(m.T, m.J, doc="(R5): only what comes is accepted")
    def accepted(m: Any, t: int, j: int) -> Any:
        return m.w[t, j] <= m.y[t, j]

    @m.Constraint(m.T, doc="(R5): who is accepted pays")
    def accepted_pays(m: Any, t: int) -> Any:
        return value[t] >= pays[t] - money.whole * sum(M) * (1 - x[t])

    @m.Constraint(m.T, m.R, doc="(R6): who is accepted fits")
    def accepted_fits(m: Any, t: int, r: int) -> Any:
        return m.used[t, r] + wanted[t, r] <= C[r] + most_demand[r] * (1 - x[t])

    @m.Constraint(m.T, doc="(R7): who is rejected pays too little or does not fit")
    def rejected(m: Any, t: int) -> Any:
        return comes[t] - x[t] <= m.p[t] + sum(m.e[t, r] for r in m.R)

    @m.Constraint(m.T, doc="(R8): too little is paid")
    def rejected_by_price(m: Any, t: int) -> Any:
        return value[t] <= pays[t] - 1 + (max(v) + 1) * (1 - m.p[t])

    @m.Constraint(m.T, m.R, doc="(R8): too little is left")
    def rejected_by_capacity(m: Any, t: int, r: int) -> Any:
        return m.used[t, r] + wanted[t, r] >= (C[r] + 1) * m.e[t, r]

    @m.Constraint(m.T, m.R, doc="(R9): units used")
    def conservation(m: Any, t: int, r: int) -> Any:
        return m.used[t + 1, r] == m.used[t, r] + sum(d[j][r] * m.w[t, j] for j in m.J)

    @m.Constraint(m.T, m.J, doc="(R9): the offline seller serves requests there are")
    def served(m: Any, t: int, j: int) -> Any:
        return m.z[t, j] <= m.y[t, j]

    @m.Constraint(m.R, doc="(R9): the offline seller's units")
    def offline(m: Any, r: int) -> Any:
        return sum(d[j][r] * m.z[t, j] for t in m.T for j in m.J) <= C[r]

    m.objective = pyo.Objective(
        expr=(
            q * sum(v[j] * m.z[t, j] for t in m.T for j in m.J)
            - p * sum(v[j] * m.w[t, j] for t in m.T for j in m.J)
        ),
        sense=pyo.maximize,
        doc="(R1): the gap",
    )
    return m


def decode(
    m: pyo.ConcreteModel, instance: AdversarialOnlineSequenceInstance
) -> AdversarialOnlineSequenceSolution:
    """Return the types of the requests; of none, the first."""
    arrivals = [j for t in m.T for j in m.J if pyo.value(m.y[t, j]) > 0.5]
    return AdversarialOnlineSequenceSolution(arrivals=tuple(arrivals or [0]))
