"""Baselines: accept everything, one price, the exponential price without flat part, own prices."""

from __future__ import annotations

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ...subproblems import curves
from ..instance import AdversarialOnlineRunInstance
from ..subproblems.outcome import outcome_of_tables


@method(kind="baseline", reference="standard theory (reconstructed)")
def greedy(instance: AdversarialOnlineRunInstance) -> MethodOutcome:
    r"""Accept whatever fits: the price L.

    Accept whatever fits. Ratio :math:`\theta` for units of one resource.
    """
    return outcome_of_tables(instance, [[instance.value_min] * c for c in instance.capacity])


@method(kind="baseline", reference="standard theory (reconstructed)")
def fixed_price(
    instance: AdversarialOnlineRunInstance,
    *,
    position: float = 0.5,
) -> MethodOutcome:
    """One price between L and U; against a stream of L it sells nothing.

    Post the price L + position (U - L) for ever. No finite ratio, unless `position` is 0.

    Raises
    ------
    InputError
        If the position is not from 0 to 1.
    """
    if not 0 <= position <= 1:
        raise InputError(f"position: {position}, expected from 0 to 1")
    low, high = instance.value_min, instance.value_max
    price = low + decimal_rational(position) * (high - low)
    return outcome_of_tables(instance, [[price] * c for c in instance.capacity])


@method(kind="baseline", reference="standard theory (reconstructed)")
def exp_plain(instance: AdversarialOnlineRunInstance) -> MethodOutcome:
    r"""The price L theta^y, without a flat part.

    Post :math:`L \theta^{u/k}`.
    """
    low, high = instance.value_min, instance.value_max
    return outcome_of_tables(
        instance,
        [curves.curve_table(curves.plain_exponential, c, low, high) for c in instance.capacity],
    )


@method(kind="baseline", reference="the user's own")
def posted(instance: AdversarialOnlineRunInstance) -> MethodOutcome:
    """The prices that the instance brings.

    Raises
    ------
    ModelRefused
        If it brings none.
    """
    if not instance.prices:
        raise ModelRefused("prices: none, expected a price of every unit of every resource")
    return outcome_of_tables(instance, instance.prices)
