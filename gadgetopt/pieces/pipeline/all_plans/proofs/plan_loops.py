"""The inner loops of the check of a proof about all plans, in 64-bit whole numbers.

They belong to the check and to nothing else. They index by `rows[i][j]`, so the same source runs
compiled on arrays and as plain Python on lists.
"""

from __future__ import annotations

from typing import Any

from gadgetopt.numbers.compiled import compiled, part_of_loops


@part_of_loops
def one_way(count: int, f: int, b: int) -> int:
    """Return M blocks of one direction and one of the other, the more of both.

    With the times of all later machines, a machine takes so long from its head to its tail: after M
    forwards the last microbatch goes to the end and back, or the first one does before M backwards.
    Times that are so large that 64 bits might not do are 0.
    """
    longer, shorter = max(f, b), min(f, b)
    return count * longer + shorter if longer <= 2**60 // count else 0


@compiled
def extended(
    layer: int,
    head: int,
    tail: int,
    passing: int,
    below: int,
    count: int,
    full_duplex: bool,
    overlapping: bool,
    choices: Any,
    stages: Any,
    links: Any,
    most_end: Any,
    rests: Any,
    found: Any,
) -> tuple[int, int]:
    """Write the plans of more layers that one more stage makes and that may end below a bound.

    Parameters
    ----------
    layer, head, tail, passing : int
        Layers done, and the numbers of `steps.Row`.
    below : int
        Ticks.
    count : int
        Microbatches.
    full_duplex, overlapping : bool
    choices : rows of int, shape (choices, 5)
        Numbers of kind, link (-1 for none) and state, replicas, and GPUs free afterwards.
    stages, links, most_end, rests : rows of rows of int
        As `ticks` makes them.
    found : rows of int, shape (any, 5)
        Filled: choice, layers done, head, tail and passing.

    Returns
    -------
    int
        How many were found.
    int
        The least bound of those that were left out.
    """
    written, least = 0, 2**61
    for c in range(len(choices)):
        kind, link, replicas, free = choices[c][0], choices[c][1], choices[c][3], choices[c][4]
        h, z, p, way = head, tail, passing, 0
        if link >= 0:
            c_f, c_b = links[link][0][layer], links[link][1][layer]
            through = h + links[link][2][layer] + z
            way = h + z + one_way(count, c_f, c_b)
            h += c_f
            z += c_b
            if full_duplex:
                p = max(p + c_f + c_b, through)
            elif through >= below:
                least = min(least, through)
                continue
        sum_f, sum_b, sum_load = stages[kind][0], stages[kind][1], stages[kind][2]
        sum_exchange, sum_past = stages[kind][3], stages[kind][4]
        slack = stages[kind][5][0]
        u, v, w = rests[0][free][replicas], rests[1][free][replicas], rests[2][free][replicas]
        reduce = 0
        for end in range(layer + 1, most_end[replicas][layer] + 1):
            load = max(0, sum_load[end] - sum_load[layer] - slack)
            if h + load + z >= below:  # and so of all longer stages
                least = min(least, h + load + z)
                break
            f = max(0, sum_f[end] - sum_f[layer] - slack)
            b = max(0, sum_b[end] - sum_b[layer] - slack)
            exchange = sum_exchange[end] - sum_exchange[layer] - slack
            if overlapping:  # of the layers from each on, after the backward of those behind it
                exchange = max(reduce, exchange - (sum_past[end - 1] - sum_past[layer] + slack))
            reduce = max(0, exchange)
            above = max(z, reduce)
            new_head, new_tail = h + f, b + above
            bound = max(h + load + above, new_head + new_tail + u[end], new_head + v[end])
            # What is to come is passed there and back by the last, or the first, microbatch.
            onward = h + above + one_way(count, f, b)
            if way > 0:
                onward = max(onward, way + f + b)
            bound = max(bound, onward + w[end])
            new_passing = 0
            if full_duplex:
                new_passing = p + f + b
                bound = max(bound, new_passing + w[end])
            if bound >= below:
                least = min(least, bound)
                continue
            row = found[written]
            row[0], row[1], row[2], row[3], row[4] = c, end, new_head, new_tail, new_passing
            written += 1
    return written, least


@part_of_loops
def as_good(row: Any, better: Any, begin: int, end: int, first: Any, after: Any, rows: Any) -> int:
    """Return the first row of better grounds without a larger number, -1 if there is none.

    Parameters
    ----------
    row : sequence of int, shape (5,)
    better : sequence of int
        Grounds; those from `begin` to `end` are looked at.
    first, after : sequence of int
        The first row of each ground, and the next one of the same; -1 if there is none.
    rows : rows of int, shape (any, 5)
    """
    for x in range(begin, end):
        k = first[better[x]]
        while k >= 0:
            other = rows[k]
            if (
                other[0] <= row[0]
                and other[1] <= row[1]
                and other[2] <= row[2]
                and other[3] <= row[3]
                and other[4] <= row[4]
            ):
                return int(k)
            k = after[k]
    return -1


@compiled
def first_as_good(row: Any, better: Any, first: Any, after: Any, rows: Any) -> int:
    """Return the first row of better grounds without a larger number (`as_good`), or -1."""
    return as_good(row, better, 0, len(better), first, after, rows)


@compiled
def first_of_each(
    rows: Any, grounds: Any, starts: Any, better: Any, first: Any, after: Any, found: Any
) -> None:
    """Write for each row one before it that is as good and has none itself, or the row.

    Parameters
    ----------
    rows : rows of int, shape (any, 5)
    grounds : sequence of int
        The ground of each row.
    starts, better : sequence of int
        Those that may replace ground g: from `better[starts[g]]` to before `better[starts[g + 1]]`.
    first, after : sequence of int
        All -1; filled as `as_good` takes them.
    found : sequence of int
        Filled.
    """
    for i in range(len(rows)):
        ground = grounds[i]
        k = as_good(rows[i], better, starts[ground], starts[ground + 1], first, after, rows)
        if k < 0:
            after[i], first[ground] = first[ground], i
            k = i
        found[i] = k
