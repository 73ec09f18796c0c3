"""Presets: declared defaults, ranges of processing times, worst cases."""

import inspect

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.parallel_machines.data.generate.presets import (
    graham_list,
    graham_lpt,
    non_uniform,
    uniform,
)
from gadgetopt.system.registry import problem


def rng():
    return np.random.default_rng(7)


@pytest.mark.parametrize("part", [*problem("parallel_machines").generators], ids=lambda g: g.name)
def test_declared_defaults_are_those_of_the_function(part):
    takes = inspect.signature(part.generate.resolve()).parameters.values()
    assert part.parameters == {p.name: p.default for p in takes if p.kind is p.KEYWORD_ONLY}
    assert part.generate(rng()) == part.generate(rng(), **part.parameters)


def test_uniform_times_are_within_their_range():
    times = uniform(rng(), jobs=500, shortest_s=50, longest_s=100).processing_s
    assert (len(times), min(times), max(times)) == (500, 50, 100)


def test_non_uniform_times_are_mostly_long():
    times = non_uniform(rng(), jobs=500, longest_s=1000).processing_s
    # 0.9 * 999 = 899.1 and 0.2 * 999 = 199.8.
    assert sum(time >= 900 for time in times) == 490
    assert sum(time <= 199 for time in times) == 10


def test_grahams_instances_are_as_printed():
    assert graham_lpt(rng(), machines=3).processing_s == (5, 5, 4, 4, 3, 3, 3)
    assert graham_list(rng(), machines=3).processing_s == (1, 1, 1, 1, 1, 1, 3)


def test_a_range_that_is_none_is_answered():
    with pytest.raises(InputError, match="shortest_s: 9, expected 1 to longest_s, 8"):
        uniform(rng(), shortest_s=9, longest_s=8)
    with pytest.raises(InputError, match="longest_s: 10, expected at least 11"):
        non_uniform(rng(), longest_s=10)
