"""Certificates: only true bounds are proved, and certificates are read back as written."""

import dataclasses
import json
import sqlite3
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from toy import DOCUMENT, KNAPSACK, TOY, outcome

from gadgetopt.errors import InputError
from gadgetopt.runs.rows import StoredRun
from gadgetopt.runs.store import Store
from gadgetopt.system.data import Certificate, LpDuals, ModelProof, Rational
from gadgetopt.system.declaration import Method
from gadgetopt.system.result import Limits, Status, Voucher
from gadgetopt.trust.certificate import certified_bound
from gadgetopt.trust.infeasibility import infeasible_voucher
from gadgetopt.trust.run import solve


class Claim(Certificate):
    """Proves `value` if that is a bound at all, and nothing if it is negative."""

    value: int


def check(instance, certificate):
    if certificate.value == 13:
        raise ValueError("value: 13 is unlucky")
    return certificate.value if certificate.value >= 0 else None


def with_certificate(value, **claims):
    method = Method(
        "proves",
        kind="relaxation",
        summary="-",
        reference="-",
        run=outcome(certificate=Claim(value=value), **claims),
    )
    system = dataclasses.replace(
        TOY, certificate_type=Claim, check_bound=check, methods=(*TOY.methods, method)
    )
    return solve(dataclasses.replace(DOCUMENT, problem=system), "proves")


def test_a_certificate_makes_the_bound_and_its_voucher():
    result = with_certificate(5)
    assert (result.bound, result.bound_voucher) == (5, Voucher.VERIFIED)


class Weak(Claim):
    """May prove less than the bound that it comes with."""

    may_prove_less = True


def test_what_its_proof_does_not_reach_is_not_verified():
    # The method says that it recomputed the bound, and hands in what proves less, or nothing.
    proof = ModelProof(kind="tree", formulation="plain", model="0" * 64, proof="")
    for certificate in (Weak(value=9), proof):
        method = Method(
            "proves",
            kind="relaxation",
            summary="-",
            reference="-",
            run=outcome(certificate=certificate, dual_bound=4, voucher=Voucher.VERIFIED),
        )
        system = dataclasses.replace(
            TOY, certificate_type=Claim, check_bound=check, methods=(*TOY.methods, method)
        )
        result = solve(dataclasses.replace(DOCUMENT, problem=system), "proves")
        assert (result.bound, result.bound_voucher) == (4, Voucher.SOLVER)
        assert result.certificate is None


def with_claim(**claims):
    method = Method("alone", kind="relaxation", summary="-", reference="-", run=outcome(**claims))
    system = dataclasses.replace(TOY, methods=(*TOY.methods, method))
    return solve(dataclasses.replace(DOCUMENT, problem=system), "alone")


@pytest.mark.parametrize("voucher", [Voucher.VERIFIED, "verified", "proved", None])
def test_a_method_cannot_vouch_for_its_bound(voucher):
    result = with_claim(dual_bound=4, voucher=voucher)
    assert (result.bound, result.bound_voucher) == (4, Voucher.SOLVER)


@pytest.mark.parametrize("voucher", [Voucher.CROSS_CHECKED, "cross-checked"])
def test_a_method_cannot_claim_that_others_confirm_its_bound(voucher):
    result = with_claim(dual_bound=4, voucher=voucher)
    assert result.status is Status.ERROR
    assert "cross-checked, which only a comparison" in result.reason


@pytest.mark.parametrize("proved", [Status.INFEASIBLE, "infeasible"])
def test_what_a_method_says_of_its_instance_is_its_own_word(proved):
    result = with_claim(proved=proved, notes={"infeasible": "by me"})
    assert result.status is Status.INFEASIBLE
    assert infeasible_voucher(result) is Voucher.SOLVER


def test_a_claim_beyond_the_certificate_is_an_error():
    result = with_certificate(5, dual_bound=4)
    assert result.status is Status.ERROR
    assert result.bound is None
    assert result.certificate is None


def test_a_claim_short_of_the_certificate_gives_the_certificates_bound():
    assert with_certificate(4, dual_bound=5).bound == 4


@pytest.mark.parametrize("value", [-1, 13])
def test_a_certificate_that_proves_nothing_or_cannot_be_checked_is_an_error(value):
    result = with_certificate(value)
    assert result.status is Status.ERROR
    assert "certificate" in result.reason


def test_a_problem_without_certificates_says_so():
    with pytest.raises(InputError, match="no certificates of its own"):
        certified_bound(TOY, KNAPSACK, Claim(value=3))


@given(st.lists(st.fractions(-10, 10), min_size=1, max_size=1))
def test_any_row_duals_prove_a_bound_that_holds(duals):
    certificate = LpDuals(formulation="plain", row_duals=tuple(duals))
    bound = certified_bound(TOY, KNAPSACK, certificate)
    assert bound is None or bound >= 4  # the optimum of a maximisation


