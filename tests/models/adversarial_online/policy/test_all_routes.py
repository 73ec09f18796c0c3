"""The hand-checked games by every route, and all routes on random games."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from gadgetopt.models.adversarial_online.policy.subproblems.chains import (
    hardest_sequence,
    optimal_ratio,
    units_needed,
)
from gadgetopt.models.adversarial_online.subproblems.curves import grid_ratio
from gadgetopt.models.adversarial_online.subproblems.grids import geometric

from .brute_force import GAMES, game, random_game, run, value

ROUTES = ("kept_share", "double_oracle", "history_tree@highs")

CASES = [
    # Section 10, 1: 1 + 1/2 + 1/2.
    (game([1, 2, 4], 1, 3), 2),
    # 3: k = 2. With N = 5 a chain of three levels, 2, and one of two, 1 + 3/4: 15/8 on average.
    (game([1, 2, 4], 2, 5), Fraction(15, 8)),
    (game([1, 2, 4], 2, 6), 2),
    # k = 3 with N = 7: one chain of three and two of two, (2 + 7/4 + 7/4) / 3.
    (game([1, 2, 4], 3, 7), Fraction(11, 6)),
    # More units than buyers: everybody is served.
    (game([1, 2, 4], 3, 3), 1),
]


@pytest.mark.parametrize("method", ROUTES)
@pytest.mark.parametrize(("instance", "wanted"), CASES)
def test_hand_checked_games_come_out_to_the_digit_by_every_route(instance, wanted, method):
    found = run(instance, method)
    assert found.status == "optimal"
    assert float(found.objective) == pytest.approx(float(wanted), rel=1e-9)
    assert float(found.bound) == pytest.approx(float(wanted), rel=1e-9)


def test_three_units_and_nine_buyers_without_the_tree():
    # 3 ** 9 histories; the other routes need none of them.
    instance = game([1, 2, 4], 3, 9)
    for method in ("kept_share", "double_oracle:seller=share", "matrix_game", "share_policy"):
        found = run(instance, method)
        assert float(found.objective) == pytest.approx(float(2), rel=1e-9)
        assert found.status == "optimal", method


def test_the_fine_grid_of_section_10():
    # 1 + 4 (1 - 1/sqrt 2) = 2.171573 on 1, sqrt 2, 2, 2 sqrt 2, 4.
    found = run(game(geometric(5, 4), 1, 5))
    assert float(found.objective) == pytest.approx(2.171573, abs=5e-7)
    assert found.bound_voucher == "verified"


@pytest.mark.parametrize(("units", "horizon", "wanted"), [(1, 3, 1), (2, 6, 2)])
def test_least_regrets_of_section_10(units, horizon, wanted):
    instance = game([1, 2, 4], units, horizon, "regret")
    for method in ("minimax", "history_tree@highs"):
        found = run(instance, method)
        assert found.status == "optimal"
        assert float(found.objective) == pytest.approx(float(wanted), rel=1e-9)


def test_tree_program_formula_and_double_oracle_agree_on_random_games():
    for seed in range(GAMES):
        instance = random_game(np.random.default_rng(seed))
        formula = run(instance, "kept_share")
        assert formula.objective == formula.bound, instance
        assert float(formula.objective) == pytest.approx(value(instance), rel=1e-7), instance
        assert run(instance, "double_oracle").status == "optimal", instance
        assert float(run(instance, "double_oracle").objective) == pytest.approx(
            float(formula.objective), rel=1e-9
        ), instance


def test_the_matrix_game_agrees_with_them_where_there_is_time_for_all_levels():
    for seed in range(GAMES):
        instance = random_game(np.random.default_rng(seed), long=True)
        matrix, formula = run(instance, "matrix_game"), run(instance, "kept_share")
        assert matrix.status == "optimal", instance
        assert float(matrix.objective) == pytest.approx(float(formula.objective), rel=1e-9), (
            instance
        )
        assert formula.objective == grid_ratio(instance.levels)
        assert run(instance, "double_oracle").objective == pytest.approx(
            float(formula.objective), rel=1e-9
        )
        assert float(formula.objective) == pytest.approx(value(instance), rel=1e-7)


def test_lotteries_over_tables_are_worse_than_memory_on_short_horizons():
    # 1, 2, 8 and two buyers: who saw 2 first may reserve for 8, a static price may not.
    instance = game([1, 2, 8], 1, 2)
    assert run(instance).objective == Fraction(15, 8)
    assert float(run(instance, "matrix_game").objective) == pytest.approx(
        float(Fraction(17, 8)), rel=1e-9
    )


def test_tree_programs_agree_on_random_games():
    for seed in range(20):
        instance = random_game(np.random.default_rng(seed))
        wanted = run(instance, "kept_share").objective
        for method in ("history_tree@highs", "monotone_tree@highs", "chain@highs"):
            found = run(instance, method)
            assert float(found.bound) == pytest.approx(float(wanted), rel=1e-9), (method, instance)
            assert found.bound_voucher == "verified"
        posted = run(instance, "posted_tree@highs")
        assert float(posted.objective) == pytest.approx(float(wanted), rel=1e-9)


def test_regrets_of_tree_program_and_double_oracle_agree_and_trees_of_fewer_histories_bound_them():
    for seed in range(GAMES // 2):
        instance = random_game(np.random.default_rng(seed), payoff="regret")
        wanted = value(instance)
        found = run(instance, "double_oracle")
        assert found.status == "optimal", instance
        assert float(found.objective) == pytest.approx(wanted, rel=1e-7, abs=1e-9), instance
        assert float(run(instance, "monotone_tree@highs").bound) <= wanted * (1 + 1e-9) + 1e-9


def test_non_decreasing_histories_do_not_decide_regrets():
    instance = game([1, 7, 14], 3, 5, "regret")
    assert float(run(instance).objective) == pytest.approx(float(Fraction(94, 13)), rel=1e-9)
    assert float(run(instance, "monotone_tree@highs").bound) == pytest.approx(float(7), rel=1e-9)


def test_the_hardest_chains_interlace():
    # Sorted together, the best chains of both lengths are worth what they are worth apart.
    from gadgetopt.models.adversarial_online.policy.subproblems.chains import best_chain

    rng = np.random.default_rng(0)
    for _ in range(300):
        J, k = int(rng.integers(1, 8)), int(rng.integers(1, 6))
        N = int(rng.integers(k + 1, 40))
        levels = sorted((rng.choice(60, size=J, replace=False) + 1).tolist())
        instance = game(levels, k, N)
        q, s = divmod(N, k)

        def worth(length, levels=instance.levels):
            chain = best_chain(levels, length)
            return 1 + sum(1 - levels[i] / levels[j] for i, j in pairwise(chain))

        apart = s * worth(q + 1) + (k - s) * worth(q)
        sequence = hardest_sequence(instance)
        assert len(sequence) <= N
        assert units_needed(instance.levels, k, sequence) == apart
        assert optimal_ratio(instance) == apart / k
