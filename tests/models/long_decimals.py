"""Instances of every system whose numbers have 3 to 17 digits, and what their models make of them.

The numbers of small instances are replaced, equal ones by equal ones: by decimals of a few or many
digits, by doubles that are drawn, or by the doubles of fractions such as 2/7. Where a system takes
whole numbers only, they stay.

`python tests/models/long_decimals.py 2000` runs every linear formulation on as many instances by
HiGHS, and counts by system what came of them; `2000 5000` begins with the seed 5000. It ends with
exit code 1 if some run was an error, or some model another one than the evaluator's.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import json
import logging
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import Any

import pyomo.environ as pyo

import gadgetopt
from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.numbers.tolerance import refutes
from gadgetopt.solvers import solve_model
from gadgetopt.solvers.exact_form import ExactReader
from gadgetopt.solvers.formulations.backends import capable
from gadgetopt.solvers.formulations.building import decision
from gadgetopt.solvers.standard_form import compile_model
from gadgetopt.system.declaration import Formulation, Problem
from gadgetopt.system.files import Document, find_instances, library, parse
from gadgetopt.system.registry import problems
from gadgetopt.system.result import Limits, Status

#: An exact value and a model's that differ by less than this part differ by rounding.
ROUNDING = Fraction(1, 10**9)
#: What decisions that are amounts, such as probabilities, may lose when they are made exact.
DECODING = Fraction(1, 10**6)
#: Larger instances take a solver too long.
MOST_BYTES = 6_000

_RATIONAL = re.compile(r"-?[0-9]+(/[0-9]+)?")

Place = tuple[str | int, ...]


def linear_formulations(problem: Problem) -> list[Formulation]:
    """Return the formulations of a problem that HiGHS takes."""
    return [f for f in problem.formulations if "highs" in capable(f)]


def systems() -> list[Problem]:
    """Return the systems that have such a formulation."""
    return [p for p in problems() if linear_formulations(p)]


def small_files(problem: Problem) -> list[str]:
    """Return the texts of the system's small instances."""
    folders = [library() / problem.name / "tiny", library() / "quickstart" / f"{problem.name}.json"]
    files = [path for path in find_instances(folders) if path.suffix == ".json"]
    texts = [path.read_text(encoding="utf-8") for path in files]
    return sorted((t for t in texts if len(t) <= MOST_BYTES), key=len) or sorted(texts, key=len)[:1]


# -- numbers ---------------------------------------------------------------------------------------


