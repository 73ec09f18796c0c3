"""AllReduce, allgather and reduce-scatter as MSCCL programs, and back.

A program knows GPUs and chunks, but no switches and no rates. Rates become counts of chunks
(`chunk_counts`), trees become thread blocks (`thread_blocks`). Paths through switches are
comments: the executor finds its own, and the reader takes those of the comments.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import groupby

from gadgetopt.errors import InputError
from gadgetopt.pieces.exporting import Exported
from gadgetopt.pieces.formats.msccl.checking import check_program
from gadgetopt.pieces.formats.msccl.happens_before import following, in_order, transfers, unmatched
from gadgetopt.pieces.formats.msccl.program import (
    ADDING,
    RECEIVING,
    SENDING,
    Program,
    read_program,
    write_program,
)
from gadgetopt.pieces.formats.msccl.rules import MOST_COUNT
from gadgetopt.system.declaring import exporter

from ..evaluate import read_links
from ..instance import ForestPackingInstance, ForestPackingSolution, Path, Stage, TreePair
from .chunk_counts import ChunkCounts, best_counts, time_of
from .thread_blocks import Arc, ChunkTree, ThreadBlocks

#: What the format calls the collectives.
COLLECTIVES = {
    "allreduce": "allreduce",
    "allgather": "allgather",
    "reduce_scatter": "reducescatter",
}

#: Thread blocks that can run at a time on the GPU with the fewest multiprocessors of those that
#: run such programs. An A100 has 108. By definition.
USUAL_BLOCKS = 108


# -- writing -----------------------------------------------------------------------------------


def kept(
    instance: ForestPackingInstance,
    solution: ForestPackingSolution,
    most_chunks: int,
    time_limit_s: float,
) -> ForestPackingSolution:
    """Return the trees with the largest rates that whole chunks allow."""
    _refuse(instance, solution)
    trees, counts = _counted(instance, solution, most_chunks, time_limit_s)
    rates = zip(trees, counts.counts, strict=True)
    return ForestPackingSolution(
        trees=tuple(
            tree.model_copy(update={"rate_gbyte_per_s": count / counts.time})
            for tree, count in rates
            if count
        )
    )


@exporter(
    suffixes=(".xml",),
    drops="parts of a chunk: each tree carries whole chunks",
    help={
        "most_chunks": "most chunks into which a message is cut; the best number is taken",
        "time_limit_s": "for finding how many of them each tree carries",
    },
)
def write(
    instance: ForestPackingInstance,
    solution: ForestPackingSolution,
    most_chunks: int = 64,
    time_limit_s: float = 10.0,
) -> Exported:
    """An MSCCL program that sums and sends along the trees, for GPUs.

    Raises
    ------
    InputError
        If the format cannot say the plan, or its limits are too narrow.
    """
    _refuse(instance, solution)
    trees, counts = _counted(instance, solution, most_chunks, time_limit_s)
    rank = {worker: r for r, worker in enumerate(instance.workers)}
    blocks = ThreadBlocks(COLLECTIVES[instance.collective], len(rank), counts.num_chunks)
    rates = _rates(solution, counts, most_chunks)
    comments = [rates]
    for tree, first, count in _ranges(instance, trees, counts):
        arcs = {
            stage: [(rank[path[0]], rank[path[-1]]) for path in _paths(tree, stage)]
            for stage in instance.stages
        }
        up, down = arcs.get("reduce", []), arcs.get("broadcast", [])
        blocks.add(ChunkTree(rank[tree.root], first, count, up, down))
        comments += _routes(instance, tree, first)
    program = blocks.program(f"forest_packing {instance.collective}")
    checked = check_program(program)
    if not checked.is_right:
        raise InputError(
            f"msccl: {checked.faults[0]}; solve with a smaller tree_budget, or export with fewer "
            "most_chunks"
        )
    notes = [rates]
    if checked.thread_blocks > USUAL_BLOCKS:
        notes.append(
            f"up to {checked.thread_blocks} thread blocks a GPU: one with {USUAL_BLOCKS} "
            "multiprocessors cannot run so many at a time"
        )
    return Exported({".xml": write_program(program, comments)}, tuple(notes))


@dataclass(frozen=True)
class _Asked:
    """What counts are asked for; equal texts have equal counts."""

    text: str
    most_chunks: int
    time_limit_s: float
    instance: ForestPackingInstance = field(compare=False)
    trees: tuple[TreePair, ...] = field(compare=False)


def _counted(
    instance: ForestPackingInstance,
    solution: ForestPackingSolution,
    most_chunks: int,
    time_limit_s: float,
) -> tuple[tuple[TreePair, ...], ChunkCounts]:
    """Return the trees that carry something, and the best numbers of chunks."""
    if not 1 <= most_chunks <= MOST_COUNT:
        raise InputError(
            f"msccl: most_chunks {most_chunks}; expected 1 to {MOST_COUNT}, the chunks of a step"
        )
    trees = tuple(tree for tree in solution.trees if tree.rate_gbyte_per_s)
    text = instance.model_dump_json() + solution.model_dump_json()
    return trees, _counts(_Asked(text, most_chunks, time_limit_s, instance, trees))


@lru_cache(maxsize=1)
def _counts(asked: _Asked) -> ChunkCounts:
    """Return the best counts, computed once for `kept` and `write`: time may cut them short."""
    return best_counts(asked.instance, asked.trees, asked.most_chunks, asked.time_limit_s)


def _refuse(instance: ForestPackingInstance, solution: ForestPackingSolution) -> None:
    if instance.collective not in COLLECTIVES:
        raise InputError(
            f"msccl: a program names no root, as a {instance.collective} needs it; expected an "
            "allreduce, allgather or reduce_scatter"
        )
    if instance.collective != "allreduce" and instance.root_mode != "uniform":
        raise InputError(
            f"msccl: the GPUs of an {instance.collective} hold equal parts; solve with root_mode "
            "'uniform'"
        )
    if instance.in_network:
        raise InputError(
            "msccl: switches of this instance copy and sum, which GPUs cannot tell them; solve "
            "with in_network false"
        )
    if not any(tree.rate_gbyte_per_s for tree in solution.trees):
        raise InputError("msccl: the rate is 0; there is nothing to export")
    workers = set(instance.workers)
    for i, tree in enumerate(solution.trees):
        for stage in instance.stages:
            for path in _paths(tree, stage):
                passed = workers.intersection(path[1:-1])
                if passed:
                    raise InputError(
                        f"msccl: trees[{i}]: the path from {path[0]} to {path[-1]} passes worker "
                        f"{min(passed)}; expected switches alone between the workers of a tree"
                    )


def _paths(tree: TreePair, stage: Stage) -> tuple[Path, ...]:
    return tree.in_tree if stage == "reduce" else tree.broadcast_tree


def _ranges(
    instance: ForestPackingInstance, trees: Sequence[TreePair], counts: ChunkCounts
) -> Iterator[tuple[TreePair, int, int]]:
    """Yield each tree with its first chunk and their number; those of a root lie together."""
    place = {worker: r for r, worker in enumerate(instance.workers)}
    first = 0
    for p in sorted(range(len(trees)), key=lambda p: (place[trees[p].root], p)):
        if counts.counts[p]:
            yield trees[p], first, counts.counts[p]
            first += counts.counts[p]


def _rates(solution: ForestPackingSolution, counts: ChunkCounts, most_chunks: int) -> str:
    fluid = sum((tree.rate_gbyte_per_s for tree in solution.trees), Fraction(0))
    proof = "no" if counts.exact else "not proved that no"
    chunks = "1 chunk" if counts.num_chunks == 1 else f"{counts.num_chunks} chunks"
    return (
        f"{float(fluid):.6g} GB/s as a fluid, {float(counts.rate):.6g} GB/s in {chunks}; {proof} "
        f"numbers of chunks up to {most_chunks} have more"
    )


def _routes(instance: ForestPackingInstance, tree: TreePair, first: int) -> Iterator[str]:
    for stage in instance.stages:
        for path in _paths(tree, stage):
            if len(path) > 2:
                yield f"route of chunk {first}, {stage}: {' '.join(map(str, path))}"


# -- reading -----------------------------------------------------------------------------------

_ROUTE = re.compile(r"<!-- route of chunk (\d+), (reduce|broadcast): ([\d ]+) -->")


@dataclass(frozen=True)
class Message:
    """Chunks on an arc, and whether the receiver adds them."""

    arc: Arc
    first: int
    count: int
    added: bool


def read_back(instance: ForestPackingInstance, exported: Exported) -> ForestPackingSolution:
    """The trees of a program, with the largest rates that its counts of chunks allow.

    A path between workers without a link is that of a comment, else one with the fewest hops.

    Raises
    ------
    InputError
        If it is no program for this instance, or is not made of trees.
    """
    text = exported.text(".xml")
    program = read_program(text)
    if program.collective != COLLECTIVES.get(instance.collective):
        raise InputError(
            f"coll {program.collective!r}, but the instance's collective is {instance.collective!r}"
        )
    if len(program.gpus) != len(instance.workers):
        raise InputError(
            f"{len(program.gpus)} GPUs, but the instance has {len(instance.workers)} workers"
        )
    fault = next(iter(check_program(program, executions=1).faults), None)
    if fault is not None:
        raise InputError(fault)
    routes = _Routes(instance, text)
    counted = list(_trees(program, instance, routes))
    trees = [tree for tree, _ in counted]
    counts = [count for _, count in counted]
    time = time_of(instance, trees, counts)
    return ForestPackingSolution(
        trees=tuple(
            tree.model_copy(update={"rate_gbyte_per_s": count / time}) for tree, count in counted
        )
    )


class _Routes:
    """The nodes between two workers: a link, what a comment says, or the fewest hops."""

    def __init__(self, instance: ForestPackingInstance, text: str):
        self.switches = set(instance.switches)
        self.after: defaultdict[int, list[int]] = defaultdict(list)
        self.links = read_links(instance).rows_of.keys()
        for u, v in sorted(self.links):
            self.after[u].append(v)
        self.said: dict[tuple[int, str, int, int], Path] = {}
        for first, stage, nodes in _ROUTE.findall(text):
            path = tuple(map(int, nodes.split()))
            if len(path) > 1:
                self.said[int(first), stage, path[0], path[-1]] = path

    def path(self, first: int, stage: str, u: int, v: int) -> Path:
        """Return the nodes from u to v."""
        said = self.said.get((first, stage, u, v))
        if said is not None:
            return said
        if (u, v) in self.links:
            return u, v
        before = {u: u}
        waiting = deque([u])
        while waiting and v not in before:
            node = waiting.popleft()
            for other in self.after[node]:
                if other not in before and (other == v or other in self.switches):
                    before[other] = node
                    waiting.append(other)
        if v not in before:
            raise InputError(f"worker {u} sends to {v}: no path of links and switches joins them")
        path = [v]
        while path[-1] != u:
            path.append(before[path[-1]])
        return tuple(reversed(path))


def _trees(
    program: Program, instance: ForestPackingInstance, routes: _Routes
) -> Iterator[tuple[TreePair, int]]:
    """Yield the trees of a program, without rates, and their numbers of chunks."""
    of_chunk: list[list[Message]] = [[] for _ in range(program.num_chunks)]
    for message in _messages(program):
        for chunk in range(message.first, message.first + message.count):
            of_chunk[chunk].append(message)
    workers = instance.workers
    for messages, chunks in groupby(range(program.num_chunks), key=lambda c: of_chunk[c]):
        numbers = list(chunks)
        if len({(m.first, m.count) for m in messages}) != 1:
            raise InputError(f"chunk {numbers[0]}: is sent in different company, expected trees")
        up = [m.arc for m in messages if m.added]
        down = [m.arc for m in messages if not m.added]
        ends = {child for child, _ in up} if up else {child for _, child in down}
        roots = sorted(set(range(len(workers))) - ends)
        if len(roots) != 1:
            raise InputError(f"chunk {numbers[0]}: has {len(roots)} roots, expected a tree")
        in_tree, out_tree = (
            tuple(routes.path(numbers[0], stage, workers[a], workers[b]) for a, b in arcs)
            for stage, arcs in (("reduce", up), ("broadcast", down))
        )
        tree = TreePair(
            root=workers[roots[0]],
            in_tree=in_tree,
            out_tree=out_tree,
            rate_gbyte_per_s=Fraction(0),
        )
        yield tree, len(numbers)


def _messages(program: Program) -> Iterator[Message]:
    """Yield what is sent, by the chunks of the whole message that it is part of."""
    fault = next(unmatched(program), None)
    if fault is not None:
        raise InputError(fault)
    partner = {
        b: a
        for sends, receives in transfers(program).values()
        for a, b in zip(sends, receives, strict=True)
    }
    carried: dict[tuple[int, int, int], int] = {}  # first chunk that a step sends
    for node in in_order(following(program)):
        rank, b, s = node
        block = program.gpus[rank].blocks[b]
        step = block.steps[s]
        if step.kind in RECEIVING:
            first = carried[partner[node]]
            yield Message((block.receive, rank), first, step.count, step.kind in ADDING)
            carried[node] = first
        elif step.kind in SENDING:
            own = step.source.buffer == "i" and program.collective == "allgather"
            carried[node] = step.source.offset + (rank * program.part if own else 0)
