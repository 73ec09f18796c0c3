"""Instances and plans: what is allowed, in sentences."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gadgetopt.pieces.pipeline.cluster import MatrixCluster, TwoLevelCluster
from gadgetopt.pieces.pipeline.instance import PipelineInstance
from gadgetopt.pieces.pipeline.plan import plan_violations

from .examples import e1, plan


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (((0.0, 1.0), (2.0, 0.0)), "bandwidth_bytes_per_s[1][0]: 2.0 differs from 1.0"),
        (((0.0, 0.0), (0.0, 0.0)), "bandwidth_bytes_per_s[1][0]: 0 between different GPUs"),
        (((1.0,),), "bandwidth_bytes_per_s[0][0]: 1.0 is not 0"),
        (((0.0, 1.0),), "bandwidth_bytes_per_s[0]: 2 entries for 1 GPUs"),
    ],
)
def test_matrices_are_square_symmetric_and_positive(rows, words):
    with pytest.raises(ValidationError, match="bandwidth") as error:
        MatrixCluster(bandwidth_bytes_per_s=rows)
    assert words in str(error.value)


def test_speeds_are_one_for_each_machine():
    with pytest.raises(ValidationError, match="speeds: 1 entries for 2 machines"):
        TwoLevelCluster(
            gpus_per_machine=(2, 2), intra_bytes_per_s=2.0, inter_bytes_per_s=1.0, speeds=(1.0,)
        )


def test_models_of_machines_need_machines():
    with pytest.raises(ValidationError, match="comm_model: 'simple' needs a cluster of two levels"):
        e1().model_copy(update={"comm_model": "simple"})


def test_instances_survive_a_file():
    instance = e1()
    assert PipelineInstance.model_validate_json(instance.model_dump_json()) == instance


@pytest.mark.parametrize(
    ("stages", "words"),
    [
        ([((0, 2), (0,)), ((2, 3), (0,))], "GPUs belong to one stage at GPU 0: by 1"),
        ([((0, 2), (0,)), ((2, 3), ())], "stages have a GPU at stage 1: by 1"),
        ([((0, 2), (0,)), ((1, 3), (1,))], "stages are consecutive at stage 1: by 1"),
        ([((0, 2), (0,)), ((2, 2), (1,))], "stages hold a layer at stage 1: by 1"),
        ([((0, 2), (0, 1))], "stages hold all layers at stage 0: by 1"),
        ([((0, 3), (0, 7))], "GPUs exist at stage 0, GPU 7: by 6"),
        ([((0, 3), (0,))], "all GPUs are used at stage_devices: by 1"),
    ],
)
def test_violations_of_plans_name_the_stage(stages, words):
    assert words in [str(v) for v in plan_violations(e1(), plan(*stages))]


def test_limits_of_options_are_violations():
    limited = e1().model_copy(
        update={"options": e1().options.model_copy(update={"max_stages": 1, "memory_bytes": 100.0})}
    )
    two = plan(((0, 2), (0,)), ((2, 3), (1,)))
    words = [str(v) for v in plan_violations(limited, two)]
    # 3 * 120 bytes of parameters, gradients and optimiser state
    assert words == [
        "number of stages at stage_layers: by 1",
        "one microbatch fits in memory at stage 1: by 260",
    ]
