"""The default method closes what it claims, and stops in time with what it has."""

import time

import numpy as np
import pytest

from gadgetopt.models.bgl.cache.data.generate.presets import batches, paging, paper
from gadgetopt.models.bgl.cache.instance import CacheInstance
from gadgetopt.models.bgl.cache.proving.exact.order_prefixes import cost_beyond, extensions
from gadgetopt.system.result import Status, Voucher

from ...brute_force import optimum, run, small_instance


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


def hosted(requests: int, nodes: int, each: int) -> CacheInstance:
    rng = np.random.default_rng(0)
    drawn = [
        tuple(sorted(rng.choice(nodes, each, replace=False).tolist())) for _ in range(requests)
    ]
    return CacheInstance(
        requests=tuple(drawn), capacity=1, order="free", remote_cost=5, host_capacity=1, host_cost=1
    )


@pytest.mark.parametrize("requests", [14, 16, 30])
def test_many_orders_with_a_host_end_with_the_time_as_the_limit(requests):
    instance = hosted(requests, 30, 12)
    run(hosted(10, 30, 12), "order_search", time_s=1.0)  # loops that are compiled have no limit
    before_s = time.monotonic()
    result = run(instance, "order_search", time_s=1.0)
    assert time.monotonic() - before_s < 5.0
    assert (result.status, result.limit_hit) == (Status.FEASIBLE, "time_s")
    assert instance.compulsory_cost <= result.bound < result.objective


def test_nine_requests_with_a_host_are_closed():
    # The nodes of a ring, a request for each edge: along the ring nothing is loaded twice but
    # the node where it begins, which the host keeps.
    requests = tuple(sorted(tuple(sorted((k, (k + 1) % 9))) for k in range(9)))
    instance = CacheInstance(
        requests=requests, capacity=1, order="free", remote_cost=5, host_capacity=1, host_cost=1
    )
    result = run(instance, "order_search")
    assert (result.status, result.objective) == (Status.OPTIMAL, 9 * 5 + 1)


@pytest.mark.parametrize("seed", range(30))
def test_no_order_costs_less_than_its_beginning_and_what_is_beyond(seed):
    rng = np.random.default_rng(seed)
    drawn = small_instance(rng, "host").model_dump()
    drawn |= {"order": "free", "sizes": tuple(rng.integers(1, 4, size=6).tolist())}
    drawn |= {"weights": tuple(rng.integers(1, 9, size=6).tolist())}
    instance = CacheInstance(**drawn)
    best = optimum(instance)
    prefixes: list[tuple[int, ...]] = [()]
    bounds = []
    for _ in instance.requests:  # the least bound of all prefixes of a length is one of orders
        prefixes = [longer for prefix in prefixes for longer in extensions(instance, prefix)]
        bounds.append(min(_beginning(instance, p) + cost_beyond(instance, p) for p in prefixes))
    assert max(bounds) <= best
    assert bounds[-1] == best


def _beginning(instance: CacheInstance, prefix: tuple[int, ...]) -> int:
    requests = tuple(instance.requests[k] for k in prefix)
    data = instance.model_dump() | {"requests": requests, "order": "given"}
    return optimum(CacheInstance(**data))
