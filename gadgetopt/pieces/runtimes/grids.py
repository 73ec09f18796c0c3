"""Plans as grids of stages and replicas, and the rank file: which stage and which GPU a rank is.

What executes pipelines runs a grid: every stage has equally many ranks, and rank `stage * replicas
+ replica`, pipelines outermost, as in torchtitan, Megatron and DeepSpeed. Each replica is a
pipeline of its own on its part of every microbatch.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import pairwise

from gadgetopt.errors import InputError
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.pieces.pipeline.instance import PipelineInstance
from gadgetopt.pieces.pipeline.plan import Plan

#: How the name of a rank file ends.
RANKS = ".ranks.csv"
HEADER = ("rank", "stage", "replica", "first_layer", "end_layer", "host", "gpu")
_HOST = "host"


def replicas_of(form: str, plan: Plan) -> int:
    """Return how many GPUs every stage of a plan has.

    Raises
    ------
    InputError
        If that differs; the sentence begins with the format.
    """
    first = plan.replicas[0]
    for n, r in enumerate(plan.replicas):
        if r != first:
            raise InputError(
                f"{form}: stage {n} has {r} GPUs and stage 0 has {first}, which no public "
                "framework runs; solve the instance with options.uniform_replicas true"
            )
    return first


def note_on_replicas(form: str, replicas: int, microbatch: int) -> tuple[str, ...]:
    """Return what replicas make of the size of a microbatch, which is 0 if nobody said it.

    Raises
    ------
    InputError
        If the replicas cannot share a microbatch.
    """
    if replicas == 1:
        return ()
    if not microbatch:
        return (
            f"each of {replicas} replicas runs its part of every microbatch: the samples of one "
            f"are divided by {replicas}, and have to be a multiple",
        )
    if microbatch % replicas:
        raise InputError(
            f"{form}: {replicas} replicas cannot share microbatches of {microbatch} samples; plan "
            f"with microbatches of a multiple of {replicas}, or with one GPU a stage"
        )
    return (f"{replicas} replicas, each with microbatches of {microbatch // replicas} samples",)


def write_ranks(instance: PipelineInstance, plan: Plan) -> str:
    """Return the rank file of a plan whose stages have equally many GPUs."""
    replicas = plan.replicas[0]
    lines = [",".join(HEADER)]
    for n, ((first, end), gpus) in enumerate(
        zip(plan.stage_layers, plan.stage_devices, strict=True)
    ):
        for k, gpu in enumerate(gpus):
            machine, local = _place(instance, gpu)
            row = (n * replicas + k, n, k, first, end, f"{_HOST}{machine}", local)
            lines.append(",".join(map(str, row)))
    return "\n".join(lines) + "\n"


def read_ranks(instance: PipelineInstance, text: str) -> Plan:
    """Return the plan of a rank file.

    Raises
    ------
    InputError
        If it is no grid of stages and replicas, or names GPUs or layers that are not there.
    """
    rows = list(csv.reader(io.StringIO(text)))
    if not rows or tuple(rows[0]) != HEADER:
        raise InputError(f"ranks: expected the header {','.join(HEADER)}")
    if len(rows) == 1:
        raise InputError("ranks: has no rank, expected a row for each")
    numbers = [_numbers(rank, row) for rank, row in enumerate(rows[1:])]
    replicas = sum(stage == 0 for _, stage, *_ in numbers)
    layers: list[tuple[int, int]] = []
    devices: list[list[int]] = []
    for rank, (given, stage, replica, first, end, machine, local) in enumerate(numbers):
        if (given, stage, replica) != (rank, *divmod(rank, max(replicas, 1))):
            raise InputError(
                f"ranks: row {rank}: rank {given}, stage {stage}, replica {replica}, expected rank "
                f"{rank} as stage times {replicas} plus replica"
            )
        if replica == 0:
            layers.append((first, end))
            devices.append([])
        if layers[stage] != (first, end):
            raise InputError(f"ranks: row {rank}: layers {first} to {end}, unlike its stage's")
        devices[stage].append(_gpu(instance, rank, machine, local))
    _check(instance, layers, devices, replicas)
    return Plan(stage_layers=tuple(layers), stage_devices=tuple(map(tuple, devices)))


def _numbers(rank: int, row: Sequence[str]) -> tuple[int, ...]:
    """Return the numbers of a row; the host is that of its machine."""
    if len(row) != len(HEADER):
        raise InputError(f"ranks: row {rank}: {len(row)} cells, expected {len(HEADER)}")
    host = row[5].removeprefix(_HOST) if row[5].startswith(_HOST) else ""
    found = []
    for name, cell in zip(HEADER, (*row[:5], host, row[6]), strict=True):
        if not (cell.isascii() and cell.isdigit()) or len(cell) > 9:
            wanted = "a host such as host0" if name == "host" else "a whole number"
            raise InputError(f"ranks: row {rank}, {name}: expected {wanted}")
        found.append(int(cell))
    return tuple(found)


def _check(
    instance: PipelineInstance,
    layers: Sequence[tuple[int, int]],
    devices: Sequence[Sequence[int]],
    replicas: int,
) -> None:
    ends = [0, *(end for _, end in layers)]
    consecutive = layers == list(pairwise(ends)) and all(a < b for a, b in layers)
    if not consecutive or ends[-1] != instance.num_layers:
        raise InputError(
            f"ranks: stages of layers {', '.join(f'{a} to {b}' for a, b in layers)}, expected "
            f"consecutive ones of all {instance.num_layers}"
        )
    if any(len(gpus) != replicas for gpus in devices):
        raise InputError(f"ranks: the last stage lacks ranks, expected {replicas} for each")
    used = [gpu for gpus in devices for gpu in gpus]
    if len(set(used)) < len(used):
        raise InputError("ranks: a GPU is there twice, expected one rank a GPU")


def _place(instance: PipelineInstance, gpu: int) -> tuple[int, int]:
    """Return the machine of a GPU and its number there; a matrix of bandwidths is one machine."""
    cluster = instance.cluster
    if not isinstance(cluster, TwoLevelCluster):
        return 0, gpu
    machine = cluster.machine_of[gpu]
    return machine, gpu - cluster.machine_gpus[machine].start


def _gpu(instance: PipelineInstance, rank: int, machine: int, local: int) -> int:
    gpus = list(_machines(instance))
    if machine >= len(gpus) or local >= len(gpus[machine]):
        raise InputError(f"ranks: row {rank}: host{machine} has no GPU {local} in the instance")
    return gpus[machine][local]


def _machines(instance: PipelineInstance) -> Iterator[range]:
    cluster = instance.cluster
    if isinstance(cluster, TwoLevelCluster):
        yield from cluster.machine_gpus
    else:
        yield range(cluster.num_gpus)
