r"""Chains of layers of exported PyTorch programs, for planners of pipelines (SPP, DAPPLE).

Layers are the numbered parts of a module, `layers.0`, `layers.1`, ...; what runs before the first
is a layer of its own, and so is what runs after the last. Anything between two of them belongs to
the former.

The operations of the forward are those of its products. The gradient of a product by an operand is
a product of the same size: by a parameter it is a gradient of weights, by anything else that
depends on parameters one of inputs. A pass takes the longer of its operations, at the share `mfu`
of the device's peak, and of moving the layer's weights once through its memory.

A boundary carries what a layer at or before it computes and one after it reads, each tensor once. A
layer keeps for its backward what its operators compute, but for other views of the same numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from pydantic import Field

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.file_imports import errors_of
from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.pieces.pipeline.instance import (
    CommModel,
    Duplex,
    Layer,
    PipelineInstance,
    PipelineOptions,
)
from gadgetopt.system.data import Instance

from .exported_operators import VIEWS, flops_of, products_of
from .exported_program import Call, ExportedProgram, read_exported_program
from .importing import MACHINE_HELP
from .options import MachineOptions, Target

FORMAT = "torch-export"

HELP = {
    **MACHINE_HELP,
    "layers": "module whose numbered parts are the layers; else the one of most parts",
    "microbatches": "of an iteration; the program's example inputs are one of them",
    "limit_memory": "false: memory limits nothing",
}


class ExportOptions(MachineOptions):
    """Options of importers of exported programs.

    Attributes
    ----------
    layers : str
        Module whose numbered parts are the layers, such as "model.layers"; "": the one of most.
    microbatches : int
        M; the example inputs of the program are one microbatch.
    comm_model, duplex, uniform_replicas
        Those of the instance.
    limit_memory : bool
        False: the devices' memory limits nothing.
    """

    layers: str = ""
    microbatches: int = Field(default=16, ge=1)
    comm_model: CommModel = "pair_slice"
    duplex: Duplex = "full"
    uniform_replicas: bool = False
    limit_memory: bool = True


@dataclass
class ExportedLayer:
    """What was found of a layer: operations, and bytes."""

    name: str
    fwd_flops: int = 0
    input_grad_flops: int = 0
    weight_grad_flops: int = 0
    param_bytes: int = 0
    stash_bytes: int = 0
    boundary_bytes: int = 0


def import_programs(
    files: Sequence[Path], kind: type[PipelineInstance], options: ExportOptions
) -> ImportOutcome:
    """Make one instance of each program.

    Raises
    ------
    InputError
        If there is no file, or one or an option cannot be used.
    """
    if not files:
        raise InputError("files: none given, expected at least one of torch.export.save")
    target = options.target()
    instances: list[tuple[str, Instance]] = []
    details, sources, origin_of = [], [], {}
    for path in map(Path, files):
        program = read_exported_program(path)
        with errors_of(path):
            layers, warnings = layers_of_program(program, options.layers)
            instance = _instance(kind, layers, options, target)
        name = f"{path.stem}_{target.box_name}x{target.machines}_m{options.microbatches}"
        instances.append((name, instance))
        sources.append({"name": path.name, "sha256_of_graph": program.sha256})
        said = {"name": name, "layers": [layer.name for layer in layers]}
        details.append({**said, "warnings": warnings} if warnings else said)
        origin_of[name] = {
            "guesses": {
                "mfu": f"{options.mfu:g} of the peak, not measured",
                "stash_bytes": "results of all operators, as if none were computed again",
            },
            **target.origin(),
            **({"warnings": warnings} if warnings else {}),
        }
    origin = {"format": FORMAT, "files": sources, "options": options.model_dump(mode="json")}
    return ImportOutcome(instances, {"instances": details}, origin, origin_of)


def _instance(
    kind: type[PipelineInstance],
    layers: Sequence[ExportedLayer],
    options: ExportOptions,
    target: Target,
) -> PipelineInstance:
    memory = float(target.device.memory_bytes) if options.limit_memory else None
    return kind(
        layers=tuple(_layer(layer, options, target) for layer in layers),
        num_microbatches=options.microbatches,
        cluster=TwoLevelCluster(
            gpus_per_machine=(target.gpus,) * target.machines,
            intra_bytes_per_s=float(target.device.link_bytes_per_s),
            inter_bytes_per_s=float(target.box.nic_bytes_per_s),
        ),
        comm_model=options.comm_model,
        duplex=options.duplex,
        options=PipelineOptions(
            memory_bytes=memory,
            weights_factor=options.state_factor,
            uniform_replicas=options.uniform_replicas,
        ),
    )


def _layer(layer: ExportedLayer, options: ExportOptions, target: Target) -> Layer:
    rate = target.device.flop_per_s * decimal_rational(options.mfu)
    moving = layer.param_bytes / target.device.memory_bytes_per_s

    def seconds(flops: int) -> Fraction:
        return max(flops / rate, moving)

    return Layer(
        fwd_time_s=float(seconds(layer.fwd_flops)),
        bwd_time_s=float(seconds(layer.input_grad_flops) + seconds(layer.weight_grad_flops)),
        param_bytes=float(layer.param_bytes),
        act_bytes=float(layer.boundary_bytes),
        stash_bytes=float(layer.stash_bytes),
    )


def layers_of_program(
    program: ExportedProgram, prefix: str = ""
) -> tuple[list[ExportedLayer], list[str]]:
    """Return the layers of a program, and warnings.

    Raises
    ------
    InputError
        If no module has numbered parts, or a part runs again after a later one.
    """
    calls = [c for c in program.calls if program.varying.intersection(c.outputs)]
    prefix = prefix or _largest(calls)
    named = _named(calls, prefix)
    layers = {name: ExportedLayer(name) for name in named}
    weights, trained = _weights(program, calls), program.trained()
    counted: set[str] = set()
    for call, name in zip(calls, named, strict=True):
        _add(layers[name], call, program, weights, trained)
        new = set(call.tensors) & program.parameters.keys() - counted
        layers[name].param_bytes += sum(program.tensors[tensor].bytes for tensor in new)
        counted |= new
    found, place = _merged(layers)
    warnings = _add_boundaries(program, calls, [place[name] for name in named], found)
    return found, warnings


def _largest(calls: Sequence[Call]) -> str:
    """Return the module of most numbered parts; of several the one of the shortest name."""
    parts: dict[str, set[str]] = defaultdict(set)
    for module in {call.module for call in calls}:
        names = module.split(".")
        for depth, name in enumerate(names):
            if name.isdigit():
                parts[".".join(names[:depth])].add(name)
    if not parts:
        raise InputError("layers: no module of the program has numbered parts, layers.0, layers.1")
    return min(parts, key=lambda name: (-len(parts[name]), len(name), name))


def _named(calls: Sequence[Call], prefix: str) -> list[str]:
    """Return the name of the layer of every call."""
    head = f"{prefix}." if prefix else ""
    numbers = []
    for call in calls:
        part = call.module.removeprefix(head).split(".")[0]
        inside = call.module.startswith(head) and part.isascii() and part.isdigit()
        numbers.append(int(part) if inside else None)
    known = [number for number in numbers if number is not None]
    if not known:
        raise InputError(f"layers: {prefix!r} is no module with numbered parts that run")
    end = len(numbers) - numbers[::-1].index(known[-1])
    named, current = [], -1
    for position, number in enumerate(numbers):
        if number is not None and number < current:
            raise InputError(f"layers: {head}{number} runs again after {head}{current}")
        current = current if number is None else number
        name = f"{head}{current}" if current >= 0 else "before"
        named.append("after" if position >= end else name)
    return named


def _weights(program: ExportedProgram, calls: Sequence[Call]) -> set[str]:
    """Return the parameters and their views."""
    found = set(program.parameters)
    for call in calls:
        if call.operator in VIEWS and call.tensors[0] in found:
            found.update(call.outputs)
    return found


def _add(
    layer: ExportedLayer,
    call: Call,
    program: ExportedProgram,
    weights: Container[str],
    trained: Container[str],
) -> None:
    """Add the operations of a call and its gradients, and what it keeps."""
    flops = flops_of(call, program.tensors)
    layer.fwd_flops += flops
    if call.operator not in VIEWS:
        layer.stash_bytes += sum(program.tensors[name].bytes for name in call.outputs)
    operands = products_of(call) if flops else ()
    if call.operator == "scaled_dot_product_attention":
        # Two products of two operands each; the softmax between them belongs to both.
        layer.input_grad_flops += 2 * flops if any(o in trained for o in operands) else 0
        return
    for operand in operands:
        if operand in weights:
            layer.weight_grad_flops += flops
        elif operand in trained:
            layer.input_grad_flops += flops


def _merged(
    layers: Mapping[str, ExportedLayer],
) -> tuple[list[ExportedLayer], dict[str, int]]:
    """Return the layers that compute or hold anything, others joined to the one before them."""
    found: list[ExportedLayer] = []
    place = {}
    for name, layer in layers.items():
        if found and not (layer.fwd_flops or layer.param_bytes):
            found[-1].stash_bytes += layer.stash_bytes
        elif found and not (found[0].fwd_flops or found[0].param_bytes):
            layer.stash_bytes += found[0].stash_bytes
            found[0] = layer
        else:
            found.append(layer)
        place[name] = len(found) - 1
    return found, place


def _add_boundaries(
    program: ExportedProgram,
    calls: Sequence[Call],
    places: Sequence[int],
    layers: Sequence[ExportedLayer],
) -> list[str]:
    """Add what crosses each boundary; return warnings of what crosses several or is shared."""
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for call, place in zip(calls, places, strict=True):
        # The classes of a loss go to the last stage alone.
        read = call.tensors[:1] if call.operator.endswith("_loss") else call.tensors
        for name in read:
            first.setdefault(name, place)
            last[name] = place
    warnings = []
    for call, place in zip(calls, places, strict=True):
        for name in call.outputs:
            end = last.get(name, place)
            for boundary in range(place, end):
                layers[boundary].boundary_bytes += program.tensors[name].bytes
            if end > place + 1:
                warnings.append(
                    f"{name} of {layers[place].name} is read by {layers[end].name}: PyTorch "
                    "refuses stages between the two, as it sends to the next stage only"
                )
    for name, end in last.items():
        if name in program.parameters and end > first[name]:
            warnings.append(
                f"{program.parameters[name]} is read by {layers[first[name]].name} and "
                f"{layers[end].name}, and counted in the first: if a cut separates the two, both "
                "stages hold and AllReduce it, which the instance leaves out"
            )
        elif name in program.inputs and end > 0:
            warnings.append(
                f"input {name} is read by {layers[end].name}: PyTorch gives inputs to the first "
                "stage only"
            )
    return warnings
