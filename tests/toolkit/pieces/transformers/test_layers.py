"""Parameters are the published ones to the last; operations are those of formula and definition."""

import json

import pytest

from gadgetopt.pieces.transformers.config_file import read_config
from gadgetopt.pieces.transformers.layers import layers_of, num_params, tied_params

from .published import PARAMETERS


def model_of(tmp_path, **values):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(values))
    return read_config(path).transformer


def published(root, name):
    return read_config(root / "docs" / "configs" / f"{name}.json").transformer


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_are_the_published_ones(root, name):
    assert num_params(published(root, name)) == PARAMETERS[name]


def test_a_llama_block_by_hand(tmp_path):
    # h = 8, 4 heads and 2 of keys and values of 2 elements, I = 12.
    sizes = {"hidden_size": 8, "num_hidden_layers": 2, "intermediate_size": 12, "vocab_size": 10}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2}
    model = model_of(tmp_path, model_type="llama", **sizes, **heads)
    embedding, block, _, head = layers_of(model)
    # q and o: 8 x 8 each; k and v: 8 x 4 each; three matrices 8 x 12; two norms of 8.
    weights = 2 * 64 + 2 * 32 + 3 * 96
    assert (embedding.params, block.params, head.params) == (80, weights + 16, 8 + 80)
    assert block.linear_flops(5) == 2 * 5 * weights
    # Scores and weighted values: two products of 4 heads x 2 elements for each of 25 pairs.
    assert block.attention_flops(5) == 2 * 2 * 8 * 25
    assert head.linear_flops(5) == 2 * 5 * 80
    # Norms 8 h; q and output 4 a d; k and v 4 k d; log-sum-exps 4 a; feed-forward 6 I.
    assert block.kept_bytes == 64 + 32 + 16 + 16 + 72


def test_biases_that_a_llama_configuration_asks_for(tmp_path):
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "intermediate_size": 12, "vocab_size": 10}
    plain = {"model_type": "llama", "num_attention_heads": 4, "num_key_value_heads": 2, **sizes}
    without = num_params(model_of(tmp_path, **plain))
    biased = num_params(model_of(tmp_path, **plain, attention_bias=True, mlp_bias=True))
    assert biased - without == (8 + 4 + 4 + 8) + (12 + 12 + 8)


def test_what_experts_compute_is_those_of_a_token(tmp_path):
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "intermediate_size": 12, "vocab_size": 10}
    model = model_of(
        tmp_path,
        model_type="mixtral",
        num_attention_heads=2,
        num_local_experts=6,
        num_experts_per_tok=2,
        **sizes,
    )
    block = layers_of(model)[1]
    attention, expert, router = 4 * 64, 3 * 8 * 12, 8 * 6
    assert block.params == attention + 6 * expert + router + 16
    assert block.expert_params == 6 * expert
    assert block.linear_flops(1) == 2 * (attention + 2 * expert + router)
    assert block.routed == 2 * 8


def test_the_first_blocks_of_deepseek_are_dense(root):
    model = published(root, "deepseek-v3")
    blocks = layers_of(model)[1:-1]
    assert [block.expert_params > 0 for block in blocks] == [False] * 3 + [True] * 58
    # Of a token: 8 chosen experts and a shared one, a router of 256, and the attention.
    attention = 7168 * 1536 + 1536 * 128 * 192 + 7168 * 576 + 512 * 128 * 256 + 128 * 128 * 7168
    assert blocks[3].token_weights == attention + 9 * 3 * 7168 * 2048 + 7168 * 256
    assert blocks[3].score_flops == 2 * 128 * (192 + 128)


def test_what_is_tied_is_counted_once(root):
    tied = published(root, "llama-3.2-1b")
    assert tied_params(tied) == 128256 * 2048
    assert tied_params(published(root, "llama-3-8b")) == 0
    head = layers_of(tied)[-1]
    assert head.params == 2048  # the norm alone
    assert head.linear_flops(1) == 2 * 128256 * 2048


def test_products_that_are_made_once_a_sequence(root):
    embedding, *_, head = layers_of(published(root, "vit-b-16"))
    assert embedding.linear_flops(197) == 2 * 196 * (3 * 16 * 16) * 768
    assert head.linear_flops(197) == 2 * 768 * 1000
    pooler = layers_of(published(root, "bert-base"))[-1]
    assert pooler.linear_flops(512) == 2 * 768 * 768
