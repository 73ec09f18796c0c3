"""The best upper bound on the throughput: load, ways, rounds, cycles, or work to be done."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import OneflowActorsInstance
from ..certificate import (
    Cycles,
    OneflowActorsCertificate,
    Proof,
    WeightedStream,
    Work,
    check_bound,
)
from .cycles import StartsProgram
from .rounds import best_round
from .ways import ways_proof


@method(kind="relaxation", reference="reconstructed", formulation="bounds")
def bounds(instance: OneflowActorsInstance, limits: Limits) -> MethodOutcome:
    """The best of load, ways through memory, rounds, and cycles weighted by a linear program."""
    clock = Clock(limits)
    found = best_certificate(instance, clock)
    return MethodOutcome(
        certificate=found[1], phases_s=clock.phases_s, notes={"formula": found[1].proof.kind}
    )


def best_certificate(
    instance: OneflowActorsInstance, clock: Clock
) -> tuple[Fraction, OneflowActorsCertificate]:
    """Return the least upper bound on the throughput, and its certificate."""
    found = []
    for n, proof in enumerate(proofs(instance, clock)):
        certificate = OneflowActorsCertificate(proof=proof)
        bound = check_bound(instance, certificate)
        if bound is not None:
            found.append((bound, n, certificate))
    bound, _, certificate = min(found, key=lambda item: item[:2])
    return bound, certificate


def proofs(instance: OneflowActorsInstance, clock: Clock) -> Iterator[Proof]:
    """Yield proofs, the load or the work of each stream first."""
    if instance.num_microbatches is not None:
        for actors in instance.actors_of_stream.values():
            yield Work(actors=tuple(actors))
            for a in actors if len(actors) > 1 else ():
                yield Work(actors=(a,))
        return
    loads = [
        sum(instance.ticks[a] for a in actors) for actors in instance.actors_of_stream.values()
    ]
    busiest = max(range(len(loads)), key=lambda s: (loads[s], -s))
    yield Cycles(streams=(WeightedStream(weight=Fraction(1), stream=busiest),))
    with clock.phase("ways"):
        ways = ways_proof(instance, loads[busiest])
    if ways is not None:
        yield ways
    with clock.phase("rounds"):
        rounds = best_round(instance)
    if rounds is not None:
        yield rounds
    if clock.expired:
        return
    with clock.phase("cycles"):
        cycles = StartsProgram(instance).solve(clock.limits())
    if cycles is not None:
        yield cycles
