"""Graphs of configurations have the models' parameters and operations; their plans are proved."""

import json

import numpy as np
import pytest

import gadgetopt
from gadgetopt.errors import InputError
from gadgetopt.models.oneflow_sbp.data.importers.hf_config import hf_config
from gadgetopt.models.oneflow_sbp.operators import flops
from gadgetopt.pieces.transformers.config_file import read_config
from gadgetopt.pieces.transformers.layers import layers_of, num_params

NAMES = (
    "llama-3-8b",
    "llama-3-70b",
    "llama-3.2-1b",
    "mixtral-8x7b",
    "deepseek-v3",
    "gpt2",
    "bert-base",
    "vit-b-16",
)


def imported(path, **options):
    given = {"cluster": "dgx-h100", "limit_memory": False, **options}
    return hf_config([path], np.random.default_rng(0), **given)


def config(root, name):
    return root / "docs" / "configs" / f"{name}.json"


def sequence(name):
    return 0 if name in ("gpt2", "bert-base", "vit-b-16") else 512


@pytest.mark.parametrize("name", NAMES)
def test_variables_are_the_model_s_parameters(root, name):
    """Of two blocks of each kind; the others are alike."""
    model = read_config(config(root, name)).transformer
    blocks = 2 + model.first_moe_block
    instance = imported(config(root, name), blocks=blocks, seq=sequence(name)).instances[0][1]
    found = sum(o.elements for o in instance.operators if o.kind == "variable")
    left_out = sum(layer.params for layer in layers_of(model)[1 + blocks : -1])
    assert found == num_params(model) - left_out


@pytest.mark.parametrize("name", ["llama-3-8b", "gpt2", "bert-base", "vit-b-16"])
def test_products_are_the_model_s_operations(root, name):
    """Those of the network itself, which are listed before the gradients."""
    model = read_config(config(root, name)).transformer
    instance = imported(config(root, name), blocks=1, batch=3, seq=sequence(name)).instances[0][1]
    shapes = {o.name: o.shape for o in instance.operators}
    forward = []
    for operator in instance.operators:
        if operator.kind == "cross_entropy_grad":
            break
        forward.append(operator)
    counted = sum(
        flops(o.kind, o.attributes, [shapes[t] for t in o.inputs]) or 0
        for o in forward
        if o.kind in ("matmul", "einsum")
    )
    s = sequence(name) or model.fixed_sequence or model.learned_positions
    layers = layers_of(model)
    used = (layers[0], layers[1], layers[-1])
    assert counted == 3 * sum(x.linear_flops(s) + x.attention_flops(s) for x in used)


def test_experts_take_their_share_of_the_tokens(root):
    path = config(root, "mixtral-8x7b")
    instance = imported(path, blocks=1, seq=500, batch=4).instances[0][1]
    (gate,) = (o for o in instance.operators if o.kind == "moe_gate")
    assert gate.shape == (4, 500, 8, 125)  # 500 tokens x 2 experts over 8


def test_costs_and_memory_are_those_of_the_machines(root):
    outcome = imported(
        config(root, "gpt2"), blocks=1, machines=2, limit_memory=True, optimizer_shards=16
    )
    instance = outcome.instances[0][1]
    assert instance.placements[0].hierarchy == (2, 8)
    assert instance.costs.flops_per_s == 989 * 10**12 / 2
    assert instance.costs.link_bytes_per_s == 50 * 10**9  # the network, not the box
    assert instance.memory_limit_bytes == 80 * 10**9
    assert instance.variable_memory_factor == 3  # (4 + 12/16) / 2, rounded up
    assert {o.dtype_bytes for o in instance.operators} == {2}
    assert instance.operators[1].shape[0] == 16  # a sequence for every GPU
    warnings = outcome.report["instances"][0]["warnings"]
    assert any(w.startswith("blocks: 1 of 12") for w in warnings)
    assert any(w.startswith("links: all levels are as fast") for w in warnings)
    assert any(w.startswith("weights_factor: 2.375, rounded up") for w in warnings)


def test_the_plan_of_a_small_model_is_proved(tmp_path):
    sizes = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    path = tmp_path / "config.json"
    path.write_text(
        json.dumps(
            {
                "model_type": "llama",
                "num_key_value_heads": 2,
                "intermediate_size": 96,
                "vocab_size": 256,
                **sizes,
            }
        )
    )
    outcome = gadgetopt.import_(
        "hf-config", path, "oneflow_sbp", seq=32, cluster="dgx-h100", gpus_per_machine=2
    )
    result = gadgetopt.solve(outcome[0])
    assert (result.status, result.bound_voucher) == ("optimal", "verified")


@pytest.mark.slow
@pytest.mark.parametrize("boxes", [1, 2])
@pytest.mark.parametrize("name", ["bert-base", "gpt2", "llama-3.2-1b", "vit-b-16"])
def test_the_plan_of_a_whole_model_is_proved(root, name, boxes):
    """Of the smaller four; `benchmarks/configured_models.py` goes through all eight."""
    given = {"cluster": "dgx-h100", "machines": boxes, "limit_memory": False}
    if name == "llama-3.2-1b":
        given["seq"] = 4096
    (document,) = gadgetopt.import_("hf-config", config(root, name), "oneflow_sbp", **given)
    result = gadgetopt.solve(document)
    assert (result.status, result.bound_voucher) == ("optimal", "verified")


def test_options_that_cannot_be_used_are_named(root):
    with pytest.raises(InputError, match="blocks: 13, but the model has 12"):
        imported(config(root, "gpt2"), blocks=13)
    with pytest.raises(InputError, match="seq: is missing"):
        imported(config(root, "llama-3-8b"))
