"""Instances from PyTorch programs: the graph that `torch.export.save` wrote, in training.

Parameters become variables, inputs and buffers sources. The graph of the training is derived: the
gradient of the cross entropy of the first output, of its logits if the program computes the loss
itself, the gradients of all operators, and an update for every parameter. PyTorch is not needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gadgetopt.errors import InputError
from gadgetopt.pieces.file_imports import errors_of
from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.pieces.transformers.exported_program import (
    Call,
    ExportedProgram,
    read_exported_program,
)
from gadgetopt.system.declaring import importer

from ..generate.presets import costs_of, hierarchy_of, instance_of
from ..generate.training import Graph, NoGradient
from .torch_operators import Conversion, NotSupported

#: At the end of a program these change no class; the loss is computed from their input.
_LAST = ("softmax", "_softmax", "log_softmax", "_log_softmax", "cross_entropy_loss")


@importer(
    name="torch-export",
    help={
        "devices": "8, or 2x4 for two groups of four devices",
        "training": "false for the program alone, without gradients and updates",
    },
)
def read_torch_export(
    files: Sequence[Path],
    rng: np.random.Generator,
    *,
    devices: int | str = "8",
    training: bool = True,
    unit: str = "oneflow",
    compute_ratio: float = 0.05,
    memory_limit_gb: float = 0.0,
) -> ImportOutcome:
    """PyTorch programs of torch.export.save; the training graph is derived.

    Parameters
    ----------
    files : sequence of Path
    rng : numpy.random.Generator
        Not used: nothing is drawn.
    devices : int or str
        "8", or "2x4" for two groups of four.
    training : bool
        True for the training graph, False for the program alone.
    unit, compute_ratio, memory_limit_gb
        Costs and memory limit, as of the presets.

    Raises
    ------
    InputError
        If a file is no such program, or operators are not supported, in one line.
    """
    if not files:
        raise InputError("files: none given, expected at least one of torch.export.save")
    costs, hierarchy = costs_of(unit, compute_ratio), hierarchy_of(devices)
    instances, details, sources, origin_of = [], [], [], {}
    for path in map(Path, files):
        program = read_exported_program(path)
        conversion, logits, classes = _converted(path, program, hierarchy)
        graph = conversion.graph
        forward = len(graph.operators)
        with errors_of(path):
            if training:
                _train(graph, logits, classes)
            instance = instance_of(graph, [devices], costs, memory_limit_gb)
        name = f"{path.stem}_{str(devices).replace('x', 'by')}"
        instances.append((name, instance))
        sources.append({"name": path.name, "sha256_of_graph": program.sha256})
        warnings = [
            f"{kind} ({times} times): assumed to treat samples one by one"
            for kind, times in conversion.guessed.most_common()
        ]
        said = {
            "name": name,
            "calls_read": len(program.calls),
            "parameters": len(program.parameters),
            "operators_of_the_program": forward,
            "operators": len(instance.operators),
        }
        details.append({**said, "warnings": warnings} if warnings else said)
        origin_of[name] = {"warnings": warnings} if warnings else {}
    options = {
        "devices": devices,
        "training": training,
        "unit": unit,
        "compute_ratio": compute_ratio,
        "memory_limit_gb": memory_limit_gb,
    }
    origin = {"format": "torch-export", "files": sources, "options": options}
    return ImportOutcome(list(instances), {"instances": details}, origin, origin_of)


def _converted(
    path: Path, program: ExportedProgram, hierarchy: tuple[int, ...]
) -> tuple[Conversion, str, str | None]:
    """Return the graph of a program, and the operators of its logits and of the classes if any."""
    conversion = Conversion(program, hierarchy)
    last = next(call for call in program.calls[::-1] if program.output in call.outputs)
    ends = last.operator in _LAST and len(last.tensors) > 0
    problems: Counter[str] = Counter()
    for number, call in enumerate(program.calls):
        if ends and call is last:
            continue
        try:
            conversion.convert(number, call)
        except NotSupported as error:
            problems[str(error)] += 1
            conversion.give_up(call)
        except (ValueError, IndexError, TypeError) as error:
            raise InputError(f"{path}: nodes[{number}] ({call.operator}): {error}") from None
    if problems:
        listed = "; ".join(f"{what} ({times} times)" for what, times in problems.most_common())
        raise InputError(f"{path}: not supported: {listed}")
    if not ends:
        return conversion, conversion.tensor(program.output), None
    return conversion, conversion.tensor(last.tensors[0]), _classes(conversion, last)


def _classes(conversion: Conversion, last: Call) -> str | None:
    """Return the classes of a loss that the program computes itself."""
    if last.operator != "cross_entropy_loss" or len(last.tensors) < 2:
        return None
    return conversion.tensor(last.tensors[1])


def _train(graph: Graph, logits: str, classes: str | None) -> None:
    """Add the training of the program's output against classes along its last axis."""
    shape = graph.shape(logits)
    if len(shape) < 2:
        raise NoGradient(f"output of {len(shape)} axes, expected samples and classes")
    graph.train(logits, classes or graph.source("classes", *shape[:-1]))
