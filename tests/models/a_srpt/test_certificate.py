"""Certificates say what they prove, and are refused where they do not fit the instance."""

from fractions import Fraction

import pytest
from gadgetopt.models.a_srpt.certificate import (
    ASrptCertificate,
    Formula,
    PartPrices,
    PreemptivePrices,
    Prices,
    check_bound,
)
from pydantic import ValidationError

from .rigid_jobs import H3, instance_of


def bound(instance, proof, **more):
    return check_bound(instance, ASrptCertificate(proof=proof, **more))


def test_formulas_of_h3():
    values = [bound(H3, Formula(formula=name)) for name in ("release", "srpt", "busy_time")]
    assert values == [10, Fraction(19, 2), Fraction(83, 8)]
    raised = [
        bound(H3, Formula(formula=name), attainable=True)
        for name in ("release", "srpt", "busy_time")
    ]
    assert raised == [10, 10, 11]


def test_a_certificate_survives_its_file():
    proof = Prices(times=(0, 2, 3), denominator=4, prices=(0, 3))
    certificate = ASrptCertificate(proof=proof)
    again = ASrptCertificate.model_validate_json(certificate.model_dump_json())
    assert again == certificate
    assert check_bound(H3, again) == Fraction(49, 4)


def test_the_same_prices_prove_no_more_for_jobs_that_may_be_interrupted():
    given = {"times": (0, 2, 3), "denominator": 4, "prices": (0, 3)}
    assert bound(H3, PreemptivePrices(**given)) <= bound(H3, Prices(**given))


def test_prices_in_proportion_are_prices_of_gpu_time():
    rows = tuple((0, 3 * q) for q in (1, 2))
    proof = PartPrices(times=(0, 2, 3), denominator=4, prices=(rows,))
    assert bound(H3, proof) == Fraction(49, 4)


@pytest.mark.parametrize(
    ("kind", "given", "line"),
    [
        (Prices, {"times": (0, 2, 2), "prices": (1, 1)}, r"times\[2\]: 2, expected more than"),
        (Prices, {"times": (0, 2, 3), "prices": (1,)}, "prices: 1 prices, expected one for each"),
        (Prices, {"times": (0, 2), "prices": (-1,)}, "greater than or equal to 0"),
        (PartPrices, {"times": (0, 2), "prices": (((1, 2),),)}, r"prices\[0\]\[0\]: 2 prices"),
    ],
)
def test_malformed_prices_are_refused(kind, given, line):
    with pytest.raises(ValidationError, match=line):
        kind(denominator=1, **given)


def test_prices_of_parts_are_those_of_the_servers():
    two_classes = instance_of((1, 2), [(0, 1, 1, 1)])
    row = ((1,),)
    with pytest.raises(ValueError, match="1 tables, expected one for each of the 2 classes"):
        bound(two_classes, PartPrices(times=(0, 1), denominator=1, prices=(row,)))
    with pytest.raises(ValueError, match=r"prices\[1\]: 1 rows, expected 2"):
        bound(two_classes, PartPrices(times=(0, 1), denominator=1, prices=(row, row)))
