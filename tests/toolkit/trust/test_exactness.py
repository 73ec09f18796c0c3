"""A verified optimum is one number: the proved bound is the objective itself."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import gadgetopt
from gadgetopt.trust.certificate import certified_bound
from gadgetopt.trust.exactness import with_exact_bound

#: The optimum is 14/3, which no duals of binary digits reach.
THIRDS = "instances/mip/tiny/thirds.lp"
#: 2 (a + b + c) >= 3 for each pair, and w / 3: the optimum takes a tree and a third.
TREE = """Minimize
 cost: 2 a + 2 b + 3 c + 0.3 w
Subject To
 first: a + b >= 1
 second: b + c >= 1
 third: a + c >= 1
 fourth: 0.7 w + 0.1 a >= 0.9
Bounds
 w <= 100
Binary
 a b c
End
"""


@pytest.fixture
def tree(tmp_path):
    file = tmp_path / "tree.lp"
    file.write_text(TREE)
    return file


def is_one_number(result, value):
    assert result.bound_voucher.value == "verified"
    assert result.objective == result.bound == value
    assert result.gap == 0
    document = result.document
    assert certified_bound(document.problem, document.data, result.certificate) == value
    return True


def test_a_plain_run_proves_the_optimum_to_the_last_digit():
    assert is_one_number(gadgetopt.solve(THIRDS), Fraction(14, 3))


def test_a_search_for_a_proof_does_so(tree):
    # a = b = 1 costs 4 and leaves 0.7 w >= 0.8.
    assert is_one_number(gadgetopt.solve(tree, certify="10"), 4 + Fraction(3, 10) * Fraction(8, 7))


def test_prove_gives_it(tree):
    assert gadgetopt.prove(tree, "10").bound == 4 + Fraction(12, 35)


def test_without_time_the_bound_stays_what_it_is():
    result = gadgetopt.solve(THIRDS)
    document = gadgetopt.read(THIRDS)
    weaker = replace(result, bound=result.bound - Fraction(1, 10**12))
    assert with_exact_bound(document, weaker, 0.0) is weaker


def test_a_proof_that_cannot_be_read_leaves_the_result_and_says_why():
    result = gadgetopt.solve(THIRDS)
    broken = result.certificate.model_copy(update={"proof": "x"})
    weaker = replace(result, bound=result.bound - Fraction(1, 10**12), certificate=broken)
    same = with_exact_bound(gadgetopt.read(THIRDS), weaker, 1.0)
    assert (same.bound, same.certificate) == (weaker.bound, broken)
    assert "proof" in same.notes["proof"]["inexact"]
