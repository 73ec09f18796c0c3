"""Elimination there and back: enumeration says the same of every label."""

import itertools
import random

import pytest

from gadgetopt.models.oneflow_sbp.proving.certificate import least_with_label as module
from gadgetopt.models.oneflow_sbp.proving.certificate.cost_tables import FORBIDDEN
from gadgetopt.models.oneflow_sbp.proving.certificate.least_with_label import least_with_label

from .plain import cost_of, random_tables, some_labels


@pytest.mark.parametrize("seed", range(200))
def test_it_is_the_least_cost_with_each_label_in_any_order(seed):
    rng = random.Random(seed)
    costs = random_tables(seed, forbidden=rng.choice([0.1, 0.4]))
    domains = some_labels(costs, rng)
    order = rng.sample(range(len(costs.own)), len(costs.own))
    least = [dict.fromkeys(domain, FORBIDDEN) for domain in domains]
    for chosen in itertools.product(*domains):
        cost = cost_of(costs, chosen)
        for o, k in enumerate(chosen):
            least[o][k] = min(least[o][k], cost)
    found = least_with_label(costs, domains, order)
    assert [costs_of.tolist() for costs_of in found] == [list(row.values()) for row in least]


def test_too_many_entries_are_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_ENTRIES", 5)
    costs = random_tables(3, nodes=6)
    with pytest.raises(ValueError, match="elimination is too wide, more than 5 entries"):
        least_with_label(costs, costs.allowed, list(range(6)))
