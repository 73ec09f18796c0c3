"""Profiles of the cache workflow: least squares, with a floor that is never negative."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.bgl.resources.data.importers.profile_csv import fitted, profile_csv


def test_exact_points_give_back_their_function():
    points = [(c, 4 / c + 0.2) for c in (1, 2, 3, 5, 8)]
    assert fitted(points) == (pytest.approx(4), pytest.approx(0.2))


def test_a_floor_that_would_be_negative_is_zero():
    # Trap 11: times that fall faster than 1 / c.
    points = [(1, 4.0), (2, 1.5), (4, 0.5)]
    a, d = fitted(points)
    assert d == 0
    # The least squares without a floor: sum(t / c) / sum(1 / c^2).
    assert a == pytest.approx((4 + 0.75 + 0.125) / (1 + 0.25 + 0.0625))


def test_times_that_grow_with_cores_are_constant():
    assert fitted([(1, 1.0), (2, 3.0)]) == (0.0, 2.0)


def test_a_file_becomes_an_instance(tmp_path):
    path = tmp_path / "cache.csv"
    path.write_text("cores,seconds\n1,4.2\n2,2.2\n4,1.2\nx,1\n0,3\n")
    found = profile_csv([path], np.random.default_rng(0), worker_cores=12)
    ((name, instance),) = found.instances
    assert name == "cache_12_cores"
    assert (instance.cache_core_s, instance.cache_floor_s) == (4, Fraction("0.2"))
    assert instance.worker_cores == 12
    (rejected,) = found.report["instances"][0]["rejected"]
    assert (rejected["first_lines"], rejected["first_value"]) == ([5, 6], "x,1")


def test_one_number_of_cores_is_too_few(tmp_path):
    path = tmp_path / "cache.csv"
    path.write_text("cores,seconds\n2,2.2\n2,2.1\n")
    with pytest.raises(InputError, match="fewer than two different numbers of cores"):
        profile_csv([path], np.random.default_rng(0))
