"""The decomposition: honest bounds, limits, and the starts that prices rule out."""

from fractions import Fraction

import numpy as np
import pytest

from gadgetopt.models.a_srpt import PROBLEM
from gadgetopt.models.a_srpt.data.generate.presets import paper, pool, quickstart
from gadgetopt.models.a_srpt.evaluate import evaluate
from gadgetopt.models.a_srpt.instance import ASrptInstance, Job, JobType
from gadgetopt.models.a_srpt.proving import start_costs
from gadgetopt.models.a_srpt.proving.certificate.check import check_bound
from gadgetopt.models.a_srpt.proving.exact import at_scale, pool_program
from gadgetopt.models.a_srpt.proving.exact import decomposition as module
from gadgetopt.models.a_srpt.proving.exact.decomposition import decomposition
from gadgetopt.models.a_srpt.proving.exact.pool_program import (
    first_steps,
    price_ticks,
    solve_program,
)
from gadgetopt.models.a_srpt.proving.exact.pool_search import (
    Decoder,
    pool_schedule,
)
from gadgetopt.models.a_srpt.proving.start_costs import better_starts
from gadgetopt.models.a_srpt.relaxations import pool_of
from gadgetopt.search.clock import Clock
from gadgetopt.system.files import Document
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.run import solve

from ...brute_force import optimum, tiny
from ...hand_checked import small
from ...rigid_jobs import cluster_optimum, fragmented


def run(instance, limits, **parameters):
    return decomposition(instance, limits, np.random.default_rng(0), **parameters)


@pytest.mark.parametrize("seed", range(4))
def test_quickstarts_are_closed(seed):
    instance = quickstart(np.random.default_rng(seed))
    result = solve(Document(PROBLEM, "instance", "drawn", instance), "decomposition")
    assert result.status is Status.OPTIMAL
    assert result.objective == evaluate(instance, result.solution).objective == result.bound
    assert result.bound_voucher == "verified"


def test_a_pool_is_closed_as_a_cluster_of_one_server():
    instance = pool(np.random.default_rng(2), jobs=20)
    assert (
        solve(Document(PROBLEM, "instance", "drawn", instance), "decomposition").status
        is Status.OPTIMAL
    )


@pytest.mark.parametrize("seed", range(12))
def test_what_servers_cost_is_proved_too(seed):
    """Optima above those of the pool among them."""
    instance = fragmented(seed)
    result = solve(Document(PROBLEM, "instance", "drawn", instance), "decomposition")
    assert result.objective == cluster_optimum(instance) == result.bound
    assert result.bound_voucher == "verified"


def test_what_is_too_much_to_prove_is_a_solvers_word(monkeypatch):
    monkeypatch.setattr(module, "MOST_STATES", 0)
    vouchers = set()
    for seed in range(6):
        instance = fragmented(seed)
        result = solve(Document(PROBLEM, "instance", "drawn", instance), "decomposition")
        assert result.objective == result.bound
        vouchers.add(str(result.bound_voucher))
    assert vouchers == {"verified", "solver"}


def test_a_search_without_time_claims_nothing_false():
    for seed in range(10):
        instance = tiny(np.random.default_rng(seed))
        value = optimum(instance)
        found = run(instance, Limits(time_s=0.0))
        assert found.dual_bound is None or found.dual_bound <= value
        assert found.claimed_objective is None or found.claimed_objective >= value


def test_bounds_and_schedules_of_short_runs_enclose_the_optimum():
    for seed in range(6):
        instance = small(np.random.default_rng(seed), jobs=9)
        short = run(instance, Limits(time_s=0.3), annealings=1)
        whole = run(instance, Limits(time_s=60))
        assert whole.dual_bound == whole.claimed_objective
        assert short.dual_bound <= whole.claimed_objective <= short.claimed_objective


