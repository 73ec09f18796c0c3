"""The cuts that runtimes make by themselves: as many layers, or parameters, for every stage.

GPUs are a grid: stage n of S has the n-th V / S of them, in their order. The first layer of a chain
is the embedding, the last one the head, where that matters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import TypeVar

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.tolerance import Number
from gadgetopt.pieces.pipeline.instance import PipelineInstance
from gadgetopt.pieces.pipeline.plan import Plan

#: Of an instance and a number of stages: the layer after the last of each.
Ends = Callable[[PipelineInstance, int], list[int]]
Outcome = TypeVar("Outcome")


def even_layers(instance: PipelineInstance, stages: int) -> list[int]:
    """Return cuts into stages of equally many layers; the first ones have one more.

    So do DeepSpeed's "uniform", and torchtitan, where embedding and head count as one layer each.
    """
    few, more = divmod(instance.num_layers, stages)
    return list(accumulate(few + (n < more) for n in range(stages)))


def even_decoder_layers(instance: PipelineInstance, stages: int) -> list[int]:
    """Return Megatron's cuts: equally many layers between embedding and head for each stage.

    Raises
    ------
    ModelRefused
        If they cannot be divided among the stages.
    """
    decoder = instance.num_layers - 2
    if decoder < stages or decoder % stages:
        raise ModelRefused(
            f"stages: {stages} for {decoder} layers between embedding and head, expected a divisor"
        )
    each = decoder // stages
    return [*(1 + each * (n + 1) for n in range(stages - 1)), instance.num_layers]


def even_parameters(instance: PipelineInstance, stages: int) -> list[int]:
    """Return DeepSpeed's cuts by "parameters": the largest stage has as few as possible.

    Of equally good cuts each stage, from the first on, has as many layers as the others leave it
    (reconstructed).
    """
    sums = instance.chain.param_sum_bytes
    layers = instance.num_layers

    def filled(most: Fraction) -> list[int] | None:
        """Return stages of at most so many bytes, each as long as can be, or None."""
        ends, first = [], 0
        for n in range(stages):
            last = layers - (stages - 1 - n)  # every later stage has a layer
            end = first + 1
            while end < last and sums[end + 1] - sums[first] <= most:
                end += 1
            if sums[end] - sums[first] > most:
                return None
            ends.append(end)
            first = end
        return ends if first == layers else None

    sizes = sorted({b - a for k, a in enumerate(sums) for b in sums[k + 1 :]})
    low, high = 0, len(sizes) - 1  # the largest of all always suffices
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if filled(sizes[middle]) else (middle + 1, high)
    found = filled(sizes[low])
    assert found is not None, "all parameters fit into one stage"
    return found


def grid_plan(instance: PipelineInstance, ends: Sequence[int]) -> Plan:
    """Return the plan of stages that end there, GPUs in their order."""
    r = instance.num_gpus // len(ends)
    return Plan(
        stage_layers=tuple(pairwise((0, *ends))),
        stage_devices=tuple(tuple(range(n * r, n * r + r)) for n in range(len(ends))),
    )


def best_grid(
    instance: PipelineInstance,
    stages: int,
    ends_of: Ends,
    outcome_of: Callable[[Plan], tuple[Number, Outcome]],
) -> Outcome:
    """Return the outcome of cuts into so many stages; for 0 the best of all numbers of them.

    `outcome_of` returns the iteration time of a plan first, or refuses it.

    Raises
    ------
    ModelRefused
        If the GPUs, or the layers, cannot be divided so.
    """
    V, most = instance.num_gpus, instance.most_stages
    if stages and (stages < 0 or stages > most or V % stages):
        raise ModelRefused(f"stages: {stages}, expected a divisor of {V} GPUs, at most {most}")
    best: tuple[Number, Outcome] | None = None
    refused = None
    for number in [stages] if stages else [S for S in range(1, most + 1) if V % S == 0]:
        try:
            found = outcome_of(grid_plan(instance, ends_of(instance, number)))
        except ModelRefused as refusal:
            refused = refusal
            continue
        if best is None or found[0] < best[0]:
            best = found
    if best is None:
        assert refused is not None, "one stage is among them"
        raise refused
    return best[1]
