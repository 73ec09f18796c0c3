"""What every backend refuses, or decides, in the same words."""

from __future__ import annotations

import math

import pyomo.environ as pyo
import pyomo.kernel as kernel
import pytest
from pyomo.dae import ContinuousSet, DerivativeVar
from pyomo.gdp import Disjunction
from pyomo.mpec import Complementarity, complements
from pyomo.network import Arc, Port

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.solvers import solve_model
from gadgetopt.solvers.formulations.backends import THROUGH_PYOMO, installed
from gadgetopt.system.result import Limits, Status

BACKENDS = [
    "highs",
    "cpsat",
    *(name for name in ("scip", *THROUGH_PYOMO) if installed(name)),
]


def base() -> pyo.ConcreteModel:
    """Build min x + y, both integers in 0..9, x + y >= 2."""
    m = pyo.ConcreteModel()
    m.x = pyo.Var(domain=pyo.Integers, bounds=(0, 9))
    m.y = pyo.Var(domain=pyo.Integers, bounds=(0, 9))
    m.p = pyo.Param(initialize=12, mutable=True, within=pyo.Any)
    m.row = pyo.Constraint(expr=m.x + m.y >= 2)
    m.cost = pyo.Objective(expr=m.x + m.y)
    return m


def disjunction(m):
    m.more = Disjunction(expr=[[m.x >= 3], [m.x >= 7]])


def logic(m):
    m.b = pyo.BooleanVar()
    m.z = pyo.Var(domain=pyo.Binary)
    m.b.associate_binary_var(m.z)
    m.more = pyo.LogicalConstraint(expr=~m.b)


def complementarity(m):
    m.more = Complementarity(expr=complements(m.x >= 0, m.y >= 1))


def ordered_set(m):
    m.z = pyo.Var([1, 2, 3], bounds=(0, 1))
    m.more = pyo.SOSConstraint(var=m.z, sos=2)


def arc(m):
    m.a, m.b = Port(initialize={"f": m.x}), Port(initialize={"f": m.y})
    m.more = Arc(source=m.a, dest=m.b)


def piecewise(m):
    m.z = pyo.Var(bounds=(0, 9))
    m.w = pyo.Var(bounds=(0, 9))
    points, heights = [0, 3, 9], [0, 9, 0]
    m.more = pyo.Piecewise(m.w, m.z, pw_pts=points, f_rule=heights, pw_constr_type="EQ")


def kernel_block(m):
    m.more = kernel.block()
    m.more.z = kernel.variable(lb=1)


def derivative(m):
    m.t = ContinuousSet(bounds=(0, 1))
    m.z = pyo.Var(m.t)
    m.more = DerivativeVar(m.z, wrt=m.t)


def halves(m):
    m.x.domain = pyo.RangeSet(0.5, 3.5)


def fixed_without_value(m):
    m.x.fixed = True


def text(m):
    m.p = "twelve"
    m.more = pyo.Constraint(expr=m.x <= m.p)


def deleted(m):
    m.z = pyo.Var(bounds=(0, 1))
    m.more = pyo.Constraint(expr=m.z + m.x <= 5)
    m.del_component(m.z)


def infinite_cost(m):
    m.cost.expr = m.x + math.inf * m.y


def infinite_coefficient(m):
    m.more = pyo.Constraint(expr=m.x + math.inf * m.y <= 5)


def no_number(m):
    m.p = math.nan
    m.more = pyo.Constraint(expr=m.x + m.y <= m.p)


def fixed_at_infinity(m):
    m.x.fix(math.inf, skip_validation=True)


