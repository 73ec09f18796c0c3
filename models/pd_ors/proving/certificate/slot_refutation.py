"""Proof by exhaustion that jobs do not fit onto the machines of one slot together.

It needs nothing of the search that found the conflict. Machine after machine takes what it can:
all ways to fill it so that nothing that is left would fit. What is left is a state; a state
that leaves no less than another is dropped, and so is one that the machines to come have not the
volume for. If no state empties, nothing fits. (Reconstructed.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...terms import Terms

#: Places in the search for fillings of machines that a proof may take.
#: Tuned: `benchmarks/constants.py`.
MOST_STEPS = 500_000

#: Numbers of pieces of each kind that are left.
State = tuple[int, ...]
Amounts = tuple[int, ...]


class TooManySteps(ValueError):
    """The search has become too long."""


@dataclass(frozen=True, order=True)
class SlotItem:
    """A job with at least some number of workers in a slot; one or more.

    Attributes
    ----------
    job, workers : int
    inside : bool
        True if they and their servers are on one machine.
    """

    job: int
    workers: int
    inside: bool


def is_refuted(terms: Terms, items: Sequence[SlotItem]) -> bool:
    """Return True if the workers of these jobs cannot all be in one slot.

    Jobs with more workers need no less room, and servers are at least those that workers need.

    Parameters
    ----------
    terms : Terms
    items : sequence of SlotItem
        Of different jobs.

    Raises
    ------
    TooManySteps
        If that is not decided within `MOST_STEPS`.
    """
    kinds, state = _pieces(terms, items)
    rooms = sorted((tuple(row) for row in terms.capacity.tolist()), reverse=True)
    steps = [MOST_STEPS]
    states = {state}
    for h, room in enumerate(rooms):
        after = [sum(amounts) for amounts in zip(*rooms[h + 1 :], strict=True)] or [0] * len(room)
        found: set[State] = set()
        for before in states:
            for left in _fillings(kinds, before, room, steps):
                if not any(left):
                    return False
                if _has_volume(kinds, left, after):
                    found.add(left)
        states = _least(found, steps)
    return True


def _pieces(terms: Terms, items: Sequence[SlotItem]) -> tuple[list[Amounts], State]:
    """Return the demands of the kinds of pieces, large ones first, and how many there are."""
    count: dict[Amounts, int] = {}
    for item in items:
        job = terms.jobs[item.job]
        servers = int(job.servers[item.workers])
        if item.inside:
            pieces = [(job.demand[item.workers], 1)]
        else:
            pieces = [(job.alpha, item.workers), (job.beta, servers)]
        for demand, number in pieces:
            key = tuple(demand.tolist())
            if any(key) and number:
                count[key] = count.get(key, 0) + number
    total = np.maximum(terms.capacity.sum(axis=0), 1)
    kinds = sorted(count, key=lambda key: -float((np.array(key) / total).max()))
    return kinds, tuple(count[key] for key in kinds)


def _fillings(
    kinds: Sequence[Amounts], left: State, room: Amounts, steps: list[int]
) -> Iterator[State]:
    """Yield what is left after each way to fill a machine to which nothing can be added."""
    stack: list[tuple[int, State, Amounts]] = [(0, left, room)]
    while stack:
        steps[0] -= 1
        if steps[0] < 0:
            raise TooManySteps(f"a conflict takes more than {MOST_STEPS} steps to prove")
        k, rest, space = stack.pop()
        if k == len(kinds):
            fits = (_most(kind, space, n) for kind, n in zip(kinds, rest, strict=True))
            if not any(fits):
                yield rest
            continue
        most = _most(kinds[k], space, rest[k])
        for n in range(most if k == len(kinds) - 1 else 0, most + 1):
            taken = tuple(s - n * d for s, d in zip(space, kinds[k], strict=True))
            stack.append((k + 1, (*rest[:k], rest[k] - n, *rest[k + 1 :]), taken))


def _most(demand: Amounts, space: Amounts, number: int) -> int:
    """Return how many pieces of a kind fit, at most this number."""
    return min(number, *(s // d for s, d in zip(space, demand, strict=True) if d))


def _has_volume(kinds: Sequence[Amounts], left: State, room: Sequence[int]) -> bool:
    for r, space in enumerate(room):
        if sum(n * kind[r] for n, kind in zip(left, kinds, strict=True)) > space:
            return False
    return True


def _least(states: set[State], steps: list[int]) -> set[State]:
    """Return the states that leave no more of everything than another."""
    kept: list[State] = []
    for state in sorted(states, key=sum):
        steps[0] -= len(kept)
        if not any(all(a <= b for a, b in zip(other, state, strict=True)) for other in kept):
            kept.append(state)
    if steps[0] < 0:
        raise TooManySteps(f"a conflict takes more than {MOST_STEPS} steps to prove")
    return set(kept)
