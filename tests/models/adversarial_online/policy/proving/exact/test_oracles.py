"""The double oracle: best responses by dynamic programs and by integer programs agree."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.adversarial_online.policy.proving.certificate import total_optimum
from gadgetopt.models.adversarial_online.policy.proving.exact.master import Master
from gadgetopt.models.adversarial_online.policy.proving.exact.seller import (
    longest_lasting_share,
    tree_policy,
)
from gadgetopt.models.adversarial_online.policy.proving.exact.seller_program import (
    best_policy_program,
)
from gadgetopt.models.adversarial_online.policy.proving.exact.worst_program import (
    least_ratio,
    worst_of_master_program,
    worst_of_share_program,
)
from gadgetopt.models.adversarial_online.subproblems.responses import best_response
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ...brute_force import (
    game,
    random_game,
    run,
    worst,
)

NO_LIMITS = Limits()


def small_games(count, payoff):
    seed = found = 0
    while found < count:
        instance = random_game(np.random.default_rng(seed), payoff=payoff)
        seed += 1
        if len(instance.levels) ** instance.horizon <= 32:
            found += 1
            yield instance


@pytest.mark.parametrize("payoff", ["ratio", "regret"])
def test_the_integer_program_answers_every_policy_of_the_master_as_the_walk_does(payoff):
    for instance in small_games(3, payoff):
        master = Master(instance)
        for j in range(len(instance.levels)):
            master.add([j])
        for _ in range(3):
            master.solve(NO_LIMITS)
            _, walked = tree_policy(instance, master)
            answer = worst_of_master_program(instance, master, Clock(NO_LIMITS), 0)
            assert answer.value == pytest.approx(float(walked.value), rel=1e-4, abs=1e-4)
            master.add(walked.sequence)


def test_the_longest_lasting_share_of_both_routes():
    for instance in small_games(8, "ratio"):
        answer = worst_of_share_program(instance, Clock(NO_LIMITS), 0)
        assert least_ratio(instance, answer) == longest_lasting_share(instance).value, instance


def test_the_best_policy_against_a_lottery_of_both_routes():
    rng = np.random.default_rng(0)
    for instance in small_games(8, "ratio"):
        weighted = [
            (
                tuple(rng.integers(len(instance.levels), size=instance.horizon).tolist()),
                Fraction(int(rng.integers(1, 9)), 7),
            )
            for _ in range(4)
        ]
        exact = best_response(instance.levels, instance.capacity_units, weighted)
        earned = best_policy_program(instance, weighted, Clock(NO_LIMITS))
        assert earned == pytest.approx(float(exact), rel=1e-6)
        assert exact <= total_optimum(instance, weighted)


@pytest.mark.parametrize(
    ("instance", "wanted"),
    [
        (game([1, 2, 4], 1, 3), 2),
        (game([1, 7], 2, 3), Fraction(10, 7)),
        (game([1, 2, 4], 1, 3, "regret"), 1),
        (game([1, 2, 4], 1, 2, predictions=((0, 0),), consistency=Fraction(4, 5)), None),
    ],
)
def test_double_oracles_of_both_kinds_close_the_same_games(instance, wanted):
    by_dp, by_milp = run(instance, "double_oracle"), run(instance, "double_oracle:oracle=milp")
    assert float(by_milp.objective) == pytest.approx(float(by_dp.objective), rel=1e-6)
    assert float(by_milp.bound) == pytest.approx(float(by_dp.bound), rel=1e-6)
    assert by_milp.bound_voucher == "verified"
    if wanted is not None:
        assert float(by_milp.objective) == pytest.approx(float(wanted), rel=1e-6)


def test_a_share_by_the_integer_program_is_optimal_and_exact():
    instance = game([1, 2, 4], 2, 5)
    found = run(instance, "double_oracle:seller=share:oracle=milp")
    assert (found.status, found.objective) == ("optimal", Fraction(15, 8))


def test_a_share_lasts_where_two_sequences_need_nearly_the_same_units():
    # A geometric grid of four levels from 1 to 4: the sequences 0, 0, 1, 2, 3, 3 and 0, 0, 2, 2, 3,
    # 3 need 3.94637842381 and 3.94637842408 units for all of OPT, the same to HiGHS.
    instance = game([1, Fraction(31748021, 20000000), Fraction(25198421, 10000000), 4], 2, 6)
    found = run(instance, "double_oracle:seller=share:oracle=milp")
    best = run(instance, "kept_share").objective
    assert best <= found.objective <= best * (1 + Fraction(1, 10**5))


def test_a_program_that_is_not_closed_gives_its_bound_and_the_bracket_stays_valid():
    instance = game([1, 2, 3, 5, 7, 11], 3, 12)
    found = run(instance, "double_oracle:seller=share:oracle=milp", time_s=0.5)
    best = run(instance, "kept_share").objective
    assert found.limit_hit == "time_s" or found.status == "optimal"
    if found.objective is not None:
        assert worst(instance, found.solution) == found.objective >= best
    if found.bound is not None:
        assert found.bound <= best
