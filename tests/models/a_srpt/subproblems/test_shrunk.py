"""The chain of likenesses by hand, and what running jobs tell."""

import math

import numpy as np
import pytest

from gadgetopt.models.a_srpt.algorithms.a_srpt import a_srpt
from gadgetopt.models.a_srpt.data.generate.presets import recurring
from gadgetopt.models.a_srpt.subproblems.arrivals import FIRST_GUESS, Arrival
from gadgetopt.models.a_srpt.subproblems.predictors import MOST_SMEARING, Smeared
from gadgetopt.models.a_srpt.subproblems.shrunk import Shrunk
from gadgetopt.system.result import Limits


def arrival(job, group=-1, user=-1, batch=-1):
    return Arrival(
        job=job,
        group_id=group,
        user_id=user,
        job_type=0,
        num_gpus=1,
        batch_size=batch,
        release_s=0.0,
        stated_iterations=None,
    )


def after(guess, *completed):
    for job, (what, iterations) in enumerate(completed):
        known = arrival(job, *what)
        guess.predict(known)
        guess.observe(known, iterations)
    return guess


def test_each_likeness_is_shrunk_towards_the_one_before_it():
    """Two groups with means log 10 and log 1000: all have log 100 in common.

    User 1 has the jobs of 10 and 1000 iterations, its likeness by GPUs and type the same two.
    With kappa = 1: the user (log 100 + log 10^4) / 3 = log 100, its like log 100; group 7 with
    one job (log 100 + log 10) / 2 = log 10^1.5; its run, of one job, (1.5 + 1) / 2 = 1.25.
    """
    guess = after(Shrunk(1.0), ((7, 1), 10), ((8, 1), 1000))
    log10 = guess.log_of(arrival(9, 7, 1)) / math.log(10)
    assert log10 == pytest.approx(1.25)
    assert guess.predict(arrival(9, 7, 1)) == round(10**1.25)
    assert guess.predict(arrival(10)) == 100


def test_the_batch_size_divides_and_what_is_new_is_a_first_guess():
    guess = Shrunk(0.3)
    assert guess.predict(arrival(0, 7, 1, 32)) == FIRST_GUESS
    guess.observe(arrival(0, 7, 1, 32), 100)
    assert guess.predict(arrival(1, 7, 1, 64)) == 50


def test_caution_takes_a_quantile_of_the_groups_for_a_new_one_only():
    completed = [((group,), 10**group) for group in range(5)]
    guess = after(Shrunk(0.3, cold=0.75), *completed)
    assert guess.predict(arrival(9)) == 1000
    assert guess.predict(arrival(10, 99)) == 1000
    assert guess.predict(arrival(11, 1)) < 30


def test_a_running_job_counts_once_it_has_done_more_than_was_predicted():
    running = []
    guess = after(Shrunk(1.0, running=lambda: running), ((7,), 100), ((8,), 100))
    guess.predict(arrival(5, 7))
    running.append((5, 90))
    assert guess.predict(arrival(6, 7)) == 100
    running[0] = (5, 10_000)
    # The group: (2 + 2 + 4) / 3 = 8/3, its run (8/3 + 2 + 4) / 3 = 26/9.
    assert guess.log_of(arrival(7, 7)) == pytest.approx(26 / 9 * math.log(10))
    assert guess.predict(arrival(8, 9)) == 100


def test_smearing_makes_the_work_of_completed_jobs_add_up():
    """Predictions 100 and 200 with weights 1 and 2; true 300 and 350: 1000 / 500 = 2."""

    class Says:
        def predict(self, known):
            return (100, 200, 50)[known.job]

        def observe(self, known, iterations):
            pass

    guess = Smeared(Says(), [1.0, 2.0, 1.0])
    assert [guess.predict(arrival(j)) for j in (0, 1)] == [100, 200]
    guess.observe(arrival(0), 300)
    guess.observe(arrival(1), 350)
    assert guess.predict(arrival(2)) == 100
    high = Smeared(Says(), [1.0, 2.0, 1.0])
    high.predict(arrival(0))
    high.observe(arrival(0), 10**6)
    assert high.predict(arrival(2)) == 50 * MOST_SMEARING
    low = Smeared(Says(), [1.0, 2.0, 1.0])
    low.predict(arrival(0))
    low.observe(arrival(0), 1)
    assert low.predict(arrival(2)) == 50


def test_notes_say_how_good_predictions_were():
    instance = recurring(np.random.default_rng(0), jobs=80, servers=4, groups=6)
    exact = a_srpt(instance, Limits(), np.random.default_rng(0)).notes
    assert exact["predicted_work"] == exact["within_twice"] == 1
    assert exact["concordance"] == pytest.approx(1, abs=0.01)
    assert 0 < exact["cold_share"] < 1
    rough = a_srpt(instance, Limits(), np.random.default_rng(0), predictor="global_mean").notes
    assert rough["concordance"] < exact["concordance"]
    assert rough["within_twice"] < 0.7
