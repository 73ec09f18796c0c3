r"""Blocks of GPUs: those of a job, and whether they fit into free GPUs.

With tensor parallelism a replica of stage s is a block of :math:`t_s` GPUs of one server. Blocks of
one size t fit where :math:`\sum_m \lfloor f_m / t \rfloor` are enough. Blocks of several sizes are
a bin packing: free GPUs are bins, and no block lies in two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

#: Blocks of a job: pairs of the size of a block and how many there are, the largest first.
Blocks = tuple[tuple[int, int], ...]


def blocks_of(sizes: Sequence[int], counts: Sequence[int]) -> Blocks:
    """Return the blocks of all stages together; `counts` are those of each stage."""
    number: Counter[int] = Counter()
    for size, count in zip(sizes, counts, strict=True):
        number[size] += count
    return tuple(sorted(((t, r) for t, r in number.items() if r), reverse=True))


def fit(blocks: Blocks, free: Sequence[int]) -> bool:
    """Return True if blocks fit into servers with so many free GPUs, none on two servers.

    If every size divides the next larger one, the largest go first and may go anywhere: a block of
    t' takes the places of t' / t blocks of t, on whatever server it is. Otherwise all that matters
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


@lru_cache(maxsize=2**14)
def _pack(blocks: Blocks, free: tuple[int, ...]) -> bool:
    """Return True if blocks fit: server after server, with all that may be left over.

    What is left is a number of each size; where as few or fewer are left of each, others with more
    are forgotten.
    """
    sizes = [size for size, _ in blocks]
    ahead = sum(free)
    left = {tuple(count for _, count in blocks)}
    for f in free:
        after = {rest for counts in left for rest in _rests(sizes, counts, f)}
        if any(not any(rest) for rest in after):
            return True
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
    return not blocks


def _rests(sizes: Sequence[int], counts: Sequence[int], free: int) -> Iterator[tuple[int, ...]]:
    """Yield what is left over of blocks when a server takes as many as it can, in every way."""
    if not sizes:
        yield ()
        return
    for taken in range(min(counts[0], free // sizes[0]), -1, -1):
        for rest in _rests(sizes[1:], counts[1:], free - taken * sizes[0]):
            yield (counts[0] - taken, *rest)
