"""Persistent linear programs in HiGHS: growth, warm starts, duals, limits and refusals."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import gadgetopt
from gadgetopt.errors import ModelRefused
from gadgetopt.solvers.persistent import INFINITY, PersistentLp
from gadgetopt.system.generation import Draw, find_generator, generate
from gadgetopt.system.result import Limits, Status


def small_lp() -> PersistentLp:
    """Build max 2 x + y with x + y <= 4, x <= 3: 3 and 1, worth 7."""
    lp = PersistentLp("max")
    lp.add_columns([2, 1], [0, 0], [INFINITY, INFINITY])
    lp.add_rows([-INFINITY] * 2, [4, 3], [0, 2], [0, 1, 0], [1, 1, 1])
    return lp


def dense_lp(size: int, seed: int = 0) -> PersistentLp:
    rng = np.random.default_rng(seed)
    lp = PersistentLp("max")
    lp.add_columns(rng.random(size), np.zeros(size), np.full(size, INFINITY))
    columns = np.tile(np.arange(size), size)
    lp.add_rows(
        np.full(size, -INFINITY),
        np.ones(size),
        np.arange(size) * size,
        columns,
        rng.random(size**2),
    )
    return lp


def test_from_the_basis_of_the_optimum_no_iteration_is_needed():
    first, second = dense_lp(20), dense_lp(20)
    assert first.solve(Limits()) is Status.OPTIMAL
    assert first.iterations > 0
    second.start_from(*first.basis)
    assert second.solve(Limits()) is Status.OPTIMAL
    assert second.iterations == 0
    assert second.objective == pytest.approx(first.objective)


def test_duals_are_gains_per_unit_of_the_bounds():
    lp = small_lp()
    assert lp.solve(Limits()) is Status.OPTIMAL
    assert lp.objective == pytest.approx(7)
    assert lp.values == pytest.approx([3, 1])
    assert lp.row_duals == pytest.approx([1, 1])
    lp.change_row_bounds([1], [-INFINITY], [2])
    lp.solve(Limits())
    assert lp.objective == pytest.approx(6)


def test_new_rows_columns_bounds_and_costs_count_from_the_next_solve_on():
    lp = small_lp()
    lp.solve(Limits())
    assert list(lp.add_columns([5], [0], [INFINITY], [0], [0], [2])) == [2]
    assert lp.solve(Limits()) is Status.OPTIMAL
    assert lp.objective == pytest.approx(10)  # z = 2
    assert list(lp.add_rows([-INFINITY], [0.25], [0], [2], [1])) == [2]
    lp.solve(Limits())
    assert lp.objective == pytest.approx(7.75)  # z = 1/4, y = 1/2
    lp.change_column_bounds([0], [0], [1])
    lp.change_costs([1], [1.5])
    lp.solve(Limits())
    assert lp.objective == pytest.approx(2 + 1.25 + 1.5 * 2.5)
    lp.delete_rows([2])
    lp.delete_columns([2])
    lp.solve(Limits())
    assert (lp.num_rows, lp.num_columns) == (2, 2)
    assert lp.objective == pytest.approx(2 + 1.5 * 3)


def test_solving_again_from_the_last_basis_takes_no_iterations():
    lp = dense_lp(60)
    lp.solve(Limits())
    before = lp.iterations
    lp.solve(Limits())
    assert before > 0
    assert lp.iterations == before


@pytest.mark.parametrize("algorithm", ["choose", "dual", "primal", "interior_point"])
def test_algorithms_agree(algorithm):
    lp = dense_lp(40)
    assert lp.solve(Limits(), algorithm) is Status.OPTIMAL
    other = dense_lp(40)
    other.solve(Limits())
    assert lp.objective == pytest.approx(other.objective, rel=1e-6)


def test_infeasible_and_unbounded_are_told_apart():
    lp = small_lp()
    lp.add_rows([10], [INFINITY], [0], [1], [1])
    assert lp.solve(Limits()) is Status.INFEASIBLE
    free = PersistentLp("max")
    free.add_columns([1], [0], [INFINITY])
    assert free.solve(Limits()) is Status.UNBOUNDED


def test_time_limited_solve_is_never_optimal_and_can_go_on():
    lp = dense_lp(300)
    assert lp.solve(Limits(time_s=0.0)) in (Status.FEASIBLE, Status.NO_SOLUTION)
    assert lp.limit_hit == "time_s"
    assert lp.solve(Limits()) is Status.OPTIMAL
    assert lp.limit_hit is None


def test_time_limit_is_of_each_solve_not_of_all():
    lp = dense_lp(200)
    lp.solve(Limits())
    spent = lp._highs.getRunTime()
    lp.change_costs(np.arange(200), np.random.default_rng(1).random(200))
    assert lp.solve(Limits(time_s=60.0)) is Status.OPTIMAL
    # HiGHS's clock runs on, so its limit is set later by what the first solve took.
    assert lp._highs.getOptionValue("time_limit")[1] == pytest.approx(spent + 60.0, abs=1.0)
    assert lp._highs.getOptionValue("time_limit")[1] >= spent + 60.0
    assert lp.solve(Limits(time_s=1e-3 + spent / 2)) is Status.OPTIMAL  # nothing left to do


def test_columns_without_rows_are_solved():
    lp = PersistentLp("min")
    lp.add_columns([1, -1], [2, 0], [5, 3])
    assert lp.solve(Limits()) is Status.OPTIMAL
    assert lp.objective == pytest.approx(-1)


def test_refusals_name_what_was_refused():
    with pytest.raises(ModelRefused, match="no_such_option"):
        PersistentLp("max", no_such_option=1)
    lp = small_lp()
    with pytest.raises(ModelRefused, match="drop the coefficient 1e-13"):
        lp.add_rows([0], [1], [0], [0], [1e-13])
    with pytest.raises(ModelRefused, match="new rows"):
        lp.add_rows([0], [1], [0], [7], [1])
    assert lp.num_rows == 2


SCRIPT = """
    import os, signal, threading, time
    import numpy as np
    from gadgetopt.system.result import Limits
    from gadgetopt.solvers.persistent import INFINITY, PersistentLp

    n, rng = 900, np.random.default_rng(0)
    lp = PersistentLp("max")
    lp.add_columns(rng.random(n), np.zeros(n), np.full(n, INFINITY))
    columns = np.tile(np.arange(n), n)
    lp.add_rows(np.full(n, -INFINITY), np.ones(n), np.arange(n) * n, columns, rng.random(n * n))

    def interrupt():
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    status = lp.solve(Limits())
    print(status in ("feasible", "no_solution"), lp.limit_hit)
