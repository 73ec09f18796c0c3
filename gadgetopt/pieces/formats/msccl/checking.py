"""Whether an MSCCL program does what its collective says: rules, order, execution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from gadgetopt.pieces.formats.msccl.execution import execute
from gadgetopt.pieces.formats.msccl.happens_before import following, in_order, races, unmatched
from gadgetopt.pieces.formats.msccl.program import Program
from gadgetopt.pieces.formats.msccl.rules import faults

#: Faults that are listed at most. By definition.
MOST_FAULTS = 20
#: Executions of each kind, in random orders of the thread blocks: without races every order ends
#: alike. By definition.
EXECUTIONS = 2


@dataclass(frozen=True)
class CheckedProgram:
    """What was found in a program.

    Attributes
    ----------
    faults : list of str
        Empty if it does what it says.
    thread_blocks, steps : int
        The most of a GPU, the most of a thread block.
    sentences : list of str
        All of it in words.
    """

    faults: list[str]
    thread_blocks: int
    steps: int
    sentences: list[str]

    @property
    def is_right(self) -> bool:
        """True if no fault was found."""
        return not self.faults


def check_program(program: Program, executions: int = EXECUTIONS) -> CheckedProgram:
    """Check a program: the rules of the format, races, and execution in random orders.

    Each stage needs the one before it; the faults are those of the first stage that has some.
    """
    found = _first_faults(program, executions)
    blocks = max((len(gpu.blocks) for gpu in program.gpus), default=0)
    steps = max((len(b.steps) for gpu in program.gpus for b in gpu.blocks), default=0)
    ways = [way for way, _ in _ways(program)]
    sentences = [
        f"{program.collective} of {_counted(len(program.gpus), 'GPU')} in "
        f"{_counted(program.num_chunks, 'chunk')}: {_counted(program.num_channels, 'channel')}, at "
        f"most {_counted(blocks, 'thread block')} a GPU, at most {_counted(steps, 'step')} a block"
    ]
    if found:
        sentences += [f"wrong: {fault}" for fault in found]
    else:
        sentences += [
            "the rules of the format hold",
            "accesses to a chunk of which one writes have an order: no race",
            f"executed on integers {' and '.join(ways)}, {executions} random orders each: every "
            "output is right",
        ]
    return CheckedProgram(found, blocks, steps, sentences)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _first_faults(program: Program, executions: int) -> list[str]:
    """Return the faults of the first stage that has some."""
    for stage in (faults, unmatched, _circles, _races):
        found = list(islice(stage(program), MOST_FAULTS))
        if found:
            return found
    return [
        f"{way}: {fault}"
        for way, in_place in _ways(program)
        for seed in range(executions)
        if (fault := execute(program, in_place, seed))
    ]


def _ways(program: Program) -> list[tuple[str, bool]]:
    """Return the ways in which a program may be used, and whether each is in place."""
    ways = (("out of place", False, program.out_of_place), ("in place", True, program.in_place))
    return [(way, in_place) for way, in_place, used in ways if used]


def _circles(program: Program) -> Iterator[str]:
    after = following(program)
    waiting = sorted(after.keys() - set(in_order(after)))
    if waiting:
        rank, block, step = waiting[0]
        yield (
            f"{len(waiting)} steps wait for each other, among them step {step} of block {block} "
            f"of GPU {rank}"
        )


def _races(program: Program) -> Iterator[str]:
    for way, in_place in _ways(program):
        yield from (f"{way}: {race}" for race in races(program, in_place))