@pytest.mark.parametrize(
    "spoil",
    [
        disjunction, logic, complementarity, ordered_set, arc, piecewise, kernel_block, derivative,
        halves, fixed_without_value, text, deleted, infinite_cost, infinite_coefficient, no_number,
        fixed_at_infinity, lambda m: m.deactivate(),
    ],
)  # fmt: skip
def test_every_backend_refuses_in_the_same_sentence(spoil):
    said = set()
    for backend in BACKENDS:
        m = base()
        spoil(m)
        with pytest.raises((ModelRefused, InputError)) as refusal:
            solve_model(m, backend)
        said.add(str(refusal.value))
    assert len(said) == 1, said
    assert "\n" not in said.pop()


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_no_constructed_model_is_refused(backend):
    with pytest.raises(InputError, match=r"expected a ConcreteModel of pyomo\.environ, not a str"):
        solve_model("model", backend)
    abstract = pyo.AbstractModel()
    abstract.x = pyo.Var()
    with pytest.raises(ModelRefused, match="not constructed"):
        solve_model(abstract, backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        # 12 is not 13, and 12 is 12: rows without variables.
        (lambda m: setattr(m, "more", pyo.Constraint(expr=m.p + 0 * m.x == 13)), None),
        (lambda m: setattr(m, "more", pyo.Constraint(expr=m.p + 0 * m.x == 12)), 2),
        (lambda m: setattr(m, "more", pyo.Constraint(expr=m.p - 12 >= 0)), 2),
        # Fixed at a fraction, beyond a bound, and as it should be.
        (lambda m: m.x.fix(2.5, skip_validation=True), None),
        (lambda m: m.x.fix(10, skip_validation=True), None),
        (lambda m: m.x.fix(4), 4),
        # Ranges with constants: 1 <= 2x + 3 <= 7 allows x in 0..2, and 5 <= 2x + 3 <= 6 only 1.
        (lambda m: setattr(m, "more", pyo.Constraint(expr=pyo.inequality(5, 2 * m.x + 3, 6))), 2),
        (lambda m: m.cost.set_value(-m.x) or setattr(
            m, "more", pyo.Constraint(expr=pyo.inequality(1, 2 * m.x + 3, 7))), -2),
        (lambda m: m.x.setub(math.inf), 2),
    ],
)  # fmt: skip
def test_every_backend_gives_the_same_result(backend, change, expected):
    m = base()
    change(m)
    outcome = solve_model(m, backend, Limits(time_s=20))
    if expected is None:
        assert outcome.status is Status.INFEASIBLE
        return
    assert (outcome.status, outcome.objective) == (Status.OPTIMAL, expected)
    assert m.x.value == int(m.x.value)


@pytest.mark.parametrize("backend", [name for name in BACKENDS if name != "cpsat"])
def test_rows_of_small_coefficients_bind(backend):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(bounds=(0, 1))
    m.y = pyo.Var(bounds=(0, 9))
    m.one = pyo.Constraint(expr=1e-9 * m.x <= 1.9211699e-10)
    m.two = pyo.Constraint(expr=1e-200 * m.x + 1e-200 * m.y <= 5e-200)
    m.gain = pyo.Objective(expr=m.x + 0.5 * m.y, sense=pyo.maximize)
    outcome = solve_model(m, backend, Limits(time_s=20))
    assert outcome.status is Status.OPTIMAL
    assert outcome.objective == pytest.approx(0.19211699 + 0.5 * (5 - 0.19211699), rel=1e-9)


def test_a_discretised_derivative_is_rows_like_others():
    m = pyo.ConcreteModel()
    m.t = ContinuousSet(bounds=(0, 1))
    m.z = pyo.Var(m.t)
    m.slope = DerivativeVar(m.z, wrt=m.t)
    m.steep = pyo.Constraint(m.t, rule=lambda m, t: m.slope[t] == 2)
    m.z[0].fix(0)
    m.cost = pyo.Objective(expr=m.z[1])
    pyo.TransformationFactory("dae.finite_difference").apply_to(m, nfe=4, wrt=m.t)
    assert solve_model(m, "highs").objective == 2


def test_a_variable_of_another_model_counts():
    other = pyo.ConcreteModel()
    other.x = pyo.Var(bounds=(2, 9))
    m = pyo.ConcreteModel()
    m.cost = pyo.Objective(expr=other.x)
    for backend in BACKENDS:
        if backend != "cpsat":
            assert solve_model(m, backend).objective == 2
