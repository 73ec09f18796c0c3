"""The GPUs that each stage of a plan can have, for checks of proofs about all plans.

GPUs are in groups: the machines of a cluster of two levels, or each GPU for itself. What is known
between two stages is of every group its class, its free GPUs, and how many GPUs the last stage has
there; groups of which all that is equal are alike. The next stage takes some free GPUs of each.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Generic, NamedTuple, TypeVar

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.pipeline.cluster import MatrixCluster, TwoLevelCluster
from gadgetopt.pieces.pipeline.instance import PipelineInstance

#: GPUs of a cluster of any bandwidths, and choices in a state, beyond which they are too many.
#: Tuned: `benchmarks/constants.py`.
MOST_GPUS, MOST_CHOICES = 10, 50_000

Value = TypeVar("Value")

#: Class, free GPUs, and GPUs of the last stage.
Group = tuple[int, int, int]


@dataclass(frozen=True)
class Kind:
    """What the times of a stage depend on besides its layers; AllReduce in seconds per byte."""

    speed: Fraction
    allreduce: Fraction
    replicas: int


class State(NamedTuple):
    """What is known between two stages; `last` is about the last one, 0 if there is none yet."""

    groups: tuple[Group, ...]
    last: int


class Choice(NamedTuple):
    """GPUs of a stage: numbers of their kind and of the link from the last stage, or -1."""

    kind: int
    link: int
    after: State


class Register(Generic[Value]):
    """Values numbered as they are met, by keys that are faster to compare."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self._of_key: dict[tuple[Any, ...], int] = {}
        self._of_value: dict[Value, int] = {}

    def number(self, key: tuple[Any, ...], value: Callable[..., Value]) -> int:
        """Return the number of the value that a function makes of a key."""
        known = self._of_key.get(key)
        if known is None:
            made = value(*key)
            known = self._of_key[key] = self._of_value.setdefault(made, len(self.values))
            if known == len(self.values):
                self.values.append(made)
        return known


class EqualStates:
    """What of states is compared where one only replaces its equals."""

    def ground(self, state: State) -> Any:
        """Return what is compared of a state besides the number of its last stage's GPUs."""
        return state

    def family(self, ground: Any) -> Any:
        """Return what is equal of all grounds that may replace each other; hashable."""
        return ground

    def may_replace(self, ground: Any, other: Any) -> bool:
        """Return True if, with as many GPUs of the last stage, one ground serves for another.

        What can follow on the GPUs of the other one can also follow here, with as many GPUs for
        each stage and no time longer, and neither if the last stage has more GPUs.
        """
        return bool(ground == other)


