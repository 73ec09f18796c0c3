r"""All decisions under the momentum cap that lose fewer steps than a number, by labels.

The steps lost are :math:`\sum_i w_i n_i` with :math:`w_i = O_i / t_i`; the momentum cap is
:math:`\sum_i g_i(n_i) \le q`. Window by window, the workers are decided one after the other. A
label is a decision on the first workers: its lost steps, its momentum terms and its commits. It is
dropped where the least that the others add exceeds a limit, where the Lagrangian bound

.. math:: \sum_i \min_n \big(w_i n + \lambda g_i(n) + \rho n\big) - \lambda q - \rho N_{cap}

on what it can become reaches the number, or where another label is no worse in all three. Costs are
rounded down to whole units, and so are terms times :math:`\lambda` (limits are rounded up): where
no label is left, no decision loses fewer steps, exactly. The multipliers are found in doubles and
may be any numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints
from gadgetopt.numbers.tolerance import decimal_rational

from ...instance import (
    AdspRatesInstance,
    MomentumCap,
)
from ...tables import (
    Tables,
    momentum_limit,
    momentum_terms,
)

#: Bits of the largest sum; and labels of all workers after which a search gives up.
#: Tuned: `benchmarks/constants.py`.
_BITS, MOST_LABELS = 58, 20_000_000


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


@dataclass
class Multipliers:
    """Of the momentum cap and of the commit cap, and the Lagrangian bound in doubles."""

    momentum: float
    cap: float
    bound: float
    commits: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))


def window_starts(instance: AdspRatesInstance) -> range:
    """Return the numbers of fewest commits that have to be tried."""
    return range(1, instance.last_window_start + 1)


def multipliers(instance: AdspRatesInstance, start: int) -> Multipliers | None:
    """Return good multipliers of a window; None if no decision in it meets the momentum cap.

    By bisection: the momentum's for a given price of commits, and the price if the cap binds.
    """
    tables, q = Tables.of(instance), momentum_limit(instance)
    commits = np.arange(start, start + instance.window + 1)
    allowed = commits[None, :] <= tables.most[:, None]
    cost = np.where(allowed, tables.commit_steps[:, None] * commits, np.inf)
    terms = momentum_terms(instance)[:, None] / commits[None, :]
    last = np.minimum(tables.most, start + instance.window) - start
    rows = np.arange(len(last))
    if math.isfinite(q) and terms[rows, last].sum() > q * (1 + 1e-9):
        return None

    def at(momentum: float, price: float) -> tuple[Floats, Ints]:
        values = cost + momentum * terms + price * commits
        best = values.argmin(axis=1)
        return values[rows, best], best

    def tightest(price: float) -> Multipliers:
        def result(momentum: float) -> Multipliers:
            values, best = at(momentum, price)
            rest = (momentum * q if momentum else 0.0) + (price * instance.cap if price else 0.0)
            return Multipliers(momentum, price, float(values.sum() - rest), commits[best])

        def meets(momentum: float) -> bool:
            return float(terms[rows, at(momentum, price)[1]].sum()) <= q

        low, high = bisected(meets)
        return max((result(low), result(high)), key=lambda found: found.bound)

    def fits(price: float) -> bool:
        return int(tightest(price).commits.sum()) <= instance.cap

    plain = tightest(0.0)
    if int(plain.commits.sum()) <= instance.cap:
        return plain
    low, high = bisected(fits, steps=30)
    return max((plain, tightest(low), tightest(high)), key=lambda found: found.bound)


def bisected(holds: Callable[[float], bool], steps: int = 60) -> tuple[float, float]:
    """Return two near multipliers, the larger one such that a limit holds if one up to 1e18 is."""
    if holds(0.0):
        return 0.0, 0.0
    low, high = 0.0, 1e-12
    while not holds(high) and high < 1e18:
        low, high = high, high * 16
    for _ in range(steps):
        middle = (low + high) / 2
        if holds(middle):
            high = middle
        else:
            low = middle
        if high - low <= 1e-13 * high:
            break
    return low, high


def whole_window(instance: AdspRatesInstance, start: int, found: Multipliers) -> Window:
    """Return a window in whole units, with these multipliers."""
    model = instance.model
    assert isinstance(model, MomentumCap), "only the momentum cap has such windows"
    m, period = len(instance.workers), decimal_rational(instance.check_period_s)
    commits = range(start, start + instance.window + 1)
    lam = Fraction(found.momentum)
    t = [decimal_rational(worker.step_time_s) for worker in instance.workers]
    w = [decimal_rational(x.comm_time_s) / d for x, d in zip(instance.workers, t, strict=True)]
    scale = decimal_rational(model.scale) * period
    g = [scale * (d if model.reading == "speed" else 1 / d) for d in t]
    q = Fraction(0)
    if m > 1:
        cap = decimal_rational(model.max_momentum)
        q = cap / (1 - cap) * Fraction(m, m - 1)
    else:
        lam = Fraction(0)
    rho = Fraction(found.cap)
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


def cheapest(
    window: Window, bound: Fraction, over: Callable[[], bool] | None = None
) -> Ints | None:
    """Return commits that lose the fewest steps, in whole units; None if none loses fewer.

    Parameters
    ----------
    window : Window
    bound : Fraction
        Only decisions that lose fewer steps are looked for.
    over : callable, optional
        Asked between workers whether to give up.

    Raises
    ------
    TooManyLabels
        If there are too many labels, or it was told to give up.
    """
    m = len(window.cost)
    # Whole costs of better decisions are smaller.
    below = min(math.ceil(bound * window.unit), 1 << 61)
    values = (window.cost + window.terms + window.price * window.commits).min(axis=1)
    rest = _suffix(values)
    rest_cost, rest_terms = _suffix(window.cost.min(axis=1)), _suffix(_least_terms(window))
    rest_commits = int(window.commits[0]) * np.arange(m, -1, -1)
    slack = window.limit + window.price * window.cap
    cost = terms = commits = np.zeros(1, dtype=np.int64)
    parents: list[tuple[Ints, Ints]] = []
    made = 0
    for i in range(m):
        usable = np.nonzero(window.cost[i] < 1 << 60)[0]
        new_cost = (cost[:, None] + window.cost[i, usable]).ravel()
        new_terms = (terms[:, None] + window.terms[i, usable]).ravel()
        new_commits = (commits[:, None] + window.commits[usable]).ravel()
        made += len(new_cost)
        if made > MOST_LABELS or (over is not None and over()):
            raise TooManyLabels(f"bound: proving it takes more than {MOST_LABELS} labels")
        lagrangian = new_cost + new_terms + window.price * new_commits + rest[i + 1] - slack
        kept = np.nonzero(
            (lagrangian < below)
            & (new_cost + rest_cost[i + 1] < below)
            & (new_terms + rest_terms[i + 1] <= window.limit)
            & (new_commits + rest_commits[i + 1] <= window.cap)
        )[0]
        # The cap plays no part where all that is left of it suffices.
        free = bool((new_commits[kept] + int(window.commits[-1]) * (m - i - 1) <= window.cap).all())
        kept = kept[_undominated(new_cost[kept], new_terms[kept], new_commits[kept], free)]
        if not len(kept):
            return None
        cost, terms, commits = new_cost[kept], new_terms[kept], new_commits[kept]
        parents.append((kept // len(usable), window.commits[usable[kept % len(usable)]]))
    at = int(cost.argmin())
    chosen = np.empty(m, dtype=np.int64)
    for i in range(m - 1, -1, -1):
        before, given = parents[i]
        chosen[i] = given[at]
        at = int(before[at])
    return chosen


def _least_terms(window: Window) -> Ints:
    """Return the fewest terms of each worker, of commits that it can make."""
    least: Ints = np.where(window.cost < 1 << 60, window.terms, 1 << 60).min(axis=1)
    return least


def _suffix(values: Ints) -> Ints:
    """Return the sums of all values from each on, and a last 0."""
    return np.concatenate((np.cumsum(values[::-1])[::-1], [0]))


def _undominated(cost: Ints, terms: Ints, commits: Ints, free: bool) -> Ints:
    """Return the labels that no other dominates; of commits only equal numbers are compared."""
    if not len(cost):
        return np.empty(0, dtype=np.int64)
    group = np.zeros_like(commits) if free else commits
    order = np.lexsort((terms, cost, group))
    kept = []
    sorted_groups = group[order]
    starts = np.nonzero(np.diff(sorted_groups, prepend=sorted_groups[:1] - 1))[0].tolist()
    for first, end in pairwise([*starts, len(order)]):
        part = order[first:end]
        least = np.minimum.accumulate(terms[part])
        kept.append(part[np.concatenate(([True], terms[part][1:] < least[:-1]))])
    return np.concatenate(kept)
