"""Rows in tiny units bind as the same rows in ordinary ones do, whichever the backend."""

from __future__ import annotations

from random import Random

import pyomo.environ as pyo
import pytest

from gadgetopt.solvers import solve_model
from gadgetopt.solvers.formulations.backends import THROUGH_PYOMO, installed
from gadgetopt.system.result import Limits, Status

BACKENDS = [name for name in ("highs", "scip", *THROUGH_PYOMO) if installed(name)]


def switched(seed: int, *, scaled: bool) -> pyo.ConcreteModel:
    """Build gains of flows that binaries switch on, through rows of random units."""
    rng = Random(seed)
    binaries, flows = rng.randint(2, 4), rng.randint(2, 4)
    m = pyo.ConcreteModel()
    m.on = pyo.Var(range(binaries), domain=pyo.Binary)
    m.flow = pyo.Var(range(flows), bounds=(0, rng.choice([1, 10, 60])))
    m.rows = pyo.ConstraintList()
    both = [*m.on.values(), *m.flow.values()]

    def unit() -> float:
        drawn = rng.choice([1, 1e-5, 1e-7, 1e-9])
        return drawn if scaled else 1

    for j in range(flows):
        u, most = unit(), rng.choice([2, 5, 50])
        m.rows.add(u * m.flow[j] - u * most * m.on[j % binaries] <= 0)
    for _ in range(rng.randint(2, 4)):
        u, side = unit(), rng.choice([0.5, 1, 2.5, 4])
        coefficients = [rng.choice([0, 1, -1, 2, -3, 1.5]) for _ in both]
        coefficients[-1] = 1
        m.rows.add(sum(u * a * v for a, v in zip(coefficients, both, strict=True)) <= u * side)
    gains = [rng.choice([-7, -3, 2, -40]) for _ in m.on] + [rng.choice([1, 3, 5]) for _ in m.flow]
    m.gain = pyo.Objective(
        expr=sum(a * v for a, v in zip(gains, both, strict=True)), sense=pyo.maximize
    )
    return m


@pytest.mark.parametrize("backend", BACKENDS)
def test_units_of_rows_change_nothing(backend):
    for seed in range(15):
        plain = solve_model(switched(seed, scaled=False), "highs")
        found = solve_model(switched(seed, scaled=True), backend, Limits(time_s=20))
        assert (plain.status, found.status) == (Status.OPTIMAL, Status.OPTIMAL), (seed, found)
        assert float(found.objective) == pytest.approx(float(plain.objective), abs=1e-5), seed