def test_the_best_row_duals_prove_the_linear_relaxation_exactly():
    # max 2a + 4b + c with 2a + 3b + c <= 3: by b alone, 4; its dual is 4/3 (or any in [1, 4/3]).
    certificate = LpDuals(formulation="plain", row_duals=(Fraction(4, 3),))
    assert certified_bound(TOY, KNAPSACK, certificate) == 4


def test_duals_of_another_number_of_rows_are_refused():
    with pytest.raises(ValueError, match="2 duals for 1 rows"):
        certified_bound(TOY, KNAPSACK, LpDuals(formulation="plain", row_duals=(1, 2)))


def test_duals_of_a_restriction_bound_nothing():
    with pytest.raises(ValueError, match="restriction"):
        certified_bound(TOY, KNAPSACK, LpDuals(formulation="tight", row_duals=(1, 1)))


def test_a_store_gives_certificates_back(tmp_path):
    duals = LpDuals(formulation="plain", row_duals=(Fraction(1, 3),))
    result = dataclasses.replace(
        solve(DOCUMENT, "best"), problem="sjf_bco", solution=None, certificate=duals
    )
    with Store(tmp_path / "runs.sqlite") as store:
        store.add(StoredRun("k", result, (), Limits(), "0"))
        assert store.get("k").result.certificate == duals


def test_a_store_of_the_first_version_is_brought_up_to_date(tmp_path):
    path = tmp_path / "runs.sqlite"
    result = dataclasses.replace(solve(DOCUMENT, "bound_only"), problem="sjf_bco")
    with Store(path) as store:
        store.add(StoredRun("k", result, (), Limits(), "0"))
    with sqlite3.connect(path) as old:
        old.execute("DROP INDEX runs_by_position")
        for column in ("certificate", "refused", "position", "code", "sense"):
            old.execute(f"ALTER TABLE runs DROP COLUMN {column}")
        old.execute("PRAGMA user_version = 1")
    with Store(path) as store:
        kept = store.get("k").result
    assert (kept.bound, kept.certificate, kept.refused) == (4, None, False)


RATIONAL = TypeAdapter(Rational)


@given(st.fractions())
def test_exact_numbers_survive_a_file(x):
    assert RATIONAL.validate_json(json.dumps(RATIONAL.dump_python(x, mode="json"))) == x


@pytest.mark.parametrize(
    ("text", "value"), [("0.1", Fraction(1, 10)), ('"600/7"', Fraction(600, 7))]
)
def test_decimals_and_fractions_are_read_as_written(text, value):
    assert RATIONAL.validate_json(text) == value


@pytest.mark.parametrize("text", ['"1/0"', '"x"', "true", "[1]", "null"])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(ValidationError):
        RATIONAL.validate_json(text)


def test_duals_that_are_no_numbers_count_as_zero():
    from gadgetopt.solvers.dual_bounds import rational_duals
    from gadgetopt.solvers.standard_form import compile_model

    form = compile_model(TOY.formulations[0].build(KNAPSACK))
    bound, duals = rational_duals(form, np.array([np.nan]))
    assert (bound, duals) == (7, [0])


def test_integers_beyond_doubles_bound_exactly():
    from toy import Knapsack

    large = Knapsack(capacity=2**60 + 1, weight=(1,), value=(1,))
    duals = LpDuals(formulation="plain", row_duals=(1,))
    with pytest.raises(ValueError, match="is changed by rounding to a double"):
        certified_bound(TOY, large, duals)
    exact = Knapsack(capacity=2**60, weight=(1,), value=(1,))
    assert certified_bound(TOY, exact, LpDuals(formulation="plain", row_duals=(0,))) == 1


@pytest.mark.parametrize("bound", [10**400, float("inf"), float("nan")])
def test_a_bound_that_is_no_double_is_refused(bound):
    system = dataclasses.replace(TOY, certificate_type=Claim, check_bound=lambda i, c: bound)
    with pytest.raises(ValueError, match="larger than any double"):
        certified_bound(system, KNAPSACK, Claim(value=1))


def test_a_row_that_may_have_been_rounded_has_no_part_in_a_proof():
    # That x <= 1 proves the bound of 1 without the row.
    from toy import Knapsack

    large = dataclasses.replace(DOCUMENT, data=Knapsack(capacity=2**60, weight=(1,), value=(1,)))
    result = solve(large, "plain@highs")
    assert result.status is Status.OPTIMAL
    assert (result.bound, result.bound_voucher) == (1, Voucher.VERIFIED)


@pytest.mark.parametrize("sense", ["min", "max"])
def test_a_bound_of_thousands_of_digits_is_written_with_fewer_and_no_tighter(sense):
    system = dataclasses.replace(TOY, sense=sense, integral_objective=False, certificate_type=Claim)
    for long in (Fraction(3**20_000, 2**31_699 + 1), Fraction(7, 3**20_000)):
        checked = dataclasses.replace(system, check_bound=lambda i, c, long=long: long)
        bound = certified_bound(checked, KNAPSACK, Claim(value=1))
        assert bound <= long if sense == "min" else bound >= long
        assert abs(bound - long) <= Fraction(1, 2**2048)
        assert len(str(bound)) < 2_000
