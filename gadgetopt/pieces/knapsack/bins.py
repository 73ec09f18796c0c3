r"""Bins and items of a few sizes: whether they fit, which bins are enough, how equal ones lie.

Items of one size t fit into bins with room :math:`f_m` if :math:`\sum_m \lfloor f_m / t \rfloor`
are enough. Of several sizes they are a bin packing: no item lies in two bins. Here they are blocks
of GPUs, and bins are servers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

#: Pairs of the size of a block and how many there are, the largest first.
Blocks = tuple[tuple[int, int], ...]


def blocks_of(sizes: Sequence[int], counts: Sequence[int]) -> Blocks:
    """Return blocks of these sizes and counts, those of one size together."""
    number: Counter[int] = Counter()
    for size, count in zip(sizes, counts, strict=True):
        number[size] += count
    return tuple(sorted(((t, r) for t, r in number.items() if r), reverse=True))


def fit(blocks: Blocks, free: Sequence[int]) -> bool:
    """Return True if blocks fit into bins with so much free room, none into two bins.

    If every size divides the next larger one, the largest go first and may go anywhere: a block of
    t' takes the places of t' / t blocks of t, in whatever bin it is. Otherwise all that matters
    of any packing is looked at.
    """
    if any(larger % smaller for (larger, _), (smaller, _) in pairwise(blocks)):
        return _pack(blocks, tuple(sorted(free, reverse=True)))
    held = 0
    for size, count in blocks:
        held += size * count
        if size * sum(f // size for f in free) < held:
            return False
    return True


def fit_apart(
    blocks: Blocks, first: Sequence[int], more: tuple[int, int], others: Sequence[int]
) -> bool:
    """Return True if blocks fit into all bins, and `more` of one size beside them into some.

    Parameters
    ----------
    blocks : Blocks
        They may lie in any bin.
    first : sequence of int
        Room of the bins that take none of `more`.
    more : tuple of int
        Size and number.
    others : sequence of int
        Room of the bins that may take both.
    """
    size, number = more
    if not number:
        return fit(blocks, (*first, *others))
    sizes = (size, *(t for t, _ in blocks))
    ahead = sum(others) - size * number
    return any(
        fit(blocks_of(sizes, (number, *rest)), others)
        for rest in _left_over(blocks, tuple(sorted(first, reverse=True)), ahead)
    )


@lru_cache(maxsize=2**14)
def _pack(blocks: Blocks, free: tuple[int, ...]) -> bool:
    """Return True if blocks fit."""
    if sum(t * r for t, r in blocks) > sum(free):
        return False
    return _first_fit(blocks, free) or bool(_left_over(blocks, free, 0))


@lru_cache(maxsize=2**14)
def _left_over(blocks: Blocks, free: tuple[int, ...], ahead: int) -> tuple[tuple[int, ...], ...]:
    """Return what may be left over of blocks, at most so much, after bin after bin took some.

    It is a number of each size; where as few or fewer are left of each, others with more are
    forgotten.
    """
    sizes = [size for size, _ in blocks]
    ahead += sum(free)
    left = {tuple(count for _, count in blocks)}
    for f in free:
        after = {rest for counts in left for rest in _rests(sizes, counts, f)}
        ahead -= f
        least = {
            rest
            for rest in after
            if not any(
                other != rest and all(a <= b for a, b in zip(other, rest, strict=True))
                for other in after
            )
        }
        left = {
            rest for rest in least if sum(t * r for t, r in zip(sizes, rest, strict=True)) <= ahead
        }
    return tuple(sorted(left))


def _first_fit(blocks: Blocks, free: tuple[int, ...]) -> bool:
    """Return True if blocks fit where each, the largest first, takes the bin that it fills best."""
    left = list(free)
    for size, count in blocks:
        for _ in range(count):
            rooms = [f for f in left if f >= size]
            if not rooms:
                return False
            left[left.index(min(rooms))] -= size
    return True


def _rests(sizes: Sequence[int], counts: Sequence[int], free: int) -> Iterator[tuple[int, ...]]:
    """Yield what is left over of blocks when a bin takes as many as it can, in every way."""
    if not sizes:
        yield ()
        return
    for taken in range(min(counts[0], free // sizes[0]), -1, -1):
        for rest in _rests(sizes[1:], counts[1:], free - taken * sizes[0]):
            yield (counts[0] - taken, *rest)


def enough_bins(free: Sequence[int], blocks: Blocks, *, consolidate: bool) -> list[int]:
    """Return bins into which blocks fit, in the order in which they are filled.

    Those with least room come first. To `consolidate`, the last one is the one with least room that
    makes them enough, and before it come those with most; ties go to the lowest index.
    """
    rising = sorted((m for m, f in enumerate(free) if f), key=lambda m: (free[m], m))
    chosen: list[int] = []
    held: list[int] = []
    while not fit(blocks, held):
        at = 0
        if consolidate:
            most = free[rising[-1]]
            last = fit(blocks, [*held, most])
            at = next(
                k
                for k, m in enumerate(rising)
                if (fit(blocks, [*held, free[m]]) if last else free[m] == most)
            )
        chosen.append(rising.pop(at))
        held.append(free[chosen[-1]])
    return chosen


def arrangements(total: int, capacities: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the ways to put `total` equal items into bins, the first bins full first."""
    if total > sum(capacities):
        return
    bins = len(capacities)
    row = [0] * bins
    need, first = total, 0
    while True:
        for m in range(first, bins):
            row[m] = min(need, capacities[m])
            need -= row[m]
        yield tuple(row)
        # One moves on from the last server that has a free one behind it.
        free = need = 0
        for m in reversed(range(bins)):
            if row[m] and free:
                break
            free += capacities[m] - row[m]
            need += row[m]
        else:
            return
        row[m] -= 1
        need, first = need + 1, m + 1


def distributions(
    total: int,
    capacities: Sequence[int],
    alike: Sequence[bool],
    may_go_on: Callable[[Sequence[int], int], bool] | None = None,
) -> Iterator[tuple[int, ...]]:
    """Yield the ways to put equal items into bins of which some are interchangeable.

    Parameters
    ----------
    total : int
    capacities : sequence of int, shape (bins,)
    alike : sequence of bool, shape (bins,)
        True where a bin is interchangeable with the one before it: it takes no more than that.
    may_go_on : callable, optional
        Given what is in the first bins, and what is left for the others.
    """
    bins = len(capacities)
    room = [0] * (bins + 1)
    for m in reversed(range(bins)):
        room[m] = room[m + 1] + capacities[m]
    if total > room[0]:
        return
    if not bins:
        yield ()
        return
    # `need[m]` items are left for bin m and those behind it; each bin begins with the most it
    # takes, and one less each time that all ways of those behind it were gone through.
    row, need = [0] * bins, [total] * (bins + 1)
    m = 0
    row[0] = min(total, capacities[0]) + 1
    while m >= 0:
        row[m] -= 1
        if row[m] < max(0, need[m] - room[m + 1]):
            m -= 1
            continue
        need[m + 1] = need[m] - row[m]
        if may_go_on is not None and not may_go_on(row[: m + 1], need[m + 1]):
            continue
        if m + 1 == bins:
            yield tuple(row)
            continue
        m += 1
        row[m] = min(need[m], capacities[m], row[m - 1] if alike[m] else need[m]) + 1
