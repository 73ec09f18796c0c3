"""Laws that every system of the library obeys, on its own small instances."""

from dataclasses import fields, is_dataclass
from functools import cache

import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.tolerance import agrees, exceeds
from gadgetopt.runs.comparison import compare
from gadgetopt.solvers import solve_model
from gadgetopt.system.files import find_instances, library, read_instance
from gadgetopt.system.methods import find_method, methods
from gadgetopt.system.references import Adapted, Beside, Reference
from gadgetopt.system.registry import problems
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.theorems import Verdict, verdict

LIMITS = Limits(time_s=40)

#: Beyond what an enumeration takes.
NOT_ENUMERATED = {"e4b_five_jobs"}


@cache
def instances(folder):
    """Return the instances of a folder of the library."""
    return [read_instance(path) for path in find_instances([library() / folder])]


def tiny_instances(problem):
    return instances(f"{problem.name}/tiny")


def small_instances(problem):
    quick = instances("quickstart")
    return [*tiny_instances(problem), *(d for d in quick if d.problem.name == problem.name)]


def parts(attribute):
    """Each problem's parts of one sort."""
    return [
        pytest.param(part, id=f"{p.name}-{getattr(part, 'name', None) or part.format}")
        for p in problems()
        for part in getattr(p, attribute)
    ]


@pytest.mark.parametrize("importer", parts("importers"))
def test_an_importer_explains_parameters_that_it_has(importer):
    assert set(importer.help) <= set(importer.parameters)


@pytest.mark.parametrize("method", parts("methods"))
def test_defaults_are_among_the_choices(method):
    for name, choices in method.choices.items():
        assert method.parameters[name] in choices


@pytest.mark.parametrize("problem", problems(), ids=lambda p: p.name)
def test_guarantees_and_defaults_speak_of_methods_there_are(problem):
    names = {m.name for m in methods(problem)}
    assert all(set(guarantee.methods) <= names for guarantee in problem.guarantees)
    for name in (problem.default_method, *problem.default_methods):
        find_method(problem, name)
    for name in problem.renamed.values():
        find_method(problem, name)


def references(declared):
    """Every lazy reference inside a declaration, with where it stands."""
    if isinstance(declared, Reference):
        yield declared
    elif isinstance(declared, Adapted | Beside):
        yield from references(declared.function)
    elif isinstance(declared, tuple):
        for entry in declared:
            yield from references(entry)
    elif is_dataclass(declared):
        for field in fields(declared):
            yield from references(getattr(declared, field.name))


@pytest.mark.parametrize("problem", problems(), ids=lambda p: p.name)
def test_every_part_can_be_imported(problem):
    found = list(references(problem))
    assert len(found) > len(problem.methods)
    for reference in found:
        assert callable(reference.resolve()), reference


PURE_INTEGER = [
    pytest.param(d, f, id=f"{d.name}-{f.name}")
    for p in problems()
    for f in p.formulations
    if f.model_class == "ILP"
    for d in tiny_instances(p)
    if not ("selection" in f.name and d.name in NOT_ENUMERATED)
]


@pytest.mark.parametrize(("document", "formulation"), PURE_INTEGER)
def test_cpsat_and_highs_agree_on_every_pure_integer_model(document, formulation):
    found = []
    for backend in ("highs", "cpsat"):
        try:
            model = formulation.build(document.data)
            outcome = solve_model(model, backend, LIMITS)
        except ModelRefused as refusal:
            # Some are not made for every instance, some not for CP-SAT and do not say they are.
            assert found == [] or backend not in formulation.backends
            pytest.skip(str(refusal))
        assert outcome.status in (Status.OPTIMAL, Status.INFEASIBLE)
        found.append(outcome.objective)
    assert found == [None, None] or agrees(*found)


@pytest.mark.parametrize(
    "document",
    [pytest.param(d, id=d.name) for p in problems() for d in small_instances(p)],
)
def test_bounds_optima_and_heuristics_are_in_order_and_proven_ratios_hold(document):
    wanted = [m.name for m in document.problem.methods if m.kind != "exact"]
    exact = document.problem.default_method
    table = compare([document.path], [exact, *wanted], limits=LIMITS, workers=0)
    if any(e.result.status is Status.INFEASIBLE for e in table if e.result.method == exact):
        for result in (e.result for e in table if not e.result.refused):
            assert result.status is not Status.ERROR, result.reason
            assert result.objective is None
        return
    # Where the default method is not made for an instance, another has to close it.
    closed = [e.result for e in table if e.result.status is Status.OPTIMAL]
    by_default = [r for r in closed if r.method == exact]
    refused = any(e.result.refused for e in table if e.result.method == exact)
    optimum = (closed if refused else by_default)[0].objective
    minimise = document.problem.sense == "min"
    for entry in table:
        if entry.result.refused:
            continue  # not made for this instance, and says so
        assert entry.result.status is not Status.ERROR, entry.result.reason
        bound, objective = entry.result.bound, entry.result.objective
        if bound is not None:
            assert not (exceeds(bound, optimum) if minimise else exceeds(optimum, bound))
        if objective is not None:
            assert not (exceeds(optimum, objective) if minimise else exceeds(objective, optimum))
        for promise in entry.promises:
            if promise.standing == "proven":
                assert verdict(promise, entry.ratio) is not Verdict.EXCEEDED
