"""Both sides' welfare of a sequence, and the simplest sequences to begin with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from gadgetopt.system.result import MethodOutcome, Status

from ...subproblems.offline import offline_optimum
from ...subproblems.prices import Payoff
from ...subproblems.replay import expected_welfare
from ..instance import AdversarialOnlineSequenceInstance, AdversarialOnlineSequenceSolution


@dataclass(frozen=True)
class Welfare:
    """A sequence with the policy's expected welfare and the offline optimum of it."""

    arrivals: tuple[int, ...]
    online: Fraction
    offline: Fraction

    def objective(self, payoff: Payoff) -> Fraction:
        """Return the ratio or the regret; the policy earns something if its prices are finite."""
        if payoff == "regret":
            return self.offline - self.online
        return self.offline / self.online if self.online else Fraction(0)


def welfare(instance: AdversarialOnlineSequenceInstance, arrivals: Sequence[int]) -> Welfare:
    """Return what both sides earn of a sequence of types."""
    values = [instance.types[j].value for j in arrivals]
    demands = [instance.types[j].demand for j in arrivals]
    return Welfare(
        tuple(arrivals),
        expected_welfare(instance.policy, values, demands),
        offline_optimum(instance.capacity, values, demands),
    )


def single_request(instance: AdversarialOnlineSequenceInstance) -> Welfare:
    """Return the worst sequence of one request."""
    single = [welfare(instance, [j]) for j in range(len(instance.types))]
    return max(single, key=lambda w: w.objective(instance.payoff))


def unbounded(instance: AdversarialOnlineSequenceInstance) -> MethodOutcome:
    """Return that the ratio is infinite: a stream of what is always refused earns nothing."""
    return MethodOutcome(
        proved=Status.UNBOUNDED,
        notes={"refused": f"types[{instance.refused[0]}]: refused even when nothing is sold"},
    )


def worse(instance: AdversarialOnlineSequenceInstance, first: Welfare, second: Welfare) -> Welfare:
    """Return the sequence that is worse for the prices; the first if both are alike."""
    payoff = instance.payoff
    return second if second.objective(payoff) > first.objective(payoff) else first


def outcome_of(instance: AdversarialOnlineSequenceInstance, best: Welfare) -> MethodOutcome:
    """Return the best sequence found as a method's outcome."""
    return MethodOutcome(
        solution=AdversarialOnlineSequenceSolution(arrivals=best.arrivals),
        claimed_objective=best.objective(instance.payoff),
    )
