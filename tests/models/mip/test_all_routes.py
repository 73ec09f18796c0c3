"""All methods against an enumeration, and against the values that the tiny files derive."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pyomo.environ as pyo
import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.models.mip.data.generate import presets
from gadgetopt.models.mip.evaluate import evaluate
from gadgetopt.models.mip.formulations.model import build
from gadgetopt.models.mip.instance import MipInstance, MipSolution
from gadgetopt.proofs.exact_model import exact_model
from gadgetopt.proofs.named_form import standard_form
from gadgetopt.proofs.reading.draft import Draft, DraftRow
from gadgetopt.solvers import solve_model
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


def pyomo_model(strong):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(3), domain=pyo.Binary)
    m.y = pyo.Var(bounds=(0, None))
    m.room = pyo.Constraint(expr=m.y >= 0.1 * sum(m.x.values()))
    m.two = pyo.Constraint(expr=sum(m.x.values()) >= (2 if strong else 1.5))
    m.cost = pyo.Objective(expr=m.y + sum(m.x.values()))
    return m


def test_a_pyomo_model_is_an_instance_wherever_one_is_taken(tmp_path):
    weak, strong = pyomo_model(strong=False), pyomo_model(strong=True)
    assert gadgetopt.solve(weak).objective == Fraction(11, 5)
    proof = gadgetopt.prove(weak, certify="20")
    proof.write(tmp_path / "proof.json")
    assert proof.bound == Fraction(11, 5)
    again = gadgetopt.solve(weak, "feasibility_pump")
    assert gadgetopt.verify(weak, again, tmp_path / "proof.json").feasible
    table = gadgetopt.compare({"weak": weak, "strong": strong}, "highs", workers=0)
    assert [e.result.instance for e in table] == ["weak", "strong"]
    bounds = gadgetopt.formulations({"weak": weak, "strong": strong})
    assert bounds.lp_bound.tolist() == pytest.approx([1.65, 2.2])


def test_the_page_compares_a_model_of_one_s_own_with_one_of_the_library(root, monkeypatch):
    page = (root / "docs/any_model.md").read_text(encoding="utf-8")
    code = next(part for part in page.split("```python\n")[1:] if "gadgetopt.build(" in part)
    names: dict[str, object] = {}
    monkeypatch.chdir(root)
    exec(code.partition("```")[0].replace('certify="10"', "workers=0"), names)
    results = [entry.result for entry in names["table"]]
    assert [r.instance for r in results] == ["mine", "library"]
    assert [r.objective for r in results] == [-8222, 8222]
    assert [r.status.value for r in results] == ["optimal", "optimal"]
    sizes = gadgetopt.formulations(names["models"])
    assert sizes.binary.tolist() == [20, 20]
    assert sizes.rows.tolist() == [3, 3]
    assert sizes.lp_bound[0] == pytest.approx(-sizes.lp_bound[1])


def test_an_outcome_is_printed_in_a_few_lines():
    printed = str(solve_model(pyomo_model(strong=True))).splitlines()
    assert printed[:2] == ["status     optimal", "objective  11/5"]
    assert len(printed) <= 6


def test_a_proof_is_printed_in_a_few_lines():
    proof = gadgetopt.prove(pyomo_model(strong=False), certify="20")
    printed = str(proof).splitlines()
    assert printed[0] == "instance      model (mip)"
    assert "dual bound    2.2 = 11/5 (verified)" in printed
    assert len(printed) <= 6
    assert repr(proof).startswith("<Proof on model: ")
    assert "11/5 (verified)" in proof._repr_html_()
    empty = replace(proof, bound=None, result=replace(proof.result, certificate=None))
    assert str(empty).splitlines()[-1].startswith("proof      none: ")


def test_a_number_that_is_only_a_rounded_double_is_refused():
    model = pyo.ConcreteModel()
    model.x = pyo.Var(bounds=(0, 9))
    model.row = pyo.Constraint(expr=model.x <= 1e300)
    model.cost = pyo.Objective(expr=-model.x)
    with pytest.raises(InputError, match="row: a side has too many digits for a double"):
        gadgetopt.solve(model)


@pytest.mark.parametrize("preset", ["paper", "fixed_charge", "lot_sizing"])
def test_a_mixed_preset_is_solved_to_an_exact_point(preset):
    data = getattr(presets, preset)(np.random.default_rng(0))
    result = gadgetopt.solve(Document(problem("mip"), "instance", preset, data), time_limit=20)
    assert isinstance(result.objective, int | Fraction)
    assert result.evaluation.feasible