def test_large_instances_get_a_schedule_and_a_certificate():
    instance = paper(np.random.default_rng(0), jobs=450, servers=16)
    document = Document(PROBLEM, "instance", "drawn", instance)
    result = solve(document, "decomposition", Limits(time_s=4))
    assert result.status is Status.FEASIBLE
    assert result.certificate is not None
    assert result.bound <= result.objective


@pytest.mark.parametrize("time_s", [0.0, 0.2])
def test_large_instances_get_a_schedule_in_hardly_any_time(time_s):
    instance = paper(np.random.default_rng(0))
    document = Document(PROBLEM, "instance", "drawn", instance)
    result = solve(document, "decomposition", Limits(time_s=time_s))
    assert (result.status, result.limit_hit) == (Status.FEASIBLE, "time_s")
    assert result.bound is None or result.bound <= result.objective


@pytest.mark.parametrize("seed", [1, 3])
def test_large_instances_are_closed_where_prices_close_them(seed):
    instance = paper(np.random.default_rng(seed), jobs=40)
    found = run(instance, Limits(time_s=60))
    assert found.notes["closed_by"] == "too large for the exact steps"
    assert found.claimed_objective == found.dual_bound == check_bound(instance, found.certificate)
    assert found.claimed_objective == evaluate(instance, found.solution).objective
    assert found.limit_hit is None


def test_what_large_instances_get_is_no_worse_than_any_method_that_scales(monkeypatch):
    instance = paper(np.random.default_rng(2), jobs=60, servers=8)
    outcomes = []
    for name in ("a_srpt_workload", "price_guided", "server_price_bound"):
        called = getattr(at_scale, name)

        def recorded(*arguments, called=called):
            outcomes.append(called(*arguments))
            return outcomes[-1]

        monkeypatch.setattr(at_scale, name, recorded)
    found = run(instance, Limits(time_s=3))
    assert found.notes["closed_by"] == "too large for the exact steps"
    assert outcomes
    for outcome in outcomes:
        if outcome.solution is not None:
            value = evaluate(instance, outcome.solution).objective
            assert found.claimed_objective <= value
        if outcome.certificate is not None:
            assert found.dual_bound >= check_bound(instance, outcome.certificate)


