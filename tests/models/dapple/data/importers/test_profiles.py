"""Profiles become instances; options and what was merged are accounted for."""

from pathlib import Path

import numpy as np
import pytest

from gadgetopt.errors import InputError
from gadgetopt.models.dapple.baselines.parallel import data_parallel
from gadgetopt.models.dapple.data.importers.profiles import (
    dapple_profile,
    dnn_partitioning,
    pipedream,
)

RNG = np.random.default_rng(0)
DATA = Path(__file__).parents[5] / "shared" / "data"


def profile(path):
    row = "forward_compute_time=4, backward_compute_time=8, activation_size=16, parameter_size=32"
    path.write_text(f"n1 -- Input -- {row}\nn2 -- a -- {row}\nn3 -- b -- {row}\n  n2 -- n3\n")
    return path


@pytest.mark.parametrize("importer", [pipedream, dapple_profile])
def test_a_minibatch_is_split_into_microbatches(tmp_path, importer):
    outcome = importer([profile(tmp_path / "net.graph.txt")], RNG, microbatches="4")
    ((name, instance),) = outcome.instances
    assert name == "net_8_8_m4"
    assert instance.num_microbatches == 4
    assert instance.layers[0].fwd_time_s == 0.001
    assert instance.layers[0].act_bytes == 4
    assert instance.layers[0].param_bytes == 32
    assert instance.cluster.gpus_per_machine == (8, 8)
    assert outcome.report["instances"][0]["dropped_nodes"] == ["n1"]
    assert outcome.origin["options"]["microbatches"] == 4


def test_batches_may_be_given_instead(tmp_path):
    outcome = dapple_profile(
        [profile(tmp_path / "net.txt")],
        RNG,
        cluster="2x3",
        profile_batch=8,
        global_batch=9,
        microbatch=2,
    )
    ((_, instance),) = outcome.instances
    assert instance.num_microbatches == 5
    assert instance.layers[0].bwd_time_s == 0.002
    assert instance.cluster.gpus_per_machine == (3, 3)
    details = outcome.report["instances"][0]
    assert details["microbatches_rounded_up"]
    assert details["microbatch_smaller_than_gpus"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cluster": "4by4"}, "cluster: '4by4', expected '4x4' or '8,8'"),
        ({"microbatches": 0}, "microbatches: Input should be greater than or equal to 1 (0)"),
        (
            {"global_batch": 8},
            "profile_batch, global_batch, microbatch: (0, 8, 0), expected all three or none",
        ),
        (
            {"comm_model": "pair_slice"},
            "net.txt: comm_model: Input should be 'planner_code' or 'simple'",
        ),
    ],
)
def test_options_that_cannot_be_used_are_named(tmp_path, options, said):
    with pytest.raises(InputError) as error:
        pipedream([profile(tmp_path / "net.txt")], RNG, **options)
    assert str(error.value) == said


def test_no_file_is_refused():
    with pytest.raises(InputError, match="files: none given"):
        dnn_partitioning([], RNG)


def real(path):
    if not (DATA / path).exists():
        pytest.skip(f"{path} is not beside the checkout")
    return DATA / path


#: Profile, global batch, microbatch and profiled batch; speedup of data parallelism on two machines
#: of eight GPUs as the authors' public planner prints it.
@pytest.mark.parametrize(
    ("name", "total", "micro", "profiled", "speedup"),
    [
        ("vgg-19-pbs-32", 1024, 32, 32, 7.3139),
        ("bert-24-pbs-6", 128, 1, 6, 7.2094),
        ("xlnet-36-pbs-1", 128, 1, 1, 10.5237),
        ("bert-48-pbs-2", 64, 2, 2, 4.8222),
        ("gnmt-32-pbs-64-simplified", 1024, 64, 64, 4.4778),
    ],
)
def test_data_parallelism_on_real_profiles_has_the_published_speedup(
    name, total, micro, profiled, speedup
):
    path = real(f"dapple/{name}.txt")
    options = {"global_batch": total, "microbatch": micro, "profile_batch": profiled}
    ((_, instance),) = dapple_profile([path], RNG, **options).instances
    one_gpu = instance.num_microbatches * sum(x.fwd_time_s + x.bwd_time_s for x in instance.layers)
    iteration = float(data_parallel(instance).claimed_objective)
    assert one_gpu / iteration == pytest.approx(speedup, abs=1e-4)


def test_real_graphs_become_chains_of_the_known_length():
    for path, layers in (("vgg16", 36), ("gnmt", 17), ("resnet50", 158)):
        file = real(f"pipedream/{path}.graph.txt")
        ((_, instance),) = pipedream([file], RNG).instances
        assert instance.num_layers == layers
    file = real("dnn_partitioning/throughput/bert24_training.json")
    ((_, instance),) = dnn_partitioning([file], RNG, microbatches=1).instances
    assert sum(x.fwd_time_s + x.bwd_time_s for x in instance.layers) == pytest.approx(0.217813)
