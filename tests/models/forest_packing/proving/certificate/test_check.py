"""Certificates prove valid bounds, can prove the optimum, and are refused if malformed."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from gadgetopt.models.forest_packing.instance import (
    CutFamily,
    ForestPackingCertificate,
    Partition,
    Prices,
)
from gadgetopt.models.forest_packing.proving.certificate.check import check_bound
from gadgetopt.pieces.graphs.cheapest_trees import (
    arborescence_costs,
    closure,
    cost_matrix,
    steiner_costs,
)

from ...brute_force import (
    all_trees,
    optimum,
    rows,
    shares,
)
from ...networks import (
    cables,
    digraph,
    known,
    random_instance,
    symmetric,
)

#: What optima of linear programs in doubles may be off.
ROUNDING = 1e-6

SEEDS = st.integers(0, 10_000)


def bound(instance, proof):
    return check_bound(instance, ForestPackingCertificate(proof=proof))


def tiny_instance(seed, in_network=False):
    """A random network that brute force can do: three workers with switches, or four without."""
    if seed % 3:
        return random_instance(seed, 3, 2).model_copy(update={"in_network": in_network})
    return random_instance(seed, 4, 0)


def some_nodes(rng, instance, nodes):
    """A random set of nodes with a worker."""
    chosen = {int(rng.choice(instance.workers))}
    return tuple(sorted(chosen | {v for v in nodes if rng.random() < 0.4}))


def random_partition(rng, instance):
    groups = int(rng.integers(1, len(instance.workers) + 1))
    parts = [[v] for v in rng.permutation(instance.workers)[:groups].tolist()]
    for v in (*instance.workers, *instance.switches):
        k = int(rng.integers(-1, groups))
        if k >= 0 and all(v not in part for part in parts):
            parts[k].append(v)
    return Partition(parts=tuple(tuple(part) for part in parts))


def random_cut_family(rng, instance):
    nodes = (*instance.workers, *instance.switches)

    def number(low):
        return Fraction(int(rng.integers(low, 7)), int(rng.integers(1, 5)))

    names = [name for name, _, _ in rows(instance)]
    given = {name: number(0) for name in names if rng.random() < 0.4}
    cuts = [
        CutFamily.Cut(
            stage=str(rng.choice(instance.stages)),
            nodes=some_nodes(rng, instance, nodes),
            multiplier=number(0),
        )
        for _ in range(rng.integers(1, 7))
    ]
    potentials = [
        CutFamily.Potential(stage=str(rng.choice(instance.stages)), switch=s, value=number(-6))
        for s in instance.switches
        if not instance.in_network
    ]
    return CutFamily(
        cuts=tuple(cuts),
        potentials=tuple(potentials),
        prices=given if rng.random() < 0.5 else None,
        reduce_prices={} if instance.sequential and rng.random() < 0.5 else None,
    )


def random_prices(rng, instance):
    names = [name for name, _, _ in rows(instance)]

    def draw():
        return {name: Fraction(int(rng.integers(0, 6)), 3) for name in names if rng.random() < 0.8}

    together = draw()
    by_stage = {s: draw() if instance.sequential else together for s in instance.stages}
    return Prices(**by_stage)


# -- what is proved holds ----------------------------------------------------------------------


@given(SEEDS, st.booleans())
@settings(max_examples=80)
def test_no_certificate_proves_less_than_the_optimum(seed, in_network):
    instance = tiny_instance(seed, in_network)
    rng = np.random.default_rng(seed)
    best = optimum(instance).rate
    for draw in (random_partition, random_cut_family, random_prices):
        for _ in range(10):
            proved = bound(instance, draw(rng, instance))
            assert proved is None or proved >= best - ROUNDING * max(1, best)


# -- what is true can be proved ----------------------------------------------------------------


def rational(x):
    return Fraction(max(0.0, x)).limit_denominator(10**7)


@given(SEEDS, st.booleans())
@settings(max_examples=60)
def test_prices_from_the_lp_over_all_trees_prove_its_optimum(seed, in_network):
    instance = tiny_instance(seed, in_network)
    best = optimum(instance)
    prices = {
        stage: {name: rational(y) for name, y in of_rows.items()}
        for stage, of_rows in best.prices.items()
    }
    assert float(bound(instance, Prices(**prices))) == pytest.approx(best.rate, abs=1e-5)


def proof_by_all_cuts(instance):
    """The cut family that duals of the cut LP (F3) with every subset give."""
    workers, nodes = instance.workers, (*instance.workers, *instance.switches)
    limits, stages = rows(instance), instance.stages
    arcs = sorted(set().union(*(a for _, _, a in limits)))
    load = {(s, a): i for i, (s, a) in enumerate((s, a) for s in stages for a in arcs)}
    w = {r: len(load) + i for i, r in enumerate(workers)}
    R = len(load) + len(w)
    runs = [(s,) for s in stages] if instance.sequential else [stages]
    size = R + 1 + len(runs)
    ub, eq = [], []
    subsets = chain.from_iterable(combinations(nodes, k) for k in range(1, len(nodes) + 1))
    cuts = [(s, q) for q in subsets if set(q) & set(workers) for s in stages]
    for stage, q in cuts:
        row = np.zeros(size)
        row[R] = 1.0
        row[[w[r] for r in workers if r in q]] = -1.0
        for u, v in arcs:
            if (v in q and u not in q) if stage == "broadcast" else (u in q and v not in q):
                row[load[stage, (u, v)]] = -1.0
        ub.append(row)
    for i, run in enumerate(runs):
        for _, capacity, of_row in limits:
            row = np.zeros(size)
            row[[load[s, a] for s in run for a in of_row]] = 1.0
            row[R + 1 + i] = -capacity
            ub.append(row)
    balances = [(s, v) for v in instance.switches for s in stages]
    for stage, v in balances:
        row = np.zeros(size)
        row[[load[stage, a] for a in arcs if a[1] == v]] = 1.0
        row[[load[stage, a] for a in arcs if a[0] == v]] = -1.0
        eq.append(row)
    row = np.zeros(size)
    row[[*w.values(), R]] = [1.0] * len(w) + [-1.0]
    eq.append(row)
    for r, share in (shares(instance) or {}).items():
        row = np.zeros(size)
        row[w[r]], row[R] = 1.0, -share
        eq.append(row)
    row = np.zeros(size)
    row[R + 1 :] = 1.0
    eq.append(row)
    cost = np.zeros(size)
    cost[R] = -1.0
    b_eq = [0.0] * (len(eq) - 1) + [1.0]
    found = linprog(cost, A_ub=ub, b_ub=[0.0] * len(ub), A_eq=eq, b_eq=b_eq, method="highs")
    duals = iter(-found.ineqlin.marginals)
    multipliers = [rational(next(duals)) for _ in cuts]
    prices = [{name: rational(next(duals)) for name, _, _ in limits} for _ in runs]
    proof = CutFamily(
        cuts=tuple(
            CutFamily.Cut(stage=s, nodes=q, multiplier=x)
            for (s, q), x in zip(cuts, multipliers, strict=True)
        ),
        potentials=tuple(
            CutFamily.Potential(stage=s, switch=v, value=Fraction(x).limit_denominator(10**7))
            for (s, v), x in zip(balances, found.eqlin.marginals, strict=False)
        ),
        prices=prices[-1],
        reduce_prices=prices[0] if instance.sequential else None,
    )
    return -found.fun, proof


@given(SEEDS)
@settings(max_examples=40)
def test_duals_of_the_cut_lp_prove_the_optimum(seed):
    instance = tiny_instance(seed)
    rate, proof = proof_by_all_cuts(instance)
    assert rate == pytest.approx(optimum(instance).rate, abs=1e-6)
    assert float(bound(instance, proof)) == pytest.approx(rate, abs=1e-5)


@given(SEEDS, st.data())
@settings(max_examples=40)
def test_a_spoilt_proof_never_proves_less_than_the_optimum(seed, data):
    instance = tiny_instance(seed)
    rate, proof = proof_by_all_cuts(instance)
    rng = np.random.default_rng(data.draw(SEEDS))

    def spoilt(x):
        return x * Fraction(int(rng.choice([0, 1, 1, 1, 2]))) * (1 if x > 0 else -1) ** seed

    for _ in range(5):
        changed = CutFamily(
            cuts=tuple(
                c.model_copy(update={"multiplier": abs(spoilt(c.multiplier))}) for c in proof.cuts
            ),
            potentials=tuple(
                p.model_copy(update={"value": spoilt(p.value)}) for p in proof.potentials
            ),
            prices=proof.prices,
            reduce_prices=proof.reduce_prices,
        )
        proved = bound(instance, changed)
        assert proved is None or proved >= rate - ROUNDING * max(1, rate)


def test_hand_checked_partitions():
    # Edges 01:4, 12:4, 02:1: the singletons are tight.
    h2 = known("H2")
    for parts, value in (
        (((0,), (1,), (2,)), Fraction(9, 2)),
        (((0,), (1, 2)), 5),
        (((1,), (0, 2)), 8),
        (((2,), (0, 1)), 5),
        (((0, 1, 2),), None),
    ):
        assert bound(h2, Partition(parts=parts)) == value
    assert bound(known("H3"), Partition(parts=((0, 1), (2, 3)))) == 3
    # With a switch the partition bound is not tight: 1, optimum 3/4.
    assert bound(known("H4"), Partition(parts=((0, 3), (1,), (2,)))) == 1
    # A subpartition: node 0 left out.
    h6 = known("H6", collective="allgather")
    assert bound(h6, Partition(parts=((1,), (2,), (3,)))) == Fraction(3, 2)
    # 1/3 + 1/3 of the time a byte, stages in turns.
    sequential = known("H6", stage_mode="sequential")
    assert bound(sequential, Partition(parts=((1,), (2,), (3,)))) == Fraction(3, 4)
    h7 = known("H7")
    assert bound(h7, Partition(parts=((0,), (1,), (2,)))) == Fraction(5, 2)
    # Uniform shares: worker 1 takes in 2/3 of the data over 3 GB/s.
    uniform = known("H7", collective="allgather", root_mode="uniform")
    assert bound(uniform, Partition(parts=((1,),))) == Fraction(9, 2)


def test_hand_checked_prices():
    h7 = known("H7")
    quarter = {row.name: Fraction(1, 4) for row in h7.network.rows}
    assert bound(h7, Prices(reduce=quarter, broadcast=quarter)) == Fraction(5, 2)
    # Stages in turns: 10 / (2 + 2) each of half the total price.
    h5 = known("H5", stage_mode="sequential")
    one = {row.name: Fraction(1) for row in h5.network.rows}
    assert bound(h5, Prices(reduce=one, broadcast=one)) == Fraction(3, 4)


def test_balances_of_the_switch_prove_the_star():
    # Every worker enters and leaves each stage once; a tree turns round twice at its centre.
    h4 = known("H4")
    cuts = [
        CutFamily.Cut(stage=stage, nodes=(v,), multiplier=Fraction(1))
        for stage in ("reduce", "broadcast")
        for v in range(3)
    ]
    half = Fraction(1, 2)
    potentials = [
        CutFamily.Potential(stage="broadcast", switch=3, value=half),
        CutFamily.Potential(stage="reduce", switch=3, value=-half),
    ]
    assert bound(h4, CutFamily(cuts=tuple(cuts))) == Fraction(3, 2)
    proof = CutFamily(cuts=tuple(cuts), potentials=tuple(potentials))
    assert bound(h4, proof) == Fraction(3, 4)
    # A switch that copies and sums is not balanced, and the optimum is 1.
    in_network = h4.model_copy(update={"in_network": True})
    assert bound(in_network, proof) is None
    assert bound(in_network, CutFamily(cuts=tuple(cuts))) == Fraction(3, 2)


def test_a_cut_without_capacity_proves_that_nothing_can_be_synchronised():
    apart = known("H2").model_copy(update={"links": cables((0, 1, 4))})
    assert bound(apart, Partition(parts=((0, 1), (2,)))) == 0
    cut = CutFamily.Cut(stage="broadcast", nodes=(2,), multiplier=Fraction(1))
    other = CutFamily.Cut(stage="broadcast", nodes=(0, 1), multiplier=Fraction(1))
    assert bound(apart, CutFamily(cuts=(cut, other))) == 0
    assert bound(apart, CutFamily(cuts=(cut,))) is None  # worker 2 might be the only root
    price = {"0->1": Fraction(1)}
    assert bound(apart, Prices(reduce=price, broadcast=price)) == 0


def test_a_nic_is_charged_where_it_is_cheaper_than_its_links():
    limited = known("H2", nic_in_gbyte_per_s={1: 2.0}, nic_out_gbyte_per_s={1: 2.0})
    # Into the parts 5, 2 and 5 instead of 5, 8 and 5.
    assert bound(limited, Partition(parts=((0,), (1,), (2,)))) == Fraction(12, 4)


def test_a_cable_that_is_shared_is_charged_once():
    half = known("H2", duplex="half")
    assert bound(half, Partition(parts=((0,), (1,), (2,)))) == Fraction(9, 4)


def test_prices_of_zero_prove_nothing():
    assert bound(known("H2"), Prices()) is None
    assert bound(known("H2"), Partition(parts=())) is None
    assert bound(known("H2"), CutFamily(cuts=())) is None


def test_too_many_workers_for_steiner_trees_prove_nothing():
    star = symmetric(np.random.default_rng(0), 11, 1).model_copy(update={"in_network": True})
    price = {row.name: Fraction(1) for row in star.network.rows}
    assert bound(star, Prices(reduce=price, broadcast=price)) is None


@given(SEEDS, st.booleans())
@settings(max_examples=60)
def test_prices_are_divided_by_the_cheapest_pair_of_all(seed, symmetric_prices):
    rng = np.random.default_rng(seed)
    build = symmetric if symmetric_prices else digraph
    instance = build(rng, 3, 2)
    limits = [(name, c, tuple(a)) for name, c, a in rows(instance)]
    price = {name: Fraction(int(rng.integers(1, 6)), 6) for name, _, _ in limits}
    if symmetric_prices:
        for name in price:
            u, v = name.split("->")
            price[name] = price[f"{v}->{u}"]
    of_arc = {arc: price[name] for name, _, (arc,) in limits}
    cheapest = {}
    for tree in all_trees(instance):
        cost = sum(of_arc[arc] for p in tree.paths for arc in pairwise(p))
        key = (tree.stage, tree.root)
        cheapest[key] = min(cheapest.get(key, cost), cost)
    value = sum(price[name] * Fraction(c) for name, c, _ in limits)
    pairs = [
        cheapest["reduce", r] + cheapest["broadcast", r]
        for r in instance.workers
        if ("reduce", r) in cheapest and ("broadcast", r) in cheapest
    ]
    expected = value / min(pairs) if pairs else 0
    assert bound(instance, Prices(reduce=price, broadcast=price)) == expected


# -- nonsense is refused -----------------------------------------------------------------------


def cut(stage="broadcast", nodes=(0,), multiplier=1):
    return CutFamily.Cut(stage=stage, nodes=nodes, multiplier=Fraction(multiplier))


@pytest.mark.parametrize(
    ("proof", "complaint"),
    [
        (Partition(parts=((0, 9),)), "parts[0]: 9 is neither a worker nor a switch"),
        (Partition(parts=((0, 1), (1, 2))), "parts[1]: node 1 is in another part too"),
        (Partition(parts=((0,), (3,))), "parts[1]: has no worker"),
        (Partition(parts=((0,), ())), "parts[1]: has no worker"),
        (CutFamily(cuts=(cut(nodes=(0, 9)),)), "cuts[0]: 9 is neither"),
        (CutFamily(cuts=(cut(nodes=(3,)),)), "cuts[0]: has no worker"),
        (CutFamily(cuts=(cut(multiplier=-1),)), "cuts[0].multiplier: -1 is negative"),
        (
            CutFamily(cuts=(cut(),), prices={"0->1": Fraction(1)}),
            "prices: the network has no row '0->1'",
        ),
        (
            CutFamily(cuts=(cut(),), prices={"0->3": Fraction(-1)}),
            "prices['0->3']: -1 is negative",
        ),
        (CutFamily(cuts=(cut(),), reduce_prices={}), "reduce_prices: given, but"),
        (
            CutFamily(
                cuts=(cut(),),
                potentials=(CutFamily.Potential(stage="reduce", switch=0, value=Fraction(1)),),
            ),
            "potentials[0].switch: 0 is not a switch",
        ),
        (Prices(reduce={"x": Fraction(1)}), "reduce: the network has no row 'x'"),
        (Prices(reduce={"0->3": Fraction(1)}), "reduce: differs from broadcast"),
    ],
)
def test_nonsense_is_refused(proof, complaint):
    with pytest.raises(ValueError) as error:
        bound(known("H4"), proof)
    assert complaint in str(error.value)


def test_stages_that_the_collective_lacks_are_refused():
    allgather = known("H4", collective="allgather")
    for proof in (
        CutFamily(cuts=(cut("reduce"),)),
        Prices(reduce={"0->3": Fraction(1)}),
        CutFamily(
            cuts=(cut(),),
            potentials=(CutFamily.Potential(stage="reduce", switch=3, value=Fraction(1)),),
        ),
    ):
        with pytest.raises(ValueError, match="allgather has no reduce stage"):
            bound(allgather, proof)


# -- cheapest trees ----------------------------------------------------------------------------


@given(SEEDS, st.booleans())
@settings(max_examples=40)
def test_tree_costs_are_the_least_of_all_trees(seed, in_network):
    rng = np.random.default_rng(seed)
    instance = digraph(rng, 3, 2).model_copy(
        update={"in_network": in_network, "collective": "allgather"}
    )
    network = instance.network
    price = {arc: int(rng.integers(0, 6)) for arc in network.arcs}
    matrix, missing = cost_matrix(network.num_nodes, network.arcs, list(price.values()))
    if in_network:
        found = steiner_costs(matrix, 3, missing)
    else:
        found = arborescence_costs(closure(matrix, network.switches, missing)[:3, :3])
    cheapest = [missing] * 3
    for tree in all_trees(instance):
        r = network.index[tree.root]
        ends = [[network.index[v] for v in path] for path in tree.paths]
        cost = sum(price[arc] for p in ends for arc in pairwise(p))
        cheapest[r] = min(cheapest[r], cost)
    assert [min(c, missing) for c in found] == cheapest
