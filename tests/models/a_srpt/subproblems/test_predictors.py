"""Predictors use what is known at arrival: no test gets them to leak."""

from dataclasses import fields
from typing import get_args

import numpy as np
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.a_srpt.algorithms.a_srpt import a_srpt
from gadgetopt.models.a_srpt.data.generate.presets import recurring
from gadgetopt.models.a_srpt.subproblems import forest
from gadgetopt.models.a_srpt.subproblems.arrivals import FIRST_GUESS, Arrival, arrival_of
from gadgetopt.models.a_srpt.subproblems.names import PredictorName
from gadgetopt.models.a_srpt.subproblems.predictors import make_predictor
from gadgetopt.system.result import Limits

from ..hand_checked import H3, H4

#: All but those that are given the truth or the file's word.
LEARNERS = tuple(
    name for name in get_args(PredictorName) if name not in ("oracle", "noisy_oracle", "stated")
)


def rng(seed=0):
    return np.random.default_rng(seed)


def arrival(job, group=-1):
    return Arrival(
        job=job,
        group_id=group,
        user_id=0,
        job_type=0,
        num_gpus=1,
        batch_size=-1,
        release_s=0.0,
        stated_iterations=None,
    )


def test_an_arrival_holds_nothing_of_the_truth():
    assert "num_iterations" not in {field.name for field in fields(Arrival)}
    known = arrival_of(H4, 3)
    with pytest.raises(AttributeError):
        known.num_iterations  # noqa: B018
    changed = H4.model_copy(
        update={"jobs": (*H4.jobs[:3], H4.jobs[3].model_copy(update={"num_iterations": 999}))}
    )
    assert arrival_of(changed, 3) == known


@pytest.mark.parametrize(
    ("name", "expected"),
    [("group_mean", 40), ("group_median", 20), ("last", 90), ("global_mean", 31)],
)
def test_statistics_are_those_of_completed_jobs(name, expected):
    guess = make_predictor(name, H3, 0.0, rng())
    assert guess.predict(arrival(0, 7)) == FIRST_GUESS
    for job, (group, iterations) in enumerate([(7, 10), (8, 4), (7, 20), (7, 90)]):
        guess.predict(arrival(job, group))
        guess.observe(arrival(job, group), iterations)
    assert guess.predict(arrival(9, 7)) == expected
    everybody = {"group_mean": 31, "group_median": 15, "last": 90, "global_mean": 31}
    assert guess.predict(arrival(10, 99)) == everybody[name]


def test_noise_is_the_jobs_own_and_zero_noise_is_the_truth():
    exact = make_predictor("noisy_oracle", H4, 0.0, rng())
    assert [exact.predict(arrival(j)) for j in range(4)] == [6, 8, 10, 10]
    noisy = make_predictor("noisy_oracle", H4, 0.5, rng())
    there = [noisy.predict(arrival(j)) for j in range(4)]
    assert [noisy.predict(arrival(j)) for j in reversed(range(4))] == there[::-1]
    assert there != [6, 8, 10, 10]
    assert min(there) >= 1


def test_stated_predictions_are_refused_where_there_are_none():
    with pytest.raises(ModelRefused, match=r"jobs\[0\]\.predicted_iterations"):
        a_srpt(H3, Limits(), rng(), predictor="stated")


def schedule_until(outcome, microtick):
    return {
        (job.job, job.start_microtick, job.placement)
        for job in outcome.solution.jobs
        if job.start_microtick <= microtick
    }


@pytest.mark.parametrize("predictor", LEARNERS)
def test_a_job_that_has_not_completed_does_not_leak(predictor, monkeypatch):
    """Poison what has not completed at some time with 10^9 iterations: nothing before changes."""
    for kind in (forest.Forest, forest.ResidualForest):
        for name, value in {"burn_in": 20, "refit": 10, "trees": 5}.items():
            monkeypatch.setitem(kind.__init__.__kwdefaults__, name, value)
    instance = recurring(rng(3), jobs=60, servers=3, groups=5, load=2.0)
    outcome = a_srpt(instance, Limits(), rng(), predictor=predictor)
    step = instance.total_gpus
    end = {}
    for scheduled in outcome.solution.jobs:
        job = instance.jobs[scheduled.job]
        times = instance.times[job.job_type]
        ticks = instance.ticks(scheduled.job, times.units(scheduled.placement))
        end[scheduled.job] = scheduled.start_microtick + step * ticks
    moment = sorted(end.values())[len(end) // 2]
    jobs = tuple(
        job.model_copy(update={"num_iterations": 10**9}) if end[j] > moment else job
        for j, job in enumerate(instance.jobs)
    )
    longer = instance.model_copy(update={"jobs": jobs})
    again = a_srpt(longer, Limits(), rng(), predictor=predictor)
    assert schedule_until(again, moment) == schedule_until(outcome, moment)


def test_the_forest_learns_from_completions_in_their_order():
    guess = forest.Forest(rng(), burn_in=20, refit=5, trees=10)
    for job in range(30):
        group = job % 2
        guess.predict(arrival(job, group))
        guess.observe(arrival(job, group), 1000 if group else 10)
    assert guess.predict(arrival(98, 0)) == pytest.approx(10, rel=0.2)
    assert guess.predict(arrival(99, 1)) == pytest.approx(1000, rel=0.2)


def test_every_predictor_can_be_asked_for():
    for name in get_args(PredictorName):
        assert make_predictor(name, H3, 0.0, rng()) is not None
