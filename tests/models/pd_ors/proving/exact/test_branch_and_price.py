"""Branch-and-price agrees with the other exact routes, its pricing with enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.pd_ors.data.generate.presets import (
    desk,
    paper,
    tiny,
)
from gadgetopt.models.pd_ors.evaluate import evaluate
from gadgetopt.models.pd_ors.formulations import columns, compact
from gadgetopt.models.pd_ors.proving.bounds.branching_constraints import BranchingConstraint
from gadgetopt.models.pd_ors.proving.bounds.class_pricing import JobPricing
from gadgetopt.models.pd_ors.proving.bounds.restricted_master import Column
from gadgetopt.models.pd_ors.proving.certificate import least_costs
from gadgetopt.models.pd_ors.proving.certificate.check import check_bound
from gadgetopt.models.pd_ors.proving.certificate.least_costs import (
    AtLeast,
    SlotRules,
    job_costs,
)
from gadgetopt.models.pd_ors.proving.exact.branch_and_price import branch_and_price
from gadgetopt.models.pd_ors.proving.exact.branching import (
    by_completion,
    by_constraint,
    root,
)
from gadgetopt.models.pd_ors.subproblems.kernel import Use
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Limits

from ...tiny_instances import (
    HAND_CHECKED,
    cluster,
    job_j,
    tiny_instance,
)


def solved(instance, time_s=None):
    """Value and bound of a run, both re-checked."""
    outcome = branch_and_price(instance, Limits(time_s=time_s))
    judged = evaluate(instance, outcome.solution)
    assert judged.feasible
    assert judged.objective == pytest.approx(outcome.claimed_objective)
    return judged.objective, check_bound(instance, outcome.certificate), outcome


@pytest.mark.parametrize("name", ["A", "B", "C", "D", "E"])
def test_hand_checked_optima_are_proved_by_their_certificates(name):
    instance, best = HAND_CHECKED[name]
    value, bound, outcome = solved(instance)
    assert value == pytest.approx(best)
    assert bound == pytest.approx(best)
    assert outcome.certificate is not None


@pytest.mark.parametrize("seed", range(25))
def test_tiny_optima_are_those_of_all_columns(seed):
    instance = tiny_instance(seed)
    best = solve_model(columns.build(instance), "highs", Limits(), 0).objective
    value, bound, _ = solved(instance)
    assert value == pytest.approx(best)
    assert bound == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("seed", [0, 3, 6])
def test_contended_optima_are_those_of_the_compact_program(seed):
    instance = tiny(np.random.default_rng(seed), jobs=6, machines=3, horizon_slots=4, resources=2)
    best = solve_model(compact.build(instance), "highs", Limits(), 0).objective
    value, bound, _ = solved(instance)
    assert value == pytest.approx(best)
    assert bound == pytest.approx(best, rel=1e-6)


def test_what_does_not_fit_into_a_slot_is_cut_off():
    # A block is 2 workers and a server, 3 units: by volume 15 units hold four, but a machine of 5
    # units holds one.
    jobs = [job_j(10.0 - k) for k in range(4)]
    instance = cluster([5, 5, 5], 1, *jobs).model_copy(update={"locality": "internal_only"})
    value, bound, outcome = solved(instance)
    assert value == pytest.approx(10 + 9 + 8)
    assert bound == pytest.approx(value)
    assert outcome.notes["relaxation"] > value + 1


def test_stopped_runs_keep_a_decision_and_a_bound():
    instance = desk(np.random.default_rng(0), jobs=12, machines=4, horizon_slots=10)
    value, bound, outcome = solved(instance, time_s=0.0)
    assert outcome.limit_hit == "time_s"
    assert bound >= value


def test_work_beyond_counting_is_refused():
    with pytest.raises(ModelRefused, match="too many to count exactly"):
        branch_and_price(paper(np.random.default_rng(1)), Limits())


@pytest.mark.parametrize("seed", range(20))
def test_plans_under_rules_are_the_cheapest_by_enumeration(seed):
    rng = np.random.default_rng(seed)
    instance = tiny_instance(seed, machines=1, horizon=3)
    for job in instance.terms.jobs:
        if job.earliest is None:
            continue
        slots = list(range(job.arrival, 4))
        price = rng.choice([0.0, 0.5, 1.0, 2.0], (3, 1, len(instance.resources)))
        constraints = [
            (
                BranchingConstraint(job.index, t, int(rng.integers(1, 3)), bool(rng.integers(2))),
                bool(rng.integers(2)),
            )
            for t in slots
            if rng.random() < 0.6
        ]
        node = root(len(instance.jobs), 3)
        for constraint, holds in constraints:
            node = node.constrained(constraint, holds)
        charged = [(BranchingConstraint(job.index, slots[-1], 1, False), 0.7)]
        limit = node.restrictions([job])[job.index]
        plans = JobPricing(job).plans(
            price, 0, allow=limit.allow, forced=limit.forced, surcharges=charged
        )
        truth = enumerated(job, slots, price, constraints, charged)
        found = min((plan.cost for plan in plans.values()), default=np.inf)
        assert found == pytest.approx(truth)
        # The pricing of the certificates' check, written without the search's.
        rules = SlotRules(
            [(at_least(constraint), holds) for constraint, holds in constraints],
            [(at_least(constraint), charge) for constraint, charge in charged],
        )
        each = price @ job.alpha, price @ job.beta
        assert job_costs(job, *each, 3, rules).min() == pytest.approx(truth)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(least_costs, "MOST_ADDITIONS", 0)
            assert job_costs(job, *each, 3, rules).min() <= truth * (1 + 1e-9)


def at_least(constraint):
    return AtLeast(constraint.slot, constraint.workers, constraint.internal)


def enumerated(job, slots, price, constraints, charged):
    """Least cost of all uses that do the work and agree with the constraints, on one machine."""
    inside = [Use(0, True, n) for n in range(1, int(job.most_internal[0]) + 1) if job.usable[n]]
    spread = [Use(0, False, n) for n in range(1, job.most_external + 1) if job.usable[n]]
    best = np.inf
    for uses in itertools.product([None, *inside, *spread], repeat=len(slots)):
        by_slot = dict(zip(slots, uses, strict=True))
        done = sum(u.workers * (job.sigma if u.internal else 1) for u in uses if u)
        if done < job.work:
            continue
        if any(
            constraint.met(by_slot[constraint.slot]) != holds for constraint, holds in constraints
        ):
            continue
        cost = sum(float(price[t - 1, 0] @ job.demand[u.workers]) for t, u in by_slot.items() if u)
        cost += sum(
            charge for constraint, charge in charged if constraint.met(by_slot[constraint.slot])
        )
        best = min(best, cost)
    return best


def column(job, completion, *uses):
    return Column(job, completion, 1.0, tuple(Use(t, inside, n) for t, inside, n in uses))


def test_branching_on_a_completion_leaves_no_part_of_it():
    two = [column(0, 1, (1, True, 2)), column(0, 2, (2, True, 2))]
    split = by_completion(root(1, 3), two, np.array([0.5, 0.5]))
    early, late = split.sides
    assert split.words == ("c", 0, 1)
    assert [early.allows(c) for c in two] == [True, False]
    assert [late.allows(c) for c in two] == [False, True]
    assert early.accepted == {0}
    assert not late.accepted


def test_branching_on_a_rule_parts_worker_counts_and_modes():
    shares = np.array([0.5, 0.5])
    counts = [column(0, 1, (1, False, 2)), column(0, 1, (1, False, 3))]
    modes = [column(0, 1, (1, False, 2)), column(0, 1, (1, True, 2))]
    for two in (counts, modes):
        split = by_constraint(root(1, 3), two, shares)
        assert sorted([side.allows(c) for c in two] for side in split.sides) == [
            [False, True],
            [True, False],
        ]


def test_there_is_nothing_to_branch_on_where_each_job_does_one_thing():
    same = [column(0, 1, (1, False, 2)), column(0, 1, (1, False, 2))]
    shares = np.array([0.5, 0.5])
    assert by_completion(root(1, 3), same, shares) is None
    assert by_constraint(root(1, 3), same, shares) is None
