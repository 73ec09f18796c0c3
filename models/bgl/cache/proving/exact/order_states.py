r"""Order, device and host by dynamic programming: batches that are done, and what both caches hold.

1. After a set S of batches, in whatever order, what counts is what the device holds, D, and what
   the host holds, H: only nodes that a batch to come needs, and as many as fit, as holding more is
   never worse. Both are bits.
2. A batch b that is not in S pays for its nodes that are on the host or nowhere. Then all ways to
   fill the device from :math:`D \cup B_b`, and the host from the rest, are states of S with b.
3. A state is left out if another one of S costs no more, holds on the device what it holds there,
   and on both caches together what it holds on both.

The cheapest state of all batches is the optimum (reconstructed). Nothing of it is shared with the
model `joint`, which is the other route.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import OWN_LIMIT, Limits, MethodOutcome

from ...formulations.retention import check_one_free_cache
from ...instance import CacheInstance
from ...subproblems.intervals import solution_of_contents
from ..certificate.check import CacheCertificate, Compulsory
from ..reload_tables import OutOfTimeError

#: States of all sets, some 0.5 GB, and batches whose sets are looked at: what fits into memory.
#: By definition.
_MOST_STATES, _MOST_BATCHES = 10**6, 12

#: Nodes on the device, and on the host, a bit each.
Caches = tuple[int, int]
#: Cost, the caches before the last batch, and that batch.
Reached = tuple[int, Caches, int]


@method(kind="exact", reference="this project", formulation="order_states")
def order_states(instance: CacheInstance, limits: Limits) -> MethodOutcome:
    """All sets of batches with all contents of device and host, for a free order.

    Return the optimum of at most 12 batches, with one cache or two.

    Raises
    ------
    ModelRefused
        If the order is given, batches are of several requests, or sizes differ.
    """
    if instance.order == "given" or instance.batch_size > 1 or not instance.unit_sizes:
        raise ModelRefused("needs a free order of fixed batches, and unit sizes")
    check_one_free_cache(instance)
    if instance.num_batches > _MOST_BATCHES:
        raise ModelRefused(
            f"requests: {instance.num_batches} batches, sets of at most {_MOST_BATCHES} are listed"
        )
    clock = Clock(limits)
    try:
        layers = _States(instance, clock).layers()
    except OutOfTimeError:
        return MethodOutcome(
            certificate=CacheCertificate(proof=Compulsory()),
            limit_hit="time_s" if clock.expired else OWN_LIMIT,
        )
    cost, order, contents = _cheapest(instance, layers)
    return MethodOutcome(
        solution=solution_of_contents(instance, order, contents),
        claimed_objective=cost,
        dual_bound=cost,
        phases_s=clock.phases_s,
    )


class _States:
    """The states of all sets of batches, a bit each, as `layers` fills them."""

    def __init__(self, instance: CacheInstance, clock: Clock):
        self.clock = clock
        self.capacity, self.host = instance.capacity, instance.host_capacity
        nodes = sorted(instance.frequency)
        self.remote: list[int] = [instance.miss_cost(v) for v in nodes]
        self.from_host: list[int] = [instance.host_cost * instance.weight(v) for v in nodes]
        at = {v: k for k, v in enumerate(nodes)}
        self.batches: list[int] = [sum(1 << at[v] for v in r) for r in instance.requests]

    def layers(self) -> list[dict[int, dict[Caches, Reached]]]:
        """Return the states of every set, by the number of its batches."""
        M = len(self.batches)
        layers: list[dict[int, dict[Caches, Reached]]] = [{0: {(0, 0): (0, (0, 0), -1)}}]
        left = _MOST_STATES
        for _ in range(M):
            after: dict[int, dict[Caches, Reached]] = {}
            for done, states in layers[-1].items():
                for b in range(M):
                    if not done >> b & 1:
                        self._add(after.setdefault(done | 1 << b, {}), states, done, b, left)
            after = {done: _undominated(states) for done, states in after.items()}
            left -= sum(map(len, after.values()))
            layers.append(after)
        return layers

    def _add(
        self,
        found: dict[Caches, Reached],
        states: dict[Caches, Reached],
        done: int,
        b: int,
        left: int,
    ) -> None:
        """Add the states that batch b leads to (step 2)."""
        batch, later = self.batches[b], 0
        for k, nodes in enumerate(self.batches):
            if k != b and not done >> k & 1:
                later |= nodes
        for (device, host), (before, _, _) in states.items():
            if self.clock.expired or len(found) > left:
                raise OutOfTimeError
            cost = before + self._loading(batch, device, host)
            there = (device | batch) & later
            for kept in _ways(there, self.capacity):
                rest = (there | host & ~batch & later) & ~kept
                for moved in _ways(rest, self.host):
                    if cost < found.get((kept, moved), (cost + 1,))[0]:
                        found[kept, moved] = cost, (device, host), b

    def _loading(self, batch: int, device: int, host: int) -> int:
        missing = batch & ~device
        return sum(self.from_host[k] if host >> k & 1 else self.remote[k] for k in _bits(missing))


def _bits(nodes: int) -> Iterator[int]:
    while nodes:
        low = nodes & -nodes
        yield low.bit_length() - 1
        nodes ^= low


def _ways(nodes: int, room: int) -> Iterator[int]:
    """Yield all choices of as many nodes as fit."""
    if nodes.bit_count() <= room:
        yield nodes
        return
    for chosen in combinations(_bits(nodes), room):
        yield sum(1 << k for k in chosen)


def _undominated(states: dict[Caches, Reached]) -> dict[Caches, Reached]:
    """Return the states that no cheaper one makes superfluous (step 3)."""
    kept: dict[Caches, Reached] = {}
    for (device, host), reached in sorted(states.items(), key=lambda state: state[1][0]):
        either = device | host
        if not any(not device & ~d and not either & ~(d | h) for d, h in kept):
            kept[device, host] = reached
    return kept


def _cheapest(
    instance: CacheInstance, layers: list[dict[int, dict[Caches, Reached]]]
) -> tuple[int, list[int], list[tuple[set[int], set[int]]]]:
    """Return the least cost, its order, and what the caches hold after each batch."""
    nodes = sorted(instance.frequency)
    done = (1 << len(instance.requests)) - 1
    caches = min(layers[-1][done], key=lambda state: layers[-1][done][state][0])
    cost = layers[-1][done][caches][0]
    order, contents = [], []
    for layer in reversed(layers[1:]):
        device, host = ({nodes[k] for k in _bits(held)} for held in caches)
        contents.append((device, host))
        _, caches, b = layer[done][caches]
        order.append(b)
        done &= ~(1 << b)
    return cost, order[::-1], contents[::-1][:-1]
