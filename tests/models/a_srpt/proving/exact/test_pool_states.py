"""Questions of cost over states of time find the pool's optimum, or prove it."""

import numpy as np

from gadgetopt.models.a_srpt.data.generate.presets import pool
from gadgetopt.models.a_srpt.proving.exact import pool_states
from gadgetopt.models.a_srpt.proving.exact.pool_program import (
    first_steps,
    price_ticks,
    solve_program,
)
from gadgetopt.models.a_srpt.proving.exact.pool_search import pool_schedule
from gadgetopt.models.a_srpt.proving.exact.pool_states import improved_by_states
from gadgetopt.models.a_srpt.proving.start_costs import better_starts
from gadgetopt.models.a_srpt.relaxations import pool_of
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ...rigid_jobs import pool_cost


def test_the_search_agrees_with_the_program():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        relaxed = pool_of(pool(rng, jobs=16, load=2.0))
        value, starts = pool_schedule(relaxed, 0, rng, Clock())
        prices = price_ticks(relaxed, starts, first_steps(relaxed, Clock()), Clock())
        left = better_starts(relaxed, prices, value + 1)
        optimum = round(solve_program(relaxed, left.allowed, Limits(), 0)[0].objective)
        bound, found = improved_by_states(relaxed, prices, value, Clock())
        assert bound == optimum
        assert (found is None) == (value == optimum)
        if found is not None:
            assert pool_cost(relaxed, found) == optimum


def test_a_search_that_ends_early_claims_no_more_than_is_proved(monkeypatch):
    for seed, most in ((0, 1), (0, 30), (1, 100), (1, 300), (2, 1000)):
        monkeypatch.setattr(pool_states, "MOST_STATES", most)
        rng = np.random.default_rng(seed)
        relaxed = pool_of(pool(rng, jobs=14, load=2.5))
        value, starts = pool_schedule(relaxed, 0, rng, Clock())
        prices = price_ticks(relaxed, starts, first_steps(relaxed, Clock()), Clock())
        left = better_starts(relaxed, prices, value + 1)
        optimum = round(solve_program(relaxed, left.allowed, Limits(), 0)[0].objective)
        bound, found = improved_by_states(relaxed, prices, value, Clock())
        assert left.bound <= bound <= optimum
        assert found is None or pool_cost(relaxed, found) == optimum == bound
