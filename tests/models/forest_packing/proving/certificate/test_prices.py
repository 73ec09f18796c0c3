"""The check's bounds of prices and shares of roots are those of the search, computed apart."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.forest_packing.instance import Prices
from gadgetopt.models.forest_packing.packing import required_shares
from gadgetopt.models.forest_packing.proving.certificate.prices import prices_bound
from gadgetopt.models.forest_packing.proving.certificate.roots import root_shares
from gadgetopt.models.forest_packing.subproblems import price_bound

from ...networks import random_instance


def drawn(rng, instance):
    """Random prices of the rows, equal in both stages unless these take turns."""

    def prices():
        return {
            row.name: Fraction(int(rng.integers(1, 9)), int(rng.integers(1, 7)))
            for row in instance.network.rows
            if rng.random() < 0.7
        }

    both = prices()
    by_stage = {s: prices() if instance.sequential else both for s in instance.stages}
    return Prices(reduce=by_stage.get("reduce", {}), broadcast=by_stage.get("broadcast", {}))


@pytest.mark.parametrize("copying", [False, True])
@pytest.mark.parametrize("seed", range(150))
def test_the_check_and_the_search_agree(seed, copying):
    instance = random_instance(seed, 5, 3).model_copy(update={"in_network": copying})
    shares = root_shares(instance)
    asked = required_shares(instance)
    assert shares == asked
    prices = drawn(np.random.default_rng(seed), instance)
    assert prices_bound(instance, prices) == price_bound.prices_bound(instance, prices)


def test_all_root_modes_are_among_them():
    modes = {random_instance(seed, 5, 3).root_mode for seed in range(150)}
    assert modes == {"free", "uniform", "fixed", "weights"}


@pytest.mark.parametrize("seed", range(10))
def test_they_agree_where_no_tree_spans_the_workers(seed):
    instance = random_instance(seed, 5, 3)
    cut = instance.model_copy(update={"links": instance.links[: len(instance.links) // 2]})
    prices = drawn(np.random.default_rng(seed), cut)
    assert prices_bound(cut, prices) == price_bound.prices_bound(cut, prices)
