r"""The least shares with which no stage takes longer than a time, and what they leave.

For a time :math:`\theta` the stages but the cache need :math:`\lceil T / \theta \rceil` cores or
units, at least 1, and the cache gets the rest. So the least feasible :math:`\theta` is found by
parametric search: first among the values T / n, by bisection in each stage; between two neighbours
of these the shares do not change, and the cache's time alone decides.
"""

from __future__ import annotations

from fractions import Fraction

from ..instance import ResourcesInstance, ResourcesSolution


def _share(work: Fraction, theta: Fraction) -> int:
    """Return the least whole share with which work takes no longer than theta, at least 1."""
    if not work:
        return 1
    return max(1, -(-work.numerator * theta.denominator // (work.denominator * theta.numerator)))


def allocation(instance: ResourcesInstance, theta: Fraction) -> ResourcesSolution | None:
    """Return an allocation of which no stage takes longer than theta; None if there is none."""
    shares = _shares(instance, theta)
    return None if shares is None else _solution(instance, shares)


def _shares(instance: ResourcesInstance, theta: Fraction) -> tuple[int, int, int] | None:
    """Return the least cores of requests and processing and units of subgraphs, if they suffice."""
    if theta < instance.fixed_s or theta <= 0:
        return (1, 1, 1) if theta == 0 == _with_one_each(instance) else None
    process = _share(instance.process_core_s, theta)
    subgraph = _share(instance.subgraph_unit_s, theta)
    cores, units = instance.worker_cores - process, instance.pcie_units - subgraph
    if cores < 1 or units < 1:
        return None
    request = _share(instance.request_core_s, theta)
    if request + _share(instance.construct_core_s, theta) > instance.store_cores:
        return None
    if instance.cache_s(cores, units) > theta:
        return None
    return request, process, subgraph


def _solution(instance: ResourcesInstance, shares: tuple[int, int, int]) -> ResourcesSolution:
    request, process, subgraph = shares
    return ResourcesSolution(
        request_cores=request,
        construct_cores=instance.store_cores - request,
        process_cores=process,
        cache_cores=instance.worker_cores - process,
        subgraph_units=subgraph,
        feature_units=instance.pcie_units - subgraph,
    )


def least_time(instance: ResourcesInstance) -> Fraction | None:
    r"""Return the least time of the slowest stage; None if there are too few cores or units.

    :math:`O(\log C + \log B)` steps in rationals.
    """
    if not instance.has_shares:
        return None
    low = Fraction(-1)  # not feasible
    high = _with_one_each(instance)  # feasible
    stages = (
        (instance.request_core_s, instance.store_cores),
        (instance.construct_core_s, instance.store_cores),
        (instance.process_core_s, instance.worker_cores),
        (instance.subgraph_unit_s, instance.pcie_units),
    )
    for work, most in stages:
        if not work:
            continue
        # T / n falls with n: the largest n at which it is feasible.
        fits, fails = 0, most + 1
        while fails - fits > 1:
            n = (fits + fails) // 2
            value = work / n
            if value >= high or (value > low and _shares(instance, value) is not None):
                fits = n
                high = min(high, value)
            else:
                fails = n
                low = max(low, value)
    if low < instance.fixed_s:
        if _shares(instance, instance.fixed_s) is not None:
            return min(high, instance.fixed_s)
        low = instance.fixed_s
    between = (low + high) / 2
    cores = instance.worker_cores - _share(instance.process_core_s, between)
    units = instance.pcie_units - _share(instance.subgraph_unit_s, between)
    if cores < 1 or units < 1:
        return high
    cache = instance.cache_s(cores, units)
    return cache if low < cache < high and _shares(instance, cache) is not None else high


def _with_one_each(instance: ResourcesInstance) -> Fraction:
    """Return the time of an allocation in which every stage has one core or unit."""
    return max(
        instance.fixed_s,
        instance.request_core_s,
        instance.construct_core_s,
        instance.process_core_s,
        instance.subgraph_unit_s,
        instance.cache_s(1, 1),
    )


def shadow_prices(instance: ResourcesInstance) -> dict[str, Fraction]:
    """Return by how much one more core or unit shortens the slowest stage, in seconds.

    Returns
    -------
    dict
        Of `store_cores`, `worker_cores` and `pcie_units`; empty if there are too few of them.
    """
    now = least_time(instance)
    if now is None:
        return {}
    prices = {}
    for name in ("store_cores", "worker_cores", "pcie_units"):
        more = instance.model_copy(update={name: getattr(instance, name) + 1})
        then = least_time(more)
        assert then is not None, "more shares do not make an instance infeasible"
        prices[name] = now - then
    return prices
