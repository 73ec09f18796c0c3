"""Small models on which solvers were wrong: what each says now, beside what is proved.

No study knows the right answer of a case.

    python benchmarks/wrong_answers.py [--folder instances/wrong_answers]

Prints a table, a row per model. The right answer is proved: a proof beside the model is checked,
and a point that reaches it is tried in exact numbers. Solvers are those of this Python, with their
default options and 10 s; `refuted` is what the proof or the point excludes, and `within 1e-6` what
it excludes by no more than solvers' tolerances. The exit code is 1 if a proof fails.
"""

from __future__ import annotations

import argparse
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from gadgetopt.proofs.checker.verdict import check
from gadgetopt.proofs.model import Model
from gadgetopt.proofs.reading.draft import NamedModel
from gadgetopt.proofs.reading.model_files import read_model

FOLDER = Path(__file__).parents[1] / "instances" / "wrong_answers"
LIMIT_S = 10.0
#: A difference that counts as none, and solvers' usual tolerance; relative to the optimum or 1.
EQUAL, TOLERANCE = 1e-9, 1e-6


class Case(NamedTuple):
    """A model, its right answer ("infeasible", "unbounded" or a number), and who was wrong."""

    name: str
    path: Path
    optimum: str
    point: dict[str, Fraction] | None
    source: str
    reported: str


class Said(NamedTuple):
    """What a solver said: "optimal" with its value, "infeasible", "unbounded", or other words."""

    status: str
    value: float | None = None


def main() -> int:
    """Print the table."""
    options = argparse.ArgumentParser()
    options.add_argument("--folder", type=Path, default=FOLDER)
    folder = options.parse_args().folder
    solvers = {name: run for name, run in SOLVERS.items() if is_there(name)}
    titles = ["model", "right, proved", "ms", *(title(name) for name in solvers), "reported"]
    print(f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}")
    all_proved = True
    for case in cases(folder):
        begin = time.process_time()
        fault = fault_of_proof(case)
        seconds = time.process_time() - begin
        all_proved &= fault is None
        named = read_model(case.path)
        cells = [judged(case, run(case.path, named)) for run in solvers.values()]
        right = case.optimum if fault is None else f"NOT PROVED: {fault}"
        row = [case.name, right, f"{1000 * seconds:.0f}", *cells, f"{case.source}: {case.reported}"]
        print(f"| {' | '.join(row)} |", flush=True)
    return 0 if all_proved else 1


def cases(folder: Path) -> Iterator[Case]:
    """Yield the cases of a folder, in the order of its list."""
    listed = tomllib.loads((folder / "cases.toml").read_text(encoding="utf-8"))
    for name, about in listed.items():
        point = about.get("point")
        numbers = None if point is None else {key: Fraction(x) for key, x in point.items()}
        path = folder / f"{name}.lp"
        yield Case(name, path, about["optimum"], numbers, about["source"], about["reported"])


def fault_of_proof(case: Case) -> str | None:
    """Return what is wrong with a case's proof and point; None if they show the right answer."""
    verdict = check(case.path.with_suffix(".proof"), case.path)
    if case.point is None or case.optimum in ("infeasible", "unbounded"):
        return None if verdict.status == case.optimum else verdict.sentences[-1]
    if verdict.bound != Fraction(case.optimum):
        return verdict.sentences[1]
    named = read_model(case.path)
    values = [case.point.get(column, Fraction(0)) for column in named.columns]
    violated = violation(named.model, values)
    if violated is not None:
        return f"the point violates {violated}"
    costs = sum((a * values[j] for j, a in zip(*named.model.costs, strict=True)), Fraction(0))
    return None if named.model.bound(costs) == verdict.bound else "the point has another value"


def violation(model: Model, values: list[Fraction]) -> str | None:
    """Return what a point violates, in exact numbers; None if it is feasible."""
    for j, (x, low, high) in enumerate(zip(values, model.lower, model.upper, strict=True)):
        if (model.integer[j] and x.denominator > 1) or not between(x, low, high):
            return f"column {j}"
    for i, row in enumerate(model.rows):
        terms = zip(row.columns, row.coefficients, strict=True)
        if not between(sum((a * values[j] for j, a in terms), Fraction(0)), row.lower, row.upper):
            return f"row {i}"
    return None


def between(x: Fraction, low: int | Fraction | None, high: int | Fraction | None) -> bool:
    """Return True if a number is between two sides, of which None is missing."""
    return (low is None or x >= low) and (high is None or x <= high)


