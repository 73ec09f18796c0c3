r"""Certificates of lower bounds on the cost of loading, and their check in exact numbers.

* `Compulsory`: every feature that is needed is loaded once.
* `BoundaryPrices`, for a given order: a unit of the device between batches i and i + 1 has the
  price :math:`\lambda_i \ge 0`, of the host :math:`\mu_i \ge 0`. Whatever is kept,

  .. math::
      \text{saved} \le K \sum_i \lambda_i + K' \sum_i \mu_i + \sum_r \max\Big\{0,\
      c w_r - z_r \sum_{i \in r} \lambda_i,\
      (c - c') w_r - z_r \sum_{i \in r} \min(\lambda_i, \mu_i)\Big\},

  where r are the intervals between consecutive uses of a node, z its size, w its weight, c and c'
  the costs of loading it from the graph store and from the host. Without a host the last term is
  left out. This is weak duality of (5).
* `NoOrderWithin`, for a free order of fixed batches whose misses all cost the same: no order has
  so few reloads. The check goes through all prefixes (`orders`), where these are few enough.
* `BothCaches`, for such batches with a host: every order has at least R reloads of a cache of K,
  and R' of one of K + K'. What the device holds fits into the first, what device and host hold into
  the second; a miss of the device costs c' at least, one of both c. So every order costs
  at least

  .. math:: c \, w |\cup_i B_i| + c' w R + (c - c') w R'.
* `RunningPolicies`, where policies cost something to run: every order has at least R reloads. For a
  policy that costs l a lookup, h a hit, m an admission and e an eviction, A requested nodes and X
  misses, of which :math:`f = \min(K, |\cup_i B_i|)` stay to the end, an order costs

  .. math:: c X + l A + h (A - X) + m X + e (X - f) = (l + h) A - e f + (c + m + e - h) X,

  with :math:`|\cup_i B_i| + R \le X \le A`; a static cache of the nodes S that :math:`q_v` batches
  need costs :math:`(c + l) A + \sum_{v \in S} (c + m - (c - h) q_v)` in every order. The bound is
  the least over the four policies.
* `EachCache`, for several GPUs in a given order: `BoundaryPrices` of every cache that is asked for
  anything, whose bounds add up with what is fetched from other GPUs. Shared caches hold no more
  than one cache of the room of all, which is priced instead. Where the slowest GPU of each step
  counts, it pays at least the mean of all GPUs, and over all steps at least what any one pays.
* `EveryPlan`, for few batches over several GPUs: all of them are gone through (`gpu_orders`).
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import accumulate
from typing import Annotated, Literal

from pydantic import Field

from gadgetopt.numbers.exact import ceiling, check_prices, common_denominator
from gadgetopt.search.checked import checked_once
from gadgetopt.system.data import Certificate, Data, NonNegativeInt, Rational

from ...gpus import cache_of_each, peers_of_each, pool_of
from ...instance import CacheInstance, PolicyName
from .gpu_orders import no_plan_below
from .orders import no_order_within

#: Policies whose cost depends on the order. By definition.
DYNAMIC: tuple[Literal["fifo", "lru", "lfu"], ...] = ("fifo", "lru", "lfu")


class Compulsory(Data):
    """Every requested feature is loaded at least once."""

    kind: Literal["compulsory"] = "compulsory"


class BoundaryPrices(Data):
    """Prices of space in the caches after each batch but the last.

    Attributes
    ----------
    device, host : tuple of Fraction
        `host` is empty if there is no host cache.
    """

    kind: Literal["boundary_prices"] = "boundary_prices"
    device: tuple[Rational, ...]
    host: tuple[Rational, ...] = ()


class NoOrderWithin(Data):
    """No order has at most so many misses beyond the first of every node."""

    kind: Literal["no_order_within"] = "no_order_within"
    reloads: NonNegativeInt


class BothCaches(Data):
    """No order has fewer reloads of a cache of the device's size, and of one of both sizes."""

    kind: Literal["both_caches"] = "both_caches"
    device_reloads: NonNegativeInt
    both_reloads: NonNegativeInt


class RunningPolicies(Data):
    """No order has fewer reloads, whatever policy the cache runs."""

    kind: Literal["running_policies"] = "running_policies"
    reloads: NonNegativeInt


class EachCache(Data):
    """Prices of each GPU's cache, without those that are asked for nothing."""

    kind: Literal["each_cache"] = "each_cache"
    caches: tuple[BoundaryPrices, ...]


class EveryPlan(Data):
    """No order over several GPUs, with whatever their caches do, costs less."""

    kind: Literal["every_plan"] = "every_plan"
    cost: NonNegativeInt