class SingleGpus(EqualStates):
    """GPUs with any bandwidths: each is a group and a class of its own.

    Parameters
    ----------
    instance : PipelineInstance
        Its cluster is a matrix.

    Raises
    ------
    ModelRefused
        If there are too many.
    """

    def __init__(self, instance: PipelineInstance):
        self.cluster, self.model = instance.cluster, instance.comm_model
        self.uniform: bool = instance.options.uniform_replicas
        self.kinds, self.links = Register[Kind](), Register[Fraction]()
        gpus = self.cluster.num_gpus
        if gpus > MOST_GPUS:
            raise ModelRefused(
                f"cluster: {gpus} GPUs of arbitrary bandwidths have too many subsets; at most "
                f"{MOST_GPUS}, or give a cluster of two levels"
            )
        self.start: State = State(tuple((v, 1, 0) for v in range(gpus)), 0)

    def choices(self, state: State) -> Iterator[Choice]:
        """Yield the choices in a state."""
        free = [v for v, is_free, _ in state.groups if is_free]
        last = tuple(v for v, _, here in state.groups if here)
        for r in replicas_after(state, len(free), uniform=self.uniform):
            for gpus in itertools.combinations(free, r):
                kind = self.kinds.number(gpus, self._kind)
                link = self.links.number((last, gpus), self._link) if last else -1
                rest = set(free) - set(gpus)
                after = [(v, int(v in rest), int(v not in rest)) for v in free] if rest else []
                yield Choice(kind, link, State(tuple(after), r))

    def _kind(self, *gpus: int) -> Kind:
        r, speeds = len(gpus), (self.cluster.gpu_speeds[v] for v in gpus)
        ring = Fraction(2 * (r - 1), r) / self._slowest(gpus, gpus) if r > 1 else Fraction(0)
        return Kind(sum(speeds, Fraction(0)), ring, r)

    def _link(self, last: tuple[int, ...], gpus: tuple[int, ...]) -> Fraction:
        return shared(self.model, len(last), len(gpus)) / self._slowest(last, gpus)

    def links_between(self, last: int, r: int) -> set[Fraction]:
        """Return all seconds per byte that a transfer from `last` to `r` GPUs may take."""
        gpus = range(self.cluster.num_gpus)
        bandwidths = {self.cluster.bandwidth(u, v) for u in gpus for v in gpus if u < v}
        return {shared(self.model, last, r) / bandwidth for bandwidth in bandwidths}

    def _slowest(self, some: tuple[int, ...], others: tuple[int, ...]) -> Fraction:
        return min(self.cluster.bandwidth(u, v) for u in some for v in others if u != v)


