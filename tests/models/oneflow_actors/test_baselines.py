"""The published slots on pipelines, and slots that grow where the critical cycle waits."""

from fractions import Fraction

import pytest

from gadgetopt.models.oneflow_actors.data.generate.presets import pipeline, training
from gadgetopt.models.oneflow_actors.evaluate import evaluate

from .conftest import solved
from .hand_checked import H4, H13, period, ruled


def period_of(result):
    return 1 / Fraction(result.objective)


@pytest.mark.parametrize(
    ("times", "one", "two", "skips", "improved"),
    [
        ((1, 2, 0), 12, 6, (4, 3, 2, 1), 3),
        ((1, 2, 1), 18, 9, (7, 5, 3, 1), Fraction(10, 3)),
        ((2, 4, 1), 30, 15, (7, 5, 3, 1), Fraction(34, 5)),
        ((1, 1, 1), 14, 7, (7, 5, 3, 1), 2),
    ],
)
def test_pipelines_of_four_stages(times, one, two, skips, improved):
    forward, backward, link = times
    instance = pipeline(None, forward=forward, backward=backward, link=link)
    load = forward + backward
    assert period_of(solved(instance, "one")) == one
    assert period_of(solved(instance, "two")) == two
    published = solved(instance, "published")
    assert period_of(published) == load
    assert published.solution.slots[:4] == (8, 8, 8, 1)
    assert published.evaluation.components["memory_bytes"] == 112
    messages = (1 if link else 2,) * (len(instance.registers) - 4)
    least = evaluate(instance, ruled((*skips, *messages)))
    assert least.components["period_s"] == load
    assert period_of(solved(instance, "improver")) == improved
    assert solved(instance).status.value == "optimal"


@pytest.mark.parametrize(
    ("capacity", "best"), [(8, 18), (12, 9), (16, 6), (20, Fraction(9, 2)), (32, 3)]
)
def test_a_pipeline_within_memory(capacity, best):
    result = solved(pipeline(None, capacity=capacity))
    assert result.status.value == "optimal"
    assert result.bound_voucher.value == "verified"
    assert period_of(result) == best


def test_one_firing_of_each_actor_loses_a_fifth_of_a_pipeline():
    limited = pipeline(None, capacity=28)
    assert period(limited, ruled((6, 5, 3, *[1] * 13))) == Fraction(10, 3)
    one = solved(pipeline(None, capacity=28, window=1), "cyclic@highs")
    assert (one.status.value, period_of(one)) == ("optimal", 4)


@pytest.mark.parametrize(
    ("feedback", "first", "deep", "best"), [(False, 1844, 1836, 1816), (True, 1872, 1864, 1864)]
)
def test_a_training_step(feedback, first, deep, best):
    instance = training(None, feedback=feedback)
    fewest = [register.fewest for register in instance.registers]
    assert period(instance, ruled(fewest)) * 10_000 == first
    assert period(instance, ruled(fewest, "deep")) * 10_000 == deep
    result = solved(instance)
    assert (result.status.value, period_of(result) * 10_000) == ("optimal", best)


def test_slots_where_the_critical_cycle_waits():
    assert period_of(solved(H4, "critical_cycle")) == 4
    assert period_of(solved(H13, "critical_cycle")) == 7  # the optimum is 6


def test_a_long_pipeline_closes():
    for finite in (0, 8):
        result = solved(pipeline(None, stages=24, num_microbatches=finite))
        assert (result.status.value, result.bound_voucher.value) == ("optimal", "verified")


def test_slots_that_do_not_fit_are_refused():
    result = solved(pipeline(None, capacity=8), "two")
    assert result.status.value == "not_applicable"
    assert "device 0 has 8 bytes" in result.reason
