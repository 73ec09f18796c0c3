"""The tightest single cut against all cuts, published values and closed forms."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.models.forest_packing.data.generate.topologies import (
    dgx_a100,
    dgx_h100,
    star,
)
from gadgetopt.models.forest_packing.packing import required_shares
from gadgetopt.models.forest_packing.proving.bounds.rooted_cuts import (
    forestcoll_bound,
    min_cut,
)
from gadgetopt.models.forest_packing.proving.certificate.check import check_bound
from gadgetopt.system.result import Limits

from ...expected import (
    RATES,
    library_instance,
)
from ...networks import (
    BUILDERS,
    asked,
    known,
    with_nics,
)

RNG = np.random.default_rng(0)


def least_ratio(instance):
    """Enumerate Q: capacity into (reduce: out of) Q over the share rooted outside."""
    network, shares = instance.network, required_shares(instance)
    reducing = instance.stages == ("reduce",)
    ratios = []
    for side in product([False, True], repeat=network.num_nodes):
        outside = sum((w for r, w in shares.items() if not side[r]), Fraction(0))
        if not any(side[: network.num_workers]) or outside == 0:
            continue
        crossing = (
            c
            for (u, v), c in zip(network.arcs, network.capacity, strict=True)
            if (side[u] and not side[v] if reducing else side[v] and not side[u])
        )
        ratios.append(sum(crossing, Fraction(0)) / outside)
    return min(ratios)


@given(
    st.integers(0, 2**32),
    st.sampled_from(sorted(BUILDERS)),
    st.sampled_from(["allgather", "reduce_scatter"]),
    st.sampled_from(["uniform", "fixed", "weights"]),
)
def test_bound_is_the_least_ratio_of_all_cuts(seed, builder, collective, root_mode):
    rng = np.random.default_rng(seed)
    workers, switches = int(rng.integers(2, 5)), int(rng.integers(3))
    instance = asked(BUILDERS[builder](rng, workers, switches), collective, root_mode)
    outcome = forestcoll_bound(instance, Limits())
    assert outcome.dual_bound == least_ratio(instance)
    assert outcome.dual_bound == check_bound(instance, outcome.certificate)
    if root_mode == "fixed":
        assert min_cut(instance, Limits()).dual_bound == outcome.dual_bound


@given(st.integers(0, 2**32))
def test_nic_limits_only_tighten_the_bound(seed):
    rng = np.random.default_rng(seed)
    instance = asked(BUILDERS["symmetric"](rng, 3, 1), "allgather", "uniform")
    limited = with_nics(rng, instance)
    assert (
        forestcoll_bound(limited, Limits()).dual_bound
        <= forestcoll_bound(instance, Limits()).dual_bound
    )


def test_a_nic_limits_what_a_worker_receives():
    instance = known(
        "H2", collective="broadcast", root_mode="fixed", root=0, nic_in_gbyte_per_s={2: 2.0}
    )
    assert min_cut(instance, Limits()).dual_bound == 2


@pytest.mark.parametrize("name", RATES)
def test_library_networks_have_their_published_rates(name):
    gather = library_instance(name, collective="allgather", root_mode="uniform")
    root = gather.workers[0]
    broadcast = library_instance(name, collective="broadcast", root_mode="fixed", root=root)
    assert forestcoll_bound(gather, Limits()).dual_bound == RATES[name].allgather
    assert min_cut(broadcast, Limits()).dual_bound == RATES[name].broadcast


@pytest.mark.parametrize("boxes", [2, 3, 4, 8])
@pytest.mark.parametrize(("build", "nvlink", "ib"), [(dgx_a100, 300, 25), (dgx_h100, 450, 50)])
def test_boxes_of_eight_follow_the_closed_form(boxes, build, nvlink, ib):
    # x* = min{(c_nv + c_ib)/(8b - 1), c_ib/(b - 1)}: a GPU's links, or one box's.
    rate = min(Fraction(nvlink + ib, 8 * boxes - 1), Fraction(ib, boxes - 1))
    instance = build(boxes).instance(collective="allgather", root_mode="uniform")
    assert forestcoll_bound(instance, Limits()).dual_bound == 8 * boxes * rate


@pytest.mark.parametrize("workers", [2, 5, 16])
def test_a_star_has_n_c_over_n_minus_one(workers):
    instance = star(workers, 7.0).instance(collective="allgather", root_mode="uniform")
    assert forestcoll_bound(instance, Limits()).dual_bound == Fraction(7 * workers, workers - 1)


def test_the_time_limit_leaves_a_bound():
    instance = library_instance("mi250", collective="allgather", root_mode="uniform")
    outcome = forestcoll_bound(instance, Limits(time_s=0.0))
    assert outcome.limit_hit == "time_s"
    assert outcome.dual_bound >= RATES["mi250"].allgather


def test_free_shares_and_two_stages_are_refused():
    with pytest.raises(ModelRefused):
        forestcoll_bound(known("H2", collective="allgather"), Limits())
    with pytest.raises(ModelRefused):
        forestcoll_bound(known("H2", root_mode="uniform"), Limits())
    with pytest.raises(ModelRefused):
        min_cut(known("H2", collective="allgather", root_mode="uniform"), Limits())