def _leaves(data: Any, at: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yield the places and values of all numbers, those written as text among them."""
    if isinstance(data, dict | list):
        items: Any = data.items() if isinstance(data, dict) else enumerate(data)
        for key, value in items:
            yield from _leaves(value, (*at, key))
    elif _is_number(data):
        yield at, data


def _is_number(data: Any) -> bool:
    if isinstance(data, str):
        return _RATIONAL.fullmatch(data) is not None
    return isinstance(data, int | float) and not isinstance(data, bool)


def _near(value: Any, rng: Random) -> float:
    """Draw a number near another one."""
    x = float(Fraction(value)) * rng.uniform(0.7, 1.3)
    way = rng.randrange(4)
    if way == 0:
        return x  # as measured or drawn: up to 17 digits
    if way == 1:
        d = rng.choice((3, 7, 9, 11, 13))
        return (round(x * d) or 1) / d
    return float(f"{x:.{rng.randint(3, 17)}g}")


def _put(data: Any, places: list[tuple[Place, Any]], rng: Random) -> Any:
    """Return the data with new numbers in some places; equal numbers stay equal."""
    new: dict[Any, float] = {}
    changed = copy.deepcopy(data)
    for at, value in places:
        if Fraction(value) == 0:
            continue
        inside = changed
        for step in at[:-1]:
            inside = inside[step]
        inside[at[-1]] = new.setdefault(Fraction(value), _near(value, rng))
    return changed


def drawn(text: str, rng: Random) -> Document | None:
    """Return an instance with other numbers wherever its system takes them; None if nowhere."""
    raw = json.loads(text)
    groups: dict[Place, list[tuple[Place, Any]]] = collections.defaultdict(list)
    for at, value in _leaves(raw["data"]):
        groups[tuple("*" if isinstance(step, int) else step for step in at)].append((at, value))
    found = None
    built = built_formulations(parse(text, "given.json"))
    for places in groups.values():
        for _ in range(3):
            changed = {**raw, "data": _put(raw["data"], places, rng)}
            if changed["data"] == raw["data"]:
                break
            with contextlib.suppress(InputError):
                document = parse(json.dumps(changed), "drawn.json")
                if built and not built_formulations(document, built):
                    continue  # such as resources that are no multiples of a sizeable unit
                found, raw = document, changed
                break
    return found


def built_formulations(
    document: Document, among: Sequence[Formulation] | None = None
) -> list[Formulation]:
    """Return the first linear formulation that takes an instance, in a list."""
    for formulation in linear_formulations(document.problem) if among is None else among:
        with contextlib.suppress(ModelRefused):
            formulation.build(document.data)
            return [formulation]
    return []


# -- what models make of them ----------------------------------------------------------------------


def exactly(document: Document, formulation: Formulation, rng: Random) -> str:
    """Compare a random decision's objective with the model's, both exact.

    The decision is the optimum of the model for random costs. Its integers are fixed, and the rest
    of the model is solved in rationals. A model may leave a decision less good than it is, but the
    two never differ by rounding.
    """
    assert formulation.decode is not None
    model = formulation.build(document.data)
    objective = next(model.component_data_objects(pyo.Objective, active=True))
    integers = [v for v in model.component_data_objects(pyo.Var) if not v.fixed and v.is_integer()]
    if integers:
        objective.deactivate()
        model.random_costs = pyo.Objective(expr=sum(rng.randint(-9, 9) * v for v in integers))
        found = solve_model(model, "highs", Limits(time_s=2, rel_gap=0.5), seed=rng.randrange(99))
        if found.status not in (Status.OPTIMAL, Status.FEASIBLE):
            return "no decision"
        for v in integers:
            v.fix(round(pyo.value(v)))
        model.random_costs.deactivate()
        objective.activate()
    form = compile_model(model)
    solved = solve_model(model, "highs", Limits(time_s=2))
    if solved.status is not Status.OPTIMAL:
        return "no decision"
    if form.columns and solved.exact is None:
        return "not exact"
    in_model = solved.exact.objective if solved.exact is not None else ExactReader(form).offset()
    solution = decision(formulation, model, document.data)
    if solution is None:
        return "no decision"
    evaluation = document.problem.evaluate(document.data, solution)
    assert evaluation.feasible, (document.name, formulation.name, evaluation.violations[0])
    true = evaluation.objective
    if isinstance(true, float):
        return "in doubles"
    where = (formulation.name, str(in_model), str(true))
    apart = Fraction(in_model) - Fraction(true)
    if document.problem.sense == "max":
        apart = -apart
    rounding = ROUNDING * abs(Fraction(true))
    if not integers and -DECODING * abs(Fraction(true)) <= apart < 0:
        return "rounded by the decoding"  # a decision that is no choice but amounts
    assert apart == 0 or apart > rounding, where
    return "equal" if apart == 0 else "better than the model says"


def ran(document: Document, formulation: Formulation, time_s: float) -> str:
    """Run a formulation by HiGHS; return its status, with the reason if it is an error."""
    formulation.build(document.data)  # a refusal is no error
    result = gadgetopt.solve(
        document, method=f"{formulation.name}@highs", time_limit=time_s, seed=0
    )
    if result.status is Status.ERROR:
        return f"error: {result.reason}"
    if result.objective is not None and result.bound is not None:
        past = refutes(result.objective, result.bound, minimise=document.problem.sense == "min")
        assert not past, (result.objective, result.bound)
    withdrawn = "withdrawn_bound" in result.notes
    return f"{result.status}, bound withdrawn" if withdrawn else str(result.status)


def main() -> int:
    logging.disable(logging.WARNING)
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    everywhere = systems()
    seen: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    wrong = 0
    for seed in range(first, first + count):
        problem, rng = everywhere[seed % len(everywhere)], Random(seed)
        document = drawn(rng.choice(small_files(problem)), rng)
        if document is None:
            seen[problem.name]["whole numbers only"] += 1
            continue
        seen[problem.name]["instances"] += 1
        for formulation in linear_formulations(problem):
            checks = [lambda f: ran(document, f, 2.0)]  # noqa: B023 (called at once)
            if formulation.strength == "exact" and formulation.decode is not None:
                checks.append(lambda f: f"objective {exactly(document, f, rng)}")  # noqa: B023
            for check in checks:
                try:
                    what = check(formulation)
                except ModelRefused:
                    what = "refused"
                except Exception as error:  # all of them are wanted
                    what = f"error: {type(error).__name__}: {str(error)[:300]}"
                if what.startswith("error"):
                    wrong += 1
                    print(f"seed {seed}, {problem.name} {formulation.name}: {what}", flush=True)
                    what = "error"
                seen[problem.name][what] += 1
        if (seed - first) % 100 == 99:
            print(f"{seed - first + 1} of {count}", flush=True)
            report(seen)
    report(seen)
    return 1 if wrong else 0


def report(seen: Mapping[str, Mapping[str, int]]) -> None:
    """Print what came of the instances so far, a line for each system."""
    for name, counts in sorted(seen.items()):
        what = ", ".join(f"{what} {times}" for what, times in sorted(counts.items()))
        print(f"{name:30} {what}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
