"""Features: where the bottleneck is likely to be."""

from __future__ import annotations

from gadgetopt.numbers.tolerance import Number

from .instance import ResourcesInstance


def features(instance: ResourcesInstance) -> dict[str, float]:
    """Return density and difficulty of an instance, 0 where there is nothing to divide by.

    - `fixed_share`: the longer of network and GPU over the sum of that, the store's work over its
      cores, and the cache's time with half of the worker's cores and of PCIe.
    - `store_share`: the store's work over its cores, of the same sum.
    - `store_balance`: the smaller of the two works of the store over the larger.
    - `floor_share`: the part of the cache's time on one core that no core shortens.
    - `copy_balance`: the smaller of the two copies over the larger.
    """
    fixed = float(instance.fixed_s)
    store = float(instance.request_core_s + instance.construct_core_s) / instance.store_cores
    half_cores, half_units = max(1, instance.worker_cores // 2), max(1, instance.pcie_units // 2)
    cache = float(instance.cache_s(half_cores, half_units))
    total = fixed + store + cache
    return {
        "fixed_share": _part(fixed, total),
        "store_share": _part(store, total),
        "store_balance": _balance(instance.request_core_s, instance.construct_core_s),
        "floor_share": _part(
            instance.cache_floor_s, instance.cache_core_s + instance.cache_floor_s
        ),
        "copy_balance": _balance(instance.subgraph_unit_s, instance.feature_unit_s),
    }


def _part(part: Number, whole: Number) -> float:
    top, bottom = float(part), float(whole)
    return top / bottom if bottom else 0.0


def _balance(a: Number, b: Number) -> float:
    return _part(min(a, b), max(a, b))
