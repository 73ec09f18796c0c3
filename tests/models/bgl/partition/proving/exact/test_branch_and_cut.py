"""Branch and cut agrees with brute force and elimination, and its tree is its certificate."""

import numpy as np
import pytest

from gadgetopt.models.bgl.partition.data.generate.presets import (
    planted,
    quickstart,
)
from gadgetopt.models.bgl.partition.heuristics.multi_start import best_start
from gadgetopt.models.bgl.partition.instance import BglPartitionInstance
from gadgetopt.models.bgl.partition.proving.certificate.check import check_bound
from gadgetopt.models.bgl.partition.proving.cut_lp import CutLp
from gadgetopt.models.bgl.partition.proving.cut_separation import (
    odd_cycles,
    separate,
)
from gadgetopt.models.bgl.partition.proving.exact import branch_and_cut as method
from gadgetopt.models.bgl.partition.proving.exact.cases import Cases
from gadgetopt.models.bgl.partition.subproblems.local_search import Weighted
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.system.result import Limits

from ...brute_force import (
    INSTANCES,
    instance_of,
    optimum,
    run,
    small_instance,
)


@pytest.mark.parametrize("first", range(4))
def test_cuts_and_cases_agree_with_brute_force(first):
    for instance in INSTANCES[first::12]:
        found = method.branch_and_cut(instance, Limits(), np.random.default_rng(0))
        assert check_bound(instance, found.certificate) == optimum(instance)
        assert found.claimed_objective == optimum(instance)


def test_all_nodes_of_a_path_fit_into_one_part():
    # The program is 0 at once and has no fraction to branch on; the start cuts an edge.
    path = instance_of(
        4, ((0, 2), (1, 3), (2, 3)), (0,), fanouts=(1,), node_imbalance=3, weights="edge"
    )
    found = run(path, "branch_and_cut")
    assert (found.status, found.objective, found.bound_voucher) == ("optimal", 0, "verified")


@pytest.mark.parametrize("seed", range(20))
def test_cut_edges_agree_with_brute_force(seed):
    rng = np.random.default_rng(1000 + seed)
    drawn = small_instance(rng).model_dump()
    room = float(rng.choice([0, 0.25, 0.5, 1, 3]))
    instance = BglPartitionInstance(**drawn | {"weights": "edge", "node_imbalance": room})
    found = run(instance, "branch_and_cut")
    assert (found.status, found.objective) == ("optimal", optimum(instance))


@pytest.mark.parametrize("seed", range(12))
def test_it_agrees_with_elimination(seed):
    rng = np.random.default_rng(seed)
    instance = planted(
        rng,
        nodes=int(rng.integers(16, 40)),
        parts=int(rng.integers(2, 5)),
        train_share=0.3,
        fanouts=str(rng.choice(["3,3", "5,5,5"])),
        node_imbalance=float(rng.choice([0, 0.2])),
        train_imbalance=float(rng.choice([0, 0.34])),
    )
    found, other = run(instance, "branch_and_cut"), run(instance, "elimination")
    assert (found.status, found.bound_voucher) == ("optimal", "verified")
    assert found.objective == other.objective


def test_a_tree_that_is_cut_short_proves_its_open_cases():
    instance = quickstart(np.random.default_rng(0), nodes=48)
    weighted, rng = Weighted.of(instance), np.random.default_rng(0)
    best = run(instance, "elimination").objective
    bounds = []
    for most_cases in (1, 3, 10**6):
        search = Search("min", Limits())
        search.offer(*_start(instance, weighted, search))
        Cases(instance, weighted, search, search.clock, rng).run(most_cases)
        assert check_bound(instance, search.certificate) == search.bound
        bounds.append(search.bound)
    assert bounds == sorted(bounds)
    assert bounds[-1] == best


def _start(instance, weighted, search):
    part = best_start(instance, weighted, 1, search.clock, np.random.default_rng(0), memory=False)
    return instance.pair_weights.cut(part), part


@pytest.mark.parametrize("seed", range(3))
def test_no_cycle_is_violated_in_the_end(seed):
    instance = planted(np.random.default_rng(seed), nodes=40, train_share=0.3)
    lp, clock = CutLp(instance), Clock(Limits())
    while True:
        lp.solve(clock.limits())
        cuts = separate(lp)
        if not cuts or not lp.add(cuts):
            break
    assert not list(odd_cycles(lp, lp.metric))
    r = len(lp.trained)
    among = lp.metric[np.ix_(lp.trained, lp.trained)]
    for i in range(r):
        assert (among <= among[:, [i]] + among[[i], :] + 1e-4).all()
        assert (among + among[:, [i]] + among[[i], :] <= 2 + 1e-4).all()


@pytest.mark.parametrize("parts", [2, 4])
def test_the_bound_of_cuts_beats_the_linear_programs(parts):
    instance = quickstart(np.random.default_rng(1), nodes=48, parts=parts)
    best = run(instance, "elimination").objective
    found = run(instance, "cut_bound")
    assert found.bound_voucher == "verified"
    for weak in ("difference_lp@highs", "both_lp@highs", "isolating_cuts"):
        assert run(instance, weak).bound < found.bound <= best
    assert found.bound >= best * 9 / 10
