"""The bound that prices of parts of servers prove, in whole numbers (`server_costs`)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...relaxations import whole_sum
from ..server_costs import PartPrices, Servers, cheapest, collected
from .price_checks import INT64_SAFE


def server_price_bound(servers: Servers, parts: PartPrices) -> Fraction:
    """Return the bound that whole prices of parts prove, exactly."""
    pool, D, q = servers.pool, parts.denominator, servers.pool.weight_scale
    lengths = [b - a for a, b in zip(parts.times[:-1], parts.times[1:], strict=True)]
    dearest = sum(
        int(length) * max(int(table[:, k].max()) for table in parts.tables)
        for k, length in enumerate(lengths)
    )
    longest = int(max(pool.duration.max(), servers.split_ticks.max()))
    latest = max(int(parts.times[-1]), int(pool.release.max())) + longest
    largest = (
        D * latest * int(pool.weight.max())
        + q * max(int(pool.gpus.max()), *servers.capacities) * dearest
    )
    dtype = np.int64 if largest <= INT64_SAFE else object
    exact = PartPrices(parts.times.astype(dtype), tuple(t.astype(dtype) for t in parts.tables), D)
    total = 0
    for jobs, cost, _, _ in cheapest(servers, exact, dtype):
        assert len(jobs) == len(cost)
        total += whole_sum(cost)
    for c, count, table in zip(servers.capacities, servers.counts, exact.tables, strict=True):
        worth = collected(c, table)[-1].tolist()
        charged = sum(int(x) * int(y) for x, y in zip(worth, lengths, strict=True))
        total -= q * count * charged
    return Fraction(total, D * q)