Proof = (
    Compulsory
    | BoundaryPrices
    | NoOrderWithin
    | BothCaches
    | RunningPolicies
    | EachCache
    | EveryPlan
)


class CacheCertificate(Certificate):
    """A proof of a lower bound."""

    proof: Annotated[Proof, Field(discriminator="kind")]


@checked_once
def check_bound(instance: CacheInstance, certificate: CacheCertificate) -> int | None:
    """Return the lower bound that a certificate proves; None if it proves none.

    Raises
    ------
    ValueError
        If it does not fit the instance, or the check would take too long.
    """
    proof = certificate.proof
    if isinstance(proof, Compulsory):
        return _over_steps(instance, instance.compulsory_cost)
    if isinstance(proof, BoundaryPrices):
        return ceiling(_priced_bound(instance, proof))
    if isinstance(proof, RunningPolicies):
        return _bound_of_policies(instance, proof.reloads)
    if isinstance(proof, BothCaches):
        return _bound_of_both(instance, proof)
    if isinstance(proof, EachCache):
        return _bound_of_each(instance, proof)
    if isinstance(proof, EveryPlan):
        return _bound_of_plans(instance, proof.cost)
    return _exhausted_bound(instance, proof.reloads)


def _priced_bound(instance: CacheInstance, proof: BoundaryPrices) -> Fraction:
    """Return the cost of loading everything at every use, less the most that can be saved."""
    if instance.order != "given":
        raise ValueError("proof.kind: prices of boundaries need a given order, this one is free")
    if instance.gpus is not None:
        raise ValueError("proof.kind: prices of boundaries are of one cache, here are several")
    boundaries = instance.num_batches - 1
    check_prices(proof.device, "proof.device", boundaries, "boundaries")
    hosted = instance.host_capacity > 0
    check_prices(proof.host, "proof.host", boundaries if hosted else 0, "boundaries of the host")
    unit = common_denominator([*proof.device, *proof.host])
    device = [int(price * unit) for price in proof.device]
    host = [int(price * unit) for price in proof.host]
    below = list(accumulate(device, initial=0))
    cheaper = list(accumulate(map(min, device, host), initial=0)) if hosted else []
    remote, gain = instance.remote_cost, instance.remote_cost - instance.host_cost
    cost = saved = 0
    used: dict[int, int] = {}
    for p, batch in enumerate(instance.batches(tuple(range(len(instance.requests))))):
        for v in batch:
            w, z = instance.weight(v), instance.size(v)
            cost += remote * w
            if v in used:
                s = used[v]
                best = max(0, unit * remote * w - z * (below[p] - below[s]))
                if hosted:
                    best = max(best, unit * gain * w - z * (cheaper[p] - cheaper[s]))
                saved += best
            used[v] = p
    saved += instance.capacity * sum(device) + instance.host_capacity * sum(host)
    return cost - Fraction(saved, unit)


def is_plain(instance: CacheInstance) -> bool:
    """Return True if only the order of fixed batches is free, and every miss costs the same."""
    return instance.host_capacity == 0 and is_plain_but_for_host(instance)


def is_plain_but_for_host(instance: CacheInstance) -> bool:
    """Return True if the order of fixed batches of equal nodes is free, with one cache or two."""
    return (
        instance.order == "free"
        and instance.gpus is None
        and instance.batch_size == 1
        and instance.unit_sizes
        and instance.unit_weights
    )


def miss_cost(instance: CacheInstance) -> int:
    """Return the cost of a miss where all cost the same."""
    return instance.miss_cost(next(iter(instance.frequency)))


def _exhausted_bound(instance: CacheInstance, reloads: int) -> int | None:
    if not is_plain(instance):
        raise ValueError(
            "proof.kind: counting reloads needs a free order of fixed batches, misses of one cost, "
            "unit sizes and no host"
        )
    if not _excluded(instance, instance.capacity, reloads, "reloads"):
        return None
    return instance.compulsory_cost + miss_cost(instance) * (reloads + 1)


def _bound_of_both(instance: CacheInstance, proof: BothCaches) -> int | None:
    if not is_plain_but_for_host(instance):
        raise ValueError(
            "proof.kind: reloads of two caches need a free order of fixed batches, misses of one "
            "cost and unit sizes"
        )
    device, both = proof.device_reloads, proof.both_reloads
    together = instance.capacity + instance.host_capacity
    if device and not _excluded(instance, instance.capacity, device - 1, "device_reloads"):
        return None
    if both and not _excluded(instance, together, both - 1, "both_reloads"):
        return None
    from_host = miss_cost(instance) // instance.remote_cost * instance.host_cost
    reloads = from_host * device + (miss_cost(instance) - from_host) * both
    return instance.compulsory_cost + reloads


