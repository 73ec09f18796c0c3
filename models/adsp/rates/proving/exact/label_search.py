"""Decisions under the momentum cap that lose the fewest steps, by labels that keep their commits.

The labels are those of `certificate.momentum_labels`, whose check goes through them by itself and
asks only whether any is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import numpy as np

from gadgetopt.numbers.arrays import Ints

from ..certificate.momentum_labels import (
    MOST_LABELS,
    TooManyLabels,
    Window,
    least_terms,
    suffix_sums,
)


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
    rest = suffix_sums(values)
    rest_cost, rest_terms = suffix_sums(window.cost.min(axis=1)), suffix_sums(least_terms(window))
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
