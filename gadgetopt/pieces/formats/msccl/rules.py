"""What the executor's parser and NCCL's connections allow, and what would wait for ever.

The limits are those of the executor's `msccl_parser.h`, `msccl_struct.h` and `device.h`.
"""

from __future__ import annotations

from collections.abc import Iterator

from gadgetopt.pieces.formats.msccl.program import (
    COLLECTIVES,
    READING,
    RECEIVING,
    SENDING,
    WRITING,
    Block,
    Gpu,
    Place,
    Program,
    Step,
)

#: Chunks of a step: they stay below MSCCL_MAX_COUNT, which is 72. By definition.
MOST_COUNT = 71
#: Steps of a thread block: MSCCL_MAX_NUM_STEPS of the usual build. By definition.
MOST_STEPS = 64
#: Channels: MAXCHANNELS. By definition.
MOST_CHANNELS = 32
#: Thread blocks of a GPU that others can wait for: the number is a signed byte. By definition.
MOST_AWAITED_BLOCKS = 128
#: Thread blocks of a GPU: MSCCL_MAX_SUBS of the parser. By definition.
MOST_BLOCKS = 1024
#: Peers of a GPU in a channel: MSCCL_MAX_NUM_THREAD_BLOCKS_PER_CHANNEL. By definition.
MOST_PEERS_OF_CHANNEL = 32
#: Elements that one rank reads of a file: MSCCL_MAX_NODES of the parser. By definition.
MOST_ELEMENTS = 4096


def faults(program: Program) -> Iterator[str]:
    """Yield a sentence for each rule that a program breaks."""
    if not program.gpus:
        yield "the program has no GPU"
        return
    if program.collective not in COLLECTIVES:
        yield f"coll {program.collective!r}, expected {', '.join(COLLECTIVES)}"
        return
    if program.collective != "allreduce" and program.num_chunks % len(program.gpus):
        yield f"{program.num_chunks} chunks do not divide into parts of {len(program.gpus)} GPUs"
    if not (program.in_place or program.out_of_place):
        yield "inplace and outofplace are 0: it may never be used"
    if not 1 <= program.num_channels <= MOST_CHANNELS:
        yield f"{program.num_channels} channels, expected 1 to {MOST_CHANNELS}"
    for rank, gpu in enumerate(program.gpus):
        yield from _gpu_faults(program, rank, gpu)


def _gpu_faults(program: Program, rank: int, gpu: Gpu) -> Iterator[str]:
    where = f"GPU {rank}"
    if len(gpu.blocks) > MOST_BLOCKS:
        yield f"{where}: {len(gpu.blocks)} thread blocks, expected at most {MOST_BLOCKS}"
    elements = 1 + len(program.gpus) + sum(1 + len(block.steps) for block in gpu.blocks)
    if elements > MOST_ELEMENTS:
        yield f"{where}: {elements} elements to read, expected at most {MOST_ELEMENTS}"
    for number, block in enumerate(gpu.blocks):
        yield from _block_faults(program, rank, gpu, number)
        for s, step in enumerate(block.steps):
            place = f"{where}, block {number}, step {s}"
            yield from (f"{place}: {fault}" for fault in _step_faults(program, gpu, block, step))
            yield from (f"{place}: {fault}" for fault in _wait_faults(gpu, block, s))
    yield from _connection_faults(rank, gpu)


def _block_faults(program: Program, rank: int, gpu: Gpu, number: int) -> Iterator[str]:
    block, where = gpu.blocks[number], f"GPU {rank}, block {number}"
    for peer, word in ((block.send, "sends to"), (block.receive, "receives from")):
        if peer == rank:
            yield f"{where}: {word} itself"
        elif peer >= len(program.gpus):
            yield f"{where}: {word} GPU {peer}, there are {len(program.gpus)}"
    if not 0 <= block.channel < program.num_channels:
        yield f"{where}: channel {block.channel}, expected one below {program.num_channels}"
    if len(block.steps) > MOST_STEPS:
        yield f"{where}: {len(block.steps)} steps, expected at most {MOST_STEPS}"


def _step_faults(program: Program, gpu: Gpu, block: Block, step: Step) -> Iterator[str]:
    if step.kind != "nop" and not 1 <= step.count <= MOST_COUNT:
        yield f"{step.count} chunks, expected 1 to {MOST_COUNT}"
    if step.kind in SENDING and block.send < 0:
        yield f"{step.kind} in a block that sends to nobody"
    if step.kind in RECEIVING and block.receive < 0:
        yield f"{step.kind} in a block that receives from nobody"
    if step.kind in READING:
        yield from _place_faults(program, gpu, step.source, step.count)
    if step.kind in WRITING:
        yield from _place_faults(program, gpu, step.target, step.count)


def _place_faults(program: Program, gpu: Gpu, place: Place, count: int) -> Iterator[str]:
    room = {
        "i": min(gpu.input_chunks, program.input_chunks),
        "o": min(gpu.output_chunks, program.output_chunks),
        "s": gpu.scratch_chunks,
    }[place.buffer]
    if place.offset < 0 or place.offset + count > room:
        last = place.offset + count - 1
        yield f"chunks {place.offset} to {last} of buffer {place.buffer}, which has {room}"


def _wait_faults(gpu: Gpu, block: Block, s: int) -> Iterator[str]:
    """Yield what is wrong with what a step waits for; nops pass on what the next one waits for."""
    step = block.steps[s]
    if step.kind == "nop":
        if step.waits_for is None or step.signals:
            yield "a nop can only wait"
        if s + 1 == len(block.steps) or block.steps[s + 1].waits_for is None:
            yield "a nop has to be followed by a step that waits, too"
    if step.waits_for is None:
        return
    other, before = step.waits_for
    if other >= min(len(gpu.blocks), MOST_AWAITED_BLOCKS):
        yield f"waits for block {other}, expected one below {MOST_AWAITED_BLOCKS} that exists"
    elif not 0 <= before < len(gpu.blocks[other].steps):
        yield f"waits for step {before} of block {other}, which does not exist"
    elif not gpu.blocks[other].steps[before].signals:
        yield f"waits for step {before} of block {other}, which has hasdep 0 and tells nobody"


def _connection_faults(rank: int, gpu: Gpu) -> Iterator[str]:
    """Yield connections that two thread blocks use, and channels with too many peers."""
    for word, ends in (
        ("send to", [(b.channel, b.send) for b in gpu.blocks if b.send >= 0]),
        ("receive from", [(b.channel, b.receive) for b in gpu.blocks if b.receive >= 0]),
    ):
        for channel, peer in sorted({end for end in ends if ends.count(end) > 1}):
            yield f"GPU {rank}: two thread blocks {word} GPU {peer} on channel {channel}"
        channels = [channel for channel, _ in ends]
        for channel in sorted(set(channels)):
            if channels.count(channel) > MOST_PEERS_OF_CHANNEL:
                yield (
                    f"GPU {rank}: {channels.count(channel)} thread blocks {word} peers on channel "
                    f"{channel}, expected at most {MOST_PEERS_OF_CHANNEL}"
                )
