"""Whatever prices a certificate holds, what it proves is true; the relaxation's are the best."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.api.making import generate
from gadgetopt.models.marl.placement.data.generate.presets import (
    leaf_spine,
    single_rack,
    single_tasks,
)
from gadgetopt.models.marl.placement.instance import PlacementInstance
from gadgetopt.models.marl.placement.proving.bounds.column_generation import ColumnGeneration
from gadgetopt.models.marl.placement.proving.bounds.configuration import (
    configuration_lp,
    price_of_jobs,
)
from gadgetopt.models.marl.placement.proving.certificate.check import (
    Alone,
    PlacementCertificate,
    Prices,
    certificate_of,
    check_bound,
)
from gadgetopt.models.marl.placement.proving.certificate.prices import most_together
from gadgetopt.models.marl.placement.proving.terms import Terms
from gadgetopt.models.marl.subproblems.cluster import Job, Server
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.run import solve

from ...brute_force import (
    optimum,
    small_instance,
)

ALONE = PlacementCertificate(proof=Alone())


def drawn(seed):
    rng = np.random.default_rng(seed)
    while True:
        instance = small_instance(rng)
        best = optimum(instance)
        if best is not None:
            return instance, best, rng


@pytest.mark.parametrize("seed", range(40))
def test_any_prices_prove_a_bound_below_the_optimum(seed):
    instance, best, rng = drawn(seed)
    assert check_bound(instance, ALONE) <= best
    for spread in (0.5, 5.0, 50.0):
        prices = rng.uniform(-spread / 4, spread, size=len(instance.jobs))
        assert check_bound(instance, certificate_of(prices.tolist())) <= best


@pytest.mark.parametrize("seed", range(60))
def test_any_prices_of_parts_of_gangs_prove_a_bound_below_the_optimum(seed):
    instance, best, rng = drawn(1000 + seed)
    for spread in (0.5, 5.0, 50.0):
        prices = [
            tuple(rng.uniform(-spread / 4, k * spread) for k in range(1, together + 1))
            if job.num_tasks > 1 and (together := most_together(instance, job))
            else float(rng.uniform(-spread / 4, spread))
            for job in instance.jobs
        ]
        assert check_bound(instance, certificate_of(prices)) <= best


def gang_of_four():
    """Ten seconds alone on one server, and ten more apart; two servers of three GPUs."""
    return PlacementInstance(
        servers=(Server(gpus=3, cpus=0), Server(gpus=3, cpus=0)),
        jobs=(
            Job(
                type=0,
                num_tasks=4,
                gpus_per_task=1,
                cpus_per_task=0,
                iterations=10,
                base_iteration_s=Fraction(1),
                rack_comm_s=Fraction(1),
                cross_comm_s=Fraction(1),
            ),
        ),
        interference=((Fraction(0),),),
    )


def test_a_gang_pays_what_its_cheapest_division_pays():
    """At 5, 9 and 12 s of one, two and three tasks parts of 3 and 1 pay 17 s, and others more.

    A part of k tasks costs 10 k/4 s, so a server earns 4.5 s at most. The bound is
    10 + 17 - 2 x 4.5; at 4 s a task it is 10 + 16 - 2 x 4.5 of 20.
    """
    instance = gang_of_four()
    assert optimum(instance) == 20
    assert check_bound(instance, certificate_of([(5.0, 9.0, 12.0)])) == 18
    assert check_bound(instance, certificate_of([4.0])) == 17
    assert check_bound(instance, certificate_of([(4.0, 8.0, 12.0)])) == 17


@pytest.mark.parametrize("prices", [(), (1.0, 2.0), (1.0, 2.0, 3.0, 4.0)])
def test_a_table_of_prices_of_other_numbers_of_tasks_is_refused(prices):
    with pytest.raises(ValueError, match="numbers of tasks, expected those a server holds"):
        check_bound(gang_of_four(), certificate_of([prices]))


@pytest.mark.parametrize("seed", range(40))
def test_the_relaxation_is_no_worse_than_alone_and_below_the_optimum(seed):
    instance, best, _ = drawn(seed)
    outcome = configuration_lp(instance, Limits())
    assert outcome.proved is not Status.INFEASIBLE
    bound = check_bound(instance, outcome.certificate)
    assert check_bound(instance, ALONE) <= bound <= best


@pytest.mark.parametrize("preset", [single_rack, leaf_spine])
def test_the_check_loses_nothing_of_the_solver_s_value(preset):
    instance = preset(np.random.default_rng(0))
    done = ColumnGeneration(Terms(instance), Clock()).run()
    certificate = certificate_of(price_of_jobs(Terms(instance), done.price))
    proved = len(instance.jobs) * check_bound(instance, certificate)
    assert float(proved) == pytest.approx(done.value, rel=1e-9)
    assert done.bound == pytest.approx(done.value, rel=1e-9)


def test_two_alike_servers_of_one_gpu_cost_what_the_duals_say():
    """Three single tasks of 10 s, all of which slow each other down by a half, on a server of two
    GPUs and one of one: two share, and the third is alone. (15 + 15 + 10) / 3. Prices of 5 s a
    task: two in a server are worth 10 - 2 x 5 = 0 and one 5, so each server earns 5, and the bound
    is (30 + 15 - 10) / 3; at a price of 10 s two are worth 10 and one 10: (30 + 30 - 20) / 3."""
    job = Job(
        type=0,
        num_tasks=1,
        gpus_per_task=1,
        cpus_per_task=0,
        iterations=10,
        base_iteration_s=Fraction(1),
    )
    instance = PlacementInstance(
        servers=(Server(gpus=2, cpus=0), Server(gpus=1, cpus=0)),
        jobs=(job, job, job),
        interference=((Fraction(1, 2),),),
    )
    assert optimum(instance) == Fraction(40, 3)

    def proved(price):
        return check_bound(instance, certificate_of([price] * 3))

    assert proved(5.0) == Fraction(35, 3)
    assert proved(10.0) == Fraction(40, 3)
    assert proved(0.0) == 10
    assert proved(1000.0) == Fraction(30 + 3000 - 1990 - 1000, 3)


def test_prices_of_another_number_of_jobs_are_refused():
    instance = single_rack(np.random.default_rng(0))
    with pytest.raises(ValueError, match="prices: 1 for"):
        check_bound(instance, PlacementCertificate(proof=Prices(prices=(Fraction(1),))))


def test_a_check_that_would_take_too_long_is_refused(monkeypatch):
    instance = single_tasks(np.random.default_rng(0), classes=4, jobs=40, servers=20)
    monkeypatch.setattr(
        "gadgetopt.models.marl.placement.proving.certificate.prices.MOST_PROFILES", 5
    )
    with pytest.raises(ValueError, match="mixes of types in a server"):
        check_bound(instance, certificate_of([50.0] * 40))


@pytest.mark.parametrize("price", [Fraction(1, 1000), Fraction(1), Fraction(1000)])
def test_prices_are_checked_where_nobody_disturbs_anybody(price):
    """Shares of slowdowns may be beyond 64 bits then, as no slowdown multiplies them."""
    document = generate("marl_placement", "leaf_spine", jobs=4, seed=1)[0]
    none = ((Fraction(0),) * document.data.num_types,) * document.data.num_types
    calm = type(document.data).model_validate({**document.data.model_dump(), "interference": none})
    prices = Prices(prices=(price,) * len(calm.jobs))
    bound = check_bound(calm, PlacementCertificate(proof=prices))
    assert bound <= solve(replace(document, data=calm), "local_search").objective
