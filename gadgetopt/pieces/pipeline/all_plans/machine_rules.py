"""Rules of device sets on machines of identical GPUs: counts per machine, up to symmetry."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.pipeline.all_plans.device_rules import Choice, Kind, Numbered
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.pieces.pipeline.instance import PipelineInstance

#: Device sets of a stage, up to like machines, beyond which a search over all plans is refused.
#: Tuned: `benchmarks/constants.py`.
MOST_DEVICE_SETS = 20_000

#: A machine in a state: (class of identical machines, free GPUs, mark of the last stage).
Machine = tuple[int, int, int]
MachineState = tuple[tuple[Machine, ...], int]


class MachineRules:
    """States of a two-level cluster: machines sorted, and the replicas of the last stage.

    The mark of a machine with free GPUs is 1 if the last stage lies in it alone; where a transfer
    depends on more than that, it is the number of the last stage's GPUs there. Machines without
    free GPUs have mark 0: no transfer between two of their GPUs can follow.
    """

    cluster: TwoLevelCluster
    instance: PipelineInstance

    def __init__(self, instance: PipelineInstance):
        cluster = instance.cluster
        assert isinstance(cluster, TwoLevelCluster)
        self.instance, self.cluster = instance, cluster
        self.uniform: bool = instance.options.uniform_replicas
        self.model = instance.comm_model
        slow_inside = cluster.exact.intra < cluster.exact.inter
        #: True if marks count the last stage's GPUs.
        self.counted: bool = self.model == "planner_code" or (
            slow_inside and self.model != "simple"
        )
        self.speed_of: list[Fraction] = sorted(set(cluster.machine_speeds), reverse=True)
        self.class_of: list[int] = [self.speed_of.index(speed) for speed in cluster.machine_speeds]
        exact = cluster.exact
        #: True if a device set inside one machine is never worse than one across machines.
        self.inside_is_better: bool = (
            not self.counted
            and len(self.speed_of) == 1
            and exact.intra >= exact.inter
            and exact.allreduce_intra >= exact.allreduce_inter
        )
        #: True if more replicas, and a home with free GPUs, never make a transfer longer.
        self.more_is_better: bool = not self.counted and exact.intra >= exact.inter
        self.kinds: Numbered[Kind] = Numbered()
        self.links: Numbered[Fraction] = Numbered()

    def start(self) -> MachineState:
        """Return the state before the first stage; no replicas stand for no stage."""
        sizes = self.cluster.gpus_per_machine
        machines = [(c, size, 0) for c, size in zip(self.class_of, sizes, strict=True)]
        return tuple(sorted(machines, reverse=True)), 0

    def free(self, state: Any) -> int:
        """Return the number of free GPUs."""
        machines, _ = state
        return sum(free for _, free, _ in machines)

    def options(self, state: Any) -> Iterator[Choice]:
        """Yield one option for each number of GPUs per machine, up to like machines.

        Device sets that others are never worse than are left out: others with as many GPUs, so that
        the same can follow if all stages have to have equally many.
        """
        machines, last = state
        for counts in self._device_sets(machines):
            if self.uniform and last and sum(counts) != last:
                continue
            homes = [k for k, c in enumerate(counts) if c]
            kind = self._kind(machines, counts, homes)
            link = self._link(machines, last, counts, homes) if last else -1
            yield kind, link, self._after(machines, counts, homes), counts

    def _device_sets(self, machines: tuple[Machine, ...]) -> Iterator[tuple[int, ...]]:
        alike = Counter(x[:2] if self.inside_is_better else x for x in machines)
        sets = math.prod(math.comb(x[1] + n, n) for x, n in alike.items())
        if sets > MOST_DEVICE_SETS:
            raise ModelRefused(
                f"cluster: a stage has {sets} device sets, too many to search all plans; at most "
                f"{MOST_DEVICE_SETS}"
            )
        if not self.inside_is_better:
            yield from _counts(machines)
            return
        for k, machine in enumerate(machines):
            if k == 0 or machine != machines[k - 1]:
                for count in range(machine[1], 0, -1):
                    yield tuple(count if i == k else 0 for i in range(len(machines)))
        yield from across_machines(tuple(free for _, free, _ in machines))

    def _kind(
        self, machines: tuple[Machine, ...], counts: tuple[int, ...], homes: list[int]
    ) -> int:
        used = [0] * len(self.speed_of)
        for k in homes:
            used[machines[k][0]] += counts[k]

        def kind() -> Kind:
            speeds = zip(self.speed_of, used, strict=True)
            speed = sum((speed * count for speed, count in speeds), Fraction(0))
            return Kind(speed, self._allreduce(sum(used), len(homes)), sum(used))

        return self.kinds.number((*used, len(homes) > 1), kind)

    def _allreduce(self, total: int, machines: int) -> Fraction:
        """Return the AllReduce seconds per byte on `total` GPUs of one or several machines."""
        exact = self.cluster.exact
        if total == 1:
            return Fraction(0)
        ring = Fraction(2 * (total - 1), total)
        if machines > 1:
            return ring / exact.allreduce_inter
        rings = total // 2 if self.instance.options.nvlink_rings else 1
        return ring / (exact.allreduce_intra * rings)

    def _link(
        self, machines: tuple[Machine, ...], last: int, counts: tuple[int, ...], homes: list[int]
    ) -> int:
        exact, total = self.cluster.exact, sum(counts)
        alone, mark = len(homes) == 1, machines[homes[0]][2]
        wholly = alone and mark == (last if self.counted else 1)
        touching = self.counted and any(machines[k][2] for k in homes)

        def planned() -> Fraction:
            if not alone:
                return 1 / exact.multi_inter
            outside = last - mark
            return Fraction(outside) / (last * exact.inter) if outside else 1 / exact.intra

        def slices() -> Fraction:
            slowest = exact.intra if wholly else exact.inter
            if touching:
                slowest = min(slowest, exact.intra)
            shares = {"pair_slice": last * total, "min_end": min(last, total)}.get(self.model, 1)
            return 1 / (shares * slowest)

        if self.model == "planner_code":
            return self.links.number((last, mark, alone), planned)
        return self.links.number((last, total, wholly, touching), slices)

    def _mark(self, count: int, *, alone: bool) -> int:
        return count if self.counted else int(alone)

    def _after(
        self, machines: tuple[Machine, ...], counts: tuple[int, ...], homes: list[int]
    ) -> MachineState:
        after = []
        for k, ((c, free, _), count) in enumerate(zip(machines, counts, strict=True)):
            left = free - count
            mark = self._mark(count, alone=homes == [k])
            after.append((c, left, mark if left else 0))
        # No transfer of that model depends on the replicas.
        replicas = 1 if self.model == "simple" and not self.uniform else sum(counts)
        return tuple(sorted(after, reverse=True)), replicas

    def standing(self, state: Any) -> tuple[Hashable, int, int]:
        """Return the free GPUs, the last stage's replicas, and its machine if it has free GPUs.

        Machines of one speed with equally many free GPUs are one number there, 0 is none.
        """
        if not self.more_is_better:
            return state, 0, 0
        machines, replicas = state
        homes = [free * len(self.speed_of) + c for c, free, mark in machines if mark]
        home, free = homes[0] if homes else 0, tuple(free for _, free, _ in machines)
        # With equally many GPUs for all stages, the replicas say what can follow.
        return ((free, replicas), 0, home) if self.uniform else (free, replicas, home)

    def replay(self, chosen: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
        """Return the GPUs of the stages, lowest free ones first."""
        ranges = self.cluster.machine_gpus
        left = [list(gpus) for gpus in ranges]
        marks = [0] * len(left)
        stages = []
        for counts in chosen:
            keys = [(self.class_of[k], len(left[k]), marks[k]) for k in range(len(left))]
            order = sorted(range(len(left)), key=lambda k: keys[k], reverse=True)
            homes = [k for k, count in zip(order, counts, strict=True) if count]
            devices = []
            for k, count in zip(order, counts, strict=True):
                devices += left[k][:count]
                left[k] = left[k][count:]
                marks[k] = self._mark(count, alone=homes == [k]) if left[k] else 0
            stages.append(tuple(sorted(devices)))
        return tuple(stages)


def _counts(machines: tuple[Machine, ...]) -> Iterator[tuple[int, ...]]:
    """Yield numbers of GPUs per machine, not all 0; not increasing over like machines."""

    def extend(prefix: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        k = len(prefix)
        if k == len(machines):
            if any(prefix):
                yield prefix
            return
        most = machines[k][1]
        if k and machines[k] == machines[k - 1]:
            most = min(most, prefix[-1])
        for count in range(most, -1, -1):
            yield from extend((*prefix, count))

    return extend(())


@lru_cache(maxsize=2**17)
def across_machines(free: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return numbers of GPUs on at least two machines, without those that others are better than.

    Of device sets with as many GPUs, the times differ only by what is left for later stages. Free
    GPUs that are those of another set with some machines merged are never worse: whatever lies in
    one machine still does. A set inside one machine that leaves such GPUs is better, too.

    Parameters
    ----------
    free : tuple of int
        Free GPUs of each machine, not increasing.
    """
    machines = tuple((0, size, 0) for size in free)
    by_total: dict[int, dict[tuple[int, ...], tuple[int, ...]]] = {}
    for counts in _counts(machines):
        left = tuple(sorted((a - b for a, b in zip(free, counts, strict=True)), reverse=True))
        sets = by_total.setdefault(sum(counts), {})
        if left not in sets or sum(map(bool, counts)) == 1:
            sets[left] = counts
    return tuple(
        counts
        for sets in by_total.values()
        for left, counts in sets.items()
        if sum(map(bool, counts)) > 1
        and not any(merges_to(left, other) for other in sets if other != left)
    )


@lru_cache(maxsize=2**17)
def merges_to(parts: tuple[int, ...], wholes: tuple[int, ...]) -> bool:
    """Return True if numbers can be grouped so that the groups sum up to the given ones.

    Both are sorted, largest first, and of the same sum.
    """
    if parts[0] == 0:
        return True
    largest, rest = parts[0], parts[1:]
    for k, whole in enumerate(wholes):
        if whole >= largest and (k == 0 or whole != wholes[k - 1]):
            left = tuple(sorted((*wholes[:k], whole - largest, *wholes[k + 1 :]), reverse=True))
            if not rest or merges_to(rest, left):
                return True
    return False
