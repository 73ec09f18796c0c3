"""PD-ORS with the paper's way to solve a slot: its linear program, rounded at random."""

from __future__ import annotations

import numpy as np

from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..guarantees.ratios import rho_hat, rounding_log_probability
from ..instance import PdOrsInstance, PdOrsSolution
from ..subproblems.prices import PriceRange, Upper, price_range
from ..subproblems.slot_methods import SlotOptions
from .pd_ors import GRID, decide


@method(kind="online", reference="Algorithms 1-4, the roundings of Algorithm 4")
def pd_ors_rounding(
    instance: PdOrsInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    upper: Upper = "min",
    factor: float = 1.0,
    attempts: int = 50,
) -> MethodOutcome:
    r"""PD-ORS with the paper's roundings of the program of a slot.

    Return the decisions of `pd_ors` where the external case of a slot is rounded (Algorithm 4).

    For a number of workers the linear relaxation of (13)-(17) is scaled by :math:`G_\delta` and
    rounded at most S times; the first rounding that fits is taken, without its surplus, and where
    none fits the number is given up (`slot_rounding`).

    Parameters
    ----------
    instance : PdOrsInstance
    limits : Limits
        `time_s` is checked before each job; jobs after it are rejected.
    rng : numpy.random.Generator
        A seed is drawn from it.
    upper : "min" or "sum", default "min"
        As in `pd_ors`.
    factor : float, default 1
        :math:`G_\delta`, positive; 1 is best in practice, `guarantees` has the lemma's.
    attempts : int, default 50
        S.

    Returns
    -------
    MethodOutcome
        Its notes are those of `pd_ors`, by how much spread slots cost more than their relaxation at
        most (`guarantees.rho_hat`), and the logarithm of the probability of the claim.
    """
    options = SlotOptions(
        "rounding",
        grid=GRID,
        seed=int(rng.integers(2**62)),
        factor=factor,
        attempts=attempts,
        clock=Clock(limits),
    )
    return decide_by_rounding(instance, limits, price_range(instance, upper=upper), options)


def decide_by_rounding(
    instance: PdOrsInstance, limits: Limits, prices: PriceRange, options: SlotOptions
) -> MethodOutcome:
    """Return the decisions with slots that are rounded as `options` say, and notes about that."""
    found = decide(instance, limits, prices, options)
    if isinstance(found.solution, PdOrsSolution):
        found.notes["rho_hat"] = rho_hat(instance, found.solution, prices)
        found.notes["log_probability"] = rounding_log_probability(instance)
    return found
