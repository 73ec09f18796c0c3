"""Operations of the formula are those that torch counts, forward and for either gradient."""

import json

import pytest

from gadgetopt.pieces.transformers.config_file import read_config
from gadgetopt.pieces.transformers.layers import layers_of

torch = pytest.importorskip("torch")

SEQUENCE, BATCH = 32, 3


def weight(*shape):
    return torch.empty(*shape, device="meta", requires_grad=True)


def layer_of(tmp_path, number, **values):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(values))
    return layers_of(read_config(path).transformer)[number]


def counted(forward, x, weights):
    """Return the operations of the forward, of the input's gradient, and of the weights'."""
    from torch.utils.flop_counter import FlopCounterMode

    def count(function):
        with FlopCounterMode(display=False) as counter:
            result = function()
        return counter.get_total_flops(), result

    fwd, y = count(lambda: forward(x))
    loss = y.sum()
    one, _ = count(lambda: torch.autograd.grad(loss, [x], retain_graph=True))
    both, _ = count(lambda: torch.autograd.grad(loss, [x, *weights]))
    return fwd, one, both - one


def attended(q, k, v):
    """Return attention of heads on as many of keys and values, each (b, a, s, d)."""
    return (q @ k.transpose(-1, -2)).softmax(-1) @ v


def split(x, heads):
    return x.view(BATCH, SEQUENCE, heads, -1).transpose(1, 2)


def joined(x):
    return x.transpose(1, 2).reshape(BATCH, SEQUENCE, -1)


def check(layer, forward, width, weights):
    x = torch.empty(BATCH, SEQUENCE, width, device="meta", requires_grad=True)
    fwd, input_grad, weight_grad = counted(forward, x, weights)
    linear, core = BATCH * layer.linear_flops(SEQUENCE), BATCH * layer.attention_flops(SEQUENCE)
    assert (fwd, input_grad, weight_grad) == (linear + core, linear + 2 * core, linear)


def test_a_llama_block(tmp_path):
    h, a, k, inner = 64, 8, 2, 160
    d = h // a
    wq, wk, wv, wo = weight(h, h), weight(h, k * d), weight(h, k * d), weight(h, h)
    gate, up, down = weight(h, inner), weight(h, inner), weight(inner, h)

    def forward(x):
        q, key, value = split(x @ wq, a), split(x @ wk, k), split(x @ wv, k)
        key, value = (t.repeat_interleave(a // k, 1) for t in (key, value))
        x = x + joined(attended(q, key, value)) @ wo
        return x + (torch.nn.functional.silu(x @ gate) * (x @ up)) @ down

    layer = layer_of(
        tmp_path,
        1,
        model_type="llama",
        hidden_size=h,
        num_hidden_layers=1,
        num_attention_heads=a,
        num_key_value_heads=k,
        intermediate_size=inner,
        vocab_size=100,
    )
    check(layer, forward, h, [wq, wk, wv, wo, gate, up, down])


def test_a_block_of_latent_attention_and_experts_for_all(tmp_path):
    # Each token goes to all experts, so that dense products are what is counted.
    h, a, rq, rk, nope, rope, vd, inner, experts = 64, 4, 24, 16, 8, 4, 6, 20, 3
    down_q, up_q = weight(h, rq), weight(rq, a * (nope + rope))
    down_kv, up_kv = weight(h, rk + rope), weight(rk, a * (nope + vd))
    out, router = weight(a * vd, h), weight(h, experts)
    stacks = [[weight(h, inner), weight(h, inner), weight(inner, h)] for _ in range(experts + 1)]

    def forward(x):
        q = split(x @ down_q @ up_q, a)
        latent, position = (x @ down_kv).split([rk, rope], -1)
        key, value = split(latent @ up_kv, a).split([nope, vd], -1)
        shared = position.unsqueeze(1).expand(-1, a, -1, -1)
        x = x + joined(attended(q, torch.cat([key, shared], -1), value)) @ out
        chosen = (x @ router).sigmoid().unsqueeze(-2)
        y = x
        for n, (gate, up, down) in enumerate(stacks):
            expert = (torch.nn.functional.silu(x @ gate) * (x @ up)) @ down
            y = y + (expert if n == experts else expert * chosen[..., n])
        return y

    layer = layer_of(
        tmp_path,
        1,
        model_type="deepseek_v3",
        hidden_size=h,
        num_hidden_layers=1,
        num_attention_heads=a,
        q_lora_rank=rq,
        kv_lora_rank=rk,
        qk_nope_head_dim=nope,
        qk_rope_head_dim=rope,
        v_head_dim=vd,
        n_routed_experts=experts,
        n_shared_experts=1,
        num_experts_per_tok=experts,
        moe_intermediate_size=inner,
        first_k_dense_replace=0,
        intermediate_size=80,
        vocab_size=100,
    )
    weights = [down_q, up_q, down_kv, up_kv, out, router, *(w for stack in stacks for w in stack)]
    check(layer, forward, h, weights)


def test_a_block_and_the_head_of_gpt2(tmp_path):
    h, a, inner, v = 64, 4, 256, 100
    qkv, out, up, down, words = (
        weight(*shape) for shape in ((h, 3 * h), (h, h), (h, inner), (inner, h), (h, v))
    )

    def block(x):
        q, key, value = (split(t, a) for t in (x @ qkv).chunk(3, -1))
        x = x + joined(attended(q, key, value)) @ out
        return x + torch.nn.functional.gelu(x @ up) @ down

    sizes = {"n_embd": h, "n_layer": 1, "n_head": a, "n_positions": SEQUENCE, "vocab_size": v}
    check(layer_of(tmp_path, 1, model_type="gpt2", **sizes), block, h, [qkv, out, up, down])
    head = layer_of(tmp_path, 2, model_type="gpt2", **sizes)
    check(head, lambda x: x @ words, h, [words])