def _bound_of_policies(instance: CacheInstance, reloads: int) -> int | None:
    if instance.policy_cost is None:
        raise ValueError("proof.kind: policies that cost something need policy_cost, none is given")
    if instance.gpus is not None:
        raise ValueError("proof.kind: reloads of policies are of one cache, here are several")
    if reloads and not _excluded(instance, instance.capacity, reloads - 1, "reloads"):
        return None
    least = len(instance.frequency) + reloads
    dynamic = (cost_of_misses(instance, name, least) for name in DYNAMIC)
    return min(*dynamic, static_cost(instance, best_static(instance)))


def _bound_of_each(instance: CacheInstance, proof: EachCache) -> int:
    if instance.gpus is None or instance.policy_cost is not None or instance.order == "free":
        raise ValueError(
            "proof.kind: prices of each cache need several GPUs, a given order and no policy_cost"
        )
    order = range(len(instance.requests))
    caches, peers = cache_of_each(instance, order), peers_of_each(instance, order)
    shared = instance.gpus.caches == "shared"
    if shared:
        pool, again = pool_of(instance, order)
        caches, peers = [pool], [again]
    asked = [pair for pair in zip(caches, peers, strict=True) if pair[0] is not None]
    if len(proof.caches) != len(asked):
        raise ValueError(f"proof.caches: {len(proof.caches)} for {len(asked)} caches")
    bounds = [
        paid + _priced_bound(cache, prices)
        for (cache, paid), prices in zip(asked, proof.caches, strict=True)
        if cache is not None
    ]
    # A GPU whose cache is asked for nothing may still pay for what its batches need.
    idle = sum(paid for cache, paid in zip(caches, peers, strict=True) if cache is None)
    least = _over_steps(instance, idle + sum(bounds, Fraction(0)))
    if instance.gpus.objective == "total" or shared:
        return least
    return max(least, ceiling(max(bounds)))


def _over_steps(instance: CacheInstance, total: Fraction | int) -> int:
    """Return what an order costs at least whose GPUs pay so much in total."""
    gpus = instance.gpus
    if gpus is None or gpus.objective == "total":
        return ceiling(Fraction(total))
    return ceiling(Fraction(total) / gpus.count)


def _bound_of_plans(instance: CacheInstance, cost: int) -> int | None:
    if instance.gpus is None:
        raise ValueError("proof.kind: plans of several GPUs, here is one")
    try:
        return cost if no_plan_below(instance, cost) else None
    except ValueError as error:
        raise ValueError(f"proof.cost: {error}") from None


def cost_of_misses(instance: CacheInstance, policy: PolicyName, misses: int) -> int:
    """Return the least cost of a policy other than the static one with at least so many misses."""
    assert instance.policy_cost is not None, "the policy has a cost"
    cost, c = instance.policy_cost.of(policy), miss_cost(instance)
    requested = sum(instance.frequency.values())
    held = min(instance.capacity, len(instance.frequency))
    slope = c + cost.admit + cost.evict - cost.hit
    worst = misses if slope >= 0 else requested
    return (cost.lookup + cost.hit) * requested - cost.evict * held + slope * worst


def best_static(instance: CacheInstance) -> list[int]:
    """Return the nodes that a static cache holds at the least cost; it may stay empty."""
    gain = {v: _static_gain(instance, v) for v in instance.frequency}
    ranked = sorted(gain, key=lambda v: (-gain[v], v))
    return [v for v in ranked[: instance.capacity] if gain[v] > 0]


def static_cost(instance: CacheInstance, held: Iterable[int]) -> int:
    """Return what a static cache of some nodes costs, in every order."""
    assert instance.policy_cost is not None, "the policy has a cost"
    requested = sum(instance.frequency.values())
    lookup = instance.policy_cost.static.lookup
    return (miss_cost(instance) + lookup) * requested - sum(_static_gain(instance, v) for v in held)


def _static_gain(instance: CacheInstance, node: int) -> int:
    """Return what holding a node saves at its uses, less its load and admission."""
    assert instance.policy_cost is not None, "the policy has a cost"
    cost, c = instance.policy_cost.static, miss_cost(instance)
    return (c - cost.hit) * instance.frequency[node] - c - cost.admit


def _excluded(instance: CacheInstance, capacity: int, reloads: int, field: str) -> bool:
    try:
        return no_order_within(instance.requests, capacity, reloads)
    except ValueError as error:
        raise ValueError(f"proof.{field}: {reloads}, {error}") from None
