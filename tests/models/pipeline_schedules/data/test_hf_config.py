"""A configuration becomes even stages on placed devices, in whole ticks and bytes."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.models.pipeline_schedules.data.importers.hf_config import even_stages, hf_config


def imported(root, name="llama-3-8b", **options):
    path = root / "docs" / "configs" / f"{name}.json"
    given = {"seq": 4096, "cluster": "dgx-h100", **options}
    return hf_config([path], np.random.default_rng(0), **given)


def instance_of(root, **options):
    return imported(root, **options).instances[0][1]


def test_stages_are_as_even_as_they_can_be():
    rng = np.random.default_rng(1)
    for _ in range(50):
        weights = [Fraction(int(w)) for w in rng.integers(1, 20, size=7)]
        for stages in (1, 2, 3, 7):
            ranges = even_stages(weights, stages)
            assert [n for r in ranges for n in r] == list(range(7))
            assert all(len(r) > 0 for r in ranges)
            best = min(
                max(sum(weights[a:b]) for a, b in zip((0, *cuts), (*cuts, 7), strict=True))
                for cuts in combinations(range(1, 7), stages - 1)
            )
            assert max(sum(weights[n] for n in r) for r in ranges) == best


def test_llama_in_eight_stages(root):
    outcome = imported(root)
    ((name, instance),) = outcome.instances
    assert name == "llama-3-8b_dgx-h100x1_s4096"
    first, last = instance.stages[0], instance.stages[-1]
    said = outcome.report["instances"][0]["layers_of_stages"]
    assert said == "0-4 5-8 9-12 13-16 17-20 21-25 26-30 31-33"
    blocks = 4
    # The embedding, and blocks of 4.169 / 4.725 / 3.613 ms.
    assert float(first.fwd_s) == pytest.approx(0.3136e-3 + blocks * 4.16903e-3, abs=1e-6)
    assert float(first.input_grad_s) == pytest.approx(0.3136e-3 + blocks * 4.7249e-3, abs=1e-6)
    assert float(first.weight_grad_s) == pytest.approx(0.3136e-3 + blocks * 3.61316e-3, abs=1e-6)
    assert first.act_bytes == 2 * 4096 * 4096 + blocks * 34 * 4096 * 4096
    assert first.weight_act_bytes == 2 * 4096 * 4096 + blocks * 32 * 4096 * 4096
    # 2 x 4096 x 4096 bytes at 450 GB/s are 74.6 us.
    assert (first.transfer_s, last.transfer_s) == (Fraction(75, 10**6), 0)
    assert all(t.denominator <= 10**6 for s in instance.stages for t in (s.fwd_s, s.transfer_s))
    state = 16 * (128256 * 4096 + blocks * 218_112_000)
    assert instance.memory_bytes[0] == 80 * 10**9 - state


def test_replicas_and_boxes(root):
    instance = instance_of(root, machines=2, data_parallel=4, tensor_parallel=2)
    assert instance.num_devices == 2
    first, second = instance.stages
    # A device of eight GPUs fills a box: its replicas meet inside, the next one over the network.
    assert first.transfer_s == Fraction(round(2 * 4096 * 4096 / 2 / 50e9 * 1e6), 10**6)
    params = 128256 * 4096 + (len_of(root, machines=2, data_parallel=4, tensor_parallel=2) - 1) * (
        218_112_000
    )
    assert float(first.allreduce_s) == pytest.approx(2 * 3 / 4 * params / 450e9, abs=1e-6)
    assert second.device == 1


def len_of(root, **options):
    """Return the number of layers in the first stage."""
    said = imported(root, **options).report["instances"][0]["layers_of_stages"]
    first = said.split()[0].split("-")
    return int(first[1]) + 1


def test_two_chunks_there_and_back(root):
    instance = instance_of(root, chunks=2, placement="v", gpus_per_machine=4)
    assert [stage.device for stage in instance.stages] == [0, 1, 2, 3, 3, 2, 1, 0]
    assert instance.stages[3].transfer_s == 0
    loop = instance_of(root, chunks=2, gpus_per_machine=4)
    assert [stage.device for stage in loop.stages] == [0, 1, 2, 3, 0, 1, 2, 3]


def test_a_step_is_planned(root):
    config = root / "docs" / "configs" / "gpt2.json"
    (document,) = gadgetopt.import_(
        "hf-config", config, "pipeline_schedules", cluster="dgx-h100", gpus_per_machine=2,
        microbatches=4, recompute="full",
    )  # fmt: skip
    result = gadgetopt.solve(document)
    assert result.status == "optimal"


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"placement": "v"}, "placement: v needs chunks=2, not 1"),
        ({"data_parallel": 3}, "data_parallel: groups of 3 do not divide 8 GPUs"),
        ({"chunks": 8}, "chunks: 64 stages, but the model has 34 layers"),
        ({"gpus_per_machine": 1}, "limit_memory: the training state of device 0 needs 128.5 GB"),
    ],
)
def test_options_that_cannot_be_used_are_named(root, options, line):
    with pytest.raises(InputError, match=line):
        imported(root, **options)
