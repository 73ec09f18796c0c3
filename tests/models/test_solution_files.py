"""Every model that is exported can be solved elsewhere, and its solution decoded and judged.

The model is written as MPS or LP, HiGHS reads the file and solves it, its solution is written as
HiGHS writes it and read back by names: the decision has the objective that HiGHS states.
"""

from functools import lru_cache

import highspy
import pytest

import gadgetopt
from gadgetopt.errors import ModelRefused
from gadgetopt.reporting.export import write_model
from gadgetopt.solvers.formulations.solution_files import decoded
from gadgetopt.system.files import library

#: Larger models are covered by those of other systems; HiGHS gets this long for the others. Any
#: solution will do, so it stops after some nodes if it has one.
MOST_NONZEROS = 5000
TIME_S = 5.0
NODES = 50

PAIRS = [
    (problem.name, formulation.name)
    for problem in gadgetopt.problems()
    for formulation in problem.formulations
    if formulation.decode is not None and formulation.model_class != "MINLP"
]
QUICK = {"knapsack", "parallel_machines", "bgl_resources", "adsp_rates"}


@lru_cache(maxsize=1)
def built(system, name):
    """Return a formulation and its model of the quickstart instance, which serves both forms."""
    document = gadgetopt.read(library() / "quickstart" / f"{system}.json")
    (formulation,) = (f for f in document.problem.formulations if f.name == name)
    return document, formulation, formulation.build(document.data)


#: Models that are too large, as the first of their files shows.
TOO_LARGE: set[tuple[str, str]] = set()


def solved_elsewhere(path, style):
    """Solve a model file by HiGHS itself; return its solution file and its objective.

    None if the model is too large.
    """
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    assert highs.readModel(str(path)) == highspy.HighsStatus.kOk
    if highs.getNumNz() > MOST_NONZEROS:
        return None
    for nodes in (NODES, highspy.kHighsIInf):
        highs.setOptionValue("mip_max_nodes", nodes)
        highs.setOptionValue("time_limit", highs.getRunTime() + TIME_S)
        highs.run()
        if highs.getInfo().primal_solution_status == 2:
            break
    else:
        pytest.skip(f"HiGHS found no solution in {TIME_S:g} s")
    solution = path.with_suffix(".sol")
    highs.writeSolution(str(solution), style)
    return solution, highs.getInfo().objective_function_value


@pytest.mark.parametrize(("form", "style"), [("mps", 0), ("lp", 1)])
@pytest.mark.parametrize(
    ("system", "name"),
    [
        pytest.param(*pair, marks=() if pair[0] in QUICK else pytest.mark.slow, id="-".join(pair))
        for pair in PAIRS
    ],
)
def test_a_solution_found_elsewhere_has_the_objective_that_was_found(
    system, name, form, style, tmp_path
):
    too_large = f"more than {MOST_NONZEROS} nonzeros"
    if (system, name) in TOO_LARGE:
        pytest.skip(too_large)
    path = tmp_path / f"model.{form}"
    try:
        document, formulation, model = built(system, name)
        write_model(model, form, path)
    except ModelRefused as refused:
        pytest.skip(str(refused))
    found = solved_elsewhere(path, style)
    if found is None:
        TOO_LARGE.add((system, name))
        pytest.skip(too_large)
    solution, objective = found
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
