"""Which firings of a stream lie between two of an actor, by cycles with one initial item."""

from __future__ import annotations

from collections import deque
from fractions import Fraction

from ...instance import OneflowActorsInstance
from ..certificate import Round, Wait

#: Steps of all searches together: actors times items. Tuned: `benchmarks/constants.py`.
MOST_STEPS = 5_000_000

#: An actor, and the initial items on the way to it.
Node = tuple[int, int]
#: Of each node the one before, and the step from there; None for the first.
Reached = dict[Node, tuple[Node, Wait] | None]


def best_round(instance: OneflowActorsInstance) -> Round | None:
    """Return the proof of the longest round; None if no cycle has one initial item."""
    items = [
        (register.producer, c, register.initial, Wait(kind="item", register_number=e, consumer=c))
        for e, register in enumerate(instance.registers)
        for c in register.consumers
        if register.initial <= 1
    ]
    if not any(initial for _, _, initial, _ in items):
        return None
    if len(items) * len(instance.actors) > MOST_STEPS:
        return None
    onwards: list[list[tuple[int, int, Wait]]] = [[] for _ in instance.actors]
    back: list[list[tuple[int, int, Wait]]] = [[] for _ in instance.actors]
    for p, c, initial, wait in items:
        onwards[p].append((c, initial, wait))
        back[c].append((p, initial, wait))
    best: tuple[Fraction, Round] | None = None
    for x in range(len(instance.actors)):
        there, home = _reached(x, onwards), _reached(x, back)
        for s, actors in enumerate(instance.actors_of_stream.values()):
            if x in actors:
                continue
            cycles = list(filter(None, (_cycle(a, there, home) for a in actors)))
            if not cycles:
                continue
            waits = [wait for cycle in cycles for wait in cycle]
            on_them = {instance.registers[wait.register_number].producer for wait in waits}
            work = instance.actors[x].duration_s + sum(
                instance.actors[a].duration_s for a in on_them & set(actors)
            )
            if best is None or work > best[0]:
                best = work, Round(actor=x, cycles=tuple(cycles), stream=s)
    return None if best is None else best[1]


def _cycle(a: int, there: Reached, home: Reached) -> tuple[Wait, ...]:
    """Return a cycle through a with one initial item; nothing if there is none."""
    for tokens in (0, 1):
        if (a, tokens) in there and (a, 1 - tokens) in home:
            return (*_steps(there, (a, tokens))[::-1], *_steps(home, (a, 1 - tokens)))
    return ()


def _reached(first: int, steps: list[list[tuple[int, int, Wait]]]) -> Reached:
    """Return what ways with at most one initial item reach, and the last step of each."""
    found: Reached = {(first, 0): None}
    queue = deque(found)
    while queue:
        node = queue.popleft()
        for following, initial, wait in steps[node[0]]:
            reached = following, node[1] + initial
            if reached[1] <= 1 and reached not in found:
                found[reached] = node, wait
                queue.append(reached)
    return found


def _steps(found: Reached, node: Node) -> list[Wait]:
    """Return the steps from a node back to the first."""
    waits = []
    step = found[node]
    while step is not None:
        node, wait = step
        waits.append(wait)
        step = found[node]
    return waits