def judged(case: Case, said: Said) -> str:
    """Return what a solver said, and whether it is refuted."""
    if said.status in ("infeasible", "unbounded"):
        return said.status if said.status == case.optimum else f"**{said.status}**, refuted"
    if said.status != "optimal" or said.value is None:
        return said.status
    text = f"{said.value:.10g}"
    if case.optimum in ("infeasible", "unbounded"):
        return f"**{text}**, refuted"
    true = float(Fraction(case.optimum))
    difference = abs(said.value - true) / max(1.0, abs(true))
    if difference <= EQUAL:
        return text
    return f"{text}, within 1e-6" if difference <= TOLERANCE else f"**{text}**, refuted"


def by_highs(path: Path, _named: NamedModel) -> Said:
    """Run HiGHS on a file."""
    return _highs(path)


def by_highs_without_presolve(path: Path, _named: NamedModel) -> Said:
    """Run HiGHS on a file, its presolve off."""
    return _highs(path, presolve="off")


def _highs(path: Path, **options: object) -> Said:
    import highspy

    solver = highspy.Highs()
    for name, value in ({"output_flag": False, "time_limit": LIMIT_S} | options).items():
        solver.setOptionValue(name, value)
    solver.readModel(str(path))
    solver.run()
    words = solver.modelStatusToString(solver.getModelStatus()).lower()
    value = solver.getInfo().objective_function_value if words == "optimal" else None
    return Said(words, value)


def by_scip(path: Path, _named: NamedModel) -> Said:
    """Run SCIP on a file."""
    import pyscipopt

    solver = pyscipopt.Model()
    solver.hideOutput()
    solver.readProblem(str(path))
    solver.setParam("limits/time", LIMIT_S)
    solver.optimize()
    status = solver.getStatus()
    return Said(status, solver.getObjVal() if status == "optimal" else None)


def by_glop(_path: Path, named: NamedModel) -> Said:
    """Run GLOP on a model without integers."""
    return Said("not for integers") if any(named.model.integer) else _or_tools(named.model, "glop")


def by_cpsat(_path: Path, named: NamedModel) -> Said:
    """Run CP-SAT on a model of integers alone."""
    if not all(named.model.integer):
        return Said("not for continuous")
    return _or_tools(named.model, "sat")


def _or_tools(model: Model, solver_name: str) -> Said:
    from ortools.linear_solver.python import model_builder

    made = model_builder.Model()
    end = float("inf")
    columns = [
        made.new_var(-end if low is None else float(low), end if high is None else float(high),
                     whole, f"x{j}")
        for j, (whole, low, high) in enumerate(
            zip(model.integer, model.lower, model.upper, strict=True)
        )
    ]  # fmt: skip
    for row in model.rows:
        terms = zip(row.columns, row.coefficients, strict=True)
        total = sum(float(Fraction(a, row.denominator)) * columns[j] for j, a in terms)
        if row.lower is not None:
            made.add(total >= float(Fraction(row.lower, row.denominator)))
        if row.upper is not None:
            made.add(total <= float(Fraction(row.upper, row.denominator)))
    priced = zip(*model.costs, strict=True)
    made.minimize(sum((float(Fraction(a, model.scale)) * columns[j] for j, a in priced), 0.0))
    solver = model_builder.Solver(solver_name)
    solver.set_time_limit_in_seconds(LIMIT_S)
    status = solver.solve(made).name.lower()
    if status != "optimal":
        return Said(status.replace("_", " "))
    value = solver.objective_value * (1 if model.sense == "min" else -1)
    return Said(status, value + float(model.offset))


#: The package of each solver, and how it is run.
PACKAGES = {
    "HiGHS": "highspy", "HiGHS without presolve": "highspy", "SCIP": "pyscipopt",
    "GLOP": "ortools", "CP-SAT": "ortools",
}  # fmt: skip
SOLVERS: dict[str, Callable[[Path, NamedModel], Said]] = {
    "HiGHS": by_highs,
    "HiGHS without presolve": by_highs_without_presolve,
    "SCIP": by_scip,
    "GLOP": by_glop,
    "CP-SAT": by_cpsat,
}


def is_there(solver: str) -> bool:
    """Return True if a solver's package can be imported."""
    try:
        __import__(PACKAGES[solver])
    except ImportError:
        return False
    return True


def title(solver: str) -> str:
    """Return a solver's name with its version."""
    package: Any = sys.modules[PACKAGES[solver]]
    if solver == "SCIP":
        model = package.Model()
        numbers = model.getMajorVersion(), model.getMinorVersion(), model.getTechVersion()
        return f"SCIP {'.'.join(map(str, numbers))}"
    if package.__name__ == "highspy":
        return solver.replace("HiGHS", f"HiGHS {package.Highs().version()}")
    return f"{solver} of OR-Tools {version('ortools')}"


if __name__ == "__main__":
    sys.exit(main())
