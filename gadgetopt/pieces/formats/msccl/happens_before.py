"""The order of a program's steps, and accesses to a chunk that no order separates.

A step comes after the one before it in its thread block, after the one that it waits for, and the
k-th receive of a connection comes after its k-th send. Two accesses to a chunk, one of them
writing, need an order: without it the result depends on which thread block is faster.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations

from gadgetopt.pieces.formats.msccl.program import (
    READING,
    RECEIVING,
    SENDING,
    WRITING,
    Place,
    Program,
)

#: A GPU, a thread block and a step.
Node = tuple[int, int, int]
#: A sender, a receiver and a channel.
Connection = tuple[int, int, int]


def nodes(program: Program) -> Iterator[Node]:
    """Yield every step."""
    for rank, gpu in enumerate(program.gpus):
        for b, block in enumerate(gpu.blocks):
            for s in range(len(block.steps)):
                yield rank, b, s


def transfers(program: Program) -> dict[Connection, tuple[list[Node], list[Node]]]:
    """Return the sends and the receives of each connection, in order."""
    found: defaultdict[Connection, tuple[list[Node], list[Node]]] = defaultdict(lambda: ([], []))
    for node in nodes(program):
        rank, b, s = node
        block = program.gpus[rank].blocks[b]
        if block.steps[s].kind in SENDING:
            found[rank, block.send, block.channel][0].append(node)
        if block.steps[s].kind in RECEIVING:
            found[block.receive, rank, block.channel][1].append(node)
    return dict(found)


def unmatched(program: Program) -> Iterator[str]:
    """Yield a sentence for each connection whose sends and receives do not fit."""
    for (sender, receiver, channel), (sends, receives) in transfers(program).items():
        where = f"GPU {sender} to GPU {receiver}, channel {channel}"
        if len(sends) != len(receives):
            yield f"{where}: {len(sends)} sends, {len(receives)} receives"
            continue
        for a, b in zip(sends, receives, strict=True):
            sent, taken = (program.gpus[r].blocks[t].steps[s].count for r, t, s in (a, b))
            if sent != taken:
                yield f"{where}: {sent} chunks are sent where {taken} are received"


def following(program: Program) -> dict[Node, list[Node]]:
    """Return the steps that come directly after each step; sends and receives have to fit."""
    after: dict[Node, list[Node]] = {node: [] for node in nodes(program)}
    for rank, b, s in after:
        if s:
            after[rank, b, s - 1].append((rank, b, s))
        awaited = program.gpus[rank].blocks[b].steps[s].waits_for
        if awaited is not None:
            after[rank, awaited[0], awaited[1]].append((rank, b, s))
    for sends, receives in transfers(program).values():
        for a, c in zip(sends, receives, strict=True):
            after[a].append(c)
    return after


def in_order(after: dict[Node, list[Node]]) -> list[Node]:
    """Return the steps in an order in which they can be done; fewer if some wait in a circle."""
    waits = dict.fromkeys(after, 0)
    for successors in after.values():
        for node in successors:
            waits[node] += 1
    ready = [node for node, number in waits.items() if not number]
    done = []
    while ready:
        node = ready.pop()
        done.append(node)
        for successor in after[node]:
            waits[successor] -= 1
            if not waits[successor]:
                ready.append(successor)
    return done


def memory(program: Program, rank: int, place: Place, in_place: bool) -> tuple[str, int]:
    """Return the buffer and the chunk behind a place: in place, input and output are one.

    The input of an allgather and the output of a reduce-scatter are then the GPU's part of it.
    """
    if not in_place or place.buffer == "s":
        return place.buffer, place.offset
    small = {"allgather": "i", "reducescatter": "o"}.get(program.collective)
    return "data", place.offset + (rank * program.part if place.buffer == small else 0)


def races(program: Program, in_place: bool) -> Iterator[str]:
    """Yield a sentence for each two accesses to a chunk that no order separates.

    The steps have to be free of circles.
    """
    after = following(program)
    order = in_order(after)
    number = {node: k for k, node in enumerate(order)}
    later: dict[Node, int] = {}  # as bits: which steps come after
    for node in reversed(order):
        bits = 1 << number[node]
        for successor in after[node]:
            bits |= later[successor]
        later[node] = bits
    for (rank, buffer, chunk), touched in _accesses(program, in_place).items():
        for (a, a_writes), (b, b_writes) in combinations(touched, 2):
            if a == b or not (a_writes or b_writes):
                continue
            if not (later[a] >> number[b] & 1 or later[b] >> number[a] & 1):
                yield (
                    f"GPU {rank}: step {a[2]} of block {a[1]} and step {b[2]} of block {b[1]} have "
                    f"no order, and both use chunk {chunk} of {_name(buffer)}"
                )


def _accesses(
    program: Program, in_place: bool
) -> dict[tuple[int, str, int], list[tuple[Node, bool]]]:
    """Return the steps that use each chunk of each buffer, and whether they write it."""
    found: defaultdict[tuple[int, str, int], list[tuple[Node, bool]]] = defaultdict(list)
    for node in nodes(program):
        rank, b, s = node
        step = program.gpus[rank].blocks[b].steps[s]
        for place, uses, writes in (
            (step.source, step.kind in READING, False),
            (step.target, step.kind in WRITING, True),
        ):
            if uses:
                buffer, first = memory(program, rank, place, in_place)
                for chunk in range(first, first + step.count):
                    found[rank, buffer, chunk].append((node, writes))
    return found


def _name(buffer: str) -> str:
    return "the data" if buffer == "data" else f"buffer {buffer}"
