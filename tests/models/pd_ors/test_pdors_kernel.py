import numpy as np
import pytest
from gadgetopt.models.pd_ors.kernel import best_plans

from .pdors_jobs import least_plan_costs, random_instance


def _random_case(seed, **changes):
    rng = np.random.default_rng(seed)
    instance = random_instance(rng, **changes)
    capacity = instance.terms.capacity
    shape = (instance.horizon_slots, *capacity.shape)
    price = rng.choice([0, 0.1, 0.5, 1, 2.7, 100], shape)
    room = rng.integers(0, capacity + 1, shape)
    return instance, price, room


def _check_usage(instance, plan, price, room):
    usage = plan.usage
    held = room.copy()
    np.subtract.at(held, (usage.slots - 1, usage.machines), usage.amounts)
    assert (held >= 0).all()
    prices = price[usage.slots - 1, usage.machines]
    assert (prices * usage.amounts).sum() == pytest.approx(plan.cost)


@pytest.mark.parametrize("locality", ["both", "external_only", "internal_only"])
@pytest.mark.parametrize("ratio", ["at_least", "exact"])
@pytest.mark.parametrize("seed", range(12))
def test_exact_plans_cost_what_enumeration_finds(seed, ratio, locality):
    instance, price, room = _random_case(seed, locality=locality, ratio=ratio)
    found = best_plans(instance.terms.jobs[0], price, room)
    expected = least_plan_costs(instance, 0, price, room)
    assert {t: plan.cost for t, plan in found.items()} == pytest.approx(expected)
    for t, plan in found.items():
        assert plan.completion == t
        _check_usage(instance, plan, price, room)
