"""`solve`, `verify` and `compare` as functions: whatever one returns, the others take."""

import math
from fractions import Fraction

import pytest

import gadgetopt
from gadgetopt import InputError, Limits
from gadgetopt.trust.ratio import Ratio


@pytest.fixture
def instance(tiny):
    return gadgetopt.read(tiny / "e2_contention_pays.json")


@pytest.fixture
def result(instance):
    return gadgetopt.solve(instance, "first_fit", time_limit=5)


def test_verify_takes_what_solve_returned(instance, result, tmp_path):
    path = tmp_path / "solution.json"
    gadgetopt.write(result.to_document(), path)
    for given in (result, result.solution, result.to_document(), path, str(path)):
        evaluation = gadgetopt.verify(instance, given)
        assert evaluation.feasible
        assert evaluation.objective == result.objective


def test_verify_takes_an_instance_file_and_a_result_with_its_certificate(tiny):
    path = tiny / "e1_co_locate.json"
    result = gadgetopt.solve(path, "ladder")
    assert gadgetopt.verify(path, result, result.certificate).objective == result.objective


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (3, "solution: is of type int, expected SjfBcoSolution, what `solve` or `read` returned, "
            "or a path"),
        ("instances/quickstart/sjf_bco.json", "kind: 'instance', expected 'solution'"),
    ],
)  # fmt: skip
def test_verify_says_what_is_no_solution(instance, given, line, root, monkeypatch):
    monkeypatch.chdir(root)
    with pytest.raises(InputError, match="solution") as raised:
        gadgetopt.verify(instance, given)
    assert line in str(raised.value)


def test_a_result_without_a_solution_is_named(instance):
    result = gadgetopt.solve(instance, "load_limit@highs")
    assert result.solution is None
    with pytest.raises(InputError, match="load_limit@highs has none on e2_contention_pays"):
        gadgetopt.verify(instance, result)
    with pytest.raises(InputError, match="has no feasible solution"):
        result.to_document()


def test_limits_are_given_in_either_form(instance):
    one_by_one = gadgetopt.solve(instance, "ladder", time_limit=30, threads=1, gap=0.1)
    together = gadgetopt.solve(instance, "ladder", Limits(time_s=30, rel_gap=0.1))
    assert one_by_one.objective == together.objective


@pytest.mark.parametrize("verb", ["solve", "compare"])
def test_limits_in_both_forms_are_one_line(instance, tiny, verb):
    given = {"limits": Limits(time_s=5), "time_limit": 5, "gap": 0.1}
    call, first = (gadgetopt.solve, instance) if verb == "solve" else (gadgetopt.compare, tiny)
    with pytest.raises(InputError) as raised:
        call(first, "ladder", **given)
    assert str(raised.value) == "time_limit, gap: given beside `limits`, expected one of the two"


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"time_limit": 0}, "time_limit: 0 is not a positive number"),
        ({"time_limit": math.nan}, "time_limit: nan is not a positive number"),
        ({"time_limit": "5"}, "time_limit: '5' is not a positive number"),
        ({"threads": 1.5}, "threads: 1.5 is not a positive integer"),
        ({"threads": True}, "threads: True is not a positive number"),
        ({"memory_mb": math.inf}, "memory_mb: inf is not a positive number"),
        ({"gap": 1}, "gap: 1 is not a number in [0, 1)"),
    ],
)
def test_a_wrong_limit_is_one_line(instance, given, line):
    with pytest.raises(InputError) as raised:
        gadgetopt.solve(instance, "ladder", **given)
    assert str(raised.value) == line


def test_solve_uses_the_default_method(instance):
    assert gadgetopt.solve(instance).method == instance.problem.default_method


def test_an_objective_stays_exact_and_reads_as_a_number():
    result = gadgetopt.solve("instances/quickstart/forest_packing.json")
    assert isinstance(result.objective, Fraction | int)
    exact = Fraction(10, 3)
    shown = str(type(result)(**{**vars(result), "objective": exact, "bound": exact}))
    assert "3.33333 = 10/3" in shown


def test_compare_takes_documents_and_keeps_their_names(instance):
    table = gadgetopt.compare([instance], ["first_fit", "ladder"], workers=0)
    assert [entry.result.instance for entry in table] == [instance.name] * 2
    assert table[1].ratio == Ratio(1, 1)


def test_compare_takes_one_path_and_one_method(tiny):
    table = gadgetopt.compare(tiny / "e1_co_locate.json", "first_fit", workers=0)
    assert len(table) == 1


def test_solve_and_compare_prove_bounds_if_asked():
    path = "instances/quickstart/knapsack.json"
    result = gadgetopt.solve(path, "direct@highs", certify="600")
    (entry,) = gadgetopt.compare(path, "direct@highs", certify="600", workers=0)
    row = entry.row()
    assert (row["proof_formulation"], row["proof_leaves"] > 1) == ("direct", True)
    assert (row["proof_kind"], row["proof_steps"]) == ("tree", None)
    assert min(row["proof_bytes"], row["proof_s"], row["proof_check_s"]) > 0
    for r in (result, entry.result):
        assert r.bound_voucher == "verified"
        assert gadgetopt.verify(path, r, r.certificate).objective == r.bound == 8222
    with pytest.raises(InputError, match="--certify: 'soon' is neither"):
        gadgetopt.solve(path, "direct@highs", certify="soon")
