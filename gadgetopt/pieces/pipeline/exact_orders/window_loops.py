"""Inner loops of the search for orders: what a moment leaves of the windows of all blocks.

`windows` explains them. Arrays of numbers are of machines q = 0..2S-2 and blocks m = 0..M-1 of one
direction: `starts_f` and `starts_b` hold earliest starts, `ends_f` and `ends_b` latest ends.
"""

from __future__ import annotations

from typing import Any

from gadgetopt.numbers.compiled import compiled, part_of_loops

#: Stands for "impossible". By definition.
NEVER = 2**62
#: Starts are cut to it: later than all ends. By definition.
LATE = 2**61


@part_of_loops
def follow_routes(
    fwd: Any, bwd: Any, limits: Any, starts_f: Any, starts_b: Any, ends_f: Any, ends_b: Any
) -> bool:
    """Narrow windows along routes and by index; return whether something changed."""
    last, count, changed = len(fwd) - 1, starts_f.shape[1], False
    for q in range(last + 1):
        for m in range(count):
            start = starts_f[q, m]
            if q > 0:
                start = max(start, starts_f[q - 1, m] + fwd[q - 1])
            if m > 0:
                start = max(start, starts_f[q, m - 1] + fwd[q])
            if start > starts_f[q, m]:
                starts_f[q, m], changed = min(start, LATE), True
    for q in range(last, -1, -1):
        for m in range(count):
            if q < last:
                start = max(starts_b[q, m], starts_b[q + 1, m] + bwd[q + 1])
            else:
                start = max(starts_b[q, m], starts_f[q, m] + fwd[q])
            if m > 0:
                start = max(start, starts_b[q, m - 1] + bwd[q])
            if start > starts_b[q, m]:
                starts_b[q, m], changed = min(start, LATE), True
    for q in range(last + 1):
        for m in range(count - 1, -1, -1):
            end = min(ends_b[q, m], limits[q])
            if q > 0:
                end = min(end, ends_b[q - 1, m] - bwd[q - 1])
            if m < count - 1:
                end = min(end, ends_b[q, m + 1] - bwd[q])
            if end < ends_b[q, m]:
                ends_b[q, m], changed = max(end, -1), True
    for q in range(last, -1, -1):
        for m in range(count - 1, -1, -1):
            if q < last:
                end = min(ends_f[q, m], ends_f[q + 1, m] - fwd[q + 1])
            else:
                end = min(ends_f[q, m], ends_b[q, m] - bwd[q])
            if m < count - 1:
                end = min(end, ends_f[q, m + 1] - fwd[q])
            if end < ends_f[q, m]:
                ends_f[q, m], changed = max(end, -1), True
    return changed


@part_of_loops
def find_sequences(
    f: int,
    b: int,
    few: Any,
    most: Any,
    starts_f: Any,
    starts_b: Any,
    ends_f: Any,
    ends_b: Any,
    earliest: Any,
    latest: Any,
) -> None:
    """Write when a machine can have served i forward and j backward blocks, and has to have.

    `earliest[i, j]` is the least end of such blocks, in any order of both directions, within their
    windows; `latest[i, j]` the last moment at which all others can begin to be served.
    """
    count = len(few)
    for i in range(count + 1):
        for j in range(i + 1):
            best = 0 if i == 0 else NEVER
            if i > j and earliest[i - 1, j] < NEVER and (j == count or most[j] >= i):
                end = max(earliest[i - 1, j], starts_f[i - 1]) + f
                if end <= ends_f[i - 1]:
                    best = end
            if j > 0 and earliest[i, j - 1] < NEVER and few[j - 1] <= i <= most[j - 1]:
                end = max(earliest[i, j - 1], starts_b[j - 1]) + b
                if end <= ends_b[j - 1]:
                    best = min(best, end)
            earliest[i, j] = best
    for i in range(count, -1, -1):
        for j in range(i, -1, -1):
            best = NEVER if j == count else -1
            if earliest[i, j] < NEVER:
                if i < count and latest[i + 1, j] >= 0 and most[j] > i:
                    start = min(latest[i + 1, j], ends_f[i]) - f
                    if start >= starts_f[i]:
                        best = max(best, start)
                if j < i and latest[i, j + 1] >= 0 and few[j] <= i <= most[j]:
                    start = min(latest[i, j + 1], ends_b[j]) - b
                    if start >= starts_b[j]:
                        best = max(best, start)
            latest[i, j] = best


