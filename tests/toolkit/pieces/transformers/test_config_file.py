"""A configuration that cannot be used is one line that names the key."""

import json

import pytest

from gadgetopt.errors import InputError
from gadgetopt.pieces.transformers.config_file import read_config

LLAMA = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 100,
}
DEEPSEEK = {
    **LLAMA,
    "model_type": "deepseek_v3",
    "q_lora_rank": None,
    "kv_lora_rank": 8,
    "qk_nope_head_dim": 4,
    "qk_rope_head_dim": 4,
    "v_head_dim": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 16,
    "first_k_dense_replace": 0,
}
VIT = {
    "model_type": "vit",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "image_size": 32,
    "patch_size": 8,
    "num_channels": 3,
}


def read(tmp_path, values):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(values))
    return read_config(path)


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({**LLAMA, "model_type": "t5"}, "model_type: 't5', expected one of llama, mistral, "),
        ({}, "model_type: is missing, expected one of llama, mistral, "),
        ({**LLAMA, "model_type": ["llama"]}, "model_type: .'llama'., expected one of"),
        ({k: v for k, v in LLAMA.items() if k != "vocab_size"}, "vocab_size: is missing"),
        ({**LLAMA, "vocab_size": None}, "vocab_size: is missing"),
        ({**LLAMA, "hidden_size": "64"}, "hidden_size: '64', expected a positive whole number"),
        ({**LLAMA, "hidden_size": 64.0}, "hidden_size: 64.0, expected a positive whole number"),
        ({**LLAMA, "num_hidden_layers": True}, "num_hidden_layers: True, expected a positive"),
        ({**LLAMA, "num_hidden_layers": 0}, "num_hidden_layers: 0, expected a positive"),
        ({**LLAMA, "num_hidden_layers": 10**7}, "num_hidden_layers: 10000000, expected"),
        ({**LLAMA, "num_attention_heads": 5}, "num_attention_heads: 5 heads do not divide"),
        ({**LLAMA, "num_key_value_heads": 3}, "num_key_value_heads: 3, expected a divisor of 4"),
        ({**LLAMA, "tie_word_embeddings": 1}, "tie_word_embeddings: 1, expected true or false"),
        ({**LLAMA, "model_type": "mixtral"}, "num_local_experts: is missing"),
        ({**DEEPSEEK, "num_experts_per_tok": 5}, "num_experts_per_tok: 5, expected at most 4"),
        ({**DEEPSEEK, "kv_lora_rank": -1}, "kv_lora_rank: -1, expected a positive"),
        ({"model_type": "gpt2", "n_embd": 8}, "n_head: is missing"),
        (VIT, "num_labels: is missing"),
        ({**VIT, "num_labels": 10, "patch_size": 7}, "image_size: 32, expected a multiple of 7"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, values, line):
    with pytest.raises(InputError, match=line) as caught:
        read(tmp_path, values)
    assert str(caught.value).startswith(f"{tmp_path / 'config.json'}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[1]", "is no JSON object"),
        ("{", "is not JSON"),
        ('{"hidden_size": NaN}', "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("\xff", "is not UTF-8"),
    ],
)
def test_what_is_no_configuration(tmp_path, text, line):
    path = tmp_path / "config.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=line):
        read_config(path)


def test_what_files_leave_out_is_as_the_families_have_it(tmp_path):
    llama = read(tmp_path, LLAMA).transformer
    assert (llama.attention.kv_heads, llama.attention.head_dim, llama.tied) == (4, 16, False)
    gpt2 = {"model_type": "gpt2", "n_embd": 8, "n_layer": 1, "n_head": 2, "n_positions": 16}
    read_gpt2 = read(tmp_path, {**gpt2, "n_inner": None, "vocab_size": 9}).transformer
    assert (read_gpt2.inner, read_gpt2.tied) == (32, True)
    # Files of vision transformers name their classes instead of counting them.
    assert read(tmp_path, {**VIT, "id2label": {"0": "cat", "1": "dog"}}).transformer.labels == 2
    assert read(tmp_path, DEEPSEEK).transformer.attention.query_rank is None


def test_what_numbers_leave_out_is_noted(tmp_path):
    assert (
        "sliding_window" in read(tmp_path, {**LLAMA, "sliding_window": 4096}).transformer.notes[0]
    )
    several = {**DEEPSEEK, "num_nextn_predict_layers": 1}
    assert "multi-token prediction" in read(tmp_path, several).transformer.notes[0]
