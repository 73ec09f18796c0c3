"""An MSCCL program on integers: one queue of one place for each connection, blocks in any order."""

from __future__ import annotations

import random
from collections.abc import Sequence

from gadgetopt.pieces.formats.msccl.happens_before import memory
from gadgetopt.pieces.formats.msccl.program import (
    ADDING,
    READING,
    RECEIVING,
    SENDING,
    WRITING,
    Place,
    Program,
)

#: Bits of the integers, so that a wrong sum is never the right one by chance. By definition.
DATA_BITS = 62

#: What nothing has written yet.
UNKNOWN = None

Chunks = list[int | None]


def wanted(program: Program, inputs: Sequence[Sequence[int]], rank: int) -> list[int]:
    """Return what the output of a GPU has to be."""
    if program.collective == "allgather":
        return [chunk for each in inputs for chunk in each]
    total = [sum(chunks) for chunks in zip(*inputs, strict=True)]
    if program.collective == "allreduce":
        return total
    return total[rank * program.part : (rank + 1) * program.part]


def execute(program: Program, in_place: bool, seed: int = 0) -> str | None:
    """Run a program that keeps the rules; return what goes wrong, None if nothing does.

    Every GPU's input is random. Thread blocks are asked in a random order again and again, and do
    their next step if what it waits for is done, what it receives is there, and what it sends has
    room.
    """
    draw = random.Random(seed)
    run = _Run(program, in_place, draw)
    blocks = [(r, b) for r, gpu in enumerate(program.gpus) for b in range(len(gpu.blocks))]
    draw.shuffle(blocks)
    moved = True
    while moved:
        moved = False
        for rank, b in blocks:
            while run.step(rank, b):
                moved = True
                if run.fault:
                    return run.fault
    for rank, b in blocks:
        done, block = run.done[rank, b], program.gpus[rank].blocks[b]
        if done < len(block.steps):
            return f"GPU {rank}, block {b} waits for ever before step {done}"
    if any(queue is not None for queue in run.queues.values()):
        return "something is sent that nobody receives"
    return run.wrong_output()


class _Run:
    """The state of an execution.

    Attributes
    ----------
    done : dict
        Steps that each (GPU, thread block) has done.
    queues : dict
        What is under way on each (sender, receiver, channel); None if nothing is.
    """

    def __init__(self, program: Program, in_place: bool, draw: random.Random):
        self.program, self.in_place = program, in_place
        self.inputs: list[list[int]] = []
        self.buffers: list[dict[str, Chunks]] = []
        self.done = {
            (rank, b): 0 for rank, gpu in enumerate(program.gpus) for b in range(len(gpu.blocks))
        }
        self.queues: dict[tuple[int, int, int], Chunks | None] = {}
        self.fault: str | None = None
        for rank, gpu in enumerate(program.gpus):
            own = [draw.getrandbits(DATA_BITS) for _ in range(program.input_chunks)]
            sizes = {
                "i": program.input_chunks,
                "o": program.output_chunks,
                "s": gpu.scratch_chunks,
                "data": program.num_chunks,
            }
            self.inputs.append(own)
            self.buffers.append({name: [UNKNOWN] * size for name, size in sizes.items()})
            self._write(rank, Place("i", 0), list(own))

    def _slice(self, rank: int, place: Place, count: int) -> tuple[Chunks, int, int]:
        buffer, first = memory(self.program, rank, place, self.in_place)
        return self.buffers[rank][buffer], first, first + count

    def _read(self, rank: int, place: Place, count: int) -> Chunks:
        chunks, first, end = self._slice(rank, place, count)
        return chunks[first:end]

    def _write(self, rank: int, place: Place, values: Chunks) -> None:
        chunks, first, end = self._slice(rank, place, len(values))
        chunks[first:end] = values

    def step(self, rank: int, b: int) -> bool:
        """Do the next step of a thread block, if it can be done now."""
        block = self.program.gpus[rank].blocks[b]
        k = self.done[rank, b]
        if k == len(block.steps):
            return False
        step = block.steps[k]
        arriving = (block.receive, rank, block.channel)
        leaving = (rank, block.send, block.channel)
        if step.waits_for is not None and self.done[rank, step.waits_for[0]] <= step.waits_for[1]:
            return False
        if step.kind in RECEIVING and self.queues.get(arriving) is None:
            return False
        if step.kind in SENDING and self.queues.get(leaving) is not None:
            return False
        value: Chunks = []
        if step.kind in READING:
            value = self._read(rank, step.source, step.count)
        if step.kind in RECEIVING:
            received = self.queues[arriving] or []
            self.queues[arriving] = None
            value = _sum(received, value) if step.kind in ADDING else received
        if step.kind == "re":
            value = _sum(self._read(rank, step.target, step.count), value)
        if UNKNOWN in value:
            self.fault = f"GPU {rank}, block {b}, step {k} uses a chunk that nothing has written"
        if step.kind in WRITING:
            self._write(rank, step.target, value)
        if step.kind in SENDING:
            self.queues[leaving] = value
        self.done[rank, b] = k + 1
        return True

    def wrong_output(self) -> str | None:
        """Return which chunk of an output is wrong, if one is."""
        for rank in range(len(self.program.gpus)):
            found = self._read(rank, Place("o", 0), self.program.output_chunks)
            right = wanted(self.program, self.inputs, rank)
            for chunk, (value, good) in enumerate(zip(found, right, strict=True)):
                if value != good:
                    return f"GPU {rank}: chunk {chunk} of the output is wrong in the end"
        return None


def _sum(first: Chunks, second: Chunks) -> Chunks:
    """Add chunk by chunk; what is unknown stays so."""
    return [None if a is None or b is None else a + b for a, b in zip(first, second, strict=True)]
