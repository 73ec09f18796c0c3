"""Checks of statements: what refutes or supports a theorem, and what leaves it open."""

import dataclasses

import pytest
from toy import BEST, DOCUMENT, EMPTY, TOY, outcome

from gadgetopt.system.declaration import Assumption, Guarantee, Method
from gadgetopt.system.result import Evaluation
from gadgetopt.trust import statements

ASSUMED = Assumption("the moon is full", lambda i, p: False)


def document(ours, other, bound=None, sense="min", limit_hit=None, assumptions=()):
    """Return an instance on which `ours` and `other` have these objectives, `other` a bound."""
    values = {EMPTY: ours, BEST: other}
    claims = [("ours", EMPTY, {"limit_hit": limit_hit}), ("other", BEST, {"dual_bound": bound})]
    methods = [
        Method(
            name, kind="heuristic", summary="-", reference="-", run=outcome(solution=made, **more)
        )
        for name, made, more in claims
    ]
    theorem = Guarantee(
        "two",
        statement="2",
        reference="-",
        standing="proven",
        methods=("ours",),
        ratio=lambda i, p: 2,
        assumptions=assumptions,
    )
    system = dataclasses.replace(
        TOY,
        sense=sense,
        evaluate=lambda instance, solution: Evaluation(values[solution]),
        methods=tuple(methods),
        guarantees=(theorem,),
    )
    return dataclasses.replace(DOCUMENT, problem=system)


def verdict_on(*values, **more):
    return statements.tested_ratio(document(*values, **more), "two", "ours", "other").verdict


def test_a_better_solution_refutes_and_a_bound_supports():
    assert verdict_on(5, 2, 2) == "refuted"
    assert verdict_on(4, 2, 2) == "holds"
    assert verdict_on(4, 3, 1) == "open"
    assert verdict_on(2, 5, 5, sense="max") == "refuted"
    assert verdict_on(2, 4, 4, sense="max") == "holds"


@pytest.mark.parametrize("bound", [-1, -1.0, 0])
def test_a_bound_that_gives_no_ratio_supports_nothing(bound):
    assert verdict_on(10, 8, bound) == "open"


def test_objectives_of_nothing_have_a_ratio_of_one_to_each_other_only():
    assert verdict_on(0, 0, 0) == "holds"
    assert verdict_on(1, 0, 0) == "refuted"
    assert verdict_on(0, 3, 3, sense="max") == "refuted"
    assert verdict_on(-4, -4, -4) == "open"


def test_a_theorem_that_does_not_apply_is_not_refuted():
    assert verdict_on(5, 2, 2, assumptions=(ASSUMED,)) == "open"
    assert verdict_on(5, 2, 2, limit_hit="time_s") == "open"


def test_exact_objectives_are_compared_exactly():
    near = document(10**9 + 1, 10**9)
    assert statements.no_better(near, "ours", "other").verdict == "refuted"
    assert statements.no_better(document(10**400, 10**400), "ours", "other").verdict == "holds"
