"""The evaluator audits a run by what has nothing to do with the simulator."""

from dataclasses import replace

import pytest

from gadgetopt.models.adsp.training.evaluate import audit, evaluate
from gadgetopt.models.adsp.training.instance import (
    Adsp,
    AdspTrainingSolution,
    Bsp,
    FixedAdacomm,
    Rate,
    Ssp,
)
from gadgetopt.models.adsp.training.simulator import simulate
from gadgetopt.system.files import library, read_instance

QUICK = read_instance(library() / "quickstart" / "adsp_training.json").data


def names(policy, run):
    return {v.constraint for v in audit(QUICK, policy, run)}


@pytest.mark.parametrize("policy", [Adsp(), Bsp(), Ssp(slack=40), Rate(commits=3)])
def test_a_run_adds_up(policy):
    run = simulate(QUICK, policy, keep_log=True)
    assert names(policy, run) == set()
    assert evaluate(QUICK, AdspTrainingSolution(policy=policy)).objective == run.time_s


def test_tampered_runs_are_noticed():
    policy = Rate(commits=3)
    run = simulate(QUICK, policy, keep_log=True)
    first, *others = run.log
    later = replace(first, begin=first.begin + 1, arrive=first.arrive + 1)
    assert "waits" in names(policy, replace(run, log=[later, *others]))
    more = replace(first, steps=first.steps + 1)
    assert {"times_do_not_add_up", "loss_differs"} <= names(
        policy, replace(run, log=[more, *others])
    )
    lower = [*run.losses[:-1], (run.losses[-1][0], run.losses[-1][1] * 0.99)]
    assert names(policy, replace(run, losses=lower)) == {"loss_differs"}
    early = replace(run, applied=run.applied[:-5], losses=run.losses[:-5])
    assert "target_missed" in names(policy, early)


def test_a_policy_that_is_not_offered_is_no_solution():
    for policy in (Rate(commits=9), Ssp(slack=1), FixedAdacomm(local_steps=2)):
        (violation,) = evaluate(QUICK, AdspTrainingSolution(policy=policy)).violations
        assert violation.constraint == "policy_not_offered"


def test_a_policy_that_does_not_converge_is_no_solution():
    short = QUICK.model_copy(update={"horizon_s": 50.0})
    (violation,) = evaluate(short, AdspTrainingSolution(policy=Bsp())).violations
    assert violation.constraint == "not_converged"
    assert violation.amount > 0


def test_nobody_waits_under_adsp_and_everybody_fast_under_barriers():
    adsp = evaluate(QUICK, AdspTrainingSolution(policy=Adsp())).components
    bsp = evaluate(QUICK, AdspTrainingSolution(policy=Bsp())).components
    assert adsp["waiting_share"] == 0
    # Two of three workers wait 2 of 3.6 s.
    assert bsp["waiting_share"] == pytest.approx(4 / 10.8, rel=0.02)
