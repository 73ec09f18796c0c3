"""Features: how far values are apart, how large bundles are, and how long they are kept."""

from __future__ import annotations

from .instance import AdversarialBundlesInstance


def features(instance: AdversarialBundlesInstance) -> dict[str, float]:
    """Return spread, tightness, durations and classes of a game.

    - `spread`: the largest value a unit and round over the smallest.
    - `largest_share`: the largest part of a resource that a bundle takes.
    - `kept_for_good`: the part of the types that keep their units to the end.
    - `posted_prices`: bundles with their durations: what a price is posted for.
    """
    worth = [
        float(kind.value) / (sum(kind.demand) * instance.rounds_held(j))
        for j, kind in enumerate(instance.types)
    ]
    shares = [
        units / most
        for kind in instance.types
        for units, most in zip(kind.demand, instance.capacity, strict=True)
    ]
    N, types = instance.horizon, range(len(instance.types))
    return {
        "spread": max(worth) / min(worth),
        "largest_share": max(shares),
        "kept_for_good": sum(instance.rounds_held(j) == N for j in types) / len(types),
        "posted_prices": float(len(instance.prices_alike)),
    }
