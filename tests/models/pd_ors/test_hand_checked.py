"""Every exact route gives the hand-checked optimum of every hand-checked instance."""

import numpy as np
import pytest

from gadgetopt.models.pd_ors import PROBLEM
from gadgetopt.models.pd_ors.data.generate.presets import quickstart
from gadgetopt.system.files import (
    Document,
    find_instances,
    library,
    read_instance,
)
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.run import solve

from .tiny_instances import cluster, job_j

TINY = library() / "pd_ors" / "tiny"
ROUTES = [
    *(m.name for m in PROBLEM.methods if m.kind == "exact"),
    *(f"{f.name}@{b}" for f in PROBLEM.formulations for b in f.backends if f.strength == "exact"),
]

#: In common: 0.25 slots a sample and worker inside a machine, 0.4 outside, gamma = 2. Two internal
#: workers take 3 units and train 8 samples, which is also done by 4 external ones of 6 units.
OPTIMA = {
    "a_locality": 20,  # both jobs, a machine of 3 units each
    "a_external_only": 10,  # one job on both machines
    "a_internal_only": 20,
    "b_guarantee": 10,  # the second of two jobs that each fill the machine
    "b_corrected": 10**6,  # the same with a unit to spare
    "c_prices": 14,  # the first and the third of three, two of which fit
    "d_workload": 9,  # 12 samples: in one slot at most 4 external workers train 10
    "e_two_jobs": 18,  # the same job twice, a slot apart
    "f_rounding": 10,  # a worker on each of three machines
    "g_exact_work": 10,  # (4/3) 3 = 4, exactly
    "h_ratio_at_least": 10,  # 3 workers and 2 servers
    "h_ratio_exact": 4,  # workers in pairs: only the smaller job fits
}


def test_every_hand_checked_instance_has_its_optimum_here():
    assert {path.stem for path in find_instances([TINY])} == set(OPTIMA)


@pytest.mark.parametrize("name", OPTIMA)
@pytest.mark.parametrize("route", ROUTES)
def test_every_exact_route_gives_the_hand_checked_optimum(name, route):
    result = solve(read_instance(TINY / f"{name}.json"), route, limits=Limits(time_s=60))
    assert result.status is Status.OPTIMAL, result.reason
    assert result.objective == pytest.approx(OPTIMA[name], abs=1e-9)


@pytest.mark.parametrize("seed", [5, 20])
def test_what_is_learnt_of_one_slot_holds_in_every_slot(seed):
    # Of seed 5, a cut from fillings with no more workers than one slot asked for cut off the
    # optimum, which asks for more of them in another.
    data = quickstart(np.random.default_rng([seed, 0]))
    document = Document(PROBLEM, "instance", "contended", data)
    found = [
        solve(document, route, limits=Limits(time_s=60))
        for route in ("branch_and_price", "branch_and_check")
    ]
    assert all(r.status is Status.OPTIMAL for r in found)
    assert found[0].objective == pytest.approx(found[1].objective)


def test_where_no_job_can_complete_the_optimum_is_nothing_and_notes_say_why():
    hopeless = job_j(10, samples=80)  # 20 internal worker-slots, of which a slot has two
    document = Document(PROBLEM, "instance", "hopeless", cluster([3], 2, hopeless))
    result = solve(document, PROBLEM.default_method)
    assert result.status is Status.OPTIMAL
    assert (result.objective, result.bound) == (0, 0)
    assert result.notes == {"job 0": "cannot complete before slot 10, the horizon has 2"}
