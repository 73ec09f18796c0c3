r"""The adversary's best response as an integer program: (3) for policies of the double oracle.

Sets: requests t = 0, ..., N - 1; levels i, j of J with :math:`\delta_i = l_i - l_{i-1}`,
:math:`l_{-1} = 0`. Variables: :math:`y_{tj} = 1` if request t has level j; :math:`q_{ti} = 1` if at
least k requests up to t are of level i or above, :math:`c_{ti}` the smaller of their number n and
k. Then :math:`OPT_t = \sum_i \delta_i c_{ti}`.

.. math::
    & \textstyle\sum_j y_{tj} \le 1, \quad \sum_j y_{tj} \ge \sum_j y_{t+1,j}             \tag{W1}\\
    & k\,q_{ti} \le c_{ti} \le n_{ti} = \textstyle\sum_{s \le t, j \ge i} y_{sj} \le
      k - 1 + (t + 1) q_{ti}, \quad n_{ti} - (t + 1) q_{ti} \le c_{ti} \le k              \tag{W2}

*A policy of the master program* sells :math:`x_h` on its histories h, and elsewhere as much as
brings the welfare to a target :math:`T_t`, which is :math:`OPT_t / \alpha` or
:math:`OPT_t - \delta`, within a unit and the units left. :math:`n_h = 1` if the sequence begins
with h, :math:`o_t` sums those of t + 1 requests, :math:`e_t` is the welfare before t, :math:`u_t`
the units sold, :math:`r_t = T_t - e_t`, :math:`w_t = \sum_j l_j x_{tj}`; the binaries f, m, z
say that something is missing, that the request gets a unit, that all units are sold.

.. math::
    & n_{h} \le n_{h^-}, \quad n_h \le y_{tj}, \quad n_h \ge n_{h^-} + y_{tj} - 1         \tag{W3}\\
    & x_t = \textstyle\sum_j x_{tj}, \quad x_{tj} \le y_{tj}, \quad u_t + x_t \le k       \tag{W4}\\
    & \textstyle\sum_h x_h n_h \le x_t \le \sum_h x_h n_h + 1 - o_t                       \tag{W5}\\
    & r_t - M \big(m_t + z_t + o_t + 1 - \textstyle\sum_j y_{tj}\big) \le w_t
      \le \min\{r_t + M (1 - f_t + o_t), M (f_t + o_t)\},                                 \tag{W6}\\
    & x_t \ge m_t, \quad u_t + x_t \ge k z_t                                              \tag{W7}\\
    & \max\ OPT_{N-1} - \beta \textstyle\sum_{t,j} l_j x_{tj}                             \tag{W8}

with :math:`\beta = 1` for the regret, and under Dinkelbach's iteration for the ratio.

*A policy that keeps a share of OPT* uses :math:`\sum_{i \le j} \delta_i/l_j` of the share for
request t, over the levels i of which fewer than k came before. Its worst sequence uses most units:

.. math::
    \max \textstyle\sum_{t, i \le j} \frac{\delta_i}{l_j} g_{tij}, \quad g_{tij} \le y_{tj}, \quad
    g_{tij} \le 1 - q_{t-1,i}                                                             \tag{W9}
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused, SolverError
from gadgetopt.search.clock import Clock
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Status

from ....subproblems.offline import largest
from ...evaluate import most_units
from ...instance import AdversarialOnlinePolicyInstance
from .master import Master

#: Variables of a model that is still built. Tuned: `benchmarks/constants.py`.
MOST_VARIABLES = 50_000
#: What HiGHS cannot tell from none, over the largest offline welfare, and over the units needed.
#: Tuned: `benchmarks/constants.py`.
CLOSED = 2e-6
#: Digits of sale probabilities: HiGHS drops coefficients of less. Tuned: `benchmarks/constants.py`.
DIGITS = 9


@dataclass(frozen=True)
class Answer:
    """What the adversary answers.

    Attributes
    ----------
    sequence : tuple of int
        The worst sequence found; empty if none was.
    value : float
        No sequence has a larger ratio, regret or number of units, by HiGHS's word; what it proved,
        where it found no optimum in time. Infinite if that is nothing.
    """

    sequence: tuple[int, ...]
    value: float


def worst_of_share_program(
    instance: AdversarialOnlinePolicyInstance, clock: Clock, seed: int
) -> Answer:
    """Return the sequence on which keeping all of OPT takes most units, by (W1), (W2) and (W9).

    Raises
    ------
    ModelRefused
        If the model would be too large.
    """
    J, N = len(instance.levels), instance.horizon
    if N * J * J > MOST_VARIABLES:
        raise ModelRefused(f"horizon: the integer program has more than {MOST_VARIABLES} variables")
    m = _arrivals(instance)
    growth, level = _growth(instance), [float(x) for x in instance.levels]
    m.G = pyo.Set(dimen=3, initialize=[(t, i, j) for t in m.T for j in m.J for i in m.J if i <= j])
    m.g = pyo.Var(m.G, bounds=(0, 1), doc="(W9): level i is counted for a request of level j")

    @m.Constraint(m.G, doc="(W9): the request comes")
    def comes(m: Any, t: int, i: int, j: int) -> Any:
        return m.g[t, i, j] <= m.y[t, j]

    @m.Constraint(m.G, doc="(W9): fewer than k came before")
    def grows(m: Any, t: int, i: int, j: int) -> Any:
        return m.g[t, i, j] <= 1 - m.q[t - 1, i] if t else pyo.Constraint.Skip

    m.objective = pyo.Objective(
        expr=sum(growth[i] / level[j] * m.g[t, i, j] for t, i, j in m.G), sense=pyo.maximize
    )
    outcome = _solved(m, clock, seed)
    bound = float("inf") if outcome.bound is None else float(outcome.bound)
    return Answer(() if outcome.values is None else _sequence(m), bound)


def least_ratio(instance: AdversarialOnlinePolicyInstance, answer: Answer) -> Fraction:
    """Return the ratio of the largest share that lasts for the units of an answer.

    That of the sequence itself, exactly, where HiGHS says that none is worse and the evaluator
    agrees: another sequence may need more units by less than HiGHS can tell.
    """
    k, units, before = instance.capacity_units, Fraction(0), Fraction(0)
    for t, j in enumerate(answer.sequence, start=1):
        optimum = largest(instance.values(answer.sequence[:t]), k)
        units += (optimum - before) / instance.levels[j]
        before = optimum
    if float(units) < answer.value * (1 - CLOSED) or units < most_units(instance):
        units = Fraction(answer.value * (1 + CLOSED))
    return max(Fraction(1), units / k)


def worst_of_master_program(
    instance: AdversarialOnlinePolicyInstance, master: Master, clock: Clock, seed: int
) -> Answer:
    """Return a worst sequence of the master's policy, by (W1)-(W8).

    Raises
    ------
    ModelRefused
        If the model would be too large.
    """
    ratio = instance.payoff == "ratio"
    most = float(instance.capacity_units * instance.levels[-1])
    m = _policy_model(instance, master)
    beta = master.value if ratio else 1.0
    worst: tuple[int, ...] = ()
    while True:
        m.objective = pyo.Objective(
            expr=_optimum(m, instance, instance.horizon - 1) - beta * m.welfare,
            sense=pyo.maximize,
            doc="(W8)",
        )
        outcome = _solved(m, clock, seed)
        gap = float("inf") if outcome.bound is None else float(outcome.bound)
        better = False
        found = () if outcome.values is None else _sequence(m)
        if found:
            earned = float(pyo.value(m.welfare))
            offline = float(largest(instance.values(found), instance.capacity_units))
            better = not ratio or offline > beta * earned + CLOSED * most
            if better or not worst:
                worst = found
        if not ratio:
            return Answer(worst, gap)
        if outcome.status is not Status.OPTIMAL or clock.expired:
            # The first sale earns the target's share of the least value, or all of it.
            least = float(instance.levels[0]) / max(1.0, master.value)
            return Answer(worst, beta + max(0.0, gap) / least)
        if not better:
            return Answer(worst, beta)
        if earned <= 0:
            return Answer(worst, float("inf"))
        beta = offline / earned
        m.del_component(m.objective)


def _solved(m: pyo.ConcreteModel, clock: Clock, seed: int) -> Any:
    outcome = solve_model(m, "highs", clock.limits(), seed)
    if outcome.status is Status.ERROR:
        raise SolverError(outcome.reason)
    return outcome


def _growth(instance: AdversarialOnlinePolicyInstance) -> list[float]:
    return [float(b - a) for a, b in pairwise((Fraction(0), *instance.levels))]


def _sequence(m: pyo.ConcreteModel) -> tuple[int, ...]:
    return tuple(j for t in m.T for j in m.J if pyo.value(m.y[t, j]) > 0.5)


def _optimum(m: pyo.ConcreteModel, instance: AdversarialOnlinePolicyInstance, t: int) -> Any:
    growth = _growth(instance)
    return sum(growth[i] * m.c[t, i] for i in m.J)


def _arrivals(instance: AdversarialOnlinePolicyInstance) -> pyo.ConcreteModel:
    """Return (W1) and (W2)."""
    k = instance.capacity_units
    m = pyo.ConcreteModel("worst_sequence")
    m.T = pyo.RangeSet(0, instance.horizon - 1)
    m.J = pyo.RangeSet(0, len(instance.levels) - 1)
    m.y = pyo.Var(m.T, m.J, domain=pyo.Binary, doc="request t has level j")
    m.q = pyo.Var(m.T, m.J, domain=pyo.Binary, doc="k requests up to t are of level i or above")
    m.c = pyo.Var(m.T, m.J, bounds=(0, k), doc="the smaller of their number and k")
    came = {
        (t, i): sum(m.y[s, j] for s in m.T if s <= t for j in m.J if j >= i)
        for t in m.T
        for i in m.J
    }

    @m.Constraint(m.T, doc="(W1): a request has one level")
    def one_level(m: Any, t: int) -> Any:
        return sum(m.y[t, j] for j in m.J) <= 1

    @m.Constraint(m.T, doc="(W1): no gaps")
    def no_gaps(m: Any, t: int) -> Any:
        if t == 0:
            return pyo.Constraint.Skip
        return sum(m.y[t - 1, j] for j in m.J) >= sum(m.y[t, j] for j in m.J)

    @m.Constraint(m.T, m.J, doc="(W2): k of them came, if q says so")
    def enough(m: Any, t: int, i: int) -> Any:
        return m.c[t, i] >= k * m.q[t, i]

    @m.Constraint(m.T, m.J, doc="(W2): no more than came are counted")
    def counted(m: Any, t: int, i: int) -> Any:
        return m.c[t, i] <= came[t, i]

    @m.Constraint(m.T, m.J, doc="(W2): fewer than k came, if q says so")
    def too_few(m: Any, t: int, i: int) -> Any:
        return came[t, i] <= k - 1 + (t + 1) * m.q[t, i]

    @m.Constraint(m.T, m.J, doc="(W2): then all of them are counted")
    def all_counted(m: Any, t: int, i: int) -> Any:
        return m.c[t, i] >= came[t, i] - (t + 1) * m.q[t, i]

    return m


def _policy_model(instance: AdversarialOnlinePolicyInstance, master: Master) -> pyo.ConcreteModel:
    """Return (W1)-(W7); `welfare` is what the policy earns."""
    k, ratio, target = instance.capacity_units, instance.payoff == "ratio", master.value
    level = [float(x) for x in instance.levels]
    if instance.horizon * (3 * len(level) + 4) + len(master.trie) > MOST_VARIABLES:
        raise ModelRefused(f"horizon: the integer program has more than {MOST_VARIABLES} variables")
    most = k * level[-1] + (0.0 if ratio else target)
    m = _arrivals(instance)
    m.H = pyo.RangeSet(0, len(master.trie) - 1)
    m.n = pyo.Var(m.H, bounds=(0, 1), doc="the sequence begins with h")
    m.x = pyo.Var(m.T, m.J, bounds=(0, 1), doc="sale to request t at level j")
    m.f = pyo.Var(m.T, domain=pyo.Binary, doc="welfare is missing")
    m.m = pyo.Var(m.T, domain=pyo.Binary, doc="the request gets a unit")
    m.z = pyo.Var(m.T, domain=pyo.Binary, doc="all units are sold")
    depth = [len(h) - 1 for h in master.histories]
    chance = [round(min(1.0, max(0.0, float(x))), DIGITS) for x in master.probability]
    of_length: list[list[int]] = [[] for _ in m.T]
    for h in m.H:
        of_length[depth[h]].append(h)
    known = [sum(m.n[h] for h in of_length[t]) for t in m.T]
    planned = [sum(chance[h] * m.n[h] for h in of_length[t]) for t in m.T]
    sale = [sum(m.x[t, j] for j in m.J) for t in m.T]
    money = [sum(level[j] * m.x[t, j] for j in m.J) for t in m.T]
    sold = [sum(sale[:t]) if t else 0 for t in m.T]

    def missing(t: int) -> Any:
        optimum = _optimum(m, instance, t)
        wanted = optimum / target if ratio else optimum - target
        return wanted - (sum(money[:t]) if t else 0)

    m.history = pyo.ConstraintList(doc="(W3)")
    for h in m.H:
        parent, arrives = master.trie.parent[h], m.y[depth[h], master.trie.level[h]]
        before = m.n[parent] if parent >= 0 else 1
        m.history.add(m.n[h] <= before)
        m.history.add(m.n[h] <= arrives)
        m.history.add(m.n[h] >= before + arrives - 1)
    m.sales = pyo.ConstraintList(doc="(W4)-(W7)")
    for t in m.T:
        for j in m.J:
            m.sales.add(m.x[t, j] <= m.y[t, j])
        m.sales.add(sold[t] + sale[t] <= k + 1e-6)  # the master's doubles may sell a little more
        m.sales.add(sale[t] >= planned[t])
        m.sales.add(sale[t] <= planned[t] + 1 - known[t])
        r = missing(t)
        absent = 1 - sum(m.y[t, j] for j in m.J)
        m.sales.add(money[t] >= r - 2 * most * (m.m[t] + m.z[t] + known[t] + absent))
        m.sales.add(money[t] <= r + 2 * most * (1 - m.f[t] + known[t]))
        m.sales.add(money[t] <= level[-1] * (m.f[t] + known[t]))
        m.sales.add(sale[t] >= m.m[t])
        m.sales.add(sold[t] + sale[t] >= k * m.z[t])
    m.welfare = pyo.Expression(expr=sum(money))
    return m
