"""Loops of the check of a proof about orders: the sequences of the blocks of one machine.

They belong to the check and to nothing else, and run compiled or plain as those of `order_loops`,
whose names they share. Both directions are served by index, so what a machine has done is x forward
and y backward blocks. The least end of them follows from one block less, over all sequences in
which no block ends so late that its tail reaches `below`; the same in reversed time. A block has no
earlier head, no shorter tail and no other place than in one of these sequences.
"""

from __future__ import annotations

from typing import Any

from gadgetopt.numbers.compiled import compiled, part_of_loops


@part_of_loops
def raise_along(fwd: Any, bwd: Any, heads_f: Any, heads_b: Any, below: int) -> bool:
    """Raise heads by what is before each block on its route, and of its kind; at most to `below`.

    Returns whether there was anything to raise.
    """
    machines, count, raised = len(fwd), len(heads_f[0]), False
    for q in range(machines):
        for m in range(count):
            head = heads_f[q][m]
            if q > 0:
                head = max(head, heads_f[q - 1][m] + fwd[q - 1])
            if m > 0:
                head = max(head, heads_f[q][m - 1] + fwd[q])
            if heads_f[q][m] < min(head, below):
                heads_f[q][m] = min(head, below)
                raised = True
    for q in range(machines - 1, -1, -1):
        for m in range(count):
            head = heads_b[q + 1][m] + bwd[q + 1] if q < machines - 1 else heads_f[q][m] + fwd[q]
            if m > 0:
                head = max(head, heads_b[q][m - 1] + bwd[q])
            if heads_b[q][m] < min(head, below):
                heads_b[q][m] = min(head, below)
                raised = True
    return raised


@part_of_loops
def too_late(
    fwd: Any, bwd: Any, heads_f: Any, heads_b: Any, back_f: Any, back_b: Any, below: int
) -> bool:
    """Return True if a block's head, its time and its tail reach `below`."""
    last = len(heads_f[0]) - 1
    for q in range(len(fwd)):
        for m in range(last + 1):
            if heads_f[q][m] + fwd[q] + back_b[q][last - m] >= below:
                return True
            if heads_b[q][m] + bwd[q] + back_f[q][last - m] >= below:
                return True
    return False


@part_of_loops
def find_ends(
    f: int,
    b: int,
    few: Any,
    most: Any,
    heads_f: Any,
    heads_b: Any,
    back_f: Any,
    back_b: Any,
    below: int,
    ends: Any,
) -> None:
    """Write to `ends[x][y]` the least end of x forward and y backward blocks; `below` for none."""
    count = len(few)
    for x in range(count + 1):
        for y in range(count + 1):
            ends[x][y] = below
            if x == 0 and y == 0:
                ends[x][y] = 0
            if x > 0 and ends[x - 1][y] < below and (y == count or x <= most[y]):
                end = max(ends[x - 1][y], heads_f[x - 1]) + f
                if end + back_b[count - x] < below:
                    ends[x][y] = end
            if y > 0 and ends[x][y - 1] < below and few[y - 1] <= x <= most[y - 1]:
                end = max(ends[x][y - 1], heads_b[y - 1]) + b
                if end + back_f[count - y] < below:
                    ends[x][y] = min(ends[x][y], end)


@part_of_loops
def narrow_to_sequences(
    f: int,
    b: int,
    few: Any,
    most: Any,
    heads_f: Any,
    heads_b: Any,
    back_f: Any,
    back_b: Any,
    below: int,
    ends: Any,
    back_ends: Any,
) -> int:
    """Narrow heads, tails and orders of a machine; 1 if something changed, -1 if none are left.

    `ends` are those of `find_ends`, `back_ends` those of reversed time: of x backward and y forward
    blocks, from the last ones on.
    """
    count, changed = len(few), 0
    for i in range(count):
        head, back = below, below
        for y in range(count + 1):
            before, after = ends[i][y], back_ends[count - y][count - 1 - i]
            if before < below and after < below and (y == count or i < most[y]):
                first, later = max(before, heads_f[i]), max(after, back_b[count - 1 - i])
                if first + f + later < below:
                    head, back = min(head, first), min(back, later)
        if head >= below:
            return -1
        if head > heads_f[i] or back > back_b[count - 1 - i]:
            heads_f[i], back_b[count - 1 - i], changed = head, back, 1
    for j in range(count):
        head, back, least, largest = below, below, count, 0
        for x in range(few[j], most[j] + 1):
            before, after = ends[x][j], back_ends[count - 1 - j][count - x]
            if before < below and after < below:
                first, later = max(before, heads_b[j]), max(after, back_f[count - 1 - j])
                if first + b + later < below:
                    head, back = min(head, first), min(back, later)
                    least, largest = min(least, x), max(largest, x)
        if head >= below:
            return -1
        if head > heads_b[j] or back > back_f[count - 1 - j]:
            heads_b[j], back_f[count - 1 - j], changed = head, back, 1
        if least > few[j] or largest < most[j]:
            few[j], most[j], changed = least, largest, 1
    return changed


@part_of_loops
def turn_row(row: Any, turned: Any) -> None:
    """Write, of the last forward block to the first, how many backward blocks are after it."""
    count = len(row)
    for k in range(count):
        after = 0
        for j in range(count):
            if row[j] > count - 1 - k:
                after += 1
        turned[k] = after


@compiled
def without_sequence(
    fwd: Any,
    bwd: Any,
    shared: Any,
    below: int,
    few: Any,
    most: Any,
    turned_few: Any,
    turned_most: Any,
    heads_f: Any,
    heads_b: Any,
    back_f: Any,
    back_b: Any,
    ends: Any,
    back_ends: Any,
) -> bool:
    """Return True if no orders from `few` to `most` end before `below`; else narrow them.

    Heads and tails are valid ones, and are raised. `ends` and `back_ends` are room for M + 1 rows
    of as many numbers.
    """
    machines, count = len(fwd), len(few[0])
    for _ in range(2 * count + 20):
        changed = raise_along(fwd, bwd, heads_f, heads_b, below)
        changed = raise_along(bwd, fwd, back_f, back_b, below) or changed
        if too_late(fwd, bwd, heads_f, heads_b, back_f, back_b, below):
            return True
        for q in range(machines):
            if not shared[q]:
                continue
            turn_row(few[q], turned_few[q])
            turn_row(most[q], turned_most[q])
            find_ends(
                fwd[q], bwd[q], few[q], most[q], heads_f[q], heads_b[q], back_f[q], back_b[q],
                below, ends,
            )  # fmt: skip
            find_ends(
                bwd[q], fwd[q], turned_few[q], turned_most[q], back_f[q], back_b[q], heads_f[q],
                heads_b[q], below, back_ends,
            )  # fmt: skip
            narrower = narrow_to_sequences(
                fwd[q], bwd[q], few[q], most[q], heads_f[q], heads_b[q], back_f[q], back_b[q],
                below, ends, back_ends,
            )  # fmt: skip
            if narrower < 0:
                return True
            changed = changed or narrower > 0
        if not changed:
            break
    return False
