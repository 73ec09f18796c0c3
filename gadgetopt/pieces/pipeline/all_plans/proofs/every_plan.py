"""The check of a proof that no plan has a schedule shorter than a number of seconds.

It shares no function with the searches that find such a number. All plans are gone through below
it (`plans`). Of each that is left the exact times are bounded (`orders`): by heads, loads and
tails; by the blocks of one machine; by a proof of the certificate about times that are no longer.
A plan for which this is not enough lowers what is proved to its bound; so a number that is too
large proves no more than what is true, and takes hardly longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gadgetopt.numbers.memory import MOST_CELLS
from gadgetopt.pieces.pipeline.all_plans.proofs.orders import MOST_PLAIN, OrderProof, Orders, Times
from gadgetopt.pieces.pipeline.all_plans.proofs.plans import Plans
from gadgetopt.pieces.pipeline.instance import PipelineInstance

#: Plans whose bounds are kept, of 8 kB of times each.
MOST_KEPT = MOST_CELLS // 10_000


class PlanProofs:
    """What is proved of single plans."""

    def __init__(self, instance: PipelineInstance, claim_s: Fraction, proofs: Sequence[OrderProof]):
        self.count = instance.num_microbatches
        self.full_duplex: bool = instance.duplex == "full"
        self.claim_s = claim_s
        self.proofs = [(proof.times, proof.parts) for proof in proofs]
        self._steps = 0
        self._least: dict[Times, Fraction] = {}
        self._proved: list[Times] | None = None

    def _orders(self, times: Times, parts: int = 1) -> Orders:
        self._steps += parts * len(times.fwd) * self.count**2
        compiled = self._steps > MOST_PLAIN
        return Orders(times, self.count, self.full_duplex, compiled=compiled)

    def least_s(self, times: Times, bound_s: Fraction) -> Fraction:
        """Return a number of seconds that no schedule of a plan undercuts."""
        known = self._least.get(times)
        if known is None:
            if any(times.no_shorter_than(x) for x in self.proved):
                known = self.claim_s
            else:
                known = self._orders(times).least_s(bound_s)
            if len(self._least) == MOST_KEPT:
                self._least.clear()
            self._least[times] = known
        return known

    @property
    def proved(self) -> list[Times]:
        """Times for which the certificate proves that no schedule is shorter than the claim."""
        if self._proved is None:
            self._proved = [
                times
                for times, parts in self.proofs
                if self._orders(times, len(parts)).none_before(self.claim_s, parts)
            ]
        return self._proved


def proved_makespan_s(
    instance: PipelineInstance, claim_s: Fraction, proofs: Sequence[OrderProof] = ()
) -> Fraction:
    """Return a number of seconds that no plan and schedule undercut, at most what is claimed.

    Parameters
    ----------
    instance : PipelineInstance
    claim_s : Fraction
    proofs : sequence of OrderProof
        That single plans have no shorter schedule.

    Raises
    ------
    ModelRefused
        If the plans are too many.
    ValueError
        If a proof is none.
    """
    single, bound_s = PlanProofs(instance, claim_s, proofs), claim_s
    while bound_s > 0:
        plans = Plans(instance, bound_s, single.least_s)
        proved_s = plans.proved_s()
        if proved_s is not None:
            return proved_s
        bound_s = plans.bound_s
    return bound_s
