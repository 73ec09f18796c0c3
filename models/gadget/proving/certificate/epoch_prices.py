r"""Check of the offline bound: prices of capacity between arrivals.

The bound is (reconstructed). With prices :math:`\lambda_{er} \ge 0` of a unit of each resource in a
slot of each epoch it is the Lagrangian bound of the epoch relaxation (D8),

.. math::
    \sum_{e,r} \lambda_{er} n_e \sum_s C_s^r + \sum_i \max_k \big( u_i(k) - p_i(k) \big),

where :math:`p_i(k)` is the least price of k worker-slots from the arrival on, at most
:math:`n_e \bar N_i` in an epoch: the cheapest epochs first. Utilities are rounded up; all else is
exact. If the relaxation has a duality gap, no prices prove its optimum.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from gadgetopt.numbers.exact import common_denominator, dot, double_above

from ...instance import (
    GadgetInstance,
    Job,
)
from ...utility import (
    Energy,
    Table,
)
from .epochs import epochs_of
from .exact_utility import utility_above
from .largest_ring import largest_alone


def bound_of_epochs(instance: GadgetInstance, prices: Sequence[Sequence[Fraction]]) -> float:
    """Return the bound on all slots that prices prove, rounded up, without a solver.

    Parameters
    ----------
    instance : GadgetInstance
    prices : sequence of sequence of Fraction
        For each epoch and resource, per unit of `Terms`; non-negative.

    Raises
    ------
    ValueError
        If there is not one price for every resource of every epoch, or the bound is larger than any
        double.
    """
    terms = instance.terms
    epochs = epochs_of(terms)
    length, resources = epochs.length.tolist(), terms.capacity.shape[1]
    if len(prices) != len(length) or any(len(row) != resources for row in prices):
        raise ValueError("epochs: not one price for every resource of every epoch")
    common_denominator([x for row in prices for x in row])  # refuses those with too many digits
    total = [int(c) for c in terms.capacity.sum(axis=0).tolist()]
    bound = sum((n * dot(row, total) for n, row in zip(length, prices, strict=True)), Fraction(0))
    for job, given, ring in zip(terms.jobs, instance.jobs, largest_alone(terms), strict=True):
        demand = job.demand.tolist()
        offers: dict[Fraction, int] = {}
        for e in range(int(epochs.first[job.index]), len(length)):
            price = dot(prices[e], demand)
            offers[price] = offers.get(price, 0) + length[e] * ring
        bound += _best(given, job.max_total, sorted(offers.items()))
    return double_above(bound)


def _best(job: Job, most: int, offers: Sequence[tuple[Fraction, int]]) -> Fraction:
    """Return the largest utility less price, of totals up to `most` that the offers have room for.

    Totals that cost nothing more are not worth less where training never does harm, so only the
    last of them is looked at.
    """
    monotone = not isinstance(job.utility, (Table, Energy))
    each = job.iterations_per_worker_slot
    best, paid, k = utility_above(job.utility, each, 0), Fraction(0), 0
    for price, offered in offers:
        end = min(k + offered, most)
        for total in range(end if monotone and price == 0 else k + 1, end + 1):
            paid += price
            if total > 0:
                best = max(best, utility_above(job.utility, each, total) - paid)
        k = end
    return best
