"""BGL's caching with one step changed, and what former spellings are called now."""

import numpy as np
import pytest

from gadgetopt.errors import InputError, ModelRefused
from gadgetopt.models.bgl.cache.algorithms.bgl import bgl
from gadgetopt.models.bgl.cache.data.generate.presets import geometric, paper, quickstart
from gadgetopt.models.bgl.cache.evaluate import evaluate
from gadgetopt.models.bgl.cache.heuristics.bgl_variants import bgl_policy, bgl_tolerance
from gadgetopt.system.methods import find_method
from gadgetopt.system.registry import problem

RNG = np.random.default_rng


def cost(instance, outcome):
    found = evaluate(instance, outcome.solution)
    assert found.feasible
    return found.objective


@pytest.mark.parametrize("sequences", [0, 1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_belady_is_the_best_of_all_caches_on_the_same_order(seed, sequences):
    instance = paper(RNG(seed), caves=10)
    best, lru, lfu = (
        bgl_policy(instance, RNG(seed), policy=policy, sequences=sequences)
        for policy in ("belady", "lru", "lfu")
    )
    for other in (bgl(instance, RNG(seed), sequences=sequences), lru, lfu):
        assert best.notes == other.notes
        assert best.solution.order == other.solution.order
        assert cost(instance, best) <= cost(instance, other)


def test_a_larger_error_takes_no_more_sequences():
    taken = []
    for tolerance in (1e-9, 1, 10, 1e9):
        instance = geometric(RNG(0), nodes=300, radius=0.1)
        outcome = bgl_tolerance(instance, RNG(1), tolerance=tolerance)
        cost(instance, outcome)
        taken.append(outcome.notes["sequences"])
    assert taken == sorted(taken, reverse=True)
    assert taken[-1] == 1


def test_the_limit_of_the_paper_is_the_tolerance_1():
    instance = paper(RNG(2), caves=10)
    assert bgl_tolerance(instance, RNG(3), tolerance=1) == bgl(instance, RNG(3))


def test_an_instance_without_a_graph_is_refused():
    with pytest.raises(ModelRefused, match="graph: missing"):
        bgl_policy(quickstart(RNG(0)), RNG(0))
    host = paper(RNG(0), caves=3).model_copy(update={"host_capacity": 5})
    with pytest.raises(ModelRefused, match="policy: belady needs unit sizes"):
        bgl_policy(host, RNG(0), policy="belady")


@pytest.mark.parametrize(
    ("former", "now"),
    [
        ("bgl:policy=belady", "bgl_policy"),
        ("bgl:policy=lru", "bgl_policy"),
        ("bgl:policy=fifo", "bgl"),
        ("bgl:sequences=3:tolerance=2", "bgl_tolerance"),
    ],
)
def test_a_former_spelling_says_what_it_is_called_now(former, now):
    with pytest.raises(InputError, match=f"is now the method '{now}'"):
        find_method(problem("bgl_cache"), former)
