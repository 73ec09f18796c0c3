"""Minimum cuts around every training node, at prices of balance."""

from __future__ import annotations

from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ...instance import BglPartitionInstance
from ..certificate.check import (
    BglPartitionCertificate,
    IsolatingCuts,
    IsolatingNetwork,
    Stars,
)

#: Steps by which a price is sought. Tuned: `benchmarks/constants.py`.
MOST_STEPS = 12


@method(
    kind="relaxation",
    reference="this project, after Dahlhaus et al. 1994",
    formulation="isolating_cuts",
)
def isolating_cuts(instance: BglPartitionInstance, limits: Limits) -> MethodOutcome:
    r"""Minimum cuts around every training node, at prices of balance.

    For every training node t the price :math:`\lambda` is sought that maximises the concave

    .. math:: \ell_t(\lambda) = \min_{S \ni t} w(\delta(S)) + \lambda (|T \cap S| - C_T).

    The lines of the cuts found at two prices meet at the next, as in Newton's method; each step is
    a minimum cut.

    References
    ----------
    E. Dahlhaus, D. S. Johnson, C. H. Papadimitriou, P. D. Seymour, M. Yannakakis, "The Complexity
    of Multiterminal Cuts", SIAM Journal on Computing 23 (1994) 864-894, has cuts that isolate
    terminals; the prices are ours.
    """
    clock = Clock(limits)
    if not len(instance.pair_weights):
        return MethodOutcome(certificate=BglPartitionCertificate(proof=Stars()))
    network = IsolatingNetwork(instance)
    prices = [0 if clock.expired else _best_price(network, t, clock) for t in instance.train_nodes]
    return MethodOutcome(
        certificate=BglPartitionCertificate(proof=IsolatingCuts(prices=tuple(prices))),
        limit_hit="time_s" if clock.expired else None,
    )


def _best_price(network: IsolatingNetwork, t: int, clock: Clock) -> int:
    """Return a price that maximises the cut of t, or nearly so."""
    most = network.train_cap
    low_value, low_inside = network.cut(t, 0)
    if low_inside <= most:
        return 0
    own = int(network.weights.sum())
    high = own + 1
    high_value, high_inside = network.cut(t, high)
    low, best, best_value = 0, 0, low_value
    for _ in range(MOST_STEPS):
        if high_value > best_value:
            best, best_value = high, high_value
        slope = (low_inside - most) - (high_inside - most)
        if slope <= 0 or clock.expired:
            break
        # Where the lines through (low, low_value) and (high, high_value) meet.
        rise = high_value - high * (high_inside - most) - (low_value - low * (low_inside - most))
        middle = rise // slope
        if not low < middle < high:
            break
        value, inside = network.cut(t, middle)
        if value > best_value:
            best, best_value = middle, value
        if inside > most:
            low, low_value, low_inside = middle, value, inside
        elif inside < most:
            high, high_value, high_inside = middle, value, inside
        else:
            break
    return best
