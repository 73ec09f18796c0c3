"""Prices prove bounds, by the lower bounds on costs of schedules that the check computes itself."""

from __future__ import annotations

import numpy as np
import pyomo.environ as pyo
import pytest
from calling import called

from gadgetopt.models.pd_ors.data.generate.presets import paper
from gadgetopt.models.pd_ors.formulations import columns
from gadgetopt.models.pd_ors.instance import TableUtility
from gadgetopt.models.pd_ors.proving.bounds.alone import alone
from gadgetopt.models.pd_ors.proving.bounds.column_lp import column_lp
from gadgetopt.models.pd_ors.proving.bounds.price_bound import best_scale, final_prices, price_bound
from gadgetopt.models.pd_ors.proving.bounds.volume_knapsack import volume_knapsack
from gadgetopt.models.pd_ors.proving.certificate import least_costs
from gadgetopt.models.pd_ors.proving.certificate.check import (
    PdOrsCertificate,
    certificate_of,
    check_bound,
)
from gadgetopt.models.pd_ors.subproblems.kernel import best_plans
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Limits

from ...brute_force import optimum
from ...kernel_instances import (
    cluster,
    job,
)
from ...tiny_instances import (
    HAND_CHECKED,
    tiny_instance,
)

BOUNDS = (alone, volume_knapsack, price_bound, column_lp)


def proved(instance, method, **parameters):
    outcome = called(method, instance, Limits(), np.random.default_rng(0), **parameters)
    return check_bound(instance, outcome.certificate)


def random_prices(instance, seed):
    rng = np.random.default_rng(seed)
    shape = (instance.horizon_slots, len(instance.machines), len(instance.resources))
    price = rng.choice([0.0, 1e-6, 0.1, 1.0, 3.0], shape) * rng.uniform(0.5, 2, shape)
    return np.repeat(price[:, :1], shape[1], axis=1) if seed % 2 else price


def kernel_costs(instance, terms, price):
    """Least cost of a job until each slot, by the kernel of the algorithms."""
    room = np.broadcast_to(instance.terms.capacity, price.shape)
    out = np.full(instance.horizon_slots + 1, np.inf)
    for slot, plan in best_plans(terms, price, room, progress="exact").items():
        out[slot:] = np.minimum(out[slot:], plan.cost)
    last = int(np.flatnonzero(terms.utility).max(initial=0))
    out[last + 1 :] = np.inf
    return out


@pytest.mark.parametrize("seed", range(40))
def test_least_costs_of_small_jobs_are_those_of_the_kernel(seed):
    instance = tiny_instance(seed, machines=1 + seed % 3, horizon=3)
    price = random_prices(instance, seed)
    for terms, cost in zip(
        instance.terms.jobs, least_costs.least_costs(instance, price), strict=True
    ):
        assert cost == pytest.approx(kernel_costs(instance, terms, price), rel=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_relaxed_costs_are_never_more_than_the_true_ones(seed, monkeypatch):
    instance = tiny_instance(seed, machines=1 + seed % 3, horizon=3)
    price = random_prices(instance, seed)
    exact = least_costs.least_costs(instance, price)
    monkeypatch.setattr(least_costs, "MOST_ADDITIONS", 0)
    for quanta in (4000, 7):
        monkeypatch.setattr(least_costs, "QUANTA", quanta)
        for relaxed, cost in zip(least_costs.least_costs(instance, price), exact, strict=True):
            assert (relaxed <= cost * (1 + 1e-12)).all()


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5, 8, 9, 11])
def test_no_prices_bound_less_than_the_optimum(seed):
    instance = tiny_instance(seed)
    best = optimum(instance)
    for k in range(4):
        certificate = certificate_of(instance, random_prices(instance, 10 * seed + k))
        assert check_bound(instance, certificate) >= best
    for method in BOUNDS:
        assert proved(instance, method) >= best
    assert proved(instance, column_lp, warm_start=False) >= best
    whole = volume_knapsack(instance, Limits(), integral=True)
    if whole.dual_bound is not None:
        assert whole.dual_bound >= best - 1e-6


@pytest.mark.parametrize("seed", range(30))
def test_bounds_that_look_at_more_are_no_weaker(seed):
    instance = tiny_instance(seed, machines=3, horizon=3)
    least = proved(instance, column_lp)
    others = [proved(instance, method) for method in (alone, volume_knapsack, price_bound)]
    assert least <= min(others) + 1e-6
    assert max(others[1:]) <= others[0] + 1e-6


