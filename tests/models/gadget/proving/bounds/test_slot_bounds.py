"""Upper bounds on a slot: their order and their certificates; options of Algorithm 1."""

from fractions import Fraction

import numpy as np
import pytest
from calling import called

from gadgetopt.errors import ModelRefused
from gadgetopt.models.gadget import PROBLEM
from gadgetopt.models.gadget.algorithms.gadget import gadget
from gadgetopt.models.gadget.algorithms.temporal_greedy import temporal_greedy
from gadgetopt.models.gadget.data.generate import presets as generate
from gadgetopt.models.gadget.evaluate import evaluate
from gadgetopt.models.gadget.heuristics.ring_bounds import relaxed_rings
from gadgetopt.models.gadget.proving.bounds.slot_bounds import (
    capacity_bound,
    config_lp,
    ring_relaxation,
)
from gadgetopt.models.gadget.proving.certificate.check import (
    GadgetCertificate,
    SlotPrices,
    check_bound,
)
from gadgetopt.models.gadget.proving.exact.slot_by_slot import gadget_relaxed_rings
from gadgetopt.models.gadget.proving.exact.slot_solver import slot_exact
from gadgetopt.models.gadget.subproblems.hull import envelope
from gadgetopt.models.gadget.utility import Table
from gadgetopt.system.result import Limits
from gadgetopt.trust.certificate import certified_bound

from ...brute_force import brute_force
from ...tiny import (
    OPTIMA,
    tiny,
)


def run(method, instance, **parameters):
    return called(method, instance, Limits(), np.random.default_rng(0), **parameters)


def chain(instance):
    """Return the bounds on a slot, from weakest to strongest."""
    return [
        run(ring_relaxation, instance).dual_bound,
        run(capacity_bound, instance).dual_bound,
        run(config_lp, instance, tighten=False).dual_bound,
        run(config_lp, instance).dual_bound,
    ]


def test_h1_and_h2_tell_the_bounds_apart():
    assert chain(tiny("h1_bandwidth_blind")) == pytest.approx([10, 10, 6, 6])
    assert chain(tiny("h2_chain_of_bounds")) == pytest.approx([50, 50, 50, 40])


@pytest.mark.parametrize("seed", range(20))
def test_bounds_are_in_order_and_certificates_prove_them(seed):
    rng = np.random.default_rng(seed)
    instance = generate.tiny(rng, servers=3 + seed % 2, resources=1 + seed % 3)
    best, _ = brute_force(instance)
    relaxed, capacity, plain, tightened = chain(instance)
    assert relaxed >= capacity - 1e-9 or instance.terms.capacity.shape[1] > 1
    assert plain >= tightened - 1e-9 >= best - 2e-9
    assert min(relaxed, capacity) >= best - 1e-9
    for method, parameters in (
        (capacity_bound, {}),
        (config_lp, {}),
        (config_lp, {"tighten": False}),
        (slot_exact, {}),
    ):
        found = run(method, instance, **parameters)
        if found.certificate is None:  # CP-SAT's word
            assert method is slot_exact
            continue
        proved = certified_bound(PROBLEM, instance, found.certificate)
        assert proved == pytest.approx(found.dual_bound, rel=1e-9)
        assert proved >= best


@pytest.mark.parametrize("seed", range(10))
def test_any_prices_prove_a_bound(seed):
    rng = np.random.default_rng(seed)
    instance = generate.tiny(rng, servers=4, resources=2)
    best, _ = brute_force(instance)

    def drawn(n):
        return tuple(Fraction(int(x), 7) for x in rng.integers(0, 20, size=n))

    prices = SlotPrices(
        unit=tuple(drawn(2) for _ in range(4)),
        access=tuple(x / 1000 for x in drawn(4)),
        uplink=tuple(x / 1000 for x in drawn(len(instance.substrate.racks))),
    )
    assert check_bound(instance, GadgetCertificate(prices=prices)) >= best


def test_certificates_that_do_not_fit_are_told():
    few = SlotPrices(unit=((Fraction(1),),), access=(Fraction(0),), uplink=(Fraction(0),))
    with pytest.raises(ValueError, match="prices"):
        check_bound(tiny("h5_slot"), GadgetCertificate(prices=few))
    with pytest.raises(ValueError, match="two-tier"):
        check_bound(tiny("h7_square"), GadgetCertificate(prices=few))
    with pytest.raises(ValueError, match="one slot"):
        check_bound(tiny("h3_greedy_concave"), GadgetCertificate())
    with pytest.raises(ModelRefused, match="one"):
        run(capacity_bound, tiny("h3_greedy_concave"))


@pytest.mark.parametrize("name", ["h6_two_triangles", "h7_square", "h7_square_narrow"])
def test_algorithm_1_with_its_defaults_takes_graphs(name):
    found = evaluate(tiny(name), run(gadget, tiny(name)).solution)
    assert found.feasible
    assert found.objective <= OPTIMA[name] + 1e-9


