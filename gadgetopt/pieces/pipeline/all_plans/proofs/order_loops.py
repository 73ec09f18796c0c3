"""Loops of the check of a proof about the orders of one plan.

They belong to the check and to nothing else. They index by `rows[q][m]`, so the same source runs
compiled on arrays of 64-bit integers and as plain Python on lists, where numbers have any size.

Rows of numbers are of machines q = 0..2S-2 and blocks m = 0..M-1 of one direction. `heads_f` and
`heads_b` are moments before which forward and backward blocks cannot start; `back_f` and `back_b`
are the same in reversed time, of backward and of forward blocks, the last microbatch first.
"""

from __future__ import annotations

from typing import Any

from gadgetopt.numbers.compiled import compiled, part_of_loops


@part_of_loops
def done_at(start: int, f: int, heads_f: Any, x: int, b: int, heads_b: Any, y: int) -> int:
    """Return when a machine can have served x forward and y backward blocks, one at a time."""
    now, i, j = start, 0, 0
    while i < x or j < y:  # in the order of their heads, which is best
        if j == y or (i < x and heads_f[i] <= heads_b[j]):
            now = max(now, heads_f[i]) + f
            i += 1
        else:
            now = max(now, heads_b[j]) + b
            j += 1
    return now


@part_of_loops
def find_heads(
    fwd: Any, bwd: Any, start: Any, shared: Any, few: Any, most: Any, heads_f: Any, heads_b: Any
) -> bool:
    """Write the heads of all blocks; return False if blocks wait for each other.

    Parameters
    ----------
    fwd, bwd : sequence of int, shape (machines,)
        Times of blocks.
    start : sequence of int, shape (machines,)
        Before it a machine serves no block.
    shared : sequence of bool, shape (machines,)
        Whether both directions of a machine take turns.
    few, most : rows of int
        The least and the largest number of forward blocks before each backward block.
    heads_f, heads_b : rows of int
        Filled.
    """
    machines, count = len(fwd), len(few[0])
    ahead, behind = [0] * machines, [0] * machines
    moved = True
    while moved:
        moved = False
        for q in range(machines):
            before = 0  # backward blocks that are before the forward block for sure
            while ahead[q] < (ahead[q - 1] if q > 0 else count):
                i = ahead[q]
                while shared[q] and before < count and most[q][before] <= i:
                    before += 1
                if before > behind[q]:
                    break
                head = done_at(start[q], fwd[q], heads_f[q], i, bwd[q], heads_b[q], before)
                if q > 0:
                    head = max(head, heads_f[q - 1][i] + fwd[q - 1])
                heads_f[q][i] = head
                ahead[q] += 1
                moved = True
        for q in range(machines - 1, -1, -1):
            while behind[q] < (behind[q + 1] if q < machines - 1 else ahead[q]):
                j = behind[q]
                forwards = few[q][j] if shared[q] else 0
                if forwards > ahead[q]:
                    break
                head = done_at(start[q], fwd[q], heads_f[q], forwards, bwd[q], heads_b[q], j)
                if q < machines - 1:
                    head = max(head, heads_b[q + 1][j] + bwd[q + 1])
                else:
                    head = max(head, heads_f[q][j] + fwd[q])
                heads_b[q][j] = head
                behind[q] += 1
                moved = True
    return min(ahead) == count and min(behind) == count


@part_of_loops
def turn(rows: Any, turned: Any) -> None:
    """Write, of the last forward block to the first, how many backward blocks are after it."""
    count = len(rows[0])
    for q in range(len(rows)):
        j = count  # backward blocks with at most i forward blocks before them
        for k in range(count):
            i = count - 1 - k
            while j > 0 and rows[q][j - 1] > i:
                j -= 1
            turned[q][k] = count - j


@part_of_loops
def least_end(
    fwd: Any, bwd: Any, shared: Any, heads_f: Any, heads_b: Any, back_f: Any, back_b: Any
) -> int:
    """Return a bound on every schedule: some blocks of a machine, then the shortest of their tails.

    Tails fall with the microbatch, so the blocks with tails no shorter than one are the first ones.
    """
    best, count = 0, len(heads_f[0])
    for q in range(len(fwd)):
        x, y = 0, 0
        while x < count or y < count:
            if y == count or (x < count and back_b[q][count - 1 - x] >= back_f[q][count - 1 - y]):
                tail = back_b[q][count - 1 - x]
                x += 1
            else:
                tail = back_f[q][count - 1 - y]
                y += 1
            if shared[q]:
                end = done_at(0, fwd[q], heads_f[q], x, bwd[q], heads_b[q], y)
            else:
                forward = done_at(0, fwd[q], heads_f[q], x, bwd[q], heads_b[q], 0)
                end = max(forward, done_at(0, fwd[q], heads_f[q], 0, bwd[q], heads_b[q], y))
            best = max(best, end + tail)
    return best


@part_of_loops
def narrow(
    fwd: Any,
    bwd: Any,
    shared: Any,
    below: int,
    few: Any,
    most: Any,
    heads_f: Any,
    heads_b: Any,
    back_f: Any,
    back_b: Any,
) -> int:
    """Narrow orders by pairs of blocks that take `below` or longer one after the other.

    Returns
    -------
    int
        1 if there are fewer orders, 0 if not, -1 if there are none.
    """
    fewer, count = 0, len(few[0])
    for q in range(len(fwd)):
        if not shared[q]:
            continue
        both = fwd[q] + bwd[q]
        for j in range(count):
            if j > 0 and few[q][j] < few[q][j - 1]:
                few[q][j] = few[q][j - 1]
            # Can the next forward block come after the backward block?
            while few[q][j] < count:
                tail = back_b[q][count - 1 - few[q][j]]
                if heads_b[q][j] + both + tail < below:
                    break
                few[q][j] += 1
                fewer = 1
        for j in range(count - 1, -1, -1):
            if j < count - 1 and most[q][j] > most[q][j + 1]:
                most[q][j] = most[q][j + 1]
            # Can the last of the forward blocks come before the backward block?
            while most[q][j] > 0:
                tail = back_f[q][count - 1 - j]
                if heads_f[q][most[q][j] - 1] + both + tail < below:
                    break
                most[q][j] -= 1
                fewer = 1
            if few[q][j] > most[q][j]:
                return -1
    return fewer


@compiled
def bound_of(
    fwd: Any,
    bwd: Any,
    start: Any,
    reduce: Any,
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
) -> int:
    """Return a bound on all orders from `few` to `most`.

    With a positive `below`, those that take so long are taken out of `few` and `most`, and the
    bound is on what is left of them, or `below` if nothing is.
    """
    fewer = 1
    while fewer == 1:
        turn(few, turned_few)
        turn(most, turned_most)
        if not find_heads(fwd, bwd, start, shared, few, most, heads_f, heads_b):
            return below
        if not find_heads(bwd, fwd, reduce, shared, turned_few, turned_most, back_f, back_b):
            return below
        fewer = 0
        if below > 0:
            fewer = narrow(fwd, bwd, shared, below, few, most, heads_f, heads_b, back_f, back_b)
    if fewer < 0:
        return below
    return least_end(fwd, bwd, shared, heads_f, heads_b, back_f, back_b)
