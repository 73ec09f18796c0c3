"""config.json of Hugging Face's transformers, read as plain JSON.

A family is known by `model_type`. Values are the file's; where the families have a usual value that
files leave out, such as `num_key_value_heads`, it is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.system.reading import read_json_object

from .architecture import Attention, Experts, Image, LatentAttention, Transformer

#: Largest number that a size may be: far beyond any real model. By definition.
MOST_SIZE = 10**9
#: Most blocks: every one becomes a layer. By definition.
MOST_BLOCKS = 10_000


@dataclass(frozen=True)
class ConfigFile:
    """A transformer read from a file, with the SHA-256 of its bytes."""

    path: Path
    sha256: str
    transformer: Transformer


def read_config(path: Path) -> ConfigFile:
    """Read a config.json.

    Raises
    ------
    InputError
        If the file is no JSON object, its `model_type` is not known, or a key is missing or wrong.
    """
    values, sha256 = read_json_object(path, "the keys of a config.json")
    keys = _Keys(path, values)
    family = values.get("model_type")
    read = _FAMILIES.get(family) if isinstance(family, str) else None
    if read is None:
        said = "is missing" if "model_type" not in values else repr(family)
        raise InputError(f"{path}: model_type: {said}, expected one of {', '.join(_FAMILIES)}")
    transformer = read(keys)
    return ConfigFile(path, sha256, transformer)


class _Keys:
    """Keys of a configuration; what is missing or wrong is an error that names it."""

    def __init__(self, path: Path, values: Mapping[str, Any]):
        self.path = path
        self.values = values

    def size(self, key: str, default: int | None = None, most: int = MOST_SIZE) -> int:
        """Return a positive whole number; null is as if it were missing."""
        value = self.values.get(key)
        if value is None:
            if default is None:
                raise self.wrong(key, "is missing, expected a positive whole number")
            return default
        if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= most:
            raise self.wrong(key, f"{value!r}, expected a positive whole number up to {most}")
        return value

    def count(self, key: str) -> int:
        """Return a whole number from 0; 0 where it is missing or null."""
        value = self.values.get(key)
        if value is None or (value == 0 and value is not False):
            return 0
        return self.size(key)

    def flag(self, key: str, default: bool) -> bool:
        """Return true or false."""
        value = self.values.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.wrong(key, f"{value!r}, expected true or false")
        return value

    def wrong(self, key: str, what: str) -> InputError:
        """Return the error that says what is wrong with a key."""
        return InputError(f"{self.path}: {key}: {what}")


def _heads(keys: _Keys, hidden: int, name: str = "num_attention_heads") -> tuple[int, int]:
    """Return the number of heads and the elements of each."""
    heads = keys.size(name)
    if keys.values.get("head_dim") is None and hidden % heads:
        raise keys.wrong(name, f"{heads} heads do not divide a width of {hidden}")
    return heads, keys.size("head_dim", hidden // heads or 1)


def _grouped_attention(keys: _Keys, hidden: int) -> Attention:
    heads, head_dim = _heads(keys, hidden)
    kv_heads = keys.size("num_key_value_heads", heads)
    if heads % kv_heads:
        raise keys.wrong("num_key_value_heads", f"{kv_heads}, expected a divisor of {heads} heads")
    bias = keys.flag("attention_bias", default=False)
    return Attention(heads, kv_heads, head_dim, bias, bias)


def _gated(keys: _Keys, **further: Any) -> Transformer:
    """Return a model of the Llama kind."""
    hidden = keys.size("hidden_size")
    notes = list(further.pop("notes", ()))
    if keys.count("sliding_window"):
        notes.append("sliding_window: attention is counted over the whole sequence")
    return Transformer(
        family=keys.values["model_type"],
        style="gated",
        hidden=hidden,
        blocks=keys.size("num_hidden_layers", most=MOST_BLOCKS),
        attention=further.pop("attention", None) or _grouped_attention(keys, hidden),
        inner=keys.size("intermediate_size"),
        vocabulary=keys.size("vocab_size"),
        tied=keys.flag("tie_word_embeddings", default=False),
        inner_bias=keys.flag("mlp_bias", default=False),
        longest=keys.count("max_position_embeddings") or None,
        notes=tuple(notes),
        **further,
    )


def _mixtral(keys: _Keys) -> Transformer:
    count = keys.size("num_local_experts")
    experts = Experts(count, _chosen(keys, count), 0, keys.size("intermediate_size"))
    return _gated(keys, experts=experts)


def _deepseek(keys: _Keys) -> Transformer:
    attention = LatentAttention(
        heads=keys.size("num_attention_heads"),
        query_rank=keys.count("q_lora_rank") or None,
        kv_rank=keys.size("kv_lora_rank"),
        nope_dim=keys.size("qk_nope_head_dim"),
        rope_dim=keys.size("qk_rope_head_dim"),
        value_dim=keys.size("v_head_dim"),
    )
    count = keys.size("n_routed_experts")
    experts = Experts(
        count,
        _chosen(keys, count),
        keys.count("n_shared_experts"),
        keys.size("moe_intermediate_size"),
        correction_bias=True,
    )
    notes = []
    if keys.count("num_nextn_predict_layers"):
        notes.append("num_nextn_predict_layers: layers of multi-token prediction are left out")
    return _gated(
        keys,
        attention=attention,
        experts=experts,
        first_moe_block=keys.count("first_k_dense_replace"),
        moe_every=keys.size("moe_layer_freq", 1),
        notes=notes,
    )


def _chosen(keys: _Keys, count: int) -> int:
    """Return the experts of a token."""
    chosen = keys.size("num_experts_per_tok")
    if chosen > count:
        raise keys.wrong("num_experts_per_tok", f"{chosen}, expected at most {count} experts")
    return chosen


def _gpt2(keys: _Keys) -> Transformer:
    hidden = keys.size("n_embd")
    heads, _ = _heads(keys, hidden, "n_head")
    positions = keys.size("n_positions")
    return Transformer(
        family="gpt2",
        style="classic",
        hidden=hidden,
        blocks=keys.size("n_layer", most=MOST_BLOCKS),
        attention=Attention(heads, heads, hidden // heads, bias=True, output_bias=True),
        inner=keys.size("n_inner", 4 * hidden),
        vocabulary=keys.size("vocab_size"),
        tied=keys.flag("tie_word_embeddings", default=True),
        learned_positions=positions,
        longest=positions,
    )


def _bert(keys: _Keys) -> Transformer:
    hidden = keys.size("hidden_size")
    heads, _ = _heads(keys, hidden)
    positions = keys.size("max_position_embeddings")
    return Transformer(
        family="bert",
        style="classic",
        hidden=hidden,
        blocks=keys.size("num_hidden_layers", most=MOST_BLOCKS),
        attention=Attention(heads, heads, hidden // heads, bias=True, output_bias=True),
        inner=keys.size("intermediate_size"),
        vocabulary=keys.size("vocab_size"),
        learned_positions=positions,
        segments=keys.size("type_vocab_size"),
        pooler=True,
        longest=positions,
        notes=("the head is the pooler; heads of tasks are left out",),
    )


def _vit(keys: _Keys) -> Transformer:
    hidden = keys.size("hidden_size")
    heads, _ = _heads(keys, hidden)
    image = Image(keys.size("image_size"), keys.size("patch_size"), keys.size("num_channels"))
    if image.size % image.patch:
        raise keys.wrong("image_size", f"{image.size}, expected a multiple of {image.patch}")
    named = keys.values.get("id2label")
    labels = keys.size("num_labels", len(named) if isinstance(named, dict) and named else None)
    tokens = image.patches + 1
    bias = keys.flag("qkv_bias", default=True)
    return Transformer(
        family="vit",
        style="classic",
        hidden=hidden,
        blocks=keys.size("num_hidden_layers", most=MOST_BLOCKS),
        attention=Attention(heads, heads, hidden // heads, bias, output_bias=True),
        inner=keys.size("intermediate_size"),
        learned_positions=tokens,
        image=image,
        labels=labels,
        longest=tokens,
    )


#: Readers by `model_type`.
_FAMILIES: dict[str, Callable[[_Keys], Transformer]] = {
    "llama": _gated,
    "mistral": _gated,
    "mixtral": _mixtral,
    "deepseek_v3": _deepseek,
    "gpt2": _gpt2,
    "bert": _bert,
    "vit": _vit,
}
