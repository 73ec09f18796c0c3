"""The bounds of bottlenecks and heavy paths, for a free order of fixed batches."""

from __future__ import annotations

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import CacheInstance
from ..certificate.check import (
    BothCaches,
    CacheCertificate,
    Compulsory,
    NoOrderWithin,
    is_plain,
    is_plain_but_for_host,
)
from ..prefix_search import PrefixSearch
from ..reload_tables import MOST_BATCHES, OutOfTimeError

#: States of a search up to which its check is left to the toolkit.
#: Tuned: `benchmarks/constants.py`.
MOST_CHECKED = 300_000


@method(kind="relaxation", reference="this project", formulation="order_tables")
def order_tables(instance: CacheInstance, limits: Limits) -> MethodOutcome:
    r"""Bottlenecks and heaviest paths over all sets of batches, for a free order.

    Return the larger of two bounds on the reloads of all orders, with the compulsory loads.

    See `proving/reload_tables.py`. :math:`O(2^M M (M + X))` for M batches and X reloads.

    Raises
    ------
    ModelRefused
        If not only the order of at most 20 fixed batches is free, or misses differ in cost.
    """
    check_plain(instance)
    clock = Clock(limits)
    batches = [list(nodes) for nodes in instance.requests]
    try:
        reloads = PrefixSearch(batches, instance.capacity, clock).root_bound()
    except OutOfTimeError:
        certificate = CacheCertificate(proof=Compulsory())
        return MethodOutcome(certificate=certificate, limit_hit="time_s")
    return MethodOutcome(certificate=no_order_below(reloads))


@method(kind="relaxation", reference="this project", formulation="order_tables_of_both")
def both_caches(instance: CacheInstance, limits: Limits) -> MethodOutcome:
    r"""Reloads of the device alone, and of device and host as one cache, for a free order.

    Return :math:`c |\cup B| + c' R(K) + (c - c') R(K + K')` for equal weights, where R is the least
    number of reloads over all orders, found by the search over prefixes.

    Raises
    ------
    ModelRefused
        If not only the order of at most 20 fixed batches is free, or misses differ in cost.
    """
    if not is_plain_but_for_host(instance) or instance.num_batches > MOST_BATCHES:
        raise ModelRefused(
            f"needs a free order of at most {MOST_BATCHES} fixed batches, misses of one cost and "
            "unit sizes"
        )
    clock = Clock(limits)
    return MethodOutcome(
        certificate=least_reloads_of_both(instance, clock),
        limit_hit="time_s" if clock.expired else None,
    )


def least_reloads_of_both(instance: CacheInstance, clock: Clock) -> CacheCertificate:
    """Return the least reloads that the clock leaves time to prove, as a certificate."""
    device = least_reloads(instance, instance.capacity, clock)
    both = least_reloads(instance, instance.capacity + instance.host_capacity, clock)
    if device == both == 0:
        return CacheCertificate(proof=Compulsory())
    return CacheCertificate(proof=BothCaches(device_reloads=device, both_reloads=both))


def least_reloads(instance: CacheInstance, capacity: int, clock: Clock) -> int:
    """Return the least reloads of a cache over all orders, or what is proved of them in time."""
    proved = 0
    try:
        prefixes = PrefixSearch(
            [list(nodes) for nodes in instance.requests], capacity, clock, MOST_CHECKED
        )
        proved = prefixes.root_bound()
        while prefixes.order_within(proved) is None:
            proved += 1
    except OutOfTimeError:
        pass
    return proved


def no_order_below(reloads: int) -> CacheCertificate:
    """Return the certificate that every order has so many reloads."""
    if reloads == 0:
        return CacheCertificate(proof=Compulsory())
    return CacheCertificate(proof=NoOrderWithin(reloads=reloads - 1))


def check_plain(instance: CacheInstance) -> None:
    """Refuse an instance of which tables over sets of batches say nothing.

    Raises
    ------
    ModelRefused
    """
    if not is_plain(instance):
        raise ModelRefused(
            "needs a free order of fixed batches, misses of one cost, unit sizes and one cache"
        )
    if instance.num_batches > MOST_BATCHES:
        raise ModelRefused(
            f"requests: {instance.num_batches} batches, tables take at most {MOST_BATCHES}"
        )
