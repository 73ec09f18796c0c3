"""What is wrong with start times of blocks, block by block: the witness of the simulator."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

from gadgetopt.pieces.pipeline.shop import Shop
from gadgetopt.pieces.pipeline.simulator import block_name
from gadgetopt.system.result import Violation


def schedule_violations(
    shop: Shop,
    fwd_start: Sequence[Sequence[Fraction | int]],
    bwd_start: Sequence[Sequence[Fraction | int]],
) -> Iterator[Violation]:
    """Yield what is wrong with start times given in units of the shop, with amounts in units.

    Parameters
    ----------
    shop : Shop
    fwd_start, bwd_start : sequence of sequence of Fraction or int
        Starts on machine q of microbatch m + 1. Shapes (2S-1, M).
    """
    last = shop.num_machines - 1
    for q in range(last + 1):
        for m in range(shop.num_microbatches):
            ready_f = fwd_start[q - 1][m] + shop.fwd[q - 1] if q else 0
            ready_b = (
                bwd_start[q + 1][m] + shop.bwd[q + 1] if q < last else fwd_start[q][m] + shop.fwd[q]
            )
            for code, start, ready in (
                (m + 1, fwd_start[q][m], ready_f),
                (-m - 1, bwd_start[q][m], ready_b),
            ):
                if start < ready:
                    yield Violation(
                        "blocks follow their predecessor", block_name(q, code), ready - start
                    )
        yield from _overlaps(shop, q, fwd_start[q], bwd_start[q])
    for n, cap in enumerate(shop.max_in_flight):
        events = [(start, 1) for start in fwd_start[2 * n]]
        events += [(start + shop.bwd[2 * n], -1) for start in bwd_start[2 * n]]
        flying = peak = 0
        for _, change in sorted(events):
            flying += change
            peak = max(peak, flying)
        if peak > cap:
            yield Violation("microbatches in flight", f"stage {n}", peak - cap)


def _overlaps(
    shop: Shop, q: int, forward: Sequence[Fraction | int], backward: Sequence[Fraction | int]
) -> Iterator[Violation]:
    f = [(s, s + shop.fwd[q], m + 1) for m, s in enumerate(forward)]
    b = [(s, s + shop.bwd[q], -m - 1) for m, s in enumerate(backward)]
    for blocks in [f, b] if shop.full_duplex and q % 2 else [f + b]:
        # Blocks of no length may lie anywhere between others.
        ordered = sorted(block for block in blocks if block[1] > block[0])
        for (_, end, first), (start, _, second) in itertools.pairwise(ordered):
            if start < end:
                where = f"{block_name(q, first)} and {block_name(q, second)}"
                yield Violation("a machine serves one block at a time", where, end - start)
