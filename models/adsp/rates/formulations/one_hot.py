r"""The one-hot models: a binary for each worker and number of commits.

Sets: workers i, numbers of commits :math:`n \in F_i = \{1, \dots, \lfloor \Gamma / (t_i + O_i)
\rfloor\}`. Parameters: tables :math:`k_i(n) = (\Gamma - n O_i) / t_i` and :math:`\tau_i(n) =
k_i(n) / n`. Variables: :math:`z_{in} = 1` if worker i commits n times; the fewest commits c; S; the
threshold :math:`\theta`; the objective's value y.

.. math::
    & \sum_{n \in F_i} z_{in} = 1, \quad
      c \le \sum_n n\, z_{in} \le c + \varepsilon \quad \forall i                   \tag{O1} \\
    & \sum_i \sum_n n\, z_{in} \le N_{cap}                                          \tag{O2} \\
    & z_{in} \in \{0, 1\},\quad c \in \mathbb{Z}                                    \tag{O3} \\
    & S = \frac1m \sum_i \sum_n k_i(n) z_{in}                                       \tag{O4} \\
    & \theta \ge \sum_n \tau_i(n) z_{in} \quad \forall i                            \tag{O5} \\
    & \min\ f(S, \theta)                                                            \tag{O6}

with f of the evaluator's (E2), convex in S and :math:`\theta`: :math:`a / S` is, and so is one over
the product of two positive linear functions. Tangents at some points :math:`(\hat S, \hat\theta)`
give the linear relaxation

.. math::
    \min y, \quad y \ge f(\hat S, \hat\theta)
        + f_S\, (S - \hat S) + f_\theta\, (\theta - \hat\theta).                    \tag{O7}

Under the momentum cap everything is linear:

.. math::
    & \min \sum_i \sum_n \frac{n O_i}{t_i} z_{in}                                   \tag{O8} \\
    & \sum_i \sum_n g_i(n)\, z_{in} \le q = \frac{\mu_{max}}{(1 - \mu_{max})(1 - 1/m)} \tag{O9}
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.pyomo_numbers import coefficient
from gadgetopt.numbers.tolerance import Number, decimal_rational
from gadgetopt.system.declaring import formulation

from ..instance import AdspRatesInstance, AdspRatesSolution, MomentumCap
from ..tables import solution_of
from .exact_numbers import ExactNumbers

#: Binaries up to which a model is built. Tuned: `benchmarks/constants.py`.
MOST_BINARIES = 500_000

#: Steps a mean worker makes at least, in a period: tangents are not drawn at 0.
#: Tuned: `benchmarks/constants.py`.
_LEAST = 1e-9

#: Significant digits of the points at which tangents are drawn. Tuned: `benchmarks/constants.py`.
_TANGENT_DIGITS = 9

#: Part of the error budget that the convex model keeps free. Tuned: `benchmarks/constants.py`.
_MARGIN = Fraction(1, 10**9)


@formulation(name="one_hot_convex", model_class="MINLP", equations="(O1)-(O6)", backends=("scip",))
def build_convex(instance: AdspRatesInstance) -> pyo.ConcreteModel:
    """A binary for each number of commits; the objective is convex in S and theta."""
    m = rates_with_thresholds(instance, margin=_MARGIN)
    model = instance.model
    assert not isinstance(model, MomentumCap), "refused above"
    drift = model.b * (m.theta - 1)
    if model.kind == "error_bound":
        m.objective = pyo.Objective(expr=model.a / m.S + drift, doc="(O6): the error bound")
    else:
        value = model.a / (m.S * (model.error_budget - drift))
        m.objective = pyo.Objective(expr=value, doc="(O6): the time to accuracy")
    return m


@formulation(
    name="one_hot_tangents",
    model_class="MILP",
    strength="relaxation",
    equations="(O1)-(O5), (O7)",
    decode="decode",
)
def build_tangents(instance: AdspRatesInstance) -> pyo.ConcreteModel:
    """A few tangents in place of the convex objective.

    Build (O1)-(O5) and (O7) with tangents at four equal rates.
    """
    m = rates_with_thresholds(instance)
    m.y = pyo.Var(bounds=(0, None), doc="the objective")
    m.tangents = pyo.ConstraintList(doc="(O7): tangents of the objective")
    numbers, last = ExactNumbers(instance), instance.largest_equal_rate
    for n in sorted({1, *(max(1, round(last ** (k / 3))) for k in range(4))}):
        add_tangent(m, instance, numbers.mean_steps(n), numbers.most_local_steps(n))
    m.objective = pyo.Objective(expr=m.y, doc="(O7): the largest tangent")
    return m


@formulation(name="momentum_knapsack", model_class="MILP", equations="(O1)-(O3), (O8)-(O9)")
def build_knapsack(instance: AdspRatesInstance) -> pyo.ConcreteModel:
    """The momentum cap: a multiple-choice knapsack with a window."""
    if not isinstance(instance.model, MomentumCap):
        raise ModelRefused("model.kind: the knapsack is that of 'momentum_cap'")
    m = rates(instance)
    numbers = ExactNumbers(instance)
    share = numbers.momentum_shares(instance.model)
    if any(share):
        m.momentum = pyo.Constraint(
            expr=sum(coefficient(share[i] / n) * m.z[i, n] for i, n in m.pairs) <= 1,
            doc="(O9): the momentum cap",
        )
    cost = numbers.commit_steps
    m.objective = pyo.Objective(
        expr=sum(coefficient(cost[i] * n) * m.z[i, n] for i, n in m.pairs),
        doc="(O8): the steps lost",
    )
    return m


def add_tangent(
    m: pyo.ConcreteModel, instance: AdspRatesInstance, mean: Number, local: Number
) -> None:
    """Add the tangent (O7) of the objective near a point, if there is one.

    It is exact at a point of few digits beside the one given.
    """
    model = instance.model
    assert not isinstance(model, MomentumCap), "refused above"
    if mean <= _LEAST:
        return
    mean, local = _short(mean), _short(local)
    a, b = decimal_rational(model.a), decimal_rational(model.b)
    if model.kind == "time_to_accuracy":
        budget = decimal_rational(model.error_budget) - b * (local - 1)
        if budget <= 0:
            return
        value = a / (mean * budget)
        by_mean, by_local = -value / mean, value * b / budget
    else:
        value = a / mean + b * (local - 1)
        by_mean, by_local = -a / mean**2, b
    m.tangents.add(m.y >= value + by_mean * (m.S - mean) + by_local * (m.theta - local))


def decode(m: pyo.ConcreteModel, instance: AdspRatesInstance) -> AdspRatesSolution:
    """Return the number of commits whose binary is 1."""
    chosen = {i: n for i, n in m.pairs if pyo.value(m.z[i, n]) > 0.5}
    return solution_of(chosen[i] for i in range(len(instance.workers)))


def rates(instance: AdspRatesInstance) -> pyo.ConcreteModel:
    """Build (O1)-(O3)."""
    most, workers = instance.most_commits, len(instance.workers)
    if sum(most) > MOST_BINARIES:
        raise ModelRefused(f"workers: {sum(most)} binaries, expected at most {MOST_BINARIES}")
    if not instance.largest_equal_rate:
        i = most.index(0)
        raise ModelRefused(f"workers[{i}]: a step and a commit take longer than the check period")
    m = pyo.ConcreteModel("one_hot")
    m.I = pyo.RangeSet(0, workers - 1)
    m.pairs = pyo.Set(initialize=[(i, n) for i in m.I for n in range(1, most[i] + 1)], dimen=2)
    m.z = pyo.Var(m.pairs, domain=pyo.Binary, doc="(O3): worker i commits n times")
    m.c = pyo.Var(domain=pyo.Integers, bounds=(1, instance.largest_equal_rate))

    @m.Expression(m.I, doc="commits of worker i")
    def commits(m: Any, i: int) -> Any:
        return sum(n * m.z[i, n] for n in range(1, most[i] + 1))

    @m.Constraint(m.I, doc="(O1): one number of commits")
    def one(m: Any, i: int) -> Any:
        return sum(m.z[i, n] for n in range(1, most[i] + 1)) == 1

    @m.Constraint(m.I, doc="(O1): no fewer commits than c")
    def fewest(m: Any, i: int) -> Any:
        return m.commits[i] >= m.c

    @m.Constraint(m.I, doc="(O1): the fairness window")
    def window(m: Any, i: int) -> Any:
        return m.commits[i] <= m.c + instance.window

    if instance.commit_cap is not None:
        m.cap = pyo.Constraint(
            expr=sum(m.commits[i] for i in m.I) <= instance.cap, doc="(O2): the bandwidth"
        )
    return m


def _short(x: Number) -> Fraction:
    """Return a number of few digits near another."""
    return Fraction(f"{float(x):.{_TANGENT_DIGITS}g}")


def rates_with_thresholds(
    instance: AdspRatesInstance, margin: Fraction = Fraction(0)
) -> pyo.ConcreteModel:
    """Build (O1)-(O5).

    Parameters
    ----------
    margin : Fraction
        Part of the error budget that is kept free, so that no solver divides by 0.
    """
    if isinstance(instance.model, MomentumCap):
        raise ModelRefused("model.kind: 'momentum_cap' has no thresholds")
    m = rates(instance)
    numbers, most = ExactNumbers(instance), instance.most_commits
    m.S = pyo.Var(bounds=(numbers.mean_steps(), numbers.mean_steps(1)), doc="mean steps")
    m.theta = pyo.Var(bounds=(1, numbers.most_local_steps(1)), doc="most local steps")
    m.mean = pyo.Constraint(
        expr=len(most) * m.S
        == sum(coefficient(numbers.steps(i, n)) * m.z[i, n] for i, n in m.pairs),
        doc="(O4): mean steps in a period",
    )

    if instance.model.kind == "time_to_accuracy":
        b, budget = instance.model.b, decimal_rational(instance.model.error_budget)
        m.budget = pyo.Constraint(expr=coefficient(b) * (m.theta - 1) <= budget * (1 - margin))

    @m.Constraint(m.I, doc="(O5): no worker makes more local steps than theta")
    def threshold(m: Any, i: int) -> Any:
        return m.theta >= sum(
            coefficient(numbers.local_steps(i, n)) * m.z[i, n] for n in range(1, most[i] + 1)
        )

    return m
