"""Ratios are intervals that contain the true ratio; claims are compared with each other."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy import DOCUMENT, TOY

from gadgetopt.numbers.tolerance import exceeds
from gadgetopt.system.methods import find_method, methods
from gadgetopt.system.result import (
    MethodOutcome,
    Result,
    Status,
    Voucher,
)
from gadgetopt.trust import ratio
from gadgetopt.trust.ratio import Ratio, cross_examine, ratios
from gadgetopt.trust.run import solve
from gadgetopt.trust.theorems import (
    Verdict,
    promises,
    proven_ratio,
    verdict,
)


def results(*names):
    return [solve(DOCUMENT, name) for name in names]


def examined(*names):
    return cross_examine(results(*names), lambda _: "max")


def examined_claims(*names):
    """Return examined results in which the bound of a formulation is its solver's word."""
    claims = [
        dataclasses.replace(r, bound_voucher=Voucher.SOLVER, certificate=None) if r.backend else r
        for r in results(*names)
    ]
    return cross_examine(claims, lambda _: "max")


def row(objective=None, bound=None, problem="p", voucher=Voucher.SOLVER, backend=None):
    return Result(
        problem=problem,
        instance="i",
        fingerprint="f",
        method="m",
        kind="exact",
        parameters={},
        formulation=None,
        backend=backend,
        status=Status.FEASIBLE,
        objective=objective,
        claimed_objective=None,
        bound=bound,
        bound_voucher=None if bound is None else voucher,
        gap=None,
        limit_hit=None,
        time_s=0.0,
        seed=None,
    )


def test_a_bound_refuted_by_anothers_solution_becomes_an_error():
    best, refuted = examined("best", "false_bound")
    assert best.status is Status.FEASIBLE
    assert refuted.status is Status.ERROR
    assert refuted.reason == "claimed dual bound 3, but best has a solution of 4"
    assert refuted.bound is None


def test_a_refuted_bound_closes_no_ratio():
    table = examined("best", "false_bound", "loose_bound")
    assert ratios(table, lambda _: "max")[0] == Ratio(1, Fraction(5, 4))


def test_infeasibility_refuted_by_anothers_solution_becomes_an_error():
    assert examined("best", "says_infeasible")[1].status is Status.ERROR


def test_two_independent_solvers_cross_check_a_bound():
    a, b = examined_claims("plain@highs", "plain@cpsat")
    assert a.bound_voucher is b.bound_voucher is Voucher.CROSS_CHECKED


def test_a_solver_does_not_cross_check_itself():
    (alone, again) = examined_claims("plain@highs", "plain@highs")
    assert alone.bound_voucher is again.bound_voucher is Voucher.SOLVER


def test_a_weaker_bound_does_not_cross_check_a_stronger_one():
    strong, weak = examined_claims("plain@highs", "loose_bound")
    assert strong.bound_voucher is Voucher.SOLVER
    assert weak.bound_voucher is Voucher.CROSS_CHECKED


def test_a_verified_bound_verifies_a_solvers():
    assert examined_claims("plain@highs", "bound_only")[0].bound_voucher is Voucher.VERIFIED


def test_a_bound_that_follows_to_tolerance_is_shown_no_stronger_than_what_is_proved():
    claims = [row(1.0, 1.0 + 1e-13), row(None, 1.0, voucher=Voucher.VERIFIED)]
    claimed, _ = cross_examine(claims, lambda _: "min")
    assert (claimed.bound, claimed.bound_voucher) == (1.0, Voucher.VERIFIED)


def test_a_refuted_bound_does_not_refute_that_an_instance_is_unbounded():
    unbounded = dataclasses.replace(row(), status=Status.UNBOUNDED)
    claims = [row(None, 3), unbounded, row(4), row(None, 5)]
    told = [r.reason for r in cross_examine(claims[:3], lambda _: "max")]
    assert told == ["claimed dual bound 3, but m has a solution of 4", None, None]
    told = [r.reason for r in cross_examine(claims, lambda _: "max")]
    assert told[1] == "claimed unbounded, but m proves a bound of 5"


NUMBER = st.integers(0, 6) | st.fractions(0, 6, max_denominator=3) | st.floats(0, 6)
CLAIM = st.builds(
    row,
    objective=st.none() | NUMBER,
    bound=st.none() | NUMBER,
    voucher=st.sampled_from(Voucher),
    backend=st.sampled_from(["a", "b"]),
)


