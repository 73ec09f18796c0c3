"""The best lower bound by formulas: load, chains, warm-up, cool-down and rounds through memory."""

from __future__ import annotations

from collections.abc import Iterator

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ...instance import PipelineSchedulesInstance
from ...shop import Shop, shop_of
from ..certificate import Chain, OfDevice, PipelineSchedulesCertificate, Proof, Rounds, ticks_of


@method(kind="relaxation", reference="this project", formulation="formulas")
def formulas(instance: PipelineSchedulesInstance) -> MethodOutcome:
    """The largest of (B1) to (B5), each checked by its formula alone.

    Raises
    ------
    ModelRefused
        If devices may do more than F, I and W.
    """
    return MethodOutcome(certificate=best_certificate(shop_of(instance))[1])


def best_certificate(shop: Shop) -> tuple[int, PipelineSchedulesCertificate]:
    """Return the largest bound in ticks, and its certificate."""
    bound, best = max(
        ((ticks, n, proof) for n, (ticks, proof) in enumerate(all_bounds(shop))),
        key=lambda found: (found[0], -found[1]),
    )[::2]
    return bound, PipelineSchedulesCertificate(proof=best)


def all_bounds(shop: Shop) -> Iterator[tuple[int, Proof]]:
    """Yield every formula that says something, with its bound in ticks."""
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
