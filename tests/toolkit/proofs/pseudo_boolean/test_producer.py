"""Logs of a pseudo-Boolean solver made into proofs, and the solver Exact where it is installed."""

from __future__ import annotations

import sys
from random import Random

import pytest

from gadgetopt.proofs.model import Model, Row
from gadgetopt.proofs.pseudo_boolean import producer
from gadgetopt.proofs.pseudo_boolean.elaboration import NotElaborated, elaborate
from gadgetopt.proofs.pseudo_boolean.encoding import encode, proof_lines, proved
from gadgetopt.proofs.pseudo_boolean.kernel import Proof
from gadgetopt.proofs.pseudo_boolean.producer import opb, prove

from ..small_models import least
from .test_encoding import KNAPSACK, pure

#: min 3 x1 + 2 x2 + 2 x3 with two of the three: 4, with x2 and x3.
PAIRS = Model(
    [True] * 3,
    [0] * 3,
    [1] * 3,
    [Row([i, k], [1, 1], 1, None, 1) for i, k in ((0, 1), (0, 2), (1, 2))],
    ([0, 1, 2], [3, 2, 2]),
    1,
    0,
    "min",
)
FORMULA = encode(PAIRS)
HEADER = "pseudo-Boolean proof version 1.1"
#: The solver's copy, in another order, with a negation written as a negative coefficient.
LOGGED_FORMULA = [
    "* #variable= 0 #constraint= 0",
    "min: +3 x1 +2 x2 +2 x3 ;",
    "+1 x2 +1 x3 >= 1 ;",
    "-1 ~x1 +1 x2 >= 0 ;",
    "+1 x1 +1 x3 >= 1 ;",
]
#: Constraints 1 to 3 are the rows, 5 and 8 assume better solutions, 6 defines x4.
LOG = [
    HEADER,
    "l 1",
    "l 2",
    "l 3",
    "rup >= 0 ;",
    "soli x1 x2 ~x3",
    "red +2 ~x4 +1 x2 +1 x3 >= 2 ; x4 0",
    "pol 1 x1 +",
    "soli ~x1 x2 x3",
    "pol 1 2 + 3 + 2 d",
]
END = ["pol 9 2 * x1 + 8 +", "c 10"]


def check(lines):
    return Proof(3, FORMULA.constraints, FORMULA.objective).check(lines)


def test_a_log_becomes_a_shorter_proof_of_the_same():
    lines = list(elaborate(FORMULA, LOGGED_FORMULA, [*LOG, *END]))
    assert check(lines) == 4
    assert [line.split()[0] for line in lines] == ["less", "pol", "pol", "rup", "end"]


def test_unit_propagation_gets_hints():
    lines = list(elaborate(FORMULA, LOGGED_FORMULA, [*LOG, "rup +1 x1 >= 1 ;", "c 9"]))
    assert check(lines) == 4
    steps = [line.partition(";") for line in lines if line.startswith("rup")]
    assert len(steps) == 2
    assert all(hints.split() for _, _, hints in steps)


def test_a_new_variable_is_kept_where_it_matters():
    used = ["pol 9 2 * x1 + 8 + 3 * 6 x4 w x2 w x3 w +", "c 10"]
    lines = list(elaborate(FORMULA, LOGGED_FORMULA, [*LOG, *used]))
    assert check(lines) == 4
    assert sum(line.startswith("red") for line in lines) == 1


@pytest.mark.parametrize(
    "log",
    [
        LOG,
        [*LOG[:-2], "rup +1 x1 >= 1 ;", "c 8"],
        [*LOG, "unknown", *END],
        [*LOG, "red 1 x1 >= 1 ; x1 1", *END],
        [*LOG, "red 1 x4 >= 1 ; x4 1", *END],
        [*LOG, "pol 1 2"],
        [*LOG, "pol 1 999 +"],
        [*LOG, "rup +1 x"],
        [*LOG, "c"],
    ],
)
def test_a_log_that_proves_nothing_is_refused(log):
    with pytest.raises(NotElaborated):
        list(elaborate(FORMULA, LOGGED_FORMULA, log))


def test_a_solver_that_lies_proves_no_more():
    # Of x1 alone it says that it fits: then less is assumed, and less is proved.
    log = [*LOG[:-2], "soli x1 ~x2 ~x3", "c 8"]
    assert check(elaborate(FORMULA, LOGGED_FORMULA, log)) == 3


@pytest.mark.parametrize(
    "logged",
    [
        [*LOGGED_FORMULA[:4], "+1 x1 >= 1 ;"],
        ["min: +3 x1 ;", *LOGGED_FORMULA[2:]],
    ],
)
def test_a_log_about_another_formula_is_refused(logged):
    with pytest.raises(NotElaborated, match="another"):
        list(elaborate(FORMULA, logged, [*LOG, *END]))


def test_a_log_is_left_when_time_is_up():
    with pytest.raises(NotElaborated, match="time"):
        list(elaborate(FORMULA, LOGGED_FORMULA, [*LOG, *END], lambda: True))


def test_the_opb_text_is_that_of_the_competitions():
    assert list(opb(encode(KNAPSACK))) == [
        "* #variable= 3 #constraint= 1",
        "min: -5 x1 -4 x2 -3 x3 ;",
        "-1 x1 -1 x2 -1 x3 >= -2 ;",
    ]


def test_a_solver_that_fails_proves_nothing(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert prove(KNAPSACK, 1) is None


def test_a_large_model_is_left_to_others(monkeypatch):
    monkeypatch.setattr(producer, "MOST_COLUMNS", 2)
    assert prove(KNAPSACK, 1) is None


@pytest.mark.skipif(not producer.is_installed(), reason="the extra `prove` is not installed")
def test_exact_proves_optima_of_small_models():
    rng, compared = Random(6), 0
    assert proved(KNAPSACK, prove(KNAPSACK, 5)) == -9
    while compared < 5:
        model = pure(rng)
        if None in model.lower or None in model.upper:
            continue
        lines = prove(model, 5)
        assert lines is not None
        assert proved(model, lines) == least(model)
        compared += 1


def test_lines_begin_with_the_cutoff():
    assert proof_lines(7, ["end 1"])[0] == "cutoff 7"