class Machines(EqualStates):
    """A cluster of two levels: each machine is a group, and its class is its speed.

    Parameters
    ----------
    instance : PipelineInstance
        Its cluster has two levels.
    """

    def __init__(self, instance: PipelineInstance):
        cluster = instance.cluster
        assert isinstance(cluster, TwoLevelCluster)
        self.model = instance.comm_model
        self.uniform: bool = instance.options.uniform_replicas
        self.kinds, self.links = Register[Kind](), Register[Fraction]()
        self.rings: bool = instance.options.nvlink_rings
        self.exact = cluster.exact
        self.largest: int = max(cluster.gpus_per_machine)
        self.gpus: int = cluster.num_gpus
        self.speeds: list[Fraction] = sorted(set(cluster.machine_speeds))
        classes = [self.speeds.index(speed) for speed in cluster.machine_speeds]
        groups = [(c, n, 0) for c, n in zip(classes, cluster.gpus_per_machine, strict=True)]
        self.start: State = State(tuple(sorted(groups, reverse=True)), 0)

    def choices(self, state: State) -> Iterator[Choice]:
        """Yield the choices in a state, up to groups that are alike."""
        allowed = replicas_after(state, self.gpus, uniform=self.uniform)
        for counts in _counts(state.groups):
            if sum(counts) in allowed:
                yield self.choice(state, counts)

    def choice(self, state: State, counts: tuple[int, ...]) -> Choice:
        """Return the choice of so many GPUs of each group."""
        r, here, machines, left = sum(counts), 0, 0, []
        classes = [0] * len(self.speeds)
        for (c, free, last), count in zip(state.groups, counts, strict=True):
            if count:
                classes[c] += count
                here += last
                machines += 1
            if free > count:
                # Of a machine without free GPUs it does not matter what is there: no transfer to
                # it can follow.
                left.append((c, free - count, self.known(count, r)))
        left.sort(reverse=True)
        after = State(tuple(left), self.known(r, r))
        return self.made(state, tuple(classes), here, machines == 1, after)

    def made(
        self, state: State, classes: tuple[int, ...], here: int, alone: bool, after: State
    ) -> Choice:
        """Return the choice of so many GPUs of each class, `here` of the last stage's with them."""
        kind = self.kinds.number((classes, alone), self.kind)
        link = -1
        if state.last:
            link = self.links.number((state.last, here, sum(classes), alone), self.link)
        return Choice(kind, link, after)

    def known(self, count: int, r: int) -> int:
        """Return what is remembered of `count` GPUs in a machine, of a stage on r."""
        return count

    def kind(self, classes: tuple[int, ...], alone: bool) -> Kind:
        """Return the kind of so many GPUs of each class, in one machine or in several."""
        r, ring = sum(classes), Fraction(0)
        speeds = zip(classes, self.speeds, strict=True)
        if r > 1:
            inside = self.exact.allreduce_intra * (r // 2 if self.rings else 1)
            ring = Fraction(2 * (r - 1), r) / (inside if alone else self.exact.allreduce_inter)
        return Kind(sum((count * speed for count, speed in speeds), Fraction(0)), ring, r)

    def link(self, last: int, here: int, r: int, alone: bool) -> Fraction:
        """Return the transfer to r GPUs in one machine, or several, `here` of the last stage's."""
        exact, joined = self.exact, alone and here == last
        if self.model == "simple":
            return 1 / (exact.intra if joined else exact.inter)
        if self.model == "planner_code":
            if not alone:
                return 1 / exact.multi_inter
            return 1 / exact.intra if joined else Fraction(last - here, last) / exact.inter
        across = min(exact.intra, exact.inter) if here else exact.inter
        return shared(self.model, last, r) / (exact.intra if joined else across)

    def links_between(self, last: int, r: int) -> set[Fraction]:
        """Return all seconds per byte that a transfer from `last` to `r` GPUs may take."""
        found = {self.link(last, here, r, False) for here in (0, 1)}
        if r <= self.largest:
            inside = range(min(last, self.largest - r) + 1)
            found |= {self.link(last, here, r, True) for here in inside}
        return found


class MergingMachines(Machines):
    """Machines of one speed, where no time is longer if two GPUs share a machine.

    A transfer only depends on whether all GPUs of both stages are in one machine. Of stages across
    machines, with as many GPUs, those are left out after which the free GPUs are those of another
    one, some machines of which were divided: the stages that follow fit there too, GPU by GPU, and
    take no longer.

    For the same reason a state may replace another one: its free GPUs are those of the other one
    with some machines joined; where the other's last stage has a machine with free GPUs to itself,
    these GPUs are, joined or not, in the machine that the last stage here has to itself; and that
    stage has no fewer GPUs. Let each GPU of the other stand for one of this state. Stages in
    one machine are still in one, so no AllReduce is longer. All GPUs of two stages in one machine
    still are, and a transfer from a last stage with more GPUs is never longer: it moves a part of
    1, of 1 / min(last, r), or of 1 / (last r).
    """

    def known(self, count: int, r: int) -> int:
        """Return whether all r GPUs are there: as many as the last stage has, or 0."""
        if count < r:
            return 0
        return 1 if self.model == "simple" and not self.uniform else r

    def choices(self, state: State) -> Iterator[Choice]:
        """Yield the choices in a state."""
        groups = state.groups
        allowed = replicas_after(state, self.gpus, uniform=self.uniform)
        for k, group in enumerate(groups):
            if k == 0 or group != groups[k - 1]:
                for count in (r for r in allowed if r <= group[1]):
                    yield self.choice(state, tuple(count * (i == k) for i in range(len(groups))))
        sizes = tuple(sorted((free for _, free, _ in groups), reverse=True))
        for r, left in left_by_stages_across(sizes):
            if r in allowed:
                yield self.made(state, (r,), 0, False, State(left, self.known(r, r)))

    def ground(self, state: State) -> Any:
        """Return machines with free GPUs, the last stage's own negated, and free GPUs of all."""
        own = max((free for _, free, here in state.groups if here), default=0)
        replicas = state.last if self.uniform else 0
        return len(state.groups), -own, tuple(free for _, free, _ in state.groups), replicas

    def family(self, ground: Any) -> Any:
        """Return how many GPUs are free, and how many a stage has if all have equally many."""
        return sum(ground[2]), ground[3]

    def may_replace(self, ground: Any, other: Any) -> bool:
        """Return True if the other's machines are this one's, some divided, the own one too."""
        (_, own, sizes, replicas), (_, others_own, parts, others_replicas) = ground, other
        if replicas != others_replicas:
            return False
        if others_own:
            if -own < -others_own:
                return False
            sizes, parts = without(sizes, -own, -others_own), without(parts, -others_own)
        return divided(parts, sizes)


def devices_of(instance: PipelineInstance) -> SingleGpus | Machines:
    """Return the choices of an instance's cluster."""
    if isinstance(instance.cluster, MatrixCluster):
        return SingleGpus(instance)
    machines = Machines(instance)
    exact = machines.exact
    merging = (
        instance.comm_model != "planner_code"
        and len(machines.speeds) == 1
        and exact.intra >= exact.inter
        and exact.allreduce_intra >= exact.allreduce_inter
    )
    return MergingMachines(instance) if merging else machines


def replicas_after(state: State, most: int, *, uniform: bool) -> range:
    """Return how many GPUs the next stage may have: as many as the last one, if all are to."""
    if uniform and state.last:
        return range(state.last, min(state.last, most) + 1)
    return range(1, most + 1)


def shared(model: str, last: int, r: int) -> Fraction:
    """Return the part of the data that the slowest pair of GPUs moves."""
    return Fraction(1, last * r if model == "pair_slice" else min(last, r))


def _counts(groups: tuple[Group, ...]) -> list[tuple[int, ...]]:
    """Return numbers of GPUs of each group, not all 0; not increasing over groups alike."""
    found: list[tuple[int, ...]] = [()]
    for k, (_, free, _) in enumerate(groups):
        alike = k > 0 and groups[k - 1] == groups[k]
        found = [
            (*counts, count)
            for counts in found
            for count in range(min(free, counts[-1]) + 1 if alike else free + 1)
        ]
        if len(found) > MOST_CHOICES:
            raise ModelRefused(f"cluster: a stage has more than {MOST_CHOICES} choices of GPUs")
    return found[1:]


@cache
def left_by_stages_across(sizes: tuple[int, ...]) -> list[tuple[int, tuple[Group, ...]]]:
    """Return replicas of stages across machines, and the groups afterwards (`MergingMachines`).

    Parameters
    ----------
    sizes : tuple of int
        Free GPUs of each machine, largest first.
    """
    inside: dict[int, set[tuple[int, ...]]] = {}
    across: dict[int, set[tuple[int, ...]]] = {}
    for counts in _counts(tuple((0, size, 0) for size in sizes)):
        parts = [size - count for size, count in zip(sizes, counts, strict=True) if size > count]
        found = inside if sum(map(bool, counts)) == 1 else across
        found.setdefault(sum(counts), set()).add(tuple(sorted(parts, reverse=True)))
    kept = []
    for r, found_across in across.items():
        better = found_across | inside.get(r, set())
        kept += [
            (r, tuple((0, free, 0) for free in left))
            for left in found_across - inside.get(r, set())
            if not any(divided(left, other) for other in better if len(other) < len(left))
        ]
    return kept


def without(sizes: tuple[int, ...], size: int, some: int | None = None) -> tuple[int, ...]:
    """Return sizes without some GPUs of one machine of a size, or without all of them."""
    left = list(sizes)
    left.remove(size)
    left.append(0 if some is None else size - some)
    return tuple(sorted(filter(None, left), reverse=True))


@cache
def divided(parts: tuple[int, ...], wholes: tuple[int, ...]) -> bool:
    """Return True if the parts are the wholes, some of them divided; largest first, equal sums."""
    if not parts:
        return True
    first, rest = parts[0], parts[1:]
    for k, whole in enumerate(wholes):
        if whole >= first:
            smaller = (*wholes[:k], whole - first, *wholes[k + 1 :])
            if divided(rest, tuple(sorted(filter(None, smaller), reverse=True))):
                return True
    return False
