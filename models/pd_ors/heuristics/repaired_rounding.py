"""PD-ORS with roundings that are repaired: the best is kept, surplus taken off, a fall-back."""

from __future__ import annotations

import numpy as np

from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..algorithms.pd_ors import GRID
from ..algorithms.rounding import decide_by_rounding
from ..instance import PdOrsInstance
from ..subproblems.prices import price_range
from ..subproblems.slot_methods import FallBack, Keep, SlotOptions


@method(kind="online", reference="Algorithm 4, repaired (reconstructed)")
def pd_ors_repaired_rounding(
    instance: PdOrsInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    factor: float = 1.0,
    attempts: int = 50,
    keep: Keep = "best",
    trim: bool = True,
    fallback: FallBack = "greedy",
) -> MethodOutcome:
    """PD-ORS with roundings of which the best is kept, and a fall-back.

    Return the decisions of `pd_ors_rounding` with other rules for the roundings of a slot.

    Parameters
    ----------
    instance : PdOrsInstance
    limits : Limits
        `time_s` is checked before each job; jobs after it are rejected.
    rng : numpy.random.Generator
        A seed is drawn from it.
    factor, attempts
        As in `pd_ors_rounding`.
    keep : "first" or "best", default "best"
        Which rounding of those that fit.
    trim : bool, default True
        True to take surplus workers and servers away, the dearest first.
    fallback : "none", "greedy" or "exact_dp", default "greedy"
        How a slot is filled if no rounding fits.
    """
    options = SlotOptions(
        "rounding",
        grid=GRID,
        seed=int(rng.integers(2**62)),
        factor=factor,
        attempts=attempts,
        keep=keep,
        trim=trim,
        fall_back=fallback,
        clock=Clock(limits),
    )
    return decide_by_rounding(instance, limits, price_range(instance), options)