def test_the_starts_that_prices_leave_hold_every_better_schedule():
    """Whatever the prices: the program over the starts left for UB + 1 finds the optimum."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        relaxed = pool_of(pool(rng, jobs=8))
        value, starts = pool_schedule(relaxed, 1, rng, Clock())
        prices = price_ticks(relaxed, starts, first_steps(relaxed, Clock()), Clock())
        best = solve_program(
            relaxed,
            np.ones((8, value), dtype=np.bool_) & (np.arange(value) >= relaxed.release[:, None]),
            Limits(),
            0,
        )[0].objective
        for chosen in (prices, 0 * prices, rng.uniform(0, 2, len(prices))):
            left = better_starts(relaxed, chosen, value + 1)
            assert left.bound <= round(best)
            assert round(solve_program(relaxed, left.allowed, Limits(), 0)[0].objective) == round(
                best
            )


def test_a_decoded_order_is_a_schedule_of_the_pool():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        relaxed = pool_of(pool(rng, jobs=15))
        value, starts = Decoder(relaxed).starts(rng.permutation(15).tolist())
        ends = np.array(starts) + relaxed.duration
        assert value == (relaxed.weight * ends).sum()
        assert (np.array(starts) >= relaxed.release).all()
        for t in range(int(ends.max())):
            running = (np.array(starts) <= t) & (t < ends)
            assert relaxed.gpus[running].sum() <= relaxed.total_gpus


def test_fractional_weights_are_bounded_by_their_lattice():
    instance = tiny(np.random.default_rng(3))
    jobs = tuple(job.model_copy(update={"weight": Fraction(1, 3)}) for job in instance.jobs)
    weighted = instance.model_copy(update={"jobs": jobs})
    found = run(weighted, Limits())
    assert found.claimed_objective == found.dual_bound == optimum(weighted)


def few_long_jobs(seed, longest=8000, capacities=((3, 1), (2, 2), (3, 3), (3, 1, 1))):
    """Draw up to six jobs of one tick to `longest`, slower if they are spread."""
    rng = np.random.default_rng(seed)
    capacity = capacities[seed % len(capacities)]
    types = tuple(
        JobType(
            replicas=(int(rng.integers(1, sum(capacity) + 1)),),
            stage_time_s=(Fraction(1),),
            gradient_gbytes=(Fraction(int(rng.integers(0, 6)), 10),),
        )
        for _ in range(3)
    )
    jobs = tuple(
        Job(
            job_type=int(rng.integers(3)),
            release_tick=int(rng.choice([0, 2, rng.integers(longest)])),
            num_iterations=int(rng.choice([1, rng.integers(1, longest)])),
            weight=Fraction(int(rng.integers(1, 4))),
        )
        for _ in range(rng.integers(3, 7))
    )
    return ASrptInstance(
        gpus_per_server=capacity,
        intra_bandwidth_gbytes_per_s=Fraction(10),
        nic_bandwidth_gbytes_per_s=Fraction(1),
        job_types=types,
        jobs=jobs,
    )


def test_three_long_jobs_need_no_program_of_all_ticks(monkeypatch):
    """Two jobs on all four GPUs for 4000 ticks, and one of a tick: after the first, or it waits."""

    def whole(gpus):
        return JobType(replicas=(gpus,), stage_time_s=(Fraction(1),), gradient_gbytes=(0,))

    instance = ASrptInstance(
        gpus_per_server=(3, 1),
        intra_bandwidth_gbytes_per_s=Fraction(10),
        nic_bandwidth_gbytes_per_s=Fraction(1),
        job_types=(whole(4), whole(2)),
        jobs=(
            Job(job_type=0, num_iterations=4000),
            Job(job_type=1, release_tick=2, num_iterations=1),
            Job(job_type=0, num_iterations=4000),
        ),
    )
    monkeypatch.setattr(module, "price_ticks", None)
    result = solve(Document(PROBLEM, "instance", "long", instance), "decomposition")
    # The job of a tick at 2 makes both others wait: 3 + 4003 + 8003 = 12009; behind one of them it
    # costs 4000 + 4001 + 8001 = 16002.
    assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, 12009, 12009)
    assert result.bound_voucher == "verified"


@pytest.mark.parametrize("seed", range(8))
def test_few_long_jobs_have_one_optimum_by_all_exact_methods(seed):
    document = Document(PROBLEM, "instance", "long", few_long_jobs(seed))
    names = ("decomposition", "cp_demands", "cp_configurations")
    results = [solve(document, name, Limits(time_s=60)) for name in names]
    assert {result.status for result in results} == {Status.OPTIMAL}
    assert len({result.objective for result in results}) == 1


def test_a_program_of_likely_moments_bounds_hardly_less_than_one_of_all_ticks(monkeypatch):
    for seed in range(8):
        relaxed = pool_of(few_long_jobs(seed, longest=300))
        value, starts = pool_schedule(relaxed, 1, np.random.default_rng(0), Clock())
        steps = first_steps(relaxed, Clock())
        bounds = []
        for most in (10**6, 200):
            monkeypatch.setattr(pool_program, "MOST_TICKS", most)
            prices = price_ticks(relaxed, starts, steps, Clock())
            bounds.append(better_starts(relaxed, prices, value + 1).bound)
        assert 0.99 * bounds[0] <= bounds[1] <= bounds[0] + 1


def test_jobs_too_long_for_tables_of_ticks_are_solved_by_a_solvers_word(monkeypatch):
    monkeypatch.setattr(start_costs, "MOST_STARTS", 1000)
    for seed in range(4):
        document = Document(PROBLEM, "instance", "long", few_long_jobs(seed))
        result = solve(document, "decomposition", Limits(time_s=60))
        assert result.status is Status.OPTIMAL
        assert result.objective == solve(document, "cp_demands").objective
