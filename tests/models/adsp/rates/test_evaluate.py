"""The evaluator: numbers checked by hand to the digit, and every violation by name."""

from fractions import Fraction

import pytest

from gadgetopt.models.adsp.rates.evaluate import evaluate, implicit_momentum

from .brute_force import changed, rates, tiny

#: S, theta and psi of the hand-checked decisions.
BY_HAND = {
    "a1_equal_rates": ((9, 9, 9), 42.4667, 6.0667, 1.514206),
    "a2_window_of_two": ((9, 9, 7), 42.6, 6.0667, 1.509784),
    "a3_no_window": ((10, 10, 4), 42.4, 5.4, 1.503094),
    "a4_dear_drift": ((20, 20, 8), 38.1333, 2.4, 1.853427),
    "a5_cap_binds": ((5, 5, 2), 44.5333, 11.4, 3.427305),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_steps_threshold_and_bound_by_hand(name):
    commits, mean, local, psi = BY_HAND[name]
    found = evaluate(tiny(name), rates(*commits))
    assert found.feasible
    assert round(found.components["mean_steps_per_period"], 4) == mean
    assert round(found.components["most_local_steps"], 4) == local
    assert round(float(found.objective), 6) == psi


def test_implicit_momentum_by_hand():
    # 1/p = 1 + (17/18) 18 (0.05/n): 1.85, 1.425, 1.17, 1.085.
    instance = tiny("momentum_of_the_figure")
    found = [float(implicit_momentum(instance, (n,) * 18)) for n in (1, 2, 5, 10)]
    assert [round(mu, 4) for mu in found] == [0.4595, 0.2982, 0.1453, 0.0783]


def test_the_readings_of_theorem_1_differ_by_the_square_of_the_step_time():
    # R2: 60/n1 + 20/n2; R1: 60/n1 + 180/n2, with n = (5, 4): 17 and 57; 1/p = 1 + half of it.
    first, second = tiny("momentum_cap"), tiny("momentum_reading_of_speed")
    assert implicit_momentum(first, (5, 4)) == Fraction(17, 19)
    assert implicit_momentum(second, (5, 4)) == Fraction(57, 59)


def test_the_unit_of_time_changes_the_momentum_of_the_reading_as_speed_only():
    minutes = {"check_period_s": 1.0, "workers": [{"step_time_s": t / 60} for t in (1.5, 3)]}
    seconds = {"check_period_s": 60.0, "workers": [{"step_time_s": t} for t in (1.5, 3.0)]}
    momenta = []
    for name in ("momentum_cap", "momentum_reading_of_speed"):
        pair = [implicit_momentum(changed(tiny(name), **x), (4, 4)) for x in (minutes, seconds)]
        momenta.append(tuple(map(float, pair)))
    assert momenta[0][0] == pytest.approx(momenta[0][1])
    assert momenta[1][0] < 0.1 < momenta[1][1]


@pytest.mark.parametrize(
    ("name", "commits", "constraint"),
    [
        ("a1_equal_rates", (9, 9), "not_one_rate_a_worker"),
        ("a1_equal_rates", (9, 9, 0), "no_commit"),
        ("a1_equal_rates", (9, 9, 8), "window_exceeded"),
        ("a3_no_window", (20, 20, 17), "rate_out_of_reach"),
        ("a5_cap_binds", (5, 5, 3), "cap_exceeded"),
        ("momentum_cap", (5, 3), "momentum_exceeded"),
        ("time_to_accuracy", (1, 1), "error_out_of_reach"),
    ],
)
def test_what_is_wrong_is_named(name, commits, constraint):
    violations = evaluate(tiny(name), rates(*commits)).violations
    assert constraint in [v.constraint for v in violations]
    assert all(v.amount != 0 for v in violations)


def test_a_rate_out_of_reach_names_the_worker_and_the_largest_rates():
    instance = changed(tiny("straggler_cannot_keep_up"), fairness_window=None)
    (violation,) = evaluate(instance, rates(10, 10, 3)).violations
    assert violation.where == "commits_per_period[2], at most 2 (all workers: 2)"
    assert violation.amount == 1


def test_a_worker_of_exactly_the_period_commits_once():
    # 0.1 + 0.2 is 0.3 in decimals, not in doubles.
    workers = [{"step_time_s": 0.1, "comm_time_s": 0.2}]
    instance = changed(tiny("free_commits"), workers=workers, check_period_s=0.9)
    assert instance.most_commits == (3,)


def test_one_worker_has_no_momentum():
    assert implicit_momentum(tiny("one_worker"), (3,)) == 0
