"""Features: how wide the values spread, and how steep the prices are."""

from __future__ import annotations

from itertools import pairwise

from .instance import AdversarialOnlineSequenceInstance


def features(instance: AdversarialOnlineSequenceInstance) -> dict[str, float]:
    """Return spread, length and steepness of an instance.

    - `spread`: the largest value over the smallest; no sensible ratio exceeds it for one resource.
    - `requests_per_unit`: the horizon over all units; below 2 the adversary is cut short.
    - `steepness`: the largest price over the smallest.
    - `price_falls`: share of the steps of all price tables that go down; 0 has a closed form.
    - `refused_share`: share of the types that all prices refuse from the beginning; above 0 the
      ratio is infinite.
    """
    values = [float(kind.value) for kind in instance.types]
    prices = [[list(map(float, t)) for t in posted.prices] for posted in instance.policy]
    tables = [table for posted in prices for table in posted]
    flat = [x for table in tables for x in table]
    steps = [b < a for table in tables for a, b in pairwise(table)]
    return {
        "spread": max(values) / min(values),
        "requests_per_unit": instance.horizon / sum(instance.capacity),
        "steepness": max(flat) / min(flat),
        "price_falls": sum(steps) / len(steps) if steps else 0.0,
        "refused_share": len(instance.refused) / len(instance.types),
    }