@pytest.mark.parametrize("seed", range(12))
def test_column_lp_is_the_relaxation_of_all_columns(seed):
    instance = tiny_instance(seed)
    model = columns.build(instance)
    pyo.TransformationFactory("core.relax_integer_vars").apply_to(model)
    relaxed = solve_model(model, "highs", Limits(), 0)
    assert proved(instance, column_lp) == pytest.approx(relaxed.objective, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", ["A", "B", "C", "D", "E"])
def test_column_lp_is_tight_on_hand_checked_instances(name):
    instance, best = HAND_CHECKED[name]
    assert proved(instance, column_lp) == pytest.approx(best, rel=1e-9)


def test_a_quarter_of_the_final_prices_proves_the_optimum_of_c():
    # 6 units at U = 5 are worth 30. At s = 1/4 a job of 3 units pays 3.75: 7.5 + 0.25 + 6.25 = 14.
    instance, best = HAND_CHECKED["C"]
    price = final_prices(instance, Limits(), upper="sum")
    values = [check_bound(instance, certificate_of(instance, s * price)) for s in (1, 0.5, 0.25)]
    assert values == pytest.approx([30, 17.5, 14], rel=1e-9)
    assert proved(instance, price_bound, upper="sum") == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_no_other_scale_of_prices_is_better(seed):
    instance = tiny_instance(seed, machines=2, horizon=3)
    price = final_prices(instance, Limits())
    best = check_bound(instance, certificate_of(instance, best_scale(instance, price) * price))
    for s in (0, 0.01, 0.1, 0.25, 0.5, 1, 2, 4):
        assert best <= check_bound(instance, certificate_of(instance, s * price)) + 1e-9


def test_prices_of_a_cluster_are_checked_however_many_machines_share_them():
    instance = paper(
        np.random.default_rng(3), jobs=3, machines=20, horizon_slots=8, work_scale=0.02
    )
    price = np.random.default_rng(0).uniform(0, 1e-4, (8, 1, 4))
    shared = certificate_of(instance, np.repeat(price, 20, axis=1))
    assert shared.row == (0,) * 20
    apart = shared.model_copy(
        update={"row": tuple(range(20)), "prices": tuple(p * 20 for p in shared.prices)}
    )
    assert check_bound(instance, shared) == check_bound(instance, apart)


def test_certificates_survive_being_written_and_read():
    instance, _ = HAND_CHECKED["E"]
    certificate = certificate_of(instance, random_prices(instance, 0))
    again = PdOrsCertificate.model_validate_json(certificate.model_dump_json())
    assert again == certificate


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"row": (0,)}, "row: 1 numbers for 2 machines"),
        ({"prices": ((("1",),),)}, "prices: of 1 slots, expected 3"),
        ({"prices": ((("1",),),) * 2 + ((("1",), ("1",)),)}, "rows, expected 1"),
        ({"prices": ((("1", "1"),),) * 3}, "2 for 1 resources"),
        ({"prices": ((("-1",),),) * 3}, "-1 is negative"),
    ],
)
def test_certificates_of_something_else_are_refused(changes, message):
    instance, _ = HAND_CHECKED["E"]
    right = PdOrsCertificate(row=(0, 0), prices=((("1",),),) * 3)
    with pytest.raises(ValueError, match=message):
        check_bound(instance, right.model_copy(update=changes))


def test_a_stopped_column_generation_keeps_a_proved_bound():
    instance = paper(np.random.default_rng(1), jobs=10, machines=5, work_scale=0.05)
    outcome = column_lp(instance, Limits(time_s=0.0))
    assert outcome.limit_hit == "time_s"
    assert check_bound(instance, outcome.certificate) > 0


def test_alone_says_why_a_job_can_earn_nothing():
    jobs = (
        job(samples=8),
        job(samples=80),  # 32 external worker-slots or 20 internal ones, of which a slot has 2
        job(worker_demand=(9,)),
        job(utility=TableUtility(values=(0,))),
        job(global_batch=1, worker_ps_ratio=2),
    )
    instance = cluster(jobs, [(3,)], 2, ratio="exact")
    found = alone(instance).notes
    assert found == {
        "job 1": "cannot complete before slot 10, the horizon has 2",
        "job 2": "a worker and its parameter server do not fit",
        "job 3": "is worth nothing from slot 1 on, the earliest it can complete",
        "job 4": "F = 1 workers are fewer than gamma = 2.0 asks",
    }
