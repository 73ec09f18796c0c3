"""Checks of slots: a packing of a slot's items, or the cut or conflict that rules them out.

Slots share no machines and capacities do not depend on the slot, so a verdict on a set of items
holds in every slot (reconstructed).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ...terms import Terms
from .machine_patterns import (
    Cut,
    Pool,
    pack_by_patterns,
)
from .slot_packing import (
    UNKNOWN,
    Item,
    Packing,
    fill_machines,
    pack,
    pack_exactly,
)

Items = tuple[Item, ...]

#: Seconds for the patterns of a slot, and for CP-SAT's search. Tuned: `benchmarks/constants.py`.
PATTERNS_S = 2.0
EXACT_S = 2.0
#: Machines times items up to which CP-SAT decides at once, and above which it rarely decides what
#: patterns do not. Tuned: `benchmarks/constants.py`.
FEW_PAIRS, MOST_PAIRS = 40, 100
#: Seconds for one test of a smaller conflict. Tuned: `benchmarks/constants.py`.
CONFLICT_S = 0.5


@dataclass(frozen=True)
class SlotVerdict:
    """Verdict on a slot's items: a packing, or the cut or conflict that rules them out."""

    packing: Packing
    cut: Cut | None = None
    conflict: Items | None = None


@dataclass
class SlotChecks:
    """Verdicts on sets of items, each found once.

    Attributes
    ----------
    terms : Terms
    clock : Clock
        Of the search that they are part of.
    """

    terms: Terms
    clock: Clock
    _known: dict[Items, SlotVerdict] = field(default_factory=dict)
    _pool: Pool = field(default_factory=dict)

    def check(self, items: Items) -> SlotVerdict:
        """Pack the items, or prove that they do not fit."""
        if items not in self._known:
            verdict = self._decide(items)
            if verdict.packing.fits is None:
                return verdict
            self._known[items] = verdict
        return self._known[items]

    def _decide(self, items: Items) -> SlotVerdict:
        counts = fill_machines(self.terms, items)
        if counts is not None:
            return SlotVerdict(Packing(True, dict(counts)))
        packing = UNKNOWN
        if len(self.terms.capacity) * len(items) <= FEW_PAIRS:
            packing = pack_exactly(self.terms, items, self._limits(EXACT_S))
            if packing.fits:
                return SlotVerdict(packing)
        outcome = pack_by_patterns(
            self.terms, items, self._limits(PATTERNS_S), self._pool, choose=packing.fits is None
        )
        if outcome.packing.fits is not None:
            nothing_else = outcome.packing.fits is False and outcome.cut is None
            conflict = self._smallest(items) if nothing_else else None
            return SlotVerdict(outcome.packing, outcome.cut, conflict)
        if packing.fits is None and len(self.terms.capacity) * len(items) <= MOST_PAIRS:
            packing = pack_exactly(self.terms, items, self._limits(EXACT_S))
        return SlotVerdict(packing, None, self._smallest(items) if packing.fits is False else None)

    def _smallest(self, items: Items) -> Items:
        """Return a conflict of few jobs and few workers: none can be taken away."""
        kept = items
        for item in items:
            rest = tuple(other for other in kept if other.job != item.job)
            if self._does_not_fit(rest):
                kept = rest
        for item in kept:
            # Bisection: fewer workers, and their servers, are never harder to place.
            fits, fails = 0, item.workers
            while fails - fits > 1:
                n = (fits + fails) // 2
                fewer = tuple(
                    replace(other, workers=n) if other.job == item.job else other for other in kept
                )
                if self._does_not_fit(fewer):
                    fails = n
                else:
                    fits = n
            kept = tuple(
                replace(other, workers=fails) if other.job == item.job else other for other in kept
            )
        return kept

    def _does_not_fit(self, items: Items) -> bool:
        return pack(self.terms, items, self._limits(CONFLICT_S)).fits is False

    def _limits(self, time_s: float) -> Limits:
        return self.clock.limits(at_most_s=time_s)
