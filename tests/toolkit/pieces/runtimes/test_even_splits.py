"""Even splits: equally many layers, decoder layers or parameters, on a grid of GPUs."""

import itertools
import random

import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.pieces.pipeline.instance import Layer, PipelineInstance
from gadgetopt.pieces.runtimes.even_splits import (
    best_grid,
    even_decoder_layers,
    even_layers,
    even_parameters,
    grid_plan,
)


def chain(params, gpus=8, **options):
    layers = tuple(Layer(fwd_time_s=1.0, bwd_time_s=2.0, param_bytes=float(p)) for p in params)
    cluster = TwoLevelCluster(
        gpus_per_machine=(gpus,), intra_bytes_per_s=1.0, inter_bytes_per_s=1.0
    )
    return PipelineInstance(layers=layers, num_microbatches=2, cluster=cluster, **options)


def test_the_first_stages_have_a_layer_more():
    assert even_layers(chain([1] * 34), 4) == [9, 18, 26, 34]
    assert even_layers(chain([1] * 8), 4) == [2, 4, 6, 8]


def test_embedding_and_head_are_beside_the_decoder_layers():
    assert even_decoder_layers(chain([1] * 34), 4) == [9, 17, 25, 34]
    assert even_decoder_layers(chain([1] * 34), 1) == [34]
    with pytest.raises(ModelRefused, match="stages: 3 for 32 layers between embedding and head"):
        even_decoder_layers(chain([1] * 34), 3)
    with pytest.raises(ModelRefused, match="stages: 1 for 0 layers"):
        even_decoder_layers(chain([1, 1]), 1)


def test_the_largest_stage_has_the_fewest_parameters_possible():
    draw = random.Random(5)
    for _ in range(100):
        L = draw.randint(1, 8)
        params = [draw.choice([0, 1, 2, 5, 20]) for _ in range(L)]
        stages = draw.randint(1, L)
        ends = even_parameters(chain(params), stages)
        assert len(ends) == stages
        assert ends[-1] == L
        assert all(a < b for a, b in itertools.pairwise([0, *ends]))

        def largest(cuts, of=tuple(params)):
            return max(sum(of[a:b]) for a, b in itertools.pairwise((0, *cuts)))

        every = itertools.combinations(range(1, L), stages - 1)
        assert largest(ends) == min(largest((*cuts, L)) for cuts in every)


def test_stages_have_their_gpus_in_order():
    plan = grid_plan(chain([1] * 4), [2, 4])
    assert plan.stage_devices == ((0, 1, 2, 3), (4, 5, 6, 7))
    assert plan.stage_layers == ((0, 2), (2, 4))


def test_the_best_number_of_stages_is_taken_or_the_one_asked_for():
    tried = []

    def outcome_of(plan):
        tried.append(plan.num_stages)
        if plan.num_stages == 4:
            raise ModelRefused("not this one")
        return abs(plan.num_stages - 3), plan.num_stages

    instance = chain([1] * 9)
    assert best_grid(instance, 0, even_layers, outcome_of) == 2
    assert tried == [1, 2, 4, 8]
    assert best_grid(instance, 8, even_layers, outcome_of) == 8
    with pytest.raises(ModelRefused, match="not this one"):
        best_grid(instance, 4, even_layers, outcome_of)
    for wrong in (3, 16, -1):
        with pytest.raises(ModelRefused, match=f"stages: {wrong}, expected a divisor of 8 GPUs"):
            best_grid(instance, wrong, even_layers, outcome_of)
