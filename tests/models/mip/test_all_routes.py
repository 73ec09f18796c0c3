"""All methods against an enumeration, and against the values that the tiny files derive."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import gadgetopt
from gadgetopt.models.mip.data.generate import presets
from gadgetopt.models.mip.evaluate import evaluate
from gadgetopt.models.mip.formulations.model import build
from gadgetopt.models.mip.instance import MipInstance, MipSolution
from gadgetopt.proofs.exact_model import exact_model
from gadgetopt.proofs.named_form import standard_form
from gadgetopt.proofs.reading.draft import Draft, DraftRow
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem

OPTIMA = {
    "cover.lp": 4,
    "mixed.lp": Fraction(51, 8),
    "no_bounds.lp": -3,
    "nothing_to_gain.mps": 0,
    "thirds.lp": Fraction(14, 3),
}
BASELINES = ("round_lp", "feasibility_pump", "rins")


@pytest.mark.parametrize("backend", ["highs", "scip"])
@pytest.mark.parametrize("name", OPTIMA)
def test_a_tiny_file_has_the_optimum_that_it_derives(name, backend, root):
    pytest.importorskip("pyscipopt" if backend == "scip" else "highspy")
    result = gadgetopt.solve(root / "instances/mip/tiny" / name, backend)
    assert (result.status.value, result.objective) == ("optimal", OPTIMA[name])


def test_no_integers_are_no_solution(root):
    assert gadgetopt.solve(root / "instances/mip/tiny/parity.lp").status.value == "infeasible"


def drawn(seed):
    """Draw a program over three integers from 0 to 3."""
    rng = np.random.default_rng(seed)
    draft = Draft()
    draft.sense = str(rng.choice(["min", "max"]))
    for j in range(3):
        column = draft.columns[draft.add_column(f"x{j}")]
        column.integer, column.lower, column.upper = True, 0, 3
        draft.costs[j] = Fraction(int(rng.integers(-9, 10)), 4)
    for i in range(3):
        values = [Fraction(int(a), 5) for a in rng.integers(-9, 10, size=3)]
        low, high = sorted(int(x) for x in rng.integers(-6, 7, size=2))
        draft.rows.append(DraftRow(f"r{i}", [0, 1, 2], values, low, high))
    return MipInstance.of(draft.named_model("refused"))


@pytest.mark.parametrize("seed", range(12))
def test_solvers_and_baselines_against_an_enumeration(seed):
    instance = drawn(seed)
    document = Document(problem("mip"), "instance", f"seed{seed}", instance)
    names = [f"x{j}" for j in range(3)]
    points = [
        evaluate(instance, MipSolution(values=dict(zip(names, map(Fraction, x), strict=True))))
        for x in product(range(4), repeat=3)
    ]
    feasible = [p.objective for p in points if p.feasible]
    minimise = document.problem.sense == "min"
    optimum = (min if minimise else max)(feasible, default=None)
    for backend in ("highs", "cpsat"):
        result = gadgetopt.solve(document, backend)
        assert result.status.value == ("infeasible" if optimum is None else "optimal")
        assert result.objective == optimum
    for baseline in BASELINES:
        result = gadgetopt.solve(document, baseline)
        assert result.status.value in ("feasible", "no_solution", "optimal")
        assert result.objective is None or result.objective in feasible


@pytest.mark.parametrize("seed", range(6))
def test_arrays_and_the_pyomo_model_are_the_same_exact_model(seed):
    instance = drawn(seed)
    arrays = exact_model(standard_form(instance.named))
    assert arrays == instance.exact._replace(offset=Fraction(instance.exact.offset))
    assert exact_model(compile_model(build(instance))) == arrays


@pytest.mark.parametrize("preset", ["paper", "fixed_charge", "lot_sizing"])
def test_a_mixed_preset_is_solved_to_an_exact_point(preset):
    data = getattr(presets, preset)(np.random.default_rng(0))
    result = gadgetopt.solve(Document(problem("mip"), "instance", preset, data), time_limit=20)
    assert isinstance(result.objective, int | Fraction)
    assert result.evaluation.feasible
