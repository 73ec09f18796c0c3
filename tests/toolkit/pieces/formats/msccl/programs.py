"""Small MSCCL programs for the tests."""

from gadgetopt.pieces.formats.msccl.program import Block, Gpu, Place, Program, Step

#: The whole of a message of one chunk.
INPUT, OUTPUT, SCRATCH = Place("i", 0), Place("o", 0), Place("s", 0)


def program_of(*gpus: list[Block], collective: str = "allreduce", chunks: int = 1) -> Program:
    """Return a program of these thread blocks, one channel, in place and out of place."""
    part = chunks // len(gpus)
    inputs = part if collective == "allgather" else chunks
    outputs = part if collective == "reducescatter" else chunks
    return Program(
        "test",
        collective,
        "Simple",
        1,
        chunks,
        True,
        True,
        tuple(Gpu(inputs, outputs, 1, tuple(blocks)) for blocks in gpus),
    )


def two_gpus() -> Program:
    """GPU 1 sends its chunk to GPU 0, which adds it and sends the sum back."""
    return program_of(
        [
            Block(-1, 1, 0, (Step("rrc", INPUT, OUTPUT, 1, signals=True),)),
            Block(1, -1, 0, (Step("s", OUTPUT, OUTPUT, 1, waits_for=(0, 0)),)),
        ],
        [
            Block(0, -1, 0, (Step("s", INPUT, INPUT, 1),)),
            Block(-1, 0, 0, (Step("r", OUTPUT, OUTPUT, 1),)),
        ],
    )
