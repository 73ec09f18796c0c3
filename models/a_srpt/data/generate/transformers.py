r"""Transformers in blocks of GPUs: what tensor parallelism sends, and job types of published sizes.

A layer of hidden size H with sequences of q tokens, micro-batches of b sequences and w bytes a
number is computed by t GPUs that add up bqHw bytes four times, twice forward and twice backward. A
ring of t GPUs sends :math:`2 (t - 1) / t` of that, so a GPU of a stage of :math:`\ell` layers sends

.. math:: V = 8\, \ell\, b q H w\, \frac{t - 1}{t}

bytes for a micro-batch (D. Narayanan et al., "Efficient large-scale language model training on GPU
clusters using Megatron-LM", SC 2021).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ...instance import JobType

#: Layers and hidden size of published models: BERT-large, GPT-2 XL, GPT-3 2.7B. By
#: definition.
_MODELS = {"bert_large": (24, 1024), "gpt2_xl": (48, 1600), "gpt3_2.7b": (32, 2560)}
#: Sequences of a micro-batch, tokens of a sequence, bytes of a number, micro-batches of an
#: iteration (reconstructed).
_MICRO_BATCH, _TOKENS, _BYTES, _MICROBATCHES = 4, 512, 2, 4
#: Floating-point operations that a GPU does in a second, half of an A100's peak (reconstructed).
_FLOPS = 156 * 10**12


def tp_gbytes(
    *, layers: int, micro_batch: int, sequence: int, hidden: int, bytes_each: int, block: int
) -> Fraction:
    """Return V: gigabytes that a GPU of a block sends for a micro-batch, forward and backward."""
    volume = 8 * layers * micro_batch * sequence * hidden * bytes_each
    return Fraction(volume * (block - 1), block * 10**9)


def transformer(
    rng: np.random.Generator, most_gpus: int, most_block: int, *, mixed: bool = False
) -> JobType:
    """Draw a transformer with data, pipeline and tensor parallelism.

    If `mixed`, every stage draws the size of its blocks; else all have the same.
    Layers have 12 H^2 parameters, and 72 H^2 operations a token, forward and backward; gradients
    and activations have as many bytes as the numbers sent between the GPUs of a block.
    """
    name = str(rng.choice(sorted(_MODELS)))
    layers, hidden = _MODELS[name]
    sizes = [t for t in (1, 2, 4) if t <= most_block]
    while True:
        block = int(rng.choice(sizes))
        stages, replicas = int(rng.choice((1, 2, 4))), int(rng.choice((1, 2, 4)))
        drawn = rng.choice(sizes, stages).tolist() if mixed else [block] * stages
        if replicas * sum(drawn) <= most_gpus:
            break
    own, tokens = layers // stages, _MICRO_BATCH * _TOKENS
    boundary = Fraction(_MICROBATCHES * tokens * hidden * _BYTES * replicas, 10**9)
    sent = [
        tp_gbytes(
            layers=own,
            micro_batch=_MICRO_BATCH,
            sequence=_TOKENS,
            hidden=hidden,
            bytes_each=_BYTES,
            block=t,
        )
        for t in drawn
    ]
    operations = 72 * own * hidden**2 * tokens * _MICROBATCHES
    several = len(set(drawn)) > 1
    return JobType(
        replicas=(replicas,) * stages,
        stage_time_s=tuple(Fraction(operations, t * _FLOPS) for t in drawn),
        activation_gbytes=(boundary,) * (stages - 1),
        gradient_gbytes=(Fraction(12 * own * hidden**2 * _BYTES, 10**9),) * stages,
        pipeline_factor=Fraction(_MICROBATCHES + stages - 1, _MICROBATCHES),
        tp_block=1 if several else drawn[0],
        tp_blocks=tuple(drawn) if several else (),
        tp_gbytes=tuple(_MICROBATCHES * v for v in sent) if max(drawn) > 1 else (),
        name=name,
    )
