"""The default method closes what it claims, and stops in time with what it has."""

import numpy as np
import pytest
from gadgetopt.models.bgl.cache.generate.presets import batches, paging, paper
from gadgetopt.models.bgl.cache.instance import CacheInstance

from gadgetopt.system.result import Status, Voucher

from ..brute_force import optimum, run, small_instance


def test_twelve_batches_are_closed():
    result = run(batches(np.random.default_rng(1), batches=12, capacity=8), "order_search")
    assert result.status is Status.OPTIMAL
    assert result.bound_voucher is Voucher.VERIFIED


def test_without_time_there_is_a_bound_and_an_order():
    result = run(batches(np.random.default_rng(1), batches=18), "order_search", time_s=0.0)
    assert result.status is Status.FEASIBLE
    assert result.limit_hit == "time_s"
    assert result.bound is not None


def test_training_on_a_graph_has_a_bound_and_an_order():
    instance = paper(np.random.default_rng(0), caves=20)
    result = run(instance, "order_search", time_s=2.0)
    assert result.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert result.bound >= instance.compulsory_cost


def test_hundreds_of_requests_in_given_order_are_certified():
    instance = paging(np.random.default_rng(0))
    result = run(instance, "order_search")
    assert result.status is Status.OPTIMAL
    assert result.bound_voucher is Voucher.VERIFIED


@pytest.mark.parametrize("seed", range(20))
def test_orders_with_a_host_agree_with_brute_force(seed):
    rng = np.random.default_rng(seed)
    drawn = small_instance(rng, "host").model_dump()
    drawn |= {"order": "free", "batch_size": int(rng.integers(1, 3))}
    drawn |= {"weights": tuple(rng.integers(1, 9, size=6).tolist())} if seed % 2 else {}
    instance = CacheInstance(**drawn)
    result = run(instance, "order_search")
    assert (result.status, result.objective) == (Status.OPTIMAL, optimum(instance))


def test_many_requests_with_a_host_are_not_called_closed():
    rng = np.random.default_rng(0)
    requests = tuple(tuple(sorted(rng.choice(6, 3, replace=False).tolist())) for _ in range(9))
    instance = CacheInstance(
        requests=requests, capacity=1, order="free", remote_cost=5, host_capacity=1, host_cost=1
    )
    result = run(instance, "order_search")
    assert result.status is Status.FEASIBLE
    assert "too many orders" in result.notes["refused"]
