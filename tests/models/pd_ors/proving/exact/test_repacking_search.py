"""Repacking: decisions are feasible and never worse, states agree with decisions, slots pack."""

from __future__ import annotations

import numpy as np
import pytest

from gadgetopt.models.pd_ors.algorithms.pd_ors import pd_ors
from gadgetopt.models.pd_ors.data.generate.presets import (
    desk,
    quickstart,
)
from gadgetopt.models.pd_ors.evaluate import evaluate
from gadgetopt.models.pd_ors.formulations import columns
from gadgetopt.models.pd_ors.instance import PdOrsSolution
from gadgetopt.models.pd_ors.proving.bounds.restricted_master import RestrictedMaster
from gadgetopt.models.pd_ors.proving.exact import (
    branch_and_check,
    repacking_search,
)
from gadgetopt.models.pd_ors.proving.exact.priced_search import (
    Prices,
    relaxation_prices,
)
from gadgetopt.models.pd_ors.proving.exact.repacking_loops import (
    repack,
    ruin_and_recreate,
)
from gadgetopt.models.pd_ors.proving.exact.repacking_moves import (
    most_inside,
    most_spread,
    place,
    take_out,
)
from gadgetopt.models.pd_ors.proving.exact.repacking_search import (
    RepackingSearch,
    decision_of,
    empty_state,
    new_scratch,
    search_data,
    state_of,
)
from gadgetopt.models.pd_ors.proving.exact.repacking_state import value_of
from gadgetopt.solvers import solve_model
from gadgetopt.system.result import Limits

from ...tiny_instances import tiny_instance


def nothing(instance):
    return PdOrsSolution(schedules=(None,) * len(instance.jobs))


def free_prices(instance):
    price = np.zeros((instance.horizon_slots, *instance.terms.capacity.shape))
    one = np.ones(len(instance.jobs))
    return Prices(price, one, one, np.inf, RestrictedMaster(instance))


def data_of(instance):
    return search_data(instance, free_prices(instance).price, np.ones((2, len(instance.jobs))))


def test_tiny_optima_are_mostly_met_and_never_passed():
    ratios = []
    for seed in range(12):
        instance = tiny_instance(seed)
        best = solve_model(columns.build(instance), "highs", Limits(), 0).objective
        search = RepackingSearch(instance, free_prices(instance), np.random.default_rng(seed))
        judged = evaluate(instance, search.run(nothing(instance), Limits(), 200))
        assert judged.feasible
        assert judged.objective <= best * (1 + 1e-9) + 1e-9
        ratios.append(1.0 if best == 0 else judged.objective / best)
    assert np.mean(ratios) > 0.85


def test_it_starts_from_a_decision_and_is_never_worse():
    instance = desk(np.random.default_rng(4), jobs=20)
    first = pd_ors(instance, Limits()).solution
    prices = relaxation_prices(instance, Limits())
    search = RepackingSearch(instance, prices, np.random.default_rng(0))
    before, after = evaluate(instance, first), evaluate(instance, search.run(first, Limits(), 200))
    assert after.feasible
    assert after.objective > before.objective


def test_a_state_is_its_decision_and_packs_again():
    instance = desk(np.random.default_rng(3), jobs=12)
    first = pd_ors(instance, Limits()).solution
    state, data = state_of(instance, first), data_of(instance)
    assert value_of(data, state) == pytest.approx(evaluate(instance, first).objective)
    for t in range(instance.horizon_slots):
        run = state.run.copy()
        repack(data, state, empty_state(instance), t)
        assert (state.room >= 0).all()
        assert (state.run == run).all()
    again = decision_of(instance, state)
    assert evaluate(instance, again).objective == evaluate(instance, first).objective


def test_the_same_seed_makes_the_same_decision():
    instance = quickstart(np.random.default_rng(3))
    prices = relaxation_prices(instance, Limits())
    runs = [
        RepackingSearch(instance, prices, np.random.default_rng(5)).run(
            nothing(instance), Limits(), 100
        )
        for _ in "ab"
    ]
    assert runs[0] == runs[1]