@given(claims=st.lists(CLAIM, max_size=8), minimise=st.booleans())
def test_all_results_are_held_against_all_others(claims, minimise):
    def worse(a, b):
        return exceeds(a, b) if minimise else exceeds(b, a)

    values = [r.objective for r in claims if r.objective is not None]
    true = [r.bound is None or not any(worse(r.bound, v) for v in values) for r in claims]
    bounds = [r for r, kept in zip(claims, true, strict=True) if kept and r.bound is not None]
    examined = cross_examine(claims, lambda _: "min" if minimise else "max")
    for before, kept, after in zip(claims, true, examined, strict=True):
        assert (after.status is Status.ERROR) == (not kept)
        if not kept or before.bound is None:
            continue
        as_strong = [r for r in bounds if not worse(before.bound, r.bound)]
        expected = before.bound_voucher
        if any(r.bound_voucher is Voucher.VERIFIED for r in as_strong):
            expected = Voucher.VERIFIED
        elif expected is Voucher.SOLVER and any(r.backend != before.backend for r in as_strong):
            expected = Voucher.CROSS_CHECKED
        assert after.bound_voucher is expected


@pytest.mark.parametrize("sense", ["min", "max"])
def test_comparisons_of_results_grow_with_their_number(monkeypatch, sense):
    many = [row(k, 10**6, backend=f"{k % 2}") for k in range(2_000)]
    compared = []
    for name in ("exceeds", "refutes"):
        original = getattr(ratio, name)

        def counted(*values, original=original, **named):
            compared.append(values)
            return original(*values, **named)

        monkeypatch.setattr(ratio, name, counted)
    cross_examine(many, lambda _: sense)
    assert compared
    assert len(compared) <= 10 * len(many)  # each against each: 4,000,000


def test_ratios_are_at_least_one_for_both_senses():
    assert ratios([row(3, 2)], lambda _: "min")[0] == Ratio(1, Fraction(3, 2))
    assert ratios([row(2, 3)], lambda _: "max")[0] == Ratio(1, Fraction(3, 2))


def test_a_ratio_of_nothing_to_nothing_is_one():
    assert ratios([row(0, 0)], lambda _: "min")[0] == Ratio(1, 1)
    assert ratios([row(0, 0)], lambda _: "max")[0] == Ratio(1, 1)


def test_negative_objectives_have_no_ratio():
    assert ratios([row(-3, -4)], lambda _: "min")[0] == Ratio(None, None)


@given(
    optimum=st.integers(1, 50),
    above=st.lists(st.integers(0, 20), min_size=1, max_size=4),
    below=st.lists(st.integers(0, 20), max_size=4),
    minimise=st.booleans(),
)
def test_the_interval_contains_the_true_ratio(optimum, above, below, minimise):
    if minimise:
        objectives = [optimum + a for a in above]
        bounds = [max(optimum - b, 0) for b in below]
    else:
        objectives = [max(optimum - a, 0) for a in above]
        bounds = [optimum + b for b in below]
    rows = [row(o) for o in objectives] + [row(None, b) for b in bounds]
    sense = "min" if minimise else "max"
    for objective, interval in zip(objectives, ratios(rows, lambda _: sense), strict=False):
        if objective == 0:
            continue
        true = Fraction(objective, optimum) if minimise else Fraction(optimum, objective)
        assert interval.low is None or interval.low <= true
        assert interval.high is None or true <= interval.high


def test_a_theorem_is_exceeded_only_when_the_lower_end_exceeds_it():
    made = {p.theorem: p for p in promises(TOY, DOCUMENT.data, find_method(TOY, "best"))}
    assert verdict(made["half"], Ratio(1, Fraction(3, 2))) is Verdict.HOLDS
    assert verdict(made["half"], Ratio(1, 3)) is Verdict.OPEN
    assert verdict(made["half"], Ratio(Fraction(5, 2), 3)) is Verdict.EXCEEDED
    assert verdict(made["half"], None) is Verdict.OPEN


def test_a_theorem_whose_assumption_fails_promises_nothing():
    made = promises(TOY, DOCUMENT.data, find_method(TOY, "best"))
    never = next(p for p in made if p.theorem == "never")
    assert never.failing == ("the moon is full",)
    assert verdict(never, Ratio(5, 5)) is Verdict.NOT_APPLICABLE


