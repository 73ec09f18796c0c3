"""Trees as thread blocks of an MSCCL program.

A thread block owns one send and one receive connection. A worker that reduces adds what each child
sends in a block of its own, one after the other; the last of them sends the sum on in the same
step. The root adds all. Down the tree, a worker passes on to its first child what it receives in
the same step; blocks for the other children wait for that. Each tree and stage has a channel that
nothing else uses on its arcs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gadgetopt.pieces.formats.msccl.program import Block, Gpu, Place, Program, Step

#: Ranks of a sender and a receiver.
Arc = tuple[int, int]
#: A thread block of a GPU and a step.
Waits = tuple[int, int]


@dataclass(frozen=True)
class ChunkTree:
    """Chunks, and the arcs along which they are summed and sent out; nodes are ranks.

    Attributes
    ----------
    first, count : int
        Chunks of the whole message.
    up, down : sequence of Arc
        (child, parent) and (parent, child); empty if the collective lacks the stage.
    """

    root: int
    first: int
    count: int
    up: Sequence[Arc]
    down: Sequence[Arc]


@dataclass
class ThreadBlocks:
    """The thread blocks of a program while trees are added to it."""

    collective: str
    num_gpus: int
    num_chunks: int
    blocks: list[list[Block]] = field(default_factory=list)
    scratch: list[int] = field(default_factory=list)
    channels: defaultdict[Arc, set[int]] = field(default_factory=lambda: defaultdict(set))

    def __post_init__(self) -> None:
        self.blocks = [[] for _ in range(self.num_gpus)]
        self.scratch = [0] * self.num_gpus

    @property
    def _part(self) -> int:
        return self.num_chunks // self.num_gpus

    def program(self, name: str) -> Program:
        """Return the program, which may be used in place and out of place."""
        inputs = self._part if self.collective == "allgather" else self.num_chunks
        outputs = self._part if self.collective == "reducescatter" else self.num_chunks
        gpus = tuple(
            Gpu(inputs, outputs, scratch, tuple(blocks))
            for blocks, scratch in zip(self.blocks, self.scratch, strict=True)
        )
        top = max((block.channel for gpu in gpus for block in gpu.blocks), default=0)
        return Program(name, self.collective, "Simple", top + 1, self.num_chunks, True, True, gpus)

    def add(self, tree: ChunkTree) -> None:
        """Add the blocks of a tree."""
        summed = self._add_reduction(tree) if tree.up else None
        if tree.down:
            self._add_broadcast(tree, summed)

    def _block(self, rank: int, block: Block) -> int:
        self.blocks[rank].append(block)
        return len(self.blocks[rank]) - 1

    def _channel(self, arcs: Sequence[Arc]) -> int:
        taken = set().union(*(self.channels[arc] for arc in arcs))
        channel = next(c for c in range(len(taken) + 1) if c not in taken)
        for arc in arcs:
            self.channels[arc].add(channel)
        return channel

    # -- up the tree ---------------------------------------------------------------------------

    def _add_reduction(self, tree: ChunkTree) -> Waits:
        """Add the blocks that sum up; return the root's step after which the sum is there."""
        channel = self._channel(tree.up)
        children = _targets((parent, child) for child, parent in tree.up)
        parents = dict(tree.up)
        at_root = None
        for rank in range(self.num_gpus):
            own, parent = Place("i", tree.first), parents.get(rank)
            below = children.get(rank, [])
            adding = below[:-1] if parent is not None else below
            total = self._sum_place(tree, rank) if adding else own
            before: Waits | None = None
            for child in adding:
                source = own if before is None else total
                step = Step("rrc", source, total, tree.count, before, signals=True)
                before = (self._block(rank, Block(-1, child, channel, (step,))), 0)
            source = own if before is None else total
            if parent is None:
                at_root = before
            elif below:
                step = Step("rrs", source, source, tree.count, before)
                self._block(rank, Block(parent, below[-1], channel, (step,)))
            else:
                step = Step("s", source, source, tree.count)
                self._block(rank, Block(parent, -1, channel, (step,)))
        assert at_root is not None, "a tree of two or more workers has a root with children"
        return at_root

    def _sum_place(self, tree: ChunkTree, rank: int) -> Place:
        """Return where a GPU adds what its children send."""
        if self.collective == "allreduce":
            return Place("o", tree.first)
        if rank == tree.root:
            return Place("o", tree.first - rank * self._part)
        self.scratch[rank] += tree.count
        return Place("s", self.scratch[rank] - tree.count)

    # -- down the tree -------------------------------------------------------------------------

    def _add_broadcast(self, tree: ChunkTree, summed: Waits | None) -> None:
        channel = self._channel(tree.down)
        children = _targets(tree.down)
        parents = {child: parent for parent, child in tree.down}
        out = Place("o", tree.first)
        for rank in range(self.num_gpus):
            rest, ready = children.get(rank, []), summed
            if rank != tree.root:
                kind, first = ("rcs", rest[0]) if rest else ("r", -1)
                step = Step(kind, out, out, tree.count, signals=len(rest) > 1)
                ready = (self._block(rank, Block(first, parents[rank], channel, (step,))), 0)
                rest = rest[1:]
            elif ready is None:  # nothing was summed: the root's own input
                ready = self._copy_own(tree, rest[0], channel)
                rest = rest[1:]
            for child in rest:
                step = Step("s", out, out, tree.count, ready)
                self._block(rank, Block(child, -1, channel, (step,)))

    def _copy_own(self, tree: ChunkTree, child: int, channel: int) -> Waits:
        """Copy the root's input to its output, and send it to its first child."""
        own = Place("i", tree.first - tree.root * self._part)
        out = Place("o", tree.first)
        steps = (Step("cpy", own, out, tree.count, signals=True), Step("s", out, out, tree.count))
        return self._block(tree.root, Block(child, -1, channel, steps)), 0


def _targets(arcs: Iterable[Arc]) -> dict[int, list[int]]:
    """Return the ends of the arcs that leave each node."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for start, end in arcs:
        found[start].append(end)
    return dict(found)