def test_looking_at_the_clock_more_often_changes_no_decision(monkeypatch):
    instance = quickstart(np.random.default_rng(3))
    runs, calls = [], []

    def counted(*given):
        calls.append(len(given[8]))
        return ruin_and_recreate(*given)

    monkeypatch.setattr(repacking_search, "ruin_and_recreate", counted)
    for entries in (10**9, 1):
        monkeypatch.setattr(repacking_search, "ENTRIES", entries)
        search = RepackingSearch(instance, free_prices(instance), np.random.default_rng(5))
        runs.append(search.run(nothing(instance), Limits(), 100))
    assert runs[0] == runs[1]
    assert calls == [100] + [1] * 100


def interrupted_after(monkeypatch, calls: int) -> None:
    """Let Ctrl-C come at a call of the loops."""
    left = [calls]

    def then_interrupt(*given):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return ruin_and_recreate(*given)

    monkeypatch.setattr(repacking_search, "ruin_and_recreate", then_interrupt)


def test_ctrl_c_keeps_what_repacking_found(monkeypatch):
    instance = quickstart(np.random.default_rng(3))
    interrupted_after(monkeypatch, 1)
    search = RepackingSearch(instance, free_prices(instance), np.random.default_rng(5))
    assert evaluate(instance, search.run(nothing(instance), Limits(), 10_000)).objective > 0
    assert search.interrupted


def test_ctrl_c_while_slots_are_packed_again_ends_the_search_with_its_incumbent(monkeypatch):
    instance = quickstart(np.random.default_rng(3))
    interrupted_after(monkeypatch, 1)
    search = branch_and_check._Search(instance, Limits(), np.random.default_rng(5), "repacking")
    search._prices = free_prices(instance)
    search._levels = lambda: search._repack(1.0, 10_000)
    search.run()
    outcome = search.outcome()
    assert outcome.limit_hit == "interrupted"
    assert 0 < evaluate(instance, outcome.solution).objective <= outcome.dual_bound


def test_most_workers_of_an_empty_slot_are_those_of_the_terms():
    for seed in range(8):
        instance = tiny_instance(seed)
        data, capacity = data_of(instance), instance.terms.capacity.astype(np.int64)
        for job in instance.terms.jobs:
            at = np.zeros(len(capacity), dtype=np.int64)
            assert most_inside(data, job.index, capacity) == job.most_internal.max()
            spread = most_spread(data, job.index, job.batch, capacity, at)
            assert spread <= job.most_fitting(capacity.sum(axis=0, keepdims=True))[0]
            assert at.sum() >= job.servers[spread]


def test_what_is_remembered_of_slots_is_what_they_hold():
    instance = desk(np.random.default_rng(3), jobs=12)
    state, data, scratch = empty_state(instance), data_of(instance), new_scratch(instance)
    other = empty_state(instance)
    rng = np.random.default_rng(0)
    known = 0
    for _ in range(60):
        i = int(rng.integers(12))
        if state.completion[i] >= 0:
            take_out(data, state, i)
        elif data.last[i] >= 0:
            place(data, state, i, data.price, -1e300, scratch)
        repack(data, state, other, int(rng.integers(instance.horizon_slots)))
        for j, t in np.argwhere((scratch.seen == state.stamp) & (state.stamp >= 0)).tolist():
            known += 1
            room = state.room[t]
            assert scratch.inside[j, t] == most_inside(data, j, room)
            spread = most_spread(data, j, data.batch[j], room, scratch.at)
            assert scratch.spread[j, t] == spread
    assert known > 100


def test_enough_ends_the_search():
    instance = quickstart(np.random.default_rng(0))
    search = RepackingSearch(instance, free_prices(instance), np.random.default_rng(0))
    search.run(nothing(instance), Limits(), 1000, enough=1e-9)
    assert search.rounds == 100