@pytest.mark.parametrize("seed", range(10))
def test_rings_read_off_the_relaxation_are_no_larger_than_they_may_be(seed):
    instance = generate.contended(np.random.default_rng(seed), jobs=12)
    terms = instance.terms
    tables = [envelope(job.utility) for job in terms.jobs]
    most = [job.max_ring for job in terms.jobs]
    done = [job.max_total // 2 for job in terms.jobs]
    rings = relaxed_rings(terms, 10, done, tables, most)
    assert all(0 <= q <= n for q, n in zip(rings, most, strict=True))
    assert all(q == 0 or job.arrival <= 10 for q, job in zip(rings, terms.jobs, strict=True))
    found = evaluate(instance, run(gadget_relaxed_rings, instance).solution)
    assert found.feasible


def test_rings_are_not_read_off_a_relaxation_of_several_resources():
    with pytest.raises(ModelRefused, match="several resources, expected one"):
        run(gadget_relaxed_rings, generate.tiny(np.random.default_rng(0), resources=2))


def test_slot_by_slot_reveals_jobs_when_they_arrive_and_counts_what_they_did():
    instance = generate.contended(np.random.default_rng(0), jobs=10)
    seen = []

    def nobody(problem, rng, limits):
        seen.append({x.job.index for x in problem.jobs})
        return []

    result = temporal_greedy(instance.terms, nobody, np.random.default_rng(0), Limits())
    for t, present in enumerate(seen, start=1):
        assert present == {j.index for j in instance.terms.jobs if j.arrival <= t and j.max_ring}
    assert not result.done.any()
    assert result.limit_hit is None


def test_out_of_time_the_slots_left_are_empty():
    instance = generate.contended(np.random.default_rng(0), jobs=10)
    none = temporal_greedy(
        instance.terms, lambda *_: [], np.random.default_rng(0), Limits(time_s=0.0)
    )
    assert none.limit_hit == "time_s"
    assert none.mappings == ((),) * instance.horizon_slots


@pytest.mark.parametrize("factor", [1e-6, 1e6, 1e9])
def test_slots_are_closed_whatever_the_unit_of_utility(factor):
    instance = generate.tiny(np.random.default_rng(3), jobs=4)
    jobs = tuple(
        job.model_copy(
            update={"utility": Table(values=tuple(factor * u for u in job.utility.values))}
        )
        for job in instance.jobs
    )
    graph = generate.graph(np.random.default_rng(3))
    for case in (
        instance.model_copy(update={"jobs": jobs}),
        graph.model_copy(update={"jobs": jobs}),
    ):
        found = run(slot_exact, case)
        best, _ = brute_force(case)
        assert evaluate(case, found.solution).objective == pytest.approx(best, rel=1e-9)
        assert found.dual_bound == pytest.approx(best, rel=1e-8)


def test_a_slot_out_of_time_stays_empty():
    instance = generate.contended(np.random.default_rng(0), jobs=10)

    def late(problem, rng, limits):
        raise TimeoutError

    result = temporal_greedy(instance.terms, late, np.random.default_rng(0), Limits())
    assert result.limit_hit == "time_s"
    assert not any(result.mappings)
    found = gadget(instance, Limits(time_s=0.05), np.random.default_rng(0))
    assert evaluate(instance, found.solution).feasible


def small_slot(seed):
    rng = np.random.default_rng(seed)
    return generate.slot(rng, jobs=5, servers=6)


@pytest.mark.parametrize("seed", range(5))
def test_a_table_too_large_for_the_check_is_relaxed(seed, monkeypatch):
    instance = small_slot(seed)
    by_table = check_bound(instance, GadgetCertificate(alone=False))
    monkeypatch.setattr("gadgetopt.models.gadget.proving.certificate.check.MOST_ENTRIES", 0)
    relaxed = check_bound(instance, GadgetCertificate(alone=False))
    assert by_table <= relaxed <= run(ring_relaxation, instance).dual_bound * (1 + 1e-9)


@pytest.mark.parametrize("price", [Fraction(10) ** 307, Fraction(1, 10**307), Fraction(2**53 + 1)])
def test_prices_of_links_without_bandwidth_prove_nothing(price):
    instance = tiny("h2_chain_of_bounds")
    best, _ = brute_force(instance)
    data = instance.model_dump()
    data["substrate"]["servers"] += ({"rack": 0, "capacity": (0.0,), "access_mbps": 0},)
    idle = type(instance).model_validate(data)
    servers = len(idle.substrate.servers)
    free = SlotPrices(
        unit=((Fraction(0),),) * (servers - 1) + ((price,),),
        access=(Fraction(0),) * (servers - 1) + (price,),
        uplink=(Fraction(0),) * len(idle.substrate.racks),
    )
    assert check_bound(idle, GadgetCertificate(prices=free)) >= best


def test_bandwidths_with_too_many_sums_stay_as_they_are():
    from gadgetopt.models.gadget.proving.certificate.bandwidth_tightening import tightened

    assert tightened([10**13], [10**12, 10**12 - 1]) == [10**13]