"""


def test_ctrl_c_ends_the_solve_and_keeps_the_program():
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.split() == ["True", "interrupted"], done.stderr


def test_the_solution_in_integers_leaves_the_program_as_it_is():
    lp = PersistentLp("max")
    lp.add_columns([1, 1], [0, 0], [1, 1])
    lp.add_rows([-INFINITY], [1.5], [0], [0, 1], [1, 1])
    assert lp.solve(Limits()) is Status.OPTIMAL
    assert lp.solve_in_integers(Limits()).sum() == 1
    assert lp.objective == pytest.approx(1.5)
    lp.change_row_bounds([0], [1.2], [1.5])
    assert lp.solve_in_integers(Limits()) is None


@pytest.mark.parametrize("seed", range(20))
def test_the_dual_bound_is_never_below_a_maximum_and_meets_it(seed):
    rng = np.random.default_rng(seed)
    lp = dense_lp(12, seed)
    lp.change_column_bounds(range(12), -rng.random(12), rng.random(12) * 3)
    assert lp.solve(Limits()) is Status.OPTIMAL
    assert lp.dual_bound == pytest.approx(lp.objective, rel=1e-9)
    x = lp.values * (1 - 1e-12)
    assert lp.dual_bound >= float(x @ np.random.default_rng(seed).random(12)) - 1e-9


def test_the_dual_bound_of_a_minimum_is_below_it():
    lp = PersistentLp("min")
    lp.add_columns([3, 2], [0, 0], [INFINITY, INFINITY])
    lp.add_rows([1.1], [INFINITY], [0], [0, 1], [1, 1])
    assert lp.solve(Limits()) is Status.OPTIMAL
    assert lp.dual_bound <= 2.2
    assert lp.dual_bound == pytest.approx(2.2)


def test_the_dual_bound_is_infinite_where_the_duals_prove_nothing():
    lp = small_lp()
    lp.solve(Limits())
    lp.add_columns([1], [0], [INFINITY])  # unbounded, and not solved again
    assert lp.dual_bound == INFINITY


def test_a_ray_proves_infeasibility():
    lp = small_lp()
    lp.change_row_bounds([0], [5], [6])
    lp.change_column_bounds([0, 1], [0, 0], [1, 1])
    assert lp.solve(Limits()) is Status.INFEASIBLE
    ray = lp.infeasibility_ray
    assert ray is not None
    assert abs(ray[0]) > 0


def test_a_failure_from_the_last_basis_is_solved_again_without_it():
    # The program of this instance ends as "Unknown" in a warm start of HiGHS 1.14.
    problem = gadgetopt.problem("knapsack")
    paper = find_generator(problem, "paper", "preset")
    document = generate(problem, paper, Draw("paper_s0_45", {"items": 60}, 0, 45), "paper")
    result = gadgetopt.solve(document, "frieze_clarke")
    assert result.status == "feasible"
    assert result.objective == 13186