@part_of_loops
def narrow_machine(
    f: int,
    b: int,
    few: Any,
    most: Any,
    starts_f: Any,
    starts_b: Any,
    ends_f: Any,
    ends_b: Any,
    earliest: Any,
    latest: Any,
) -> int:
    """Narrow a machine's windows to what some sequence has; 1 if it did, 0 if not, -1 for none."""
    count, changed = len(few), 0
    find_sequences(f, b, few, most, starts_f, starts_b, ends_f, ends_b, earliest, latest)
    if earliest[count, count] >= NEVER:
        return -1
    for i in range(count):
        start, end = NEVER, -1
        for j in range(i + 1):
            if earliest[i, j] < NEVER and latest[i + 1, j] >= 0 and most[j] > i:
                first = max(earliest[i, j], starts_f[i])
                last = min(latest[i + 1, j], ends_f[i])
                if first + f <= last:
                    start, end = min(start, first), max(end, last)
        if start == NEVER:
            return -1
        if start > starts_f[i] or end < ends_f[i]:
            starts_f[i], ends_f[i], changed = start, end, 1
    for j in range(count):
        start, end, least, largest = NEVER, -1, count, 0
        for i in range(max(j + 1, few[j]), most[j] + 1):
            if earliest[i, j] < NEVER and latest[i, j + 1] >= 0:
                first = max(earliest[i, j], starts_b[j])
                last = min(latest[i, j + 1], ends_b[j])
                if first + b <= last:
                    start, end = min(start, first), max(end, last)
                    least, largest = min(least, i), max(largest, i)
        if start == NEVER:
            return -1
        if start > starts_b[j] or end < ends_b[j] or least > few[j] or largest < most[j]:
            starts_b[j], ends_b[j], few[j], most[j], changed = start, end, least, largest, 1
    return changed


@compiled
def narrowed(
    fwd: Any,
    bwd: Any,
    limits: Any,
    shared: Any,
    few: Any,
    most: Any,
    starts: Any,
    ends: Any,
    room: Any,
) -> bool:
    """Narrow windows and orders until nothing changes; return False if none are left.

    Parameters
    ----------
    fwd, bwd : array of int, shape (machines,)
        Times of blocks.
    limits : array of int, shape (machines,)
        When backward blocks have to have ended.
    shared : array of bool, shape (machines,)
        Whether both directions of a machine take turns.
    few, most : array of int, shape (machines, M)
        The least and the largest number of forward blocks before each backward block.
    starts, ends : array of int, shape (2, machines, M)
        Windows of forward and of backward blocks.
    room : array of int, shape (2, M + 1, M + 1)
        Room for tables.
    """
    machines, count = few.shape
    starts_f, starts_b, ends_f, ends_b = starts[0], starts[1], ends[0], ends[1]
    # More rounds are only needed where a moment is nearly enough.
    for _ in range(2 * count + 20):
        changed = follow_routes(fwd, bwd, limits, starts_f, starts_b, ends_f, ends_b)
        for q in range(machines):
            for m in range(count):
                late_f = starts_f[q, m] + fwd[q] > ends_f[q, m]
                if late_f or starts_b[q, m] + bwd[q] > ends_b[q, m]:
                    return False
        for q in range(machines):
            if shared[q]:
                moved = narrow_machine(
                    fwd[q], bwd[q], few[q], most[q], starts_f[q], starts_b[q], ends_f[q], ends_b[q],
                    room[0], room[1],
                )  # fmt: skip
                if moved < 0:
                    return False
                changed = changed or moved > 0
        if not changed:
            break
    return True


@compiled
def pair_to_divide(
    fwd: Any, bwd: Any, shared: Any, few: Any, most: Any, starts: Any, ends: Any, first: int
) -> tuple[int, int, int]:
    """Return machine, backward and forward block of a pair that has both orders; -1 if none has.

    It is of the machine `first` or of the first other one that has such pairs: that of the least
    room for the roomier of its orders.
    """
    machines, count = few.shape
    best, pair = -1, (-1, -1, -1)
    for q in range(machines):
        if not shared[q] or (q != first and best >= 0):
            continue
        both = fwd[q] + bwd[q]
        for j in range(count):
            for i in range(few[q, j], most[q, j]):
                backward_first = ends[0, q, i] - starts[1, q, j] - both
                forward_first = ends[1, q, j] - starts[0, q, i] - both
                room = max(backward_first, forward_first)
                if best < 0 or room < best:
                    best, pair = room, (q, j, i)
    return pair
