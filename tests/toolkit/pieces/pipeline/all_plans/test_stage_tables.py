"""What completion bounds assume: no transfer or AllReduce of any device sets undercuts them."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from gadgetopt.pieces.pipeline.all_plans.stage_tables import Completions, StageTables
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.pieces.pipeline.communication import allreduce_factor, transfer_factor
from gadgetopt.pieces.pipeline.instance import Layer, PipelineInstance


@pytest.mark.parametrize("model", ["pair_slice", "min_end", "simple", "planner_code"])
@pytest.mark.parametrize("sizes", [(4, 1), (3, 3), (2, 2, 1), (5,)])
@pytest.mark.parametrize(("intra", "inter", "multi"), [(2, 1, 1), (20, 1, 3), (1, 4, 2)])
def test_no_device_sets_undercut_the_completion_bounds(model, sizes, intra, inter, multi):
    cluster = TwoLevelCluster(
        gpus_per_machine=sizes,
        intra_bytes_per_s=intra,
        inter_bytes_per_s=inter,
        multi_inter_bytes_per_s=multi,
    )
    layer = Layer(fwd_time_s=1, bwd_time_s=2, param_bytes=3, act_bytes=4)
    instance = PipelineInstance(
        layers=(layer, layer), num_microbatches=2, cluster=cluster, comm_model=model
    )
    completions = Completions(StageTables(instance, Fraction(100)))
    for owner in product((0, 1, 2), repeat=sum(sizes)):
        source, to = ([v for v, stage in enumerate(owner) if stage == n] for n in (1, 2))
        if source and to:
            least = completions.best_links[len(source)][len(to)]
            assert least <= transfer_factor(instance, source, to)
        if source:
            kind = completions.best_kinds[len(source)]
            assert kind.allreduce_factor <= allreduce_factor(instance, source)
