"""Branches on starts with prices by size: what they prove is never above the pool's optimum."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.a_srpt.evaluate import evaluate
from gadgetopt.models.a_srpt.proving.bounds.size_prices import SizeProgram
from gadgetopt.models.a_srpt.proving.certificate import size_branches
from gadgetopt.models.a_srpt.proving.certificate.check import (
    ASrptCertificate,
    SizeBranch,
    SizeBranches,
    check_bound,
    proved,
)
from gadgetopt.models.a_srpt.proving.certificate.price_checks import INT64_SAFE
from gadgetopt.models.a_srpt.proving.certificate.size_branches import Branch, _Priced, none_cheaper
from gadgetopt.models.a_srpt.proving.certificate.size_prices import who_pays
from gadgetopt.models.a_srpt.proving.exact.at_scale import best_at_scale
from gadgetopt.models.a_srpt.proving.exact.size_branches import SizeBranching
from gadgetopt.models.a_srpt.relaxations import pool_of
from gadgetopt.search.clock import Clock
from gadgetopt.system.result import Limits

from ...branch_proofs import closed, drawn, searched
from ...rigid_jobs import H3, pool_optimum


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 2))
def test_no_proof_is_above_the_optimum(seed, more):
    instance = drawn(seed, 4)
    proof = searched(instance, more)
    if proof is not None:
        assert more == 0
        assert proved(instance, proof) == pool_optimum(instance)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_whatever_branches_say_the_bound_is_no_more_than_the_optimum(data):
    """Drawn windows, prices and cuts: what they prove of the claim, all schedules keep to."""
    instance = drawn(data.draw(st.integers(0, 10**6)), 3)
    pool, optimum = pool_of(instance), pool_optimum(instance)
    sizes = len(set(pool.gpus.tolist()))
    branches = []
    for _ in range(data.draw(st.integers(1, 4))):
        times = sorted(data.draw(st.sets(st.integers(0, 14), min_size=2, max_size=5)))
        row = st.tuples(*[st.integers(0, 6)] * (len(times) - 1))
        earliest = [r + data.draw(st.sampled_from([0, 0, 1, 3])) for r in pool.release.tolist()]
        latest = [e + data.draw(st.sampled_from([0, 4, 10**4])) for e in earliest]
        cut = data.draw(st.none() | st.tuples(st.integers(0, 2), st.integers(0, 9)))
        branches.append(
            SizeBranch(
                times=tuple(times),
                denominator=data.draw(st.integers(1, 4)),
                in_time=tuple(data.draw(row) for _ in range(sizes)),
                late=tuple(data.draw(row) for _ in range(sizes)),
                earliest=tuple(earliest),
                latest=tuple(latest),
                cut=cut,
            )
        )
    claimed = optimum + data.draw(st.sampled_from([0, 1, 3]))
    assert proved(instance, SizeBranches(bound=claimed, branches=tuple(branches))) <= optimum


@pytest.mark.parametrize("seed", range(12))
def test_what_a_branch_proves_holds_for_every_schedule_in_its_windows(seed):
    rng = np.random.default_rng(seed)
    pool = pool_of(drawn(seed, 3))
    earliest = pool.release + rng.integers(0, 3, 3)
    latest = earliest + rng.integers(0, 3, 3)
    times = np.unique(np.append(rng.integers(0, 12, 6), [0, 15]))
    prices = rng.integers(0, 5, (2 * len(set(pool.gpus.tolist())), len(times) - 1)).tolist()
    below, unit = 10**6, int(np.gcd.reduce(pool.weight))
    for large in (1, INT64_SAFE):
        rows = [[large * p for p in row] for row in prices]
        branch = Branch(times, rows, 2 * large, earliest, latest, None)
        priced = _Priced(pool, branch, below)
        costs = [cost for _, cost in schedules_within(pool, earliest, latest)]
        if priced.is_done:  # more GPUs than there are
            assert not costs
            continue
        bound = Fraction((below - unit) * branch.denominator - priced.spare, branch.denominator)
        assert all(bound <= cost for cost in costs)
        for starts, cost in schedules_within(pool, earliest, latest):
            for j, start in enumerate(starts.tolist()):
                raised = priced.least(j, start, start) - priced.best[j]
                assert bound + Fraction(raised, branch.denominator) <= cost


def schedules_within(pool, earliest, latest):
    """Yield the starts and costs of all schedules whose jobs start in windows."""
    for offsets in np.ndindex(*(latest - earliest + 1)):
        starts = earliest + offsets
        ends = starts + pool.duration
        if all(
            pool.gpus[(starts <= t) & (t < ends)].sum() <= pool.total_gpus
            for t in range(int(ends.max()))
        ):
            yield starts, int(pool.weight @ ends)


def test_most_small_instances_close():
    assert sum(searched(drawn(seed)) is not None for seed in range(10)) >= 8


def test_a_proof_that_is_tampered_with_proves_less():
    instance, optimum, proof = closed()
    assert proved(instance, proof) == optimum
    assert proved(instance, proof.model_copy(update={"bound": optimum + 1})) < optimum
    for k, branch in enumerate(proof.branches):
        without = proof.branches[:k] + proof.branches[k + 1 :]
        if without:
            bound = proved(instance, proof.model_copy(update={"branches": without}))
            assert bound <= optimum
        late = branch.model_copy(update={"earliest": branch.latest})
        changed = (*proof.branches[:k], late, *proof.branches[k + 1 :])
        assert proved(instance, proof.model_copy(update={"branches": changed})) <= optimum
    last = proof.model_copy(update={"branches": proof.branches[:-1]})
    assert proved(instance, last) < optimum


def test_branches_of_another_pool_are_refused(monkeypatch):
    instance, _, proof = closed()
    pool, first = pool_of(instance), proof.branches[0]
    rows = [*first.in_time, *first.late]
    windows = np.array(first.earliest), np.array(first.latest)
    branch = Branch(np.array(first.times), rows, first.denominator, *windows, None)
    for wrong, message in (
        (replace(branch, earliest=windows[0][1:]), "a window for each of the 5 jobs"),
        (replace(branch, prices=rows[1:]), "rows of prices, expected"),
        (replace(branch, earliest=windows[1] + 1), "ends before it begins"),
        (replace(branch, cut=(5, 1)), "no job 5"),
    ):
        with pytest.raises(ValueError, match=message):
            none_cheaper(pool, [wrong], 10)
    monkeypatch.setattr(size_branches, "MOST_LOOKED_AT", 4)
    with pytest.raises(ValueError, match="1 are too many for the pool"):
        none_cheaper(pool, [branch], 10)


def test_no_time_and_instances_that_are_too_large_have_no_proof(monkeypatch):
    pool = pool_of(H3)
    starts = pool.release.astype(float)
    branching = SizeBranching(pool, 13, lambda _: 13, Clock(Limits(time_s=0)))
    assert branching.proof(starts) is None
    monkeypatch.setattr("gadgetopt.models.a_srpt.proving.exact.size_branches.MOST_INTERVALS", 1)
    assert SizeBranching(pool, 13, lambda _: 13, Clock(Limits())).proof(starts) is None


def test_the_method_at_scale_closes_by_branches(monkeypatch):
    instance, optimum, _ = closed()
    monkeypatch.setattr("gadgetopt.models.a_srpt.proving.exact.at_scale.MOST_OPEN", 1.0)
    found = best_at_scale(instance, Limits(time_s=20), np.random.default_rng(0))
    assert isinstance(found.certificate, ASrptCertificate)
    bound = check_bound(instance, found.certificate)
    assert bound == optimum
    assert evaluate(instance, found.solution).objective >= optimum


@pytest.mark.parametrize("seed", range(20))
def test_the_search_counts_what_pays_and_the_room_as_the_check_does(seed):
    rng = np.random.default_rng(seed)
    pool = pool_of(drawn(seed, 6))
    earliest = pool.release + rng.integers(0, 3, 6)
    latest = earliest + rng.integers(0, 8, 6)
    times = np.unique([*rng.integers(0, 14, 6), 0, *earliest, *(earliest + pool.duration)])
    sizes, item, counts, room = who_pays(pool, earliest, latest, times)
    program = SizeProgram(replace(pool, release=earliest), times, latest)
    assert np.array_equal(program.sizes, np.tile(sizes, 2))
    assert np.array_equal(program.item, item)
    assert np.array_equal(program.counts, counts)
    assert np.array_equal(program.room, room)
