"""The method `adsp` is the printed one."""

import pytest

from gadgetopt.models.adsp.rates.algorithms import plain
from gadgetopt.models.adsp.rates.algorithms.climb import adsp

from ..brute_force import KINDS, random_instance


@pytest.mark.parametrize("kind", KINDS)
def test_the_method_stops_where_the_printed_search_stops(kind):
    for seed in range(60):
        instance = random_instance(seed, kind)
        found = adsp(instance).solution
        assert found == plain.adsp(instance)
