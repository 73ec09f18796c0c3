"""The best price of a kilogram: the value per weight of the first item that does not fit."""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ...algorithms.greedy import by_density
from ...instance import SkeletonInstance
from ..certificate import SkeletonCertificate


@method(kind="relaxation", reference="Dantzig 1957")
def price(instance: SkeletonInstance) -> MethodOutcome:
    """The optimum of the linear relaxation, proved by a price of weight.

    The toolkit checks the certificate and takes the bound from the check.
    """
    return MethodOutcome(certificate=best_price(instance))


def best_price(instance: SkeletonInstance) -> SkeletonCertificate:
    """Return the certificate of the least bound; the price is 0 if all items fit."""
    room_kg = instance.capacity_kg
    for i in by_density(instance):
        room_kg -= instance.weight_kg[i]
        if room_kg < 0:
            density = Fraction(instance.value[i], instance.weight_kg[i])
            return SkeletonCertificate(price=density)
    return SkeletonCertificate(price=Fraction(0))
