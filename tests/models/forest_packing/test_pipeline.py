"""The pipeline of chunks: period by period it is causal, fits every link, and takes T(m)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.forest_packing.evaluate import evaluate, read_links
from gadgetopt.models.forest_packing.instance import ForestPackingSolution, TreePair
from gadgetopt.models.forest_packing.pipeline import (
    Phase,
    best_chunks,
    broadcast_periods,
    chunked_time,
    reduce_periods,
    simulate,
)

from .networks import known, symmetric

SEEDS = st.integers(0, 10_000)


def random_tree(rng, instance):
    """A tree pair on a network without switches: random spanning trees up and down."""
    workers = instance.workers
    root = int(rng.choice(workers))
    links = sorted(read_links(instance).rows_of)

    def parents():
        reached, found = {root}, []
        while len(reached) < len(workers):
            ends = [(u, v) for u, v in links if u in reached and v not in reached]
            u, v = ends[rng.integers(len(ends))]
            found.append((u, v))
            reached.add(v)
        return tuple(found)

    return TreePair(
        root=root,
        in_tree=tuple(p[::-1] for p in parents()),
        out_tree=parents() if rng.random() < 0.5 else None,
        rate_gbyte_per_s=Fraction(int(rng.integers(1, 20)), int(rng.integers(1, 9))),
    )


def random_plan(seed, **fields):
    rng = np.random.default_rng(seed)
    instance = symmetric(rng, int(rng.integers(2, 7)), 0, hop_latency_s=0.01, **fields)
    trees = tuple(random_tree(rng, instance) for _ in range(rng.integers(1, 5)))
    return instance, trees


@given(SEEDS, st.integers(1, 6), st.booleans())
@settings(max_examples=60)
def test_every_chunk_is_sent_after_what_it_waits_for_and_links_carry_their_part(seed, m, turns):
    # Chunk by chunk and period by period, from the periods of first sends alone.
    mode = "sequential" if turns else "overlap"
    instance, trees = random_plan(seed, stage_mode=mode)
    links = read_links(instance)
    solution = ForestPackingSolution(trees=trees, chunks=m)
    found = evaluate(instance, solution).components
    R = sum(t.rate_gbyte_per_s for t in trees)
    carried, last = {}, {}
    for tree in trees:
        up = reduce_periods(tree)
        down = broadcast_periods(tree, 0 if turns else max(up.values()) + 1)
        send = {path[0]: period for path, period in up.items()}
        arrived = {path[-1]: period for path, period in down.items()}
        for j in range(m):
            for (child, parent), first in up.items():
                if parent == tree.root:
                    assert turns or all(first + j < p + j for p in down.values())
                else:
                    assert first + j < send[parent] + j
                stage = "reduce" if turns else "both"
                at = (stage, (child, parent), first + j)
                carried[at] = carried.get(at, 0) + tree.rate_gbyte_per_s
                last[stage] = max(last.get(stage, 0), first + j + 1)
            for (parent, child), first in down.items():
                assert parent == tree.root or arrived[parent] + j < first + j
                stage = "broadcast" if turns else "both"
                at = (stage, (parent, child), first + j)
                carried[at] = carried.get(at, 0) + tree.rate_gbyte_per_s
                last[stage] = max(last.get(stage, 0), first + j + 1)
    # A chunk is x_p D / (R m) and a period T*/m, so a link carries at most c T* R / D in rates.
    fullest = {stage: Fraction(0) for stage in last}
    for (stage, arc, _), rate in carried.items():
        share = rate / links.capacity[links.rows_of[arc][0]]
        fullest[stage] = max(fullest[stage], share)
    if turns:
        rho = {s: _load_over_capacity(links, trees, s) for s in ("reduce", "broadcast")}
        parts = {s: x / sum(rho.values()) for s, x in rho.items()}
    else:
        parts = {"both": Fraction(1)}
    T = found["time_s"]
    for stage, share in fullest.items():
        assert share <= parts[stage] * T * R
    alpha = Fraction(1, 100)
    periods = sum(n * (parts[s] * T / m + alpha) for s, n in last.items())
    assert found["simulated_time_s"] == periods


def _load_over_capacity(links, trees, stage):
    load = {}
    for tree in trees:
        for arc in tree.in_tree if stage == "reduce" else tree.broadcast_tree:
            load[arc] = load.get(arc, 0) + tree.rate_gbyte_per_s
    return max(x / links.capacity[links.rows_of[arc][0]] for arc, x in load.items())


@given(SEEDS, st.integers(1, 40))
@settings(max_examples=60)
def test_the_simulation_takes_the_time_of_the_formula(seed, m):
    for mode in ("overlap", "sequential"):
        instance, trees = random_plan(seed, stage_mode=mode)
        found = evaluate(instance, ForestPackingSolution(trees=trees, chunks=m)).components
        assert found["chunked_time_s"] <= found["simulated_time_s"]
        at_best = evaluate(
            instance, ForestPackingSolution(trees=trees, chunks=found["best_chunks"])
        ).components
        assert at_best["simulated_time_s"] == found["chunked_time_s"]
        # T5 with latency: filling and draining cost at most (h - 1)/m of T*, and latencies.
        h, T = found["pipeline_depth"], found["time_s"]
        if mode == "overlap":
            assert found["simulated_time_s"] == (m + h - 1) * (T / m + Fraction(1, 100))


@given(
    st.lists(st.tuples(st.fractions(Fraction(1, 9), 9), st.integers(1, 9)), min_size=1, max_size=2),
    st.fractions(Fraction(1, 500), 2),
)
@settings(max_examples=60)
def test_no_number_of_chunks_beats_the_best(phases, alpha):
    phases = [Phase(*p) for p in phases]
    best = chunked_time(phases, best_chunks(phases, alpha), alpha)
    assert best == min(chunked_time(phases, m, alpha) for m in range(1, 250))


def test_without_latency_there_is_a_best_number_of_chunks_only_for_one_hop():
    assert best_chunks([Phase(Fraction(1), 2)], Fraction(0)) is None
    assert best_chunks([Phase(Fraction(1), 1)], Fraction(0)) == 1


def test_h2_pipeline_by_hand():
    # Trees of depth 1 + 1: T(m) = 2/9 (1 + 1/m) from m = 1 to infinity.
    for m in (1, 2, 5, 1000):
        assert chunked_time([Phase(Fraction(2, 9), 2)], m, Fraction(0)) == Fraction(2, 9) * (
            1 + Fraction(1, m)
        )


@pytest.mark.parametrize("m", [1, 2, 3])
def test_rows_are_only_full_while_every_tree_sends(m):
    # Up 2->1->0 and down again on H2, one tree: chunk j leaves 2 in period j, 1 in j + 1.
    h2 = known("H2")
    links = read_links(h2)
    tree = TreePair(root=0, in_tree=((2, 1), (1, 0)), rate_gbyte_per_s=Fraction(4))
    assert reduce_periods(tree) == {(2, 1): 0, (1, 0): 1}
    assert broadcast_periods(tree, 2) == {(1, 2): 3, (0, 1): 2}
    phase = Phase(Fraction(1, 4), 4)
    course = simulate([tree], [phase], m, Fraction(0), [Fraction(1)], links.rows_of, links.capacity)
    assert course.periods == m + 3
    assert course.fullest == 1
    assert course.time_s == (m + 3) * Fraction(1, 4) / m


@given(SEEDS, st.integers(1, 5))
@settings(max_examples=40)
def test_shared_cables_are_never_overfull_in_a_period(seed, m):
    instance, trees = random_plan(seed, duplex="half")
    links = read_links(instance)
    found = evaluate(instance, ForestPackingSolution(trees=trees)).components
    R = sum(t.rate_gbyte_per_s for t in trees)
    slices = [t.rate_gbyte_per_s / R for t in trees]
    phase = Phase(found["time_s"], found["pipeline_depth"])
    course = simulate(trees, [phase], m, Fraction(0), slices, links.rows_of, links.capacity)
    assert course.fullest <= 1
    assert course.periods == m + found["pipeline_depth"] - 1
