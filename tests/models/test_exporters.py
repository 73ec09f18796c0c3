"""What every exporter writes is read back with the evaluator's objective, and by nobody else's."""

import re
from functools import cache

import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import agrees
from gadgetopt.pieces.exporting import load, save, written
from gadgetopt.system.files import find_instances, library, read_instance
from gadgetopt.system.methods import find_method
from gadgetopt.system.registry import problems
from gadgetopt.system.result import Limits

LIMITS = Limits(time_s=20)
#: Methods whose plans are written, beside the default one: those that are quick.
QUICK = {"baseline", "approximation", "heuristic", "online"}
#: Small instances of a system, and methods of the first: `test_random_plans` has many more plans.
MOST_INSTANCES, MOST_METHODS = 6, 3
EXPORTERS = [
    pytest.param(problem, exporter, id=f"{problem.name}-{exporter.format}")
    for problem in problems()
    for exporter in problem.exporters
]


@cache
def plans(name):
    """Return solutions of the small instances of a system, with their instances.

    Of the first by several methods, of the others by the default one.
    """
    problem = gadgetopt.problem(name)
    paths = [library() / "quickstart" / f"{name}.json"]
    tiny = library() / name / "tiny"
    paths += find_instances([tiny]) if tiny.is_dir() else []
    methods = [
        spec for spec in problem.default_methods if find_method(problem, spec).method.kind in QUICK
    ]
    found = []
    for n, path in enumerate(paths[:MOST_INSTANCES]):
        instance = read_instance(path)
        for method in [problem.default_method, *(methods[:MOST_METHODS] if n == 0 else ())]:
            result = gadgetopt.solve(instance, method, limits=LIMITS)
            if result.solution is not None:
                found.append((instance, result.solution))
    return found


@pytest.mark.parametrize(("problem", "exporter"), EXPORTERS)
def test_what_is_written_is_read_back_with_its_objective(problem, exporter, tmp_path):
    done = 0
    for instance, solution in plans(problem.name):
        assert instance.problem.evaluate(instance.data, solution).feasible
        judged = written_or_refused(instance, exporter, solution)
        if isinstance(judged, str):  # a sentence that says what to do instead
            assert re.match(rf"{exporter.format}: .*; ", judged), judged
            continue
        own = instance.problem.evaluate(instance.data, solution).objective
        assert judged.objective == own
        if not exporter.drops:
            assert judged.kept == own
        paths = save(exporter, judged.exported, tmp_path / f"{done}" / f"x{main_end(exporter)}")
        again = exporter.read_back(instance.data, load(exporter, paths[0]))
        assert agrees(instance.problem.evaluate(instance.data, again).objective, judged.kept)
        done += 1
    assert done >= 1


def written_or_refused(instance, exporter, solution):
    """Return what is written, or the sentence that refuses it."""
    try:
        return written(instance.problem, exporter, instance.data, solution, exporter.parameters)
    except InputError as refusal:
        return str(refusal)


def main_end(exporter):
    return exporter.suffixes[0].replace("*", "0")


@pytest.mark.parametrize(("problem", "exporter"), EXPORTERS)
def test_formats_of_solutions_are_none_of_models(problem, exporter):
    from gadgetopt.reporting.export import FORMATS

    assert exporter.format not in {*FORMATS, "vipr"}
    assert exporter.summary
    assert set(exporter.help) <= set(exporter.parameters)


@pytest.mark.parametrize(("problem", "exporter"), EXPORTERS)
@pytest.mark.parametrize("content", ["", "\n", "junk", "0,0\n", b"\xff\xfe", "{}", "<a/>"])
def test_a_file_of_something_else_is_refused_in_one_line(problem, exporter, content, tmp_path):
    path = tmp_path / f"x{main_end(exporter)}"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    instance = read_instance(library() / "quickstart" / f"{problem.name}.json")
    with pytest.raises(InputError) as refused:
        gadgetopt.verify(instance, path, format=exporter.format)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)
