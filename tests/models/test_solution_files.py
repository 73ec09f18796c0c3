"""Every model that is exported can be solved elsewhere, and its solution decoded and judged.

The model is written as MPS or LP, HiGHS reads the file and solves it, its solution is written as
HiGHS writes it and read back by names: the decision has the objective that HiGHS states.
"""

import highspy
import pytest

import gadgetopt
from gadgetopt.errors import ModelRefused
from gadgetopt.reporting.export import write_model
from gadgetopt.solvers.formulations.solution_files import decoded

#: Larger models are covered by those of other systems; HiGHS gets this long for the others.
MOST_NONZEROS = 5000
TIME_S = 5.0

PAIRS = [
    (problem.name, formulation.name)
    for problem in gadgetopt.problems()
    for formulation in problem.formulations
    if formulation.decode is not None and formulation.model_class != "MINLP"
]
QUICK = {"knapsack", "parallel_machines", "bgl_resources", "adsp_rates"}


def solved_elsewhere(path, style):
    """Solve a model file by HiGHS itself; return its solution file and its objective."""
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("time_limit", TIME_S)
    highs.setOptionValue("threads", 1)
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    if highs.getNumNz() > MOST_NONZEROS:
        pytest.skip(f"more than {MOST_NONZEROS} nonzeros")
    highs.run()
    if highs.getInfo().primal_solution_status != 2:
        pytest.skip(f"HiGHS found no solution in {TIME_S:g} s")
    solution = path.with_suffix(".sol")
    highs.writeSolution(str(solution), style)
    return solution, highs.getInfo().objective_function_value


@pytest.mark.parametrize(
    ("system", "name"),
    [
        pytest.param(*pair, marks=() if pair[0] in QUICK else pytest.mark.slow, id="-".join(pair))
        for pair in PAIRS
    ],
)
@pytest.mark.parametrize(("form", "style"), [("mps", 0), ("lp", 1)])
def test_a_solution_found_elsewhere_has_the_objective_that_was_found(
    system, name, form, style, root, tmp_path
):
    document = gadgetopt.read(root / f"instances/quickstart/{system}.json")
    (formulation,) = (f for f in document.problem.formulations if f.name == name)
    path = tmp_path / f"model.{form}"
    try:
        write_model(formulation.build(document.data), form, path)
    except ModelRefused as refused:
        pytest.skip(str(refused))
    solution, objective = solved_elsewhere(path, style)
    decision, claimed = decoded(document.data, formulation, solution)
    assert claimed == pytest.approx(objective, rel=1e-5, abs=1e-6)
    evaluation = document.problem.evaluate(document.data, decision)
    if formulation.strength == "relaxation":
        return  # its decision may cost more than the relaxation says, or break a rule of it
    assert evaluation.feasible, evaluation.violations
    worse = evaluation.objective - objective
    if document.problem.sense == "max":
        worse = -worse
    # A model may hold slack that its decision does not need, never less than the decision costs.
    assert worse <= 1e-5 * max(1.0, abs(objective))
