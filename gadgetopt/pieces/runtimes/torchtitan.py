"""Lines of torchtitan's configuration that run a plan with a schedule of PyTorch.

With a CSV torchtitan runs the schedule in it, whatever `pipeline_parallel_schedule` says; that only
says where stages are: "1F1B" is one on each rank. Layer 0 of the plan is the embedding, the last
one norm and head.
"""

from __future__ import annotations

import json
import tomllib
from itertools import pairwise
from typing import Any

from gadgetopt.errors import InputError
from gadgetopt.pieces.pipeline.plan import Plan

_EMBEDDING, _NORM, _HEAD = "tok_embeddings", "norm", "output"


def modules_of(layer: int, num_layers: int) -> list[str]:
    """Return the names of the modules that a layer of the plan is."""
    if layer == 0:
        return [_EMBEDDING]
    return [_NORM, _HEAD] if layer == num_layers - 1 else [f"layers.{layer - 1}"]


def write_lines(plan: Plan, num_layers: int, num_microbatches: int, schedule: str) -> str:
    """Return the section of a plan, with the name of its schedule's file.

    Raises
    ------
    InputError
        If there are no blocks between embedding and head.
    """
    if num_layers < 3:
        raise InputError(
            f"torchtitan: {num_layers} layers, but its first is the embedding and its last the "
            "head; plan a chain with blocks between, as import hf-config makes it"
        )
    parts = [
        [name for layer in range(first, end) for name in modules_of(layer, num_layers)]
        for first, end in plan.stage_layers
    ]
    return "\n".join(
        [
            "[parallelism]",
            f"data_parallel_replicate_degree = {plan.replicas[0]}",
            f"pipeline_parallel_degree = {plan.num_stages}",
            'pipeline_parallel_schedule = "1F1B"',
            f"pipeline_parallel_schedule_csv = {json.dumps(schedule)}",
            f"num_pp_microbatches = {num_microbatches}",
            f"module_fqns_per_model_part = {json.dumps(parts)}",
            "",
        ]
    )


def read_lines(text: str, num_layers: int, num_microbatches: int) -> tuple[tuple[int, int], ...]:
    """Return the layers of each stage that a section says.

    Raises
    ------
    InputError
        If it says another pipeline, or modules that are no consecutive layers.
    """
    try:
        section: Any = tomllib.loads(text).get("parallelism")
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"torchtitan: not TOML: {error}") from None
    if not isinstance(section, dict):
        raise InputError("torchtitan: expected the section [parallelism]")
    parts = section.get("module_fqns_per_model_part")
    if not isinstance(parts, list) or not all(isinstance(part, list) for part in parts):
        raise InputError("torchtitan: module_fqns_per_model_part: expected lists of modules")
    for name, wanted in (
        ("pipeline_parallel_degree", len(parts)),
        ("pipeline_parallel_schedule", "1F1B"),
        ("num_pp_microbatches", num_microbatches),
    ):
        if section.get(name) != wanted:
            raise InputError(f"torchtitan: {name}: {section.get(name)!r}, expected {wanted!r}")
    names = [modules_of(layer, num_layers) for layer in range(num_layers)]
    ends = [0]
    for part in parts:
        end = ends[-1]
        left = list(part)
        while left and end < num_layers and left[: len(names[end])] == names[end]:
            left = left[len(names[end]) :]
            end += 1
        if left or end == ends[-1]:
            raise InputError(
                "torchtitan: module_fqns_per_model_part: expected tok_embeddings, layers.0, ..., "
                "norm and output in their order, each once"
            )
        ends.append(end)
    if ends[-1] != num_layers:
        raise InputError(
            f"torchtitan: module_fqns_per_model_part: {ends[-1]} layers, expected {num_layers}"
        )
    return tuple(pairwise(ends))
