r"""The model as it stands: commits as integers, for a global solver.

Variables: commits :math:`n_i`, the fewest c, steps :math:`k_i` in a period, the threshold
:math:`\theta`.

.. math::
    \min\ & \frac{a}{\frac1m \sum_i k_i} + b\,(\theta - 1), \quad
            \frac{a}{\frac1m \sum_i k_i\, (\epsilon_0 - b\,(\theta - 1))}, \quad\text{or}\quad
            \sum_i \frac{O_i}{t_i} n_i                                        \tag{N1} \\
    & k_i = \frac{\Gamma - n_i O_i}{t_i} \quad \forall i                      \tag{N2} \\
    & k_i \le \theta\, n_i \quad \forall i                                    \tag{N3} \\
    & c \le n_i \le c + \varepsilon \quad \forall i, \qquad
      \sum_i n_i \le N_{cap}                                                  \tag{N4} \\
    & \sum_i g_i(1) / n_i \le q \quad\text{(momentum cap)}                    \tag{N5} \\
    & n_i \in \{1, \dots, \lfloor \Gamma / (t_i + O_i) \rfloor\}              \tag{N6}

(N3) is :math:`\tau_i(n_i) \le \theta`, a product of two variables.
"""

from __future__ import annotations

import math
from typing import Any

import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.pyomo_numbers import coefficient
from gadgetopt.system.declaring import formulation

from ..instance import AdspRatesInstance, AdspRatesSolution, MomentumCap
from ..tables import Tables, momentum_limit, momentum_terms, solution_of
from .exact_numbers import ExactNumbers


@formulation(model_class="MINLP", equations="(N1)-(N6)", backends=("scip",))
def build(instance: AdspRatesInstance) -> pyo.ConcreteModel:
    """Commits as integers, products and ratios as they stand."""
    most, tables = instance.most_commits, Tables.of(instance)
    if not instance.largest_equal_rate:
        i = most.index(0)
        raise ModelRefused(f"workers[{i}]: a step and a commit take longer than the check period")
    m = pyo.ConcreteModel("nonconvex")
    m.I = pyo.RangeSet(0, len(most) - 1)
    m.n = pyo.Var(m.I, domain=pyo.Integers, bounds=lambda m, i: (1, most[i]), doc="(N6)")
    m.c = pyo.Var(domain=pyo.Integers, bounds=(1, instance.largest_equal_rate))

    @m.Constraint(m.I, doc="(N4): no fewer commits than c")
    def fewest(m: Any, i: int) -> Any:
        return m.n[i] >= m.c

    @m.Constraint(m.I, doc="(N4): the fairness window")
    def window(m: Any, i: int) -> Any:
        return m.n[i] <= m.c + instance.window

    if instance.commit_cap is not None:
        m.cap = pyo.Constraint(
            expr=sum(m.n[i] for i in m.I) <= instance.cap, doc="(N4): the bandwidth"
        )
    if isinstance(instance.model, MomentumCap):
        _add_momentum(m, instance)
    else:
        _add_thresholds(m, instance, tables)
    return m


def _add_momentum(m: pyo.ConcreteModel, instance: AdspRatesInstance) -> None:
    terms, q = momentum_terms(instance).tolist(), momentum_limit(instance)
    if math.isfinite(q):
        m.momentum = pyo.Constraint(
            expr=sum(terms[i] / q / m.n[i] for i in m.I) <= 1, doc="(N5): the momentum cap"
        )
    cost = [coefficient(steps) for steps in ExactNumbers(instance).commit_steps]
    m.objective = pyo.Objective(expr=sum(cost[i] * m.n[i] for i in m.I), doc="(N1): the steps lost")


def _add_thresholds(m: pyo.ConcreteModel, instance: AdspRatesInstance, tables: Tables) -> None:
    full, cost = tables.period_steps.tolist(), tables.commit_steps.tolist()
    least, most = tables.steps(tables.most).tolist(), tables.steps(1).tolist()
    m.k = pyo.Var(m.I, bounds=lambda m, i: (max(0.0, least[i] * (1 - 1e-9)), most[i] * (1 + 1e-9)))
    m.theta = pyo.Var(bounds=(1, float(tables.local_steps(1).max())), doc="most local steps")

    @m.Constraint(m.I, doc="(N2): steps in a period")
    def steps(m: Any, i: int) -> Any:
        return m.k[i] == full[i] - cost[i] * m.n[i]

    @m.Constraint(m.I, doc="(N3): no worker makes more local steps than theta")
    def threshold(m: Any, i: int) -> Any:
        return m.k[i] <= m.theta * m.n[i]

    model = instance.model
    assert not isinstance(model, MomentumCap), "has no thresholds"
    mean = sum(m.k[i] for i in m.I) / len(full)
    drift = model.b * (m.theta - 1)
    if model.kind == "error_bound":
        value: Any = model.a / mean + drift
    else:
        # The ratio of (N1) as T * gain >= a, with bounds that keep every factor off 0.
        highest = model.error_budget * float(tables.steps(1).mean())
        m.rest = pyo.Var(bounds=(model.error_budget * 1e-6, model.error_budget))
        m.gain = pyo.Var(bounds=(highest * 1e-9, highest * (1 + 1e-9)))
        m.T = pyo.Var(bounds=(model.a / highest * (1 - 1e-9), model.a / highest * 1e9))
        m.budget = pyo.Constraint(expr=m.rest == model.error_budget - drift)
        m.gained = pyo.Constraint(expr=m.gain == mean * m.rest)
        m.time = pyo.Constraint(expr=m.T * m.gain >= model.a, doc="(N1): the time to accuracy")
        value = m.T
    m.objective = pyo.Objective(expr=value, doc="(N1)")


def decode(m: pyo.ConcreteModel, instance: AdspRatesInstance) -> AdspRatesSolution:
    """Return the commits."""
    return solution_of(round(pyo.value(m.n[i])) for i in m.I)
