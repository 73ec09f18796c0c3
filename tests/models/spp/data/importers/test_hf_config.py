"""Configurations of published models become instances whose optima are proved at once."""

import json

import numpy as np
import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.models.spp.data.importers.hf_config import hf_config


def imported(root, name, **options):
    return hf_config(
        [root / "docs" / "configs" / f"{name}.json"], np.random.default_rng(0), **options
    )


TWO_BOXES = {"machines": 2, "recompute": "full", "weights_factor": 1.0}


@pytest.mark.parametrize(
    ("name", "options", "seconds", "stages"),
    [
        ("llama-3-8b", {}, 0.918415, 2),
        ("llama-3-70b", TWO_BOXES, 5.42769, 2),
        ("mixtral-8x7b", TWO_BOXES, 1.10955, 3),
    ],
)
def test_optima_of_published_models(root, name, options, seconds, stages):
    """Sixteen microbatches of one sequence of 4096 tokens on boxes of eight H100."""
    config = root / "docs" / "configs" / f"{name}.json"
    (document,) = gadgetopt.import_(
        "hf-config", config, "spp", seq=4096, cluster="dgx-h100", **options
    )
    result = gadgetopt.solve(document)
    assert result.status == "optimal"
    assert result.bound_voucher == "verified"
    assert float(result.objective) == pytest.approx(seconds, rel=1e-5)
    assert len(result.solution.stage_layers) == stages


ON_PAIRS_OF_B200 = {"cluster": "dgx-b200", "tensor_parallel": 2, "microbatches": 4}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("llama-3.2-1b", {"seq": 4096}),
        ("gpt2", {}),
        ("bert-base", {}),
        ("vit-b-16", {"microbatches": 4}),
        ("deepseek-v3", {"seq": 4096, **TWO_BOXES, **ON_PAIRS_OF_B200, "machines": 1}),
    ],
)
def test_the_other_published_models_are_planned_and_proved(root, name, options):
    config = root / "docs" / "configs" / f"{name}.json"
    (document,) = gadgetopt.import_(
        "hf-config", config, "spp", **{"cluster": "dgx-h100", **options}
    )
    result = gadgetopt.solve(document)
    assert (result.status, result.bound_voucher) == ("optimal", "verified")


def test_times_of_a_block_of_llama(root):
    outcome = imported(root, "llama-3-8b", seq=4096, device="h100")
    ((name, instance),) = outcome.instances
    assert name == "llama-3-8b_dgx-h100x1_s4096"
    block = instance.layers[1]
    assert block.fwd_time_s == pytest.approx(4.169e-3, abs=5e-7)
    assert block.bwd_time_s == pytest.approx((4.725 + 3.613) * 1e-3, abs=1e-6)
    assert block.param_bytes == 2 * 218_112_000
    assert block.act_bytes == 2 * 4096 * 4096
    assert block.stash_bytes == 34 * 4096 * 4096
    assert instance.options.weights_factor == 8.0
    assert instance.options.memory_bytes == 80e9
    assert instance.cluster.intra_bytes_per_s == 450e9
    assert instance.cluster.inter_bytes_per_s == 50e9
    said = outcome.report["instances"][0]["ms_of_last_block_forward_input_weights"]
    assert said == "4.169 / 4.725 / 3.613"


def test_what_is_a_guess_and_where_numbers_are_from_is_in_the_origin(root):
    outcome = imported(root, "llama-3.2-1b", seq=4096, cluster="dgx-a100", machines=2)
    origin = outcome.origin_of["llama-3.2-1b_dgx-a100x2_s4096"]
    assert origin["guesses"] == {"mfu": "0.5 of the peak, not measured"}
    assert origin["params"] == 1_235_814_400
    assert "NVLinks" in origin["device"]["source"]
    shared, replicas = origin["warnings"]
    assert shared.startswith("embedding and head share 262668288 parameters")
    assert replicas.startswith("microbatch: 1 sequence cannot be divided over the replicas")
    two = imported(root, "llama-3-8b", seq=4096, cluster="dgx-a100", microbatch=2)
    assert "warnings" not in two.report["instances"][0]
    longer = imported(root, "llama-3-8b", seq=16384, cluster="dgx-a100", microbatch=2)
    assert longer.report["instances"][0]["warnings"] == [
        "seq: 16384, longer than the 8192 of the configuration"
    ]


