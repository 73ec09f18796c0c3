r"""Placement policies: which free GPUs the next stage takes on machines of identical GPUs.

- "fresh_first": machines without an occupied GPU, machine by machine. A stage stays inside new
  machines, so its AllReduce is fast.
- "append_first": machines that are partly occupied, in order. Less fragmentation.
- "scatter_first": one GPU at a time round-robin over the machines already used, or over all if none
  is. For stages of small weights and large activations.

- "gaps_first": machines that are partly occupied, the one with fewest free GPUs first. What is left
  over is filled before larger gaps are opened. Only the variant "slides" has it.

What a policy does when it runs out is its variant: with "fallback", fresh first goes on with used
machines, append first with fresh ones, scatter first with whatever is free in order; with "code",
the first two give up, and scatter first takes turns over all machines from the start. "slides" is
"fallback" with gaps first as a fourth policy, before scatter first. The slides of the planner's
author name it and say that it fills the gaps of machines that are not full; that small gaps come
first, and fresh machines last, is reconstructed.

All of them take the lowest GPU of a machine first, so the occupied GPUs of a machine are always its
first ones, and a number for each machine says it all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, get_args

Policy = Literal["fresh_first", "append_first", "gaps_first", "scatter_first"]
Variant = Literal["fallback", "code", "slides"]
#: The policies of the paper, and those of the slides.
POLICIES: tuple[Policy, ...] = ("fresh_first", "append_first", "scatter_first")
POLICIES_OF_SLIDES: tuple[Policy, ...] = get_args(Policy)

#: Number of GPUs of each machine.
Counts = tuple[int, ...]


def place(
    policy: Policy,
    sizes: Sequence[int],
    used: Sequence[int],
    need: int,
    variant: Variant = "fallback",
) -> Counts | None:
    """Return how many GPUs of each machine the next stage takes; None if the policy gives up.

    Parameters
    ----------
    policy : "fresh_first", "append_first", "gaps_first" or "scatter_first"
    sizes, used : sequence of int, (K,)
        GPUs of each machine, and how many of them are occupied.
    need : int
        GPUs of the stage, at most those that are free.
    variant : "fallback", "code" or "slides"

    Raises
    ------
    ValueError
        If fewer GPUs are free.
    """
    if need > sum(sizes) - sum(used):
        raise ValueError(f"need: {need} GPUs, but {sum(sizes) - sum(used)} are free")
    machines = range(len(sizes))
    fresh = [k for k in machines if not used[k]]
    partly = [k for k in machines if 0 < used[k] < sizes[k]]
    if policy == "scatter_first":
        anywhere = variant == "code" or not any(used)
        return _in_turns(machines if anywhere else partly, sizes, used, need)
    if policy == "gaps_first":
        partly.sort(key=lambda k: sizes[k] - used[k])
    first, then = (fresh, partly) if policy == "fresh_first" else (partly, fresh)
    return _in_order([*first, *([] if variant == "code" else then)], sizes, used, need)


def choices(
    sizes: Sequence[int], used: Sequence[int], need: int, variant: Variant = "fallback"
) -> list[Counts]:
    """Return what the policies of a variant take, without repetitions, in their order."""
    policies = POLICIES_OF_SLIDES if variant == "slides" else POLICIES
    found = (place(policy, sizes, used, need, variant) for policy in policies)
    return list(dict.fromkeys(counts for counts in found if counts is not None))


def devices(sizes: Sequence[int], used: Sequence[int], counts: Sequence[int]) -> tuple[int, ...]:
    """Return the numbers of the GPUs that a stage takes: the first free ones of each machine."""
    taken: list[int] = []
    first = 0
    for size, occupied, count in zip(sizes, used, counts, strict=True):
        taken.extend(range(first + occupied, first + occupied + count))
        first += size
    return tuple(taken)


def _in_order(
    order: Iterable[int], sizes: Sequence[int], used: Sequence[int], need: int
) -> Counts | None:
    counts = [0] * len(sizes)
    for k in order:
        counts[k] = min(need, sizes[k] - used[k])
        need -= counts[k]
    return None if need else tuple(counts)


def _in_turns(turns: Sequence[int], sizes: Sequence[int], used: Sequence[int], need: int) -> Counts:
    """Take one GPU of each machine in turn; then, if these run out, the free ones in order."""
    counts = [0] * len(sizes)
    while need:
        open_ = [k for k in turns if used[k] + counts[k] < sizes[k]]
        for k in open_[:need]:
            counts[k] += 1
        need -= min(need, len(open_))
        if not open_:
            rest = [u + c for u, c in zip(used, counts, strict=True)]
            more = _in_order(range(len(sizes)), sizes, rest, need)
            assert more is not None, "the free GPUs are enough"
            return tuple(a + b for a, b in zip(counts, more, strict=True))
    return tuple(counts)
