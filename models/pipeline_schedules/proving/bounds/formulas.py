"""The best lower bound by formulas: load, chains, warm-up, cool-down and rounds through memory.

Then that of single devices with heads and tails, which takes longer, if the instance is not large.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ...heads_tails import HeadsTails
from ...instance import PipelineSchedulesInstance
from ...shop import Shop, shop_of
from ..certificate import (
    Chain,
    Machine,
    OfDevice,
    PipelineSchedulesCertificate,
    Proof,
    Rounds,
    ticks_of,
)

#: Heads and tails of single devices are computed up to so many operations, squared, times begins:
#: about ten seconds. Tuned: `benchmarks/pipeline_schedules_bounds.py`.
MOST_WORK = 10**7


@method(kind="relaxation", reference="this project", formulation="formulas")
def formulas(instance: PipelineSchedulesInstance) -> MethodOutcome:
    """The largest of (B1) to (B6), each checked by its formula alone.

    Raises
    ------
    ModelRefused
        If devices may do more than F, I and W.
    """
    shop = shop_of(instance)
    return MethodOutcome(certificate=_largest([*all_bounds(shop), *machine_bounds(shop)])[1])


def best_certificate(shop: Shop) -> tuple[int, PipelineSchedulesCertificate]:
    """Return the largest of (B1) to (B5) in ticks, and its certificate."""
    return _largest(all_bounds(shop))


def _largest(bounds: Iterable[tuple[int, Proof]]) -> tuple[int, PipelineSchedulesCertificate]:
    """Return the first of the largest bounds, with its certificate."""
    bound, best = max(bounds, key=lambda found: found[0])
    return bound, PipelineSchedulesCertificate(proof=best)


def machine_bounds(shop: Shop) -> Iterator[tuple[int, Proof]]:
    """Yield (B6) of every device, with its bound in ticks; nothing of large instances."""
    devices = range(len(shop.on_device))
    begins = devices if shop.period else range(1)
    if (3 * sum(shop.microbatches)) ** 2 * len(begins) > MOST_WORK:
        return
    for begin in begins:
        known = HeadsTails(shop, begin)
        for device in devices:
            ticks = known.bound(device)
            if ticks is not None:
                yield ticks, Machine(device=device, begin=begin)


def all_bounds(shop: Shop) -> Iterator[tuple[int, Proof]]:
    """Yield every formula of (B1) to (B5) that says something, with its bound in ticks."""
    for proof in _proofs(shop):
        ticks = ticks_of(shop, proof)
        if ticks is not None:
            yield ticks, proof


def _proofs(shop: Shop) -> Iterator[Proof]:
    for d in range(len(shop.on_device)):
        yield OfDevice(kind="load", device=d)
        yield OfDevice(kind="warm_up", device=d)
        yield OfDevice(kind="windows", device=d)
    for route in shop.routes:
        for s in route:
            for r in route:
                if r <= s:
                    yield Chain(stage=s, to_stage=r)
    for s, count in enumerate(shop.microbatches):
        a, capacity = shop.a[s], shop.capacity
        if capacity is not None and a and capacity[shop.device[s]] >= a:
            yield Rounds(stage=s, rounds=(count - 1) // (capacity[shop.device[s]] // a))
