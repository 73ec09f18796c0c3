"""The bound of bottlenecks and heavy paths, for a free order of fixed batches."""

from __future__ import annotations

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import CacheInstance
from ..certificate.check import CacheCertificate, Compulsory, NoOrderWithin, is_plain
from ..prefix_search import PrefixSearch
from ..reload_tables import MOST_BATCHES, OutOfTimeError


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
