"""The best lower bound by formulas: load, chains, warm-up, cool-down and rounds through memory.

Then that of single devices with heads and tails, and by contradiction, which take longer, if the
instance is not large.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...contradiction import is_refuted
from ...heads_tails import HeadsTails
from ...instance import PipelineSchedulesInstance
from ...shop import Shop, shop_of
from ..certificate import (
    Chain,
    Contradiction,
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
#: Without a schedule, the ticks of a contradiction are exact to this part.
#: Tuned: `benchmarks/pipeline_schedules_bounds.py`.
PARTS = 1000


@method(kind="relaxation", reference="this project", formulation="formulas")
def formulas(instance: PipelineSchedulesInstance, limits: Limits) -> MethodOutcome:
    """The largest of (B1) to (B7), each checked by its formula alone; (B7) in steps of 0.1 %.

    Raises
    ------
    ModelRefused
        If devices may do more than F, I and W.
    """
    shop, clock = shop_of(instance), Clock(limits)
    ticks, certificate = _largest([*all_bounds(shop), *machine_bounds(shop)])
    step = ticks // PARTS + 1
    for _, proof in contradictions(shop, ticks + 1, 2 * ticks, clock, step):
        certificate = PipelineSchedulesCertificate(proof=proof)
    return MethodOutcome(certificate=certificate, limit_hit=clock.limit_hit)


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


def contradictions(
    shop: Shop, least: int, most: int, clock: Clock, step: int = 1
) -> Iterator[tuple[int, Proof]]:
    """Yield (B7) of more and more ticks, `least` to `most`, until no more is refuted in time.

    First `most`, the ticks of a schedule, which ends the search if nothing is shorter; then the
    halves between what is refuted and what is not, until they are shorter than a step.
    """

    def goes_on() -> bool:
        return not clock.expired

    begins = list(range(len(shop.on_device)) if shop.period else range(1))
    tried = most
    while least + step <= most + 1 and not clock.expired:
        proofs = (Contradiction(ticks=tried, begin=d) for d in begins if goes_on())
        proof = next((p for p in proofs if is_refuted(shop, p.ticks, p.begin, goes_on)), None)
        if proof is None:
            most = tried - 1
        else:
            least = tried + 1
            yield tried, proof
            begins.sort(key=proof.begin.__ne__)  # what refuted one may refute the next
        tried = (least + most + 1) // 2


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
