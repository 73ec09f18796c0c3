r"""The integer program of the worst sequence for posted prices of one resource, (3).

Sets: requests t of T, N of them; levels j of J; tables i of the lottery I. Parameters: values
:math:`l_j`; prices :math:`\varphi_{iu}` and chances :math:`w_i`; units k; a ratio
:math:`\rho = p/q`. Variables: :math:`y_{tj} = 1` if request t has level j; :math:`a_{itu} = 1` if
table i has sold u units before t; :math:`g_{ituj} = 1` if it then sells to level j, for
:math:`l_j \ge \varphi_{iu}` only; :math:`z_{tj} = 1` if the offline seller serves t.

.. math::
    \max\ & q \sum_{t,j} l_j z_{tj} - p \sum_{i,t,u,j} w_i\, l_j\, g_{ituj}               \tag{3} \\
    & \textstyle\sum_j y_{tj} \le 1, \quad \sum_j y_{tj} \ge \sum_j y_{t+1,j}           \tag{3a} \\
    & \textstyle\sum_u a_{itu} = 1, \quad a_{i00} = 1                                   \tag{3b} \\
    & g_{ituj} \le a_{itu}, \quad \textstyle\sum_u g_{ituj} \le y_{tj}                  \tag{3c} \\
    & g_{ituj} \ge a_{itu} + y_{tj} - 1 \quad \text{if } l_j \ge \varphi_{iu}           \tag{3d} \\
    & a_{i,t+1,u} = a_{itu} - \textstyle\sum_j g_{ituj} + \sum_j g_{it,u-1,j}           \tag{3e} \\
    & z_{tj} \le y_{tj}, \quad \textstyle\sum_{t,j} z_{tj} \le k                        \tag{3f} \\
    & y, a, g, z \in \{0, 1\}                                                           \tag{3g}

OPT is maximised, so the offline optimum is there for free. The regret is p = q = 1. Several tables
are our extension (reconstructed).
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import formulation

from ..instance import AdversarialOnlineSequenceInstance, AdversarialOnlineSequenceSolution
from .amounts import amounts, check_unit_demand

#: Variables of a model that is still built. Tuned: `benchmarks/constants.py`.
MOST_VARIABLES = 300_000


@formulation(model_class="ILP", equations="(3), (3a)-(3g)", backends=("highs", "cpsat"))
def build(instance: AdversarialOnlineSequenceInstance) -> pyo.ConcreteModel:
    """Level of every arrival and units sold as one-hot states; regret only.

    Raises
    ------
    ModelRefused
        If the payoff is the ratio, which is no linear function; or as `gap_model` does.
    """
    if instance.payoff == "ratio":
        raise ModelRefused("payoff: a ratio is no linear objective; dinkelbach_highs solves it")
    m = gap_model(instance, 1, 1)
    m.objective.set_value(m.objective.expr * amounts(instance).unit)
    return m


def gap_model(instance: AdversarialOnlineSequenceInstance, p: int, q: int) -> pyo.ConcreteModel:
    """Build (3) for q OPT - p ALG in whole amounts.

    Raises
    ------
    ModelRefused
        If there are several resources or demands of more than a unit, or too many variables.
    """
    check_unit_demand(instance)
    k, N, levels = instance.capacity[0], instance.horizon, len(instance.types)
    if len(instance.policy) * N * (k + 1) * levels > MOST_VARIABLES:
        raise ModelRefused(f"the integer program has more than {MOST_VARIABLES} variables")
    money = amounts(instance)
    value = [kind.value for kind in instance.types]
    sells = {
        (i, u, j)
        for i, posted in enumerate(instance.policy)
        for u, price in enumerate(posted.prices[0])
        for j in range(levels)
        if value[j] >= price
    }
    m = pyo.ConcreteModel("posted_prices")
    m.T = pyo.RangeSet(0, N - 1)
    m.J = pyo.RangeSet(0, levels - 1)
    m.I = pyo.RangeSet(0, len(instance.policy) - 1)
    m.S = pyo.Set(
        dimen=3, initialize=[(i, t, u) for i in m.I for t in range(N + 1) for u in _sold(t, k)]
    )
    m.G = pyo.Set(
        dimen=4,
        initialize=[
            (i, t, u, j)
            for i in m.I
            for t in m.T
            for u in _sold(t, k)
            for j in m.J
            if (i, u, j) in sells
        ],
    )
    m.y = pyo.Var(m.T, m.J, domain=pyo.Binary, doc="(3g): request t has level j")
    m.a = pyo.Var(m.S, domain=pyo.Binary, doc="(3g): table i has sold u units before t")
    m.g = pyo.Var(m.G, domain=pyo.Binary, doc="(3g): table i sells to request t")
    m.z = pyo.Var(m.T, m.J, domain=pyo.Binary, doc="(3g): the offline seller serves t")

    @m.Constraint(m.T, doc="(3a): a request has one level")
    def one_level(m: Any, t: int) -> Any:
        return sum(m.y[t, j] for j in m.J) <= 1

    @m.Constraint(range(N - 1), doc="(3a): no gaps")
    def no_gaps(m: Any, t: int) -> Any:
        return sum(m.y[t, j] for j in m.J) >= sum(m.y[t + 1, j] for j in m.J)

    @m.Constraint(m.I, range(N + 1), doc="(3b): one number of units is sold")
    def one_state(m: Any, i: int, t: int) -> Any:
        return sum(m.a[i, t, u] for u in _sold(t, k)) == 1

    @m.Constraint(m.G, doc="(3c): a sale needs its state")
    def sale_in_state(m: Any, i: int, t: int, u: int, j: int) -> Any:
        return m.g[i, t, u, j] <= m.a[i, t, u]

    @m.Constraint(m.I, m.T, m.J, doc="(3c): a sale needs its request")
    def sale_to_request(m: Any, i: int, t: int, j: int) -> Any:
        sales = [m.g[i, t, u, j] for u in _sold(t, k) if (i, t, u, j) in m.G]
        return sum(sales) <= m.y[t, j] if sales else pyo.Constraint.Skip

    @m.Constraint(m.G, doc="(3d): who pays the price buys")
    def sale_is_made(m: Any, i: int, t: int, u: int, j: int) -> Any:
        return m.g[i, t, u, j] >= m.a[i, t, u] + m.y[t, j] - 1

    @m.Constraint(m.I, m.T, range(k + 1), doc="(3e): units sold")
    def state(m: Any, i: int, t: int, u: int) -> Any:
        if u > t + 1:
            return pyo.Constraint.Skip
        leaving = [m.g[i, t, u, j] for j in m.J if (i, t, u, j) in m.G]
        entering = [m.g[i, t, u - 1, j] for j in m.J if (i, t, u - 1, j) in m.G]
        stays = m.a[i, t, u] if u <= t else 0
        return m.a[i, t + 1, u] == stays - sum(leaving) + sum(entering)

    @m.Constraint(m.T, m.J, doc="(3f): the offline seller serves requests there are")
    def served(m: Any, t: int, j: int) -> Any:
        return m.z[t, j] <= m.y[t, j]

    m.units = pyo.Constraint(
        expr=sum(m.z[t, j] for t in m.T for j in m.J) <= k, doc="(3f): offline, k units"
    )
    m.objective = pyo.Objective(
        expr=(
            q * sum(money.offline[j] * m.z[t, j] for t in m.T for j in m.J)
            - p * sum(money.online[i][j] * m.g[i, t, u, j] for i, t, u, j in m.G)
        ),
        sense=pyo.maximize,
        doc="(3): the gap",
    )
    return m


def decode(
    m: pyo.ConcreteModel, instance: AdversarialOnlineSequenceInstance
) -> AdversarialOnlineSequenceSolution:
    """Return the levels of the requests; of none, that which is worth least."""
    arrivals = [j for t in m.T for j in m.J if pyo.value(m.y[t, j]) > 0.5]
    return AdversarialOnlineSequenceSolution(arrivals=tuple(arrivals or [0]))


def _sold(t: int, k: int) -> range:
    """Return the numbers of units that may be sold before request t."""
    return range(min(t, k) + 1)
