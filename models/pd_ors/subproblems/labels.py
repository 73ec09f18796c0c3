r"""Label setting: the cheapest way to spread a job's work over slots.

Algorithms 2 and 3, after PD-ORS. Slots interact through the total of their progress only, so that
with the least cost
:math:`\theta(t, v)` of progress v in slot t

.. math::
    \Theta(\tilde t, V) = \min_{0 \le v \le V} \theta(\tilde t, v) + \Theta(\tilde t - 1, V - v)
    \qquad (12)

Only the breakpoints of the step function :math:`\theta(t, \cdot)` matter, at most 2F a slot. What
differs between the variants is the unit in which progress is counted, always a whole number:

* `exact_scale`: a whole number for each :math:`\sigma A + B` (A internal and B external
  worker-slots), in the same order and with the same ties, so that nothing is rounded
  (reconstructed);
* `quantised_scale`: Q quanta are the work, progress is rounded down to quanta: plans stay feasible
  and may cost more (reconstructed);
* `sample_scale`: samples, E K for the whole work, as the recursion is printed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Bools, Floats, Ints
from gadgetopt.numbers.memory import MOST_CELLS

from ..terms import JobTerms

#: Up to this many units of work, costs are kept for every number of units, else as labels.
#: Tuned: `benchmarks/constants.py`.
DENSE = 4096

#: More labels than are looked at in a slot.
MOST_LABELS = MOST_CELLS
#: More steps than the recursion over samples makes. Tuned: `benchmarks/constants.py`.
MOST_STEPS = 100_000_000


@dataclass(frozen=True)
class Scale:
    """Progress of n workers in a slot, in whole units, and the units of the work.

    Attributes
    ----------
    internal, external : array of int, shape (F + 1,)
    level : int
        A job is done if and only if its units come to at least this.
    """

    internal: Ints
    external: Ints
    level: int


def exact_scale(job: JobTerms) -> Scale:
    """Return units in which sums compare as the exact worker-slots do (reconstructed).

    The order of two sums A sigma + B, with A up to N, is that of sigma and a fraction of a
    denominator up to N. So sigma may be replaced by any number between the same two neighbours
    among these fractions; there is one of a denominator up to 2 N.

    Raises
    ------
    ModelRefused
        If the job cannot complete within the horizon.
    """
    needed = job.external_needed
    sigma = same_order(job.sigma, max(1, len(needed) - 1))
    n = np.arange(job.batch + 1, dtype=np.int64)
    p, q = sigma.numerator, sigma.denominator
    level = int((p * np.arange(len(needed), dtype=np.int64) + q * needed).min())
    return Scale(np.minimum(p * n, level), np.minimum(q * n, level), level)


def same_order(x: Fraction, most: int) -> Fraction:
    """Return a fraction of small terms that no fraction of a denominator up to `most` parts from x.

    It is x itself if its denominator is at most that, and else the mediant of the two neighbours of
    x, which come from its continued fraction.
    """
    if x.denominator <= most:
        return x
    p0, q0, p1, q1 = 0, 1, 1, 0
    a, b = x.numerator, x.denominator
    while True:
        k = a // b
        if q0 + k * q1 > most:
            break
        p0, q0, p1, q1 = p1, q1, p0 + k * p1, q0 + k * q1
        a, b = b, a - k * b
    k = (most - q0) // q1
    return Fraction(p0 + (k + 1) * p1, q0 + (k + 1) * q1)


def quantised_scale(job: JobTerms, quanta: int) -> Scale:
    """Return units that divide the work into `quanta`; progress is rounded down (reconstructed)."""
    if quanta < 1:
        raise ValueError(f"quanta: {quanta} is not a positive integer")
    external = quanta / job.work
    return Scale(
        _floors(external * job.sigma, job.batch, quanta),
        _floors(external, job.batch, quanta),
        quanta,
    )


def sample_scale(job: JobTerms) -> Scale:
    """Return samples as units, as the recursion is printed.

    Raises
    ------
    ModelRefused
        If the recursion would take more than `MOST_STEPS` steps.
    """
    level = job.job.epochs * job.job.samples
    slots = job.instance.horizon_slots - job.arrival + 1
    steps = level * slots * 2 * job.batch
    if steps > MOST_STEPS:
        raise ModelRefused(
            f"job {job.index}: the recursion over {level} samples and {slots} slots takes "
            f"{steps} steps, more than {MOST_STEPS}"
        )
    return Scale(
        _floors(1 / job.kappa_internal, job.batch, level),
        _floors(1 / job.kappa_external, job.batch, level),
        level,
    )


def _floors(step: Fraction, batch: int, most: int) -> Ints:
    p, q = step.numerator, step.denominator
    return np.array([min(most, n * p // q) for n in range(batch + 1)], dtype=np.int64)


@dataclass(frozen=True)
class Front:
    """The undominated options of a job in a slot: more progress only at more cost.

    Attributes
    ----------
    progress : array of int, shape (options,)
        In units of a scale, increasing, at least 1.
    cost : array of float, shape (options,)
        Increasing.
    internal : array of bool, shape (options,)
        True if all workers and servers are on one machine.
    workers : array of int, shape (options,)
    """

    progress: Ints
    cost: Floats
    internal: Bools
    workers: Ints


def front(internal: Floats, external: Floats, scale: Scale) -> Front:
    """Return the options worth having among the least costs of n workers, infinite if impossible.

    Of equally good options the one of fewer workers is kept, and then the internal one.

    Parameters
    ----------
    internal, external : array of float, shape (F + 1,)
    scale : Scale
    """
    cost = np.concatenate([internal, external])
    progress = np.concatenate([scale.internal, scale.external])
    options = np.flatnonzero((cost < np.inf) & (progress > 0))
    workers = options % len(internal)
    order = np.lexsort((workers, cost[options], -progress[options]))
    best = cost[options[order]]
    before = np.concatenate([[np.inf], np.minimum.accumulate(best)[:-1]])
    kept = options[order[best < before]][::-1]
    return Front(progress[kept], cost[kept], kept < len(internal), kept % len(internal))


#: One step of a chain: position of the slot among those given, and option of its front.
Step = tuple[int, int]


@dataclass(frozen=True)
class Chain:
    """The cheapest choice of options with which the work is done in a given slot, and not before.

    Attributes
    ----------
    cost : float
    steps : tuple of (slot position, option)
        In order of slots; the last is in the slot of completion.
    """

    cost: float
    steps: tuple[Step, ...]


def cheapest_chains(
    fronts: Sequence[Front], level: int, forced: Sequence[bool] | None = None
) -> list[Chain | None]:
    """Return for every slot the cheapest chain that completes there; None if there is none.

    Parameters
    ----------
    fronts : sequence of Front
        Of the slots from the arrival on.
    level : int
        Units of the work.
    forced : sequence of bool, optional
        Slots in which the job has to run.

    Raises
    ------
    ModelRefused
        If there would be more than `MOST_LABELS` labels in a slot.
    """
    skips = [True] * len(fronts) if forced is None else [not f for f in forced]
    last = max((k for k, skip in enumerate(skips) if not skip), default=0)
    run = _dense if level <= DENSE else _sparse
    chains = run(fronts, level, skips)
    return [chain if k >= last else None for k, chain in enumerate(chains)]


class _Links:
    """Chains of options: the last option taken, and the link before it.

    Slots without an option leave no link, so that memory grows with the options taken, not with the
    horizon.
    """

    def __init__(self) -> None:
        self._first: list[int] = []
        self._slot: list[int] = []
        self._option: list[Ints] = []
        self._before: list[Ints] = []
        self._count = 0

    def add(self, slot: int, option: Ints, before: Ints) -> Ints:
        """Add links of a slot, each with the number of the one before it or -1; number them."""
        numbers = np.arange(self._count, self._count + len(option))
        self._first.append(self._count)
        self._slot.append(slot)
        self._option.append(option)
        self._before.append(before)
        self._count += len(option)
        return numbers

    def steps(self, link: int) -> list[Step]:
        """Return the steps that end with a link, in order of slots; none for -1."""
        steps = []
        while link >= 0:
            layer = bisect_right(self._first, link) - 1
            at = link - self._first[layer]
            steps.append((self._slot[layer], int(self._option[layer][at])))
            link = int(self._before[layer][at])
        return steps[::-1]


def _dense(fronts: Sequence[Front], level: int, skips: list[bool]) -> list[Chain | None]:
    """Least cost of every number of units short of the work, slot by slot."""
    cost = np.full(2 * level, np.inf)  # the lower half stands for less than nothing
    cost[level] = 0.0
    units = np.arange(level, 2 * level)
    links, link = _Links(), np.full(level, -1)
    chains: list[Chain | None] = []

    for k, f in enumerate(fronts):
        now = cost[level:]
        if len(f.progress) == 0:
            chains.append(None)
            if not skips[k]:
                cost = np.full(2 * level, np.inf)
            continue
        tail = np.minimum.accumulate(now[::-1])[::-1]
        totals = tail[level - f.progress] + f.cost
        option = int(totals.argmin())
        if totals[option] < np.inf:
            first = level - int(f.progress[option])
            at = first + int(now[first:].argmin())
            steps = (*links.steps(int(link[at])), (k, option))
            chains.append(Chain(float(totals[option]), steps))
        else:
            chains.append(None)
        reached = cost[units - f.progress[:, None]] + f.cost[:, None]
        best = reached.argmin(axis=0)
        value = reached[best, np.arange(level)]
        better = value < now if skips[k] else value < np.inf
        at_better = np.flatnonzero(better)
        chosen = best[at_better]
        link[at_better] = links.add(k, chosen, link[at_better - f.progress[chosen]])
        rest = now if skips[k] else np.full(level, np.inf)
        cost = np.concatenate([cost[:level], np.where(better, value, rest)])
    return chains


def _sparse(fronts: Sequence[Front], level: int, skips: list[bool]) -> list[Chain | None]:
    """Pareto labels (units, cost) short of the work, slot by slot."""
    units, cost = np.zeros(1, dtype=np.int64), np.zeros(1)
    links, link = _Links(), np.full(1, -1)
    chains: list[Chain | None] = []
    most = [int(f.progress[-1]) if len(f.progress) else 0 for f in fronts]
    still = np.concatenate([np.cumsum(most[::-1])[::-1], [0]])

    for k, f in enumerate(fronts):
        chains.append(None)
        # Labels grow in cost with their units, so the first that suffices is the cheapest.
        first = np.searchsorted(units, level - f.progress)
        totals = np.append(cost, np.inf)[first] + f.cost
        if len(totals) and totals.min() < np.inf:
            option = int(totals.argmin())
            steps = (*links.steps(int(link[first[option]])), (k, option))
            chains[k] = Chain(float(totals[option]), steps)
        own = np.arange(len(units)) if skips[k] else np.zeros(0, dtype=np.int64)
        if len(units) * len(f.progress) > MOST_LABELS:
            raise ModelRefused(
                f"exact progress: {len(units)} labels by {len(f.progress)} options in a slot, "
                f"more than {MOST_LABELS}"
            )
        reached = (units[:, None] + f.progress).ravel()
        short = np.flatnonzero(reached < level)
        label, option_of = np.divmod(short, max(1, len(f.progress)))
        before = np.concatenate([own, label])
        taken = np.concatenate([np.full(len(own), -1), option_of])
        all_units = np.concatenate([units[own], reached[short]])
        all_costs = np.concatenate([cost[own], cost[label] + f.cost[option_of]])
        useful = np.flatnonzero(all_units + still[k + 1] >= level)
        order = useful[np.lexsort((taken[useful], all_costs[useful], -all_units[useful]))]
        least = np.concatenate([[np.inf], np.minimum.accumulate(all_costs[order])[:-1]])
        kept = order[all_costs[order] < least][::-1]
        units, cost = all_units[kept], all_costs[kept]
        link, new = link[before[kept]], np.flatnonzero(taken[kept] >= 0)
        link[new] = links.add(k, taken[kept][new], link[new])
        if len(units) == 0:
            chains += [None] * (len(fronts) - k - 1)
            break
    return chains
