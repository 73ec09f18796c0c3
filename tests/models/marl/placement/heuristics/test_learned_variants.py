"""The learned scheduler with one step changed, and what former spellings are called now."""

import numpy as np
import pytest
from calling import called

from gadgetopt.errors import InputError
from gadgetopt.models.marl.placement.algorithms.learned import learned
from gadgetopt.models.marl.placement.data.generate.presets import leaf_spine
from gadgetopt.models.marl.placement.evaluate import evaluate
from gadgetopt.models.marl.placement.heuristics.learned_variants import (
    learned_lookahead,
    learned_sampled,
)
from gadgetopt.models.marl.placement.proving.exact.price_and_close import price_and_close
from gadgetopt.search.clock import Clock
from gadgetopt.system.methods import find_method
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits

RNG = np.random.default_rng


def objective(instance, method=learned, **parameters):
    outcome = called(method, instance, Limits(), RNG(0), **parameters)
    evaluation = evaluate(instance, outcome.solution)
    assert evaluation.feasible
    return evaluation.objective


def test_no_placement_beats_the_optimum_and_trying_more_is_never_worse():
    for seed in range(5):
        instance = leaf_spine(RNG(seed), jobs=8, servers_per_rack=2)
        best = evaluate(instance, price_and_close(instance, Limits(), RNG(0)).solution).objective
        plain = objective(instance)
        assert best <= objective(instance, learned_sampled, samples=5) <= plain
        assert best <= objective(instance, learned_lookahead, lookahead=3)


def test_the_best_of_several_continuations_is_no_worse_than_the_policys_own():
    # Each choice is the start of the best of several endings, the policy's own among them.
    for seed in range(5):
        instance = leaf_spine(RNG(seed), jobs=8, servers_per_rack=2)
        assert objective(instance, learned_lookahead, lookahead=2) <= objective(instance)


def test_one_sample_and_one_choice_are_the_scheduler_itself():
    for seed in range(5):
        instance = leaf_spine(RNG(seed), jobs=8, servers_per_rack=2)
        own = learned(instance, Limits()).solution
        assert learned_sampled(instance, Limits(), RNG(1), samples=1).solution == own
        assert learned_lookahead(instance, Limits(), lookahead=1).solution == own


@pytest.mark.parametrize("method", [learned_sampled, learned_lookahead])
def test_a_time_limit_leaves_no_half_placement(method):
    instance = leaf_spine(RNG(0), jobs=60, servers_per_rack=20)
    outcome = called(method, instance, Limits(time_s=1e-9), RNG(0))
    assert outcome.limit_hit == "time_s"
    assert outcome.solution is None


def test_a_lookahead_that_runs_out_of_time_leaves_the_schedulers_own_placement(monkeypatch):
    class Ending(Clock):
        """Time is up at the hundredth look."""

        looks = 0

        @property
        def expired(self):
            self.looks += 1
            return self.looks > 100

    monkeypatch.setattr("gadgetopt.search.state.Clock", Ending)
    instance = leaf_spine(RNG(0), jobs=60, servers_per_rack=20)
    outcome = learned_lookahead(instance, Limits(time_s=60))
    assert outcome.limit_hit == "time_s"
    assert outcome.solution == learned(instance, Limits()).solution


@pytest.mark.parametrize(
    ("method", "parameter"), [(learned_sampled, "samples"), (learned_lookahead, "lookahead")]
)
def test_fewer_than_one_is_refused(method, parameter):
    with pytest.raises(InputError, match=f"{parameter}: 0, expected at least 1"):
        called(method, leaf_spine(RNG(0), jobs=2), Limits(), RNG(0), **{parameter: 0})


@pytest.mark.parametrize(
    ("former", "now"),
    [
        ("learned:samples=5", "learned_sampled"),
        ("learned:policy=p.npz:lookahead=3", "learned_lookahead"),
        ("learned:order=srpt", "learned"),
    ],
)
def test_a_former_spelling_says_what_it_is_called_now(former, now):
    with pytest.raises(InputError, match=f"is now the method '{now}'"):
        find_method(problem("marl_placement"), former)
