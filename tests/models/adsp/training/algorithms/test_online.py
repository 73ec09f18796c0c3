"""The online search: climbs from its first rate, keeps the best, and starts again."""

import numpy as np
import pytest

from gadgetopt.models.adsp.training.data.generate.presets import slow
from gadgetopt.models.adsp.training.instance import Adsp, Rate
from gadgetopt.models.adsp.training.policies import Search
from gadgetopt.models.adsp.training.simulator import simulate
from gadgetopt.models.adsp.training.ticks import Ticks


@pytest.fixture(scope="module")
def instance():
    return slow(np.random.default_rng(0))


def losses_of(instance, per_period):
    """A search that is shown losses of given rates, each falling to a given part in a period."""
    search = Search(instance, Ticks.of(instance), 0.0, 30)
    loss = 1.0
    search.control(0, loss, [0, 0, 0])
    for k, part in enumerate(per_period):
        search.control(2 * k + 1, loss * (1 + part) / 2 - 1e-3 * loss, [0, 0, 0])
        loss *= part
        search.control(2 * k + 2, loss, [0, 0, 0])
    return search


def test_it_climbs_while_rewards_grow_and_goes_back_one(instance):
    # The target is out of reach of each curve, so that rewards are 0 from the first on.
    search = losses_of(instance, [0.9, 0.9])
    assert [rate for rate, _ in search.evaluated] == [1, 2]
    assert search.rate == 1
    assert not search.searching


def test_a_loss_that_rises_by_thirty_percent_starts_the_search_again(instance):
    calm = losses_of(instance, [0.9, 0.9, 1.2])
    assert not calm.searching
    risen = losses_of(instance, [0.9, 0.9, 1.3])
    assert risen.searching


def test_an_epoch_later_it_searches_again(instance):
    # An epoch of 1000 s is 17 periods.
    search = losses_of(instance, [0.99] * 19)
    assert [rate for rate, _ in search.evaluated] == [1, 2, 1, 2]


def test_the_first_rate_is_where_it_starts(instance):
    run = simulate(instance.model_copy(update={"initial_commits": 5}), Adsp())
    assert run.notes["rates"][0] == 5
    assert min(run.notes["rates"]) >= 5


def test_where_training_takes_many_periods_it_is_near_the_best_rate(instance):
    online = simulate(instance, Adsp())
    best = min(simulate(instance, Rate(commits=c)).time_s for c in (1, 2, 3, 4, 6, 8))
    assert online.time_s <= 1.1 * best
