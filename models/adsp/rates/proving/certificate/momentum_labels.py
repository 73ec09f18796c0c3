r"""All decisions under the momentum cap that lose fewer steps than a number, by labels.

The steps lost are :math:`\sum_i w_i n_i` with :math:`w_i = O_i / t_i`; the momentum cap is
:math:`\sum_i g_i(n_i) \le q`. Window by window, the workers are decided one after the other. A
label is a decision on the first workers: its lost steps, its momentum terms and its commits. It is
dropped where the least that the others add exceeds a limit, where the Lagrangian bound

.. math:: \sum_i \min_n \big(w_i n + \lambda g_i(n) + \rho n\big) - \lambda q - \rho N_{cap}

on what it can become reaches the number, or where another label is no worse in all three. Costs are
rounded down to whole units, and so are terms times :math:`\lambda` (limits are rounded up): where
no label is left, no decision loses fewer steps, exactly. The multipliers are the certificate's and
may be any numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.memory import MOST_CELLS
from gadgetopt.numbers.tolerance import decimal_rational

from ...instance import (
    AdspRatesInstance,
    MomentumCap,
)

#: Bits of the largest sum. By definition.
_BITS = 58
#: Labels of all workers after which a search gives up.
MOST_LABELS = MOST_CELLS


class TooManyLabels(ValueError):
    """The search would take too long."""


@dataclass(frozen=True)
class Window:
    """Decisions with n from `start` to `start + window`, in whole units.

    Attributes
    ----------
    commits : ndarray of int, shape (width,)
    cost, terms : ndarray of int, shape (m, width)
        Lost steps, and momentum terms times lambda; too many commits cost more than any limit.
    limit : int
        q times lambda.
    price : int
        rho.
    """

    commits: Ints
    cost: Ints
    terms: Ints
    limit: int
    price: int
    cap: int
    unit: Fraction


def window_starts(instance: AdspRatesInstance) -> range:
    """Return the numbers of fewest commits that have to be tried."""
    return range(1, instance.last_window_start + 1)


def whole_window(instance: AdspRatesInstance, start: int, momentum: float, cap: float) -> Window:
    """Return a window in whole units, with multipliers of the momentum cap and the commit cap."""
    model = instance.model
    assert isinstance(model, MomentumCap), "only the momentum cap has such windows"
    m, period = len(instance.workers), decimal_rational(instance.check_period_s)
    commits = range(start, start + instance.window + 1)
    lam = Fraction(momentum)
    t = [decimal_rational(worker.step_time_s) for worker in instance.workers]
    w = [decimal_rational(x.comm_time_s) / d for x, d in zip(instance.workers, t, strict=True)]
    scale = decimal_rational(model.scale) * period
    g = [scale * (d if model.reading == "speed" else 1 / d) for d in t]
    q = Fraction(0)
    if m > 1:
        most_momentum = decimal_rational(model.max_momentum)
        q = most_momentum / (1 - most_momentum) * Fraction(m, m - 1)
    else:
        lam = Fraction(0)
    rho = Fraction(cap)
    rows = zip(instance.most_commits, w, g, strict=True)
    largest = sum(
        (most * (x + rho) + lam * y / start for most, x, y in rows),
        lam * q + rho * instance.cap + 1,
    )
    # Any unit is valid; a power of two keeps numbers short.
    one = Fraction(2) ** (_BITS - math.ceil(largest).bit_length())
    cost = np.empty((m, len(commits)), dtype=np.int64)
    terms = np.empty((m, len(commits)), dtype=np.int64)
    known: dict[tuple[Fraction, Fraction, int], tuple[list[int], list[int]]] = {}
    for i, row in enumerate(zip(w, g, instance.most_commits, strict=True)):
        if row not in known:
            each, term, most = row
            known[row] = (
                [math.floor(one * each * n) if n <= most else 1 << 60 for n in commits],
                [math.floor(one * lam * term / n) for n in commits],
            )
        cost[i], terms[i] = known[row]
    limit, price = math.ceil(one * lam * q), math.floor(one * rho)
    return Window(np.array(commits), cost, terms, limit, price, instance.cap, one)


def lagrangian_bound(window: Window) -> Fraction:
    """Return the lower bound on lost steps of a window that its multipliers prove."""
    best = (window.cost + window.terms + window.price * window.commits).min(axis=1)
    whole = sum(map(int, best)) - window.limit - window.price * window.cap
    return Fraction(whole) / window.unit


def none_cheaper(window: Window, bound: Fraction) -> bool:
    """Return True if no decision of a window loses fewer steps than a number.

    Raises
    ------
    TooManyLabels
    """
    # Whole costs of better decisions are smaller.
    below = min(math.ceil(bound * window.unit), 1 << 61)
    rest = suffix_sums((window.cost + window.terms + window.price * window.commits).min(axis=1))
    rest_cost = suffix_sums(window.cost.min(axis=1))
    rest_terms = suffix_sums(least_terms(window))
    slack = window.limit + window.price * window.cap
    labels = np.zeros((1, 3), dtype=np.int64)  # steps lost, momentum terms, commits
    made, workers = 0, len(window.cost)
    for i in range(workers):
        left = workers - i - 1
        usable = np.flatnonzero(window.cost[i] < 1 << 60)
        ways = np.column_stack(
            [a[usable] for a in (window.cost[i], window.terms[i], window.commits)]
        )
        labels = (labels[:, None, :] + ways[None, :, :]).reshape(-1, 3)
        made += len(labels)
        if made > MOST_LABELS:
            raise TooManyLabels(f"bound: proving it takes more than {MOST_LABELS} labels")
        cost, terms, commits = labels.T
        labels = labels[
            (cost + terms + window.price * commits + rest[i + 1] - slack < below)
            & (cost + rest_cost[i + 1] < below)
            & (terms + rest_terms[i + 1] <= window.limit)
            & (commits + int(window.commits[0]) * left <= window.cap)
        ]
        labels = _undominated(labels, window.cap - int(window.commits[-1]) * left)
    return not len(labels)


def _undominated(labels: Ints, enough: int) -> Ints:
    """Return the labels that no other dominates.

    Of commits only equal numbers are compared, unless the cap leaves enough for all.
    """
    cost, terms, commits = labels.T
    group = commits if (commits > enough).any() else np.zeros_like(commits)
    order = np.lexsort((terms, cost, group))
    kept = [order[:0]]
    for part in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        if len(part):
            least = np.minimum.accumulate(terms[part])
            kept.append(part[np.append(True, least[1:] < least[:-1])])
    return labels[np.concatenate(kept)]


def least_terms(window: Window) -> Ints:
    """Return the fewest terms of each worker, of commits that it can make."""
    least: Ints = np.where(window.cost < 1 << 60, window.terms, 1 << 60).min(axis=1)
    return least


def suffix_sums(values: Ints) -> Ints:
    """Return the sums of all values from each on, and a last 0."""
    return np.concatenate((np.cumsum(values[::-1])[::-1], [0]))
