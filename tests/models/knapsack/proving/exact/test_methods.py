"""The exact methods against brute force, hand-checked instances and the public optima."""

import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.models.knapsack.algorithms.frieze_clarke import frieze_clarke
from gadgetopt.models.knapsack.data.generate.presets import paper
from gadgetopt.models.knapsack.data.importers.reading import read_mmkp, read_orlib
from gadgetopt.models.knapsack.heuristics.greedy import greedy
from gadgetopt.models.knapsack.instance import Item, KnapsackInstance
from gadgetopt.models.knapsack.proving.exact.methods import cg_core, dynamic_program, enumeration
from gadgetopt.system.files import Document, library, read_instance
from gadgetopt.system.registry import problem as registered
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.run import solve

from ...brute_force import optimum, single, small_instances
from ...outcomes import bound_of, run, value_of

TINY = library() / "knapsack" / "tiny"


def document(instance):
    return Document(registered("knapsack"), "instance", "test", instance)


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        (cg_core, {}),
        (cg_core, {"core_solver": "mip"}),
        (enumeration, {}),
        (enumeration, {"by_count": False}),
    ],
)
@given(instance=small_instances())
def test_exact_methods_find_and_prove_the_optimum(method, parameters, instance):
    best = optimum(instance)
    outcome = run(method, instance, **parameters)
    if best is None:
        assert outcome.proved is Status.INFEASIBLE
    else:
        assert value_of(instance, outcome) == best == bound_of(instance, outcome)


@given(
    thetas=st.lists(st.integers(0, 6), min_size=1, max_size=7),
    profits=st.lists(st.integers(0, 9), min_size=7, max_size=7),
    capacities=st.tuples(st.integers(0, 60), st.integers(0, 30)),
)
def test_the_dynamic_program_is_exact_and_certified(thetas, profits, capacities):
    instance = KnapsackInstance(
        capacities=tuple(Fraction(c, 2) for c in capacities),
        groups=tuple(
            (Item(profit=p, weights=(3 * t, Fraction(3 * t, 2))),)
            for t, p in zip(thetas, profits, strict=False)
        ),
    )
    if not any(t and p for t, p in zip(thetas, profits, strict=False)):
        with pytest.raises(ModelRefused, match="not whole multiples"):  # of no vector at all
            run(dynamic_program, instance)
        return
    outcome = run(dynamic_program, instance)
    assert outcome.certificate is not None
    assert value_of(instance, outcome) == optimum(instance) == bound_of(instance, outcome)


@pytest.mark.parametrize("method", ["cg_core", "enumeration", "direct@highs", "direct@cpsat"])
@pytest.mark.parametrize(
    ("name", "profit"),
    [
        ("e6_two_rows", 27),
        ("e7_petersen1", 3800),
        ("e7_weing1", 141278),
        ("e8_khan_i01", 173),
        ("decimals_exact_fit", Fraction(56, 10)),
        ("collinear", 9),
    ],
)
def test_every_exact_route_gives_the_known_optimum(name, profit, method):
    result = solve(read_instance(TINY / f"{name}.json"), method)
    assert result.status is Status.OPTIMAL
    assert result.objective == profit


def test_the_optimum_of_i01_is_the_choice_that_the_file_states():
    result = solve(read_instance(TINY / "e8_khan_i01.json"), "cg_core")
    assert result.solution.chosen == (3, 4, 1, 2, 3)


def test_the_dynamic_program_refuses_weights_in_several_directions():
    khan = read_instance(TINY / "e8_khan_i01.json").data
    with pytest.raises(ModelRefused, match="not whole multiples of one vector"):
        run(dynamic_program, khan)


@pytest.mark.parametrize("method", [cg_core, enumeration])
def test_a_run_that_is_stopped_has_an_incumbent_and_a_bound(method):
    instance = paper(np.random.default_rng(0), items=200, rows=10)
    begin = time.perf_counter()
    outcome = run(method, instance, Limits(time_s=1.0))
    assert time.perf_counter() - begin < 6
    assert outcome.limit_hit == "time_s"
    assert value_of(instance, outcome) < bound_of(instance, outcome)


@pytest.mark.parametrize("method", [cg_core, enumeration, frieze_clarke, greedy])
def test_nothing_is_packed_where_nothing_is_worth_it_or_fits(method):
    for instance in (single([0, 0], [[1, 1]], [5]), single([1, 2], [[6, 7]], [5])):
        outcome = run(method, instance)
        assert value_of(instance, outcome) == 0


@pytest.fixture(scope="session")
def data(root):
    folder = root.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"the public benchmark files are not in {folder}")
    return folder


def test_the_public_optima_are_found_and_proved(data):
    # All of mknap1 and mknap2 that take less than about a second, and three of Khan's.
    slow = {"mknap1_06", "pb2", "hp2"}
    problems = [
        *read_orlib(data / "orlib" / "mknap1.txt").problems,
        *read_orlib(data / "orlib" / "mknap2.txt").problems,
        *(read_mmkp(data / "mmkp" / name).problems[0] for name in ("I01", "I02", "I05")),
    ]
    for problem in problems:
        if problem.name not in slow:
            outcome = run(cg_core, problem.instance)
            stated = Fraction(str(problem.stated["stated_optimum"]))
            assert value_of(problem.instance, outcome) == stated, problem.name
            assert bound_of(problem.instance, outcome) == stated, problem.name