def test_the_proven_ratio_is_the_tightest_that_applies_and_never_a_claim():
    assert proven_ratio(promises(TOY, DOCUMENT.data, find_method(TOY, "best"))) == 2
    assert proven_ratio(promises(TOY, DOCUMENT.data, find_method(TOY, "timed_out"))) is None


def test_a_theorem_does_not_speak_of_a_run_that_was_cut_short():
    cut = solve(DOCUMENT, "timed_out")
    made = promises(TOY, DOCUMENT.data, find_method(TOY, "timed_out"), cut)
    assert made[0].failing == ("the method finished",)


def test_a_theorem_that_cannot_be_evaluated_promises_nothing():
    broken = dataclasses.replace(TOY.guarantees[0], ratio=lambda i, p: 1 // 0)
    system = dataclasses.replace(TOY, guarantees=(broken,))
    made = promises(system, DOCUMENT.data, find_method(TOY, "best"))
    assert not made[0].applies
    assert "ZeroDivisionError" in made[0].failing[0]


@pytest.mark.parametrize("promised", [math.nan, math.inf, np.float64("nan")])
def test_a_theorem_without_a_finite_number_promises_nothing(promised):
    vague = dataclasses.replace(TOY.guarantees[0], ratio=lambda i, p: promised)
    system = dataclasses.replace(TOY, guarantees=(vague,))
    (made,) = promises(system, DOCUMENT.data, find_method(TOY, "best"))
    assert made.ratio is None
    assert verdict(made, Ratio(1, 1)) is Verdict.NOT_APPLICABLE


def test_a_promise_beyond_doubles_is_a_promise():
    loose = dataclasses.replace(TOY.guarantees[0], ratio=lambda i, p: 10**400)
    system = dataclasses.replace(TOY, guarantees=(loose,))
    (made,) = promises(system, DOCUMENT.data, find_method(TOY, "best"))
    assert verdict(made, Ratio(1, 2)) is Verdict.HOLDS


def says(status, proved=False):
    notes = {"infeasible": "a proof"} if status is Status.INFEASIBLE else {"unbounded": "a ray"}
    return dataclasses.replace(row(), status=status, notes=notes if proved else {})


def told(*claims):
    return [r.reason for r in cross_examine(claims, lambda _: "min")]


def test_proved_unboundedness_refutes_bounds_and_infeasibility():
    proof = says(Status.UNBOUNDED, proved=True)
    assert told(row(4, 3), says(Status.INFEASIBLE), proof, row(4), says(Status.UNBOUNDED)) == [
        "claimed dual bound 3, but m proves that the instance is unbounded",
        "claimed infeasible, but m proves that the instance is unbounded",
        None,
        None,
        None,
    ]


def test_proved_infeasibility_refutes_unboundedness_and_no_bound():
    proof = says(Status.INFEASIBLE, proved=True)
    assert told(says(Status.UNBOUNDED), proof, row(None, 3), says(Status.INFEASIBLE)) == [
        "claimed unbounded, but m proves that there is no solution",
        None,
        None,
        None,
    ]


def test_words_of_solvers_alone_do_not_refute_a_bound():
    claims = (row(None, 3), says(Status.UNBOUNDED), says(Status.INFEASIBLE))
    assert told(*claims) == [None, "claimed unbounded, but m proves a bound of 3", None]


def test_a_proved_bound_and_proved_unboundedness_are_not_both_believed():
    proof = says(Status.UNBOUNDED, proved=True)
    assert told(row(None, 3, voucher=Voucher.VERIFIED), proof) == [
        None,
        "claimed unbounded, but m proves a bound of 3",
    ]


def test_unboundedness_refuted_by_anothers_bound_becomes_an_error():
    assert examined("loose_bound", "says_unbounded")[1].status is Status.ERROR


def test_an_interval_is_never_upside_down():
    assert ratios([row(10.0, 10.000005)], lambda _: "min")[0] == Ratio(1.0, 1.0)


def test_every_method_of_the_toy_returns_an_outcome_or_raises():
    for m in methods(TOY):
        if m.formulation is None and m.name not in ("raises", "interrupts"):
            assert isinstance(m.run(DOCUMENT.data, None, None), MethodOutcome)


def test_a_net_ratio_leaves_out_what_no_decision_changes():
    found = ratios([row(objective=16, bound=10), row(objective=12)], lambda _: "min", lambda _: 8)
    assert found == [Ratio(Fraction(2), Fraction(4)), Ratio(1, Fraction(2))]
    assert ratios([row(objective=16)], lambda _: "min", lambda _: None) == [None]
