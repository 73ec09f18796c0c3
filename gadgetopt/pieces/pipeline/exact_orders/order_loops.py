"""Inner loop of the search for orders: earliest starts in a corridor.

It indexes by `rows[q][m]`, so the same source runs compiled on arrays of 64-bit integers and as
plain Python on lists, where numbers have any size.
"""

from __future__ import annotations

from typing import Any

from gadgetopt.numbers.compiled import compiled


@compiled
def earliest(
    fwd: Any,
    bwd: Any,
    released: Any,
    shared: Any,
    few: Any,
    most: Any,
    heads_f: Any,
    heads_b: Any,
) -> bool:
    """Write the earliest starts of all blocks; return False if blocks wait for each other.

    Parameters
    ----------
    fwd, bwd, released : sequence of int, shape (machines,)
        Times of blocks, and the moment before which a machine serves none.
    shared : sequence of bool, shape (machines,)
        Whether both directions have to take turns.
    few, most : rows of int, shape (machines, M)
        The corridor.
    heads_f, heads_b : rows of int, shape (machines, M)
        Filled.
    """
    machines, count = len(fwd), len(few[0])
    ahead, behind = [0] * machines, [0] * machines
    moved = True
    while moved:
        moved = False
        for q in range(machines):
            f, b = fwd[q], bwd[q]
            own_f, own_b = heads_f[q], heads_b[q]
            while True:
                i, j = ahead[q], behind[q]
                forwards, backwards, route = i, 0, 0
                is_forward = i < count and (q == 0 or i < ahead[q - 1])
                if is_forward:
                    while shared[q] and backwards < count and most[q][backwards] <= i:
                        backwards += 1
                    is_forward = backwards <= j
                    if q > 0:
                        route = heads_f[q - 1][i] + fwd[q - 1]
                if not is_forward:
                    if j == count or j >= (behind[q + 1] if q < machines - 1 else i):
                        break
                    forwards, backwards = (few[q][j] if shared[q] else 0), j
                    if forwards > i:
                        break
                    route = heads_b[q + 1][j] + bwd[q + 1] if q < machines - 1 else own_f[j] + f
                # When the machine can have served the blocks before, one at a time.
                now, x, y = released[q], 0, 0
                while x < forwards or y < backwards:
                    if y == backwards or (x < forwards and own_f[x] <= own_b[y]):
                        now = max(now, own_f[x]) + f
                        x += 1
                    else:
                        now = max(now, own_b[y]) + b
                        y += 1
                if is_forward:
                    own_f[i] = max(now, route)
                    ahead[q] += 1
                else:
                    own_b[j] = max(now, route)
                    behind[q] += 1
                moved = True
    return min(ahead) == count and min(behind) == count
