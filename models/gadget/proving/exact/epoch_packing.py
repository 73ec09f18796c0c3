r"""Slots of each epoch that give every job its worker-slots: patterns and an integer program.

A relaxation gives worker-slots :math:`z_{ie}` of every job in every epoch; the slots of an epoch
are alike, so each epoch can be packed for itself. The patterns that `epoch_cuts` generates for the
linear program of one epoch are chosen :math:`x_p` times by

.. math::
    \max \textstyle\sum_i c_i, \qquad c_i \le \sum_p \kappa_{pi} x_p, \quad 0 \le c_i \le z_{ie}
    \quad \forall i, \qquad \sum_p x_p \le n_e, \qquad x_p \in \mathbb{Z}_{\ge 0}.

As in cutting stock, where the linear program covers all worker-slots, the integer one nearly always
does. Otherwise the duals give a Benders cut (all reconstructed).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, hstack, identity, vstack

from gadgetopt.numbers.arrays import Ints
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ...subproblems.schedule import (
    Schedule,
    trimmed,
)
from ...subproblems.slot_problem import Mapping
from ...terms import Terms
from ..certificate.epochs import Epochs
from .epoch_cuts import (
    EpochCut,
    SlotOracle,
    SlotPatterns,
)

#: Share of the time left that one epoch may take, and seconds of its integer program.
#: Tuned: `benchmarks/constants.py`.
PART, CHOICE_S = 0.5, 5.0
#: Numbers of slots that CP-SAT refills, attempt by attempt, and seconds for one and for all.
#: Tuned: `benchmarks/constants.py`.
REFILLED = (3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 8, 8)
REFILL_S, REPAIR_S = 3.0, 20.0


@dataclass(frozen=True)
class Packed:
    """What packing the epochs has led to.

    Attributes
    ----------
    schedule : Schedule
        It covers the worker-slots as far as was found.
    whole : bool
        True if it covers all of them.
    cuts : list of EpochCut
        Cuts that the worker-slots violate.
    """

    schedule: Schedule
    whole: bool
    cuts: list[EpochCut]


class EpochPacking:
    """The patterns of every epoch, kept from one relaxation to the next.

    Parameters
    ----------
    terms : Terms
    epochs : Epochs
    largest : sequence of int
        The largest ring of each job.
    oracle : function
        Solves slot problems, as in `SlotPatterns`.
    """

    def __init__(
        self, terms: Terms, epochs: Epochs, largest: Sequence[int] | Ints, oracle: SlotOracle
    ):
        self.terms, self.epochs = terms, epochs
        self.alone: list[SlotPatterns] = []
        for e in range(len(epochs.length)):
            absent = (epochs.first > e).astype(np.int64)
            one = Epochs(epochs.begin[[e]], epochs.length[[e]], absent)
            self.alone.append(SlotPatterns(terms, one, largest, oracle))

    def pack(self, wanted: Ints, most: Ints, limits: Limits, rng: np.random.Generator) -> Packed:
        """Pack worker-slots into the slots of each epoch.

        Parameters
        ----------
        wanted : array of int, shape (jobs, epochs)
            z.
        most : array of int, shape (jobs,)
            Worker-slots beyond which jobs lose surplus workers.
        limits : Limits
        rng : numpy.random.Generator
        """
        clock = Clock(limits)
        slots: list[tuple[Mapping, ...]] = [()] * self.terms.horizon
        cuts, whole = [], True
        for e, patterns in enumerate(self.alone):
            z = wanted[:, e]
            if not z.any():
                continue
            cut = patterns.separate(z, np.ones(len(z)), clock.limits(PART), rng)
            if cut is not None:
                cuts.append(self._everywhere(cut, e))
            begin = int(self.epochs.begin[e]) - 1
            chosen = _chosen(patterns, z, clock.limits(PART, CHOICE_S))
            if cut is None:
                chosen = self._completed(patterns, chosen, z, clock.limits(PART, REPAIR_S), rng)
            slots[begin : begin + len(chosen)] = chosen
            whole = whole and bool((trimmed(chosen, z).done == z).all())
        return Packed(trimmed(slots, most), whole, cuts)

    def _completed(
        self,
        patterns: SlotPatterns,
        chosen: list[tuple[Mapping, ...]],
        wanted: Ints,
        limits: Limits,
        rng: np.random.Generator,
    ) -> list[tuple[Mapping, ...]]:
        """Return slots that cover all worker-slots if CP-SAT can refill some of the chosen ones."""
        clock, slots = Clock(limits), int(patterns.epochs.length[0])
        chosen = [*chosen, *[()] * (slots - len(chosen))]
        for free in [*(n for n in REFILLED if n < slots), slots]:
            if (trimmed(chosen, wanted).done == wanted).all() or clock.expired:
                break
            # CP-SAT is loaded only where the patterns are not enough.
            from .cp_totals import cover

            kept = rng.permutation(slots)[free:].tolist()
            left = wanted - trimmed([chosen[t] for t in kept], wanted).done
            at_most = clock.limits(at_most_s=REFILL_S)
            seed = int(rng.integers(2**31))
            made = cover(self.terms, left, free, patterns.largest, at_most, seed)
            if made is not None:
                chosen = [*(chosen[t] for t in kept), *made]
        return chosen

    def _everywhere(self, cut: EpochCut, e: int) -> EpochCut:
        """Return the cut of one epoch as one of all: other slots hold no more of its jobs."""
        length, first = self.epochs.length, self.epochs.first
        most = int(cut.limit[0]) // int(length[e])
        present = first[None, :] <= np.arange(len(length))[:, None]
        return EpochCut(np.where(present, cut.weight[0], 0), length * most)


def _chosen(patterns: SlotPatterns, wanted: Ints, limits: Limits) -> list[tuple[Mapping, ...]]:
    """Return the slots of an epoch that cover most of the worker-slots."""
    from gadgetopt.solvers.highs import solve_form
    from gadgetopt.solvers.standard_form import Named, StandardForm

    jobs, count = np.flatnonzero(wanted), len(patterns.rings)
    if not count:
        return []
    sizes = np.zeros((len(wanted), count))
    for p, placed in enumerate(patterns.rings):
        for mapping in placed:
            sizes[mapping.job, p] += mapping.size
    slots = int(patterns.epochs.length[0])
    rows = hstack([csr_array(-sizes[jobs]), identity(len(jobs))])
    use = hstack([csr_array(np.ones((1, count))), csr_array((1, len(jobs)))])
    form = StandardForm(
        columns=[Named(f"pattern or job {c}") for c in range(count + len(jobs))],
        col_lower=np.zeros(count + len(jobs)),
        col_upper=np.r_[np.full(count, float(slots)), wanted[jobs].astype(float)],
        integer=np.r_[np.ones(count, dtype=bool), np.zeros(len(jobs), dtype=bool)],
        c=np.r_[np.zeros(count), np.ones(len(jobs))],
        offset=0.0,
        sense="max",
        A=csr_array(vstack([rows, use])),
        row_lower=np.full(len(jobs) + 1, -np.inf),
        row_upper=np.r_[np.zeros(len(jobs)), float(slots)],
        rows=[Named(f"row {r} of the patterns") for r in range(len(jobs) + 1)],
        unused=[],
    )
    solved = solve_form(form, limits)
    if solved.values is None:
        return []
    times = np.round(solved.values[:count]).astype(int).tolist()
    return [placed for placed, n in zip(patterns.rings, times, strict=True) for _ in range(n)]