@pytest.mark.slow
def test_the_public_optima_that_take_longer_are_found_and_proved(data):
    problems = [
        read_orlib(data / "orlib" / "mknap1.txt").problems[6],
        *(
            p
            for p in read_orlib(data / "orlib" / "mknap2.txt").problems
            if p.name in {"pb2", "hp2"}
        ),
        *(read_mmkp(data / "mmkp" / name).problems[0] for name in ("I03", "I04", "I06")),
    ]
    for problem in problems:
        outcome = run(cg_core, problem.instance)
        stated = Fraction(str(problem.stated["stated_optimum"]))
        assert value_of(problem.instance, outcome) == stated == bound_of(problem.instance, outcome)


EXACT = ["cg_core", "cg_core:core_solver=mip", "enumeration"]


@pytest.mark.parametrize("method", [*EXACT, "frieze_clarke", "greedy", "direct@cpsat"])
def test_a_unit_too_much_of_a_trillion_does_not_fit(method):
    # A tolerance relative to the capacity would let both in.
    instance = single([10, 9], [[10**12, 10**12]], [2 * 10**12 - 1])
    result = solve(document(instance), method)
    assert result.objective == 10
    assert method in ("frieze_clarke", "greedy") or result.status is Status.OPTIMAL


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("seed", range(8))
def test_numbers_of_a_dozen_digits_are_solved_exactly(method, seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(1, 2**40, (2, 6)).tolist()
    profits = [sum(column) for column in zip(*rows, strict=True)]
    instance = single(profits, rows, [sum(row) // 2 for row in rows])
    result = solve(document(instance), method)
    assert result.status is Status.OPTIMAL
    assert result.objective == optimum(instance)


@pytest.mark.parametrize("method", [*EXACT, "greedy", "surrogate", "lagrangian"])
def test_a_capacity_beyond_all_doubles_of_whole_numbers_binds_nothing(method):
    instance = single([3, 4, 5], [[2, 3, 4], [1, 1, 1]], [7, 10**18])
    result = solve(document(instance), method)
    assert not result.refused
    assert method in ("surrogate", "lagrangian", "greedy") or result.objective == 9


def test_the_direct_model_sees_weights_below_the_tolerances_of_its_solver():
    nano = Fraction(1, 10**9)
    instance = single([2, 2, 3], [[3 * nano, 4 * nano, 5 * nano]], [7 * nano])
    result = solve(document(instance), "direct@highs")
    assert (result.status, result.objective) == (Status.OPTIMAL, 4)


# -- numbers that doubles hold, but not the tolerances of HiGHS ---------------------------------


def groups_of(*groups):
    """Groups of items, each a profit and its weights."""
    return tuple(
        tuple(Item(profit=Fraction(p), weights=tuple(map(Fraction, w))) for p, *w in items)
        for items in groups
    )


@pytest.mark.parametrize("method", ["cg_core", "cg_core:core_solver=mip", "enumeration"])
def test_groups_that_do_not_fit_by_little_are_infeasible(method):
    # HiGHS's simplex method ends as "Unknown" here.
    b = 10**9
    first = groups_of(
        [(23, b + 5)], [(0, b), (9, b + 1)], [(13, b + 14), (0, b), (8, b + 5)], [(1, b)]
    )
    instance = KnapsackInstance(
        capacities=(Fraction(28 * 10**8 + 14),), groups=first, exactly_one=True
    )
    assert solve(document(instance), method).status is Status.INFEASIBLE


def test_a_choice_that_fits_only_by_the_tolerances_of_highs_is_no_error():
    b = 10**9
    instance = KnapsackInstance(
        capacities=(Fraction(6 * b + 45), Fraction(3 * b + 18)),
        groups=groups_of(
            [(3, b + 13, b + 2), (1, b + 4, b + 16)],
            [(2, b + 9, b + 15), (3, b + 4, b + 18), (2, b + 12, b + 8)],
            [(0, b + 2, b + 7)],
            [(1, b + 3, 0)],
            [(2, b + 2, b + 9), (1, b + 3, b + 18), (0, b, b + 7)],
            [(0, 0, b + 5), (1, b + 2, b + 12), (2, b + 12, b + 15)],
        ),
    )
    best = optimum(instance)
    assert solve(document(instance), "cg_core").objective == best == 7
    result = solve(document(instance), "cg_core:core_solver=mip")
    assert (result.status, result.objective) == (Status.FEASIBLE, best)
    assert result.bound > best


def test_what_highs_closes_is_not_taken_to_the_last_digit():
    b = 10**12
    instance = KnapsackInstance(
        capacities=(Fraction(49), Fraction(74)),
        groups=groups_of(
            [(b + 1, 23, 27), (b + 1, 23, 0)],
            [(0, 3, 25)],
            [(2 * b, 22, 1), (2 * b + 2, 14, 15)],
            [(b, 10, 17), (2 * b, 13, 7)],
            [(2 * b, 10, 6), (2 * b + 1, 21, 22)],
        ),
    )
    best = optimum(instance)
    for seed in (0, 5584):
        result = solve(document(instance), "cg_core:core_solver=mip", seed=seed)
        assert result.objective <= best <= result.bound
