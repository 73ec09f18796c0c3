"""Times are the longer of computing and moving; memory is that of the published formulas."""

import json
from fractions import Fraction

import pytest

from gadgetopt.pieces.transformers.accelerators import Device
from gadgetopt.pieces.transformers.activations import training_bytes
from gadgetopt.pieces.transformers.config_file import read_config
from gadgetopt.pieces.transformers.times import Execution, layer_costs

# 1 operation a picosecond, 1 byte a picosecond, links of 0.1 byte a picosecond.
DEVICE = Device(
    bf16_tflop_per_s=1.0, memory_tbyte_per_s=1.0, memory_gbyte=80.0, link_gbyte_per_s=100.0
)
PICO = Fraction(1, 10**12)
# h = 8, 2 heads of 4 elements, I = 32, 4 tokens: 2 x 768 weights, 64 s operations of attention.
GPT2 = {
    "model_type": "gpt2",
    "n_embd": 8,
    "n_layer": 1,
    "n_head": 2,
    "n_positions": 4,
    "vocab_size": 10,
}
LINEAR, CORE = 2 * 768 * 4, 4 * 8 * 16


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(GPT2))
    return read_config(path).transformer


def costs(model, **how):
    return layer_costs(model, Execution(DEVICE, 4, how.pop("microbatch", 3), Fraction(1, 2), **how))


def test_a_pass_computes_at_a_share_of_the_peak(model):
    block = costs(model)[1]
    per_flop = 3 * 2 * PICO  # of three sequences, at half the peak
    assert block.fwd_s == (LINEAR + CORE) * per_flop
    assert block.input_grad_s == (LINEAR + 2 * CORE) * per_flop
    assert block.weight_grad_s == LINEAR * per_flop
    assert block.bwd_s == 2 * block.fwd_s


def test_a_lookup_takes_what_its_table_takes_to_be_read(model):
    embedding = costs(model)[0]
    table = 2 * (10 + 4) * 8
    assert embedding.fwd_s == embedding.input_grad_s == embedding.weight_grad_s == table * PICO
    counted = costs(model, count_activations=True)[0]
    assert counted.fwd_s == (table + 2 * 2 * 3 * 4 * 8) * PICO


def test_causal_attention_and_scores_that_are_computed_again(model):
    per_flop = 3 * 2 * PICO
    causal = costs(model, causal=True)[1]
    assert causal.fwd_s == (LINEAR + CORE // 2) * per_flop
    assert causal.input_grad_s == (LINEAR + CORE) * per_flop
    flash = costs(model, flash_attention=True)[1]
    assert flash.input_grad_s == (LINEAR + 2 * CORE + CORE // 2) * per_flop
    full = costs(model, recompute="full")[1]
    assert full.input_grad_s == costs(model)[1].input_grad_s + costs(model)[1].fwd_s


@pytest.mark.parametrize("t", [1, 2])
def test_memory_of_a_block_is_that_of_the_formula(model, t):
    s, b, h, a = 4, 3, 8, 2
    how = {"tensor_parallel": t}
    none = costs(model, recompute="none", **how)[1]
    assert none.stash_bytes == s * b * h * (Fraction(34, t) + Fraction(5 * a * s, h * t))
    assert none.weight_stash_bytes == Fraction(32 * s * b * h, t)
    assert costs(model, **how)[1].stash_bytes == Fraction(34 * s * b * h, t)
    assert costs(model, recompute="full", **how)[1].stash_bytes == 2 * s * b * h
    alone = costs(model, recompute="none", sequence_parallel=False, **how)[1]
    scores = Fraction(5 * a * s, h * t)
    assert alone.stash_bytes == s * b * h * (10 + Fraction(24, t) + scores)


def test_the_items_of_a_gpt_block_are_the_formula_and_the_log_sum_exps(model):
    items = costs(model, activation_model="itemised")[1]
    assert items.stash_bytes == 3 * 4 * (34 * 8 + 4 * 2)


def test_what_a_group_of_devices_exchanges(model):
    alone = costs(model, tensor_bytes_per_s=DEVICE.link_bytes_per_s)[1]
    pair = costs(model, tensor_parallel=2, tensor_bytes_per_s=DEVICE.link_bytes_per_s)[1]
    moved = 8 * 4 * 3 * 8 * Fraction(1, 2) * 10 * PICO
    assert pair.fwd_s == alone.fwd_s / 2 + moved
    assert pair.input_grad_s == alone.input_grad_s / 2 + moved
    assert pair.weight_grad_s == alone.weight_grad_s / 2
    assert (pair.param_bytes, pair.boundary_bytes) == (
        alone.param_bytes / 2,
        alone.boundary_bytes / 2,
    )


def test_tokens_go_to_their_experts_and_back(tmp_path):
    path = tmp_path / "config.json"
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "intermediate_size": 16, "vocab_size": 10}
    experts = {"num_attention_heads": 2, "num_local_experts": 4, "num_experts_per_tok": 2}
    path.write_text(json.dumps({"model_type": "mixtral", **sizes, **experts}))
    model = read_config(path).transformer
    alone = costs(model)[1]
    spread = costs(model, expert_parallel=4, expert_bytes_per_s=Fraction(10**11))[1]
    one_way = 2 * 4 * 3 * 2 * 8 * Fraction(3, 4) * 10 * PICO
    assert spread.fwd_s == alone.fwd_s + 2 * one_way
    assert spread.input_grad_s == alone.input_grad_s + 2 * one_way
    assert spread.weight_grad_s == alone.weight_grad_s
    expert = 3 * 8 * 16
    assert alone.param_bytes - spread.param_bytes == 2 * 3 * expert


def test_bytes_of_a_parameter_in_training():
    assert training_bytes() == 16
    assert training_bytes(gradient_bytes=4) == 18
    assert training_bytes(shards=8) == 4 + Fraction(12, 8)