def test_a_model_that_fits_nowhere_is_said_so(root):
    outcome = imported(root, "deepseek-v3", seq=4096, cluster="dgx-h100", machines=2, microbatch=8)
    assert outcome.report["instances"][0]["warnings"] == [
        "num_nextn_predict_layers: layers of multi-token prediction are left out",
        "memory: the training state needs 1.074e+04 of 1280 GB in all, so no plan exists",
    ]


def test_groups_of_tensor_parallel_gpus_are_devices(root):
    alone = imported(root, "llama-3-8b", seq=4096, cluster="dgx-h100").instances[0][1]
    pairs = imported(root, "llama-3-8b", seq=4096, cluster="dgx-h100", tensor_parallel=2)
    instance = pairs.instances[0][1]
    assert instance.cluster.gpus_per_machine == (4,)
    first, second = alone.layers[1], instance.layers[1]
    assert second.param_bytes == first.param_bytes / 2
    assert second.stash_bytes == first.stash_bytes / 2
    assert second.fwd_time_s == pytest.approx(first.fwd_time_s / 2 + 4 * 4096 * 4096 / 450e9)


def test_devices_of_ones_own(root, tmp_path):
    own = tmp_path / "ours.toml"
    own.write_text(
        "[devices.card]\nbf16_tflop_per_s = 100\nmemory_tbyte_per_s = 1\nmemory_gbyte = 24\n"
        'link_gbyte_per_s = 16\n[boxes.tower]\ndevice = "card"\ngpus = 2\nnic_gbyte_per_s = 1\n'
    )
    outcome = imported(root, "gpt2", devices=str(own), device="card", machines=3)
    ((name, instance),) = outcome.instances
    assert name == "gpt2_towerx3_s1024"
    assert instance.cluster.gpus_per_machine == (2, 2, 2)
    assert instance.options.memory_bytes == 24e9


@pytest.mark.parametrize(
    ("name", "options", "line"),
    [
        ("llama-3-8b", {"cluster": "dgx-h100"}, "seq: is missing, expected the tokens"),
        ("llama-3-8b", {"seq": 4096}, "cluster: is missing, expected one of dgx-a100, "),
        ("llama-3-8b", {"seq": 4096, "device": "h200"}, "cluster: is missing, and no box .* h200"),
        ("llama-3-8b", {"seq": 4096, "device": "tpu"}, "device: 'tpu', expected one of a100"),
        ("gpt2", {"seq": 2048, "cluster": "dgx-h100"}, "seq: 2048, but gpt2 has 1024 positions"),
        ("vit-b-16", {"seq": 196, "cluster": "dgx-h100"}, "seq: 196, but an image has 197 tok"),
        ("gpt2", {"cluster": "dgx-h100", "mfu": 0.0}, "mfu: Input should be greater than 0"),
        ("gpt2", {"cluster": "dgx-h100", "tensor_parallel": 3}, "tensor_parallel: 3 does not div"),
        ("gpt2", {"cluster": "dgx-h100", "tensor_parallel": 8}, "8 does not divide 12 heads"),
        ("gpt2", {"cluster": "dgx-h100", "expert_parallel": 2}, "expert_parallel: 2 does not d"),
        (
            "gpt2",
            {"cluster": "dgx-h100", "activation_model": "itemised", "recompute": "none"},
            "activation_model: itemised keeps no scores",
        ),
        ("gpt2", {"cluster": "dgx-h100", "recompute": "some"}, "recompute: Input should be"),
        ("gpt2", {"cluster": "dgx-h100", "gradient_bytes": 3}, "gradient_bytes: Input should be"),
    ],
)
def test_options_that_cannot_be_used_are_named(root, name, options, line):
    with pytest.raises(InputError, match=line):
        imported(root, name, **options)


def test_a_configuration_that_cannot_be_used_is_one_line(cli, root, tmp_path):
    path = tmp_path / "config.json"
    values = json.loads((root / "docs" / "configs" / "llama-3-8b.json").read_text())
    for changed, line in (
        ({"model_type": "t5"}, "model_type: 't5', expected one of llama, mistral, mixtral, "),
        ({"vocab_size": None}, "vocab_size: is missing, expected a positive whole number"),
    ):
        path.write_text(json.dumps({**values, **changed}))
        arguments = ("import", "hf-config", path, "--system", "spp", "--seq", "4096")
        code, out, err = cli(*arguments, "--device", "h100", "--out", tmp_path / "out")
        assert (code, out) == (2, "")
        assert err.startswith(f"gadgetopt: {path}: {line}")
        assert err.count("\n") == 1
    assert not (tmp_path / "out").exists()
