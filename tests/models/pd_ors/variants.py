"""PD-ORS with any of its choices together, which the methods make one by one."""

import numpy as np

from gadgetopt.models.pd_ors.algorithms.pd_ors import GRID, QUANTA, decide
from gadgetopt.models.pd_ors.guarantees.ratios import prices_of
from gadgetopt.models.pd_ors.subproblems.prices import price_range
from gadgetopt.models.pd_ors.subproblems.slot_methods import SlotOptions
from gadgetopt.system.result import Limits


def variant(
    instance,
    limits=None,
    rng=None,
    *,
    slot_method="auto",
    progress="auto",
    quanta=QUANTA,
    grid=GRID,
    normalise_resources=False,
    **prices,
):
    """Return what PD-ORS decides; further parameters are those of `prices_of`."""
    rng = rng or np.random.default_rng(0)
    if normalise_resources:
        span = price_range(instance, normalise_resources=True)
    else:
        span = prices_of(instance, prices)
    seed = int(rng.integers(2**62)) if slot_method == "rounding" else 0
    options = SlotOptions(slot_method, grid=grid, seed=seed)
    return decide(instance, limits or Limits(), span, options, progress=progress, quanta=quanta)
