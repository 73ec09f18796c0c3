"""Money of the models in whole numbers: no rounding between an instance and its models."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.exact import common_denominator

from ..instance import AdversarialOnlineSequenceInstance

#: Whole amounts beyond this are not exact in a solver's doubles. By definition.
LARGEST = 2**50


@dataclass(frozen=True)
class Amounts:
    """Values in whole multiples of a unit of money.

    Attributes
    ----------
    offline : list of int, shape (J,)
        Value of each type.
    online : list of list of int, shape (I, J)
        The same times the chance of each table.
    prices : list of list of list of int, shape (I, R, C_r)
    unit : Fraction
        Money of 1; of `prices`, `unit` times `whole`.
    whole : int
        Common denominator of the chances.
    """

    offline: list[int]
    online: list[list[int]]
    prices: list[list[list[int]]]
    unit: Fraction
    whole: int


def amounts(instance: AdversarialOnlineSequenceInstance) -> Amounts:
    """Return the amounts of an instance.

    Raises
    ------
    ModelRefused
        If they have too many digits for a solver.
    """
    values = [kind.value for kind in instance.types]
    prices = [x for posted in instance.policy for table in posted.prices for x in table]
    money = common_denominator([*values, *prices])
    whole = common_denominator(posted.probability for posted in instance.policy)
    offline = [int(v * money) * whole for v in values]
    if max(offline) * instance.horizon > LARGEST:
        raise ModelRefused("types: the values have too many digits for a solver")
    return Amounts(
        offline=offline,
        online=[
            [int(v * money) * int(posted.probability * whole) for v in values]
            for posted in instance.policy
        ],
        prices=[
            [[int(x * money) for x in table] for table in posted.prices]
            for posted in instance.policy
        ],
        unit=Fraction(1, money * whole),
        whole=whole,
    )


def check_unit_demand(instance: AdversarialOnlineSequenceInstance) -> None:
    """Raise an error if a request may demand more than one unit of one resource.

    Raises
    ------
    ModelRefused
    """
    if not instance.unit_demand:
        raise ModelRefused("types: the model is for demands of one unit of one resource")
