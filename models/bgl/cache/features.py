"""Features: how much the cache can hold, and how much there is to reuse."""

from __future__ import annotations

from gadgetopt.system.features import variation

from .instance import CacheInstance


def features(instance: CacheInstance) -> dict[str, float]:
    """Return density and difficulty of an instance.

    - `capacity_share`: space of the device over that of all requested nodes; from 1 on nothing
      is ever reloaded.
    - `batch_over_capacity`: mean number of nodes of a request over the capacity, 0 without one;
      near 1 and above, little survives to the next batch.
    - `uses_per_node`: mean number of requests that need a node; at 1 no cache helps.
    - `frequency_variation`: coefficient of variation of these numbers; where it is large, a static
      cache does well.
    - `single_use_share`: share of the nodes that are needed once.
    - `weight_variation`: coefficient of variation of the weights.
    """
    uses = [float(times) for times in instance.frequency.values()]
    space = sum(instance.size(v) for v in instance.frequency)
    mean = sum(uses) / len(instance.requests)
    return {
        "capacity_share": instance.capacity / space,
        "batch_over_capacity": mean / instance.capacity if instance.capacity else 0.0,
        "uses_per_node": sum(uses) / len(uses),
        "frequency_variation": variation(uses),
        "single_use_share": sum(1 for times in uses if times == 1) / len(uses),
        "weight_variation": variation(float(instance.weight(v)) for v in instance.frequency),
    }
