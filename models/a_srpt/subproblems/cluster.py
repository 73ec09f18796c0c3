"""The real cluster as time goes by: which jobs run where, and when they end.

What every policy of this system does alike: it selects servers (light jobs take the fragments,
jobs that communicate much are kept together), maps the job onto them, and keeps them until the job
ends. Times are microticks.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from gadgetopt.pieces.knapsack.bins import Blocks, fit

from ..instance import ASrptInstance, ASrptSolution, ScheduledJob
from .free_servers import FreeServers
from .heavy_edge import LocalPlacement
from .mapper import Mapper, gpus_held, on_servers

#: GPUs of a job, those by which its blocks are counted, and the blocks.
Kind = tuple[int, int, Blocks]


@dataclass(frozen=True, slots=True)
class Offer:
    """The servers that a job would get now, its mapping onto them, and its time in units."""

    servers: tuple[int, ...]
    placement: LocalPlacement
    units: int


class Cluster:
    """Free GPUs, running jobs and the schedule made so far.

    Parameters
    ----------
    instance : ASrptInstance
    mapper : Mapper
    comm_threshold : Fraction
        A job is heavy if every replica on its own server takes more than this many times as long
        per iteration as the mapping onto the empty cluster.

    Attributes
    ----------
    free : FreeServers
    gpus : list of int
        GPUs of each job.
    running : dict
        Jobs that run, and their GPUs on each of their servers.
    """

    def __init__(self, instance: ASrptInstance, mapper: Mapper, comm_threshold: Fraction):
        self._instance = instance
        self._jobs = instance.jobs
        self._total = instance.total_gpus
        self.mapper = mapper
        self.free: FreeServers = FreeServers(instance.gpus_per_server)
        self.gpus: list[int] = instance.gpus.tolist()
        self._kinds: list[Kind] = [(a.num_gpus, a.block_unit, a.blocks) for a in instance.job_types]
        self._threshold = comm_threshold
        self._heavy: dict[int, bool] = {}
        self._running: list[tuple[int, int]] = []
        self._schedule: list[tuple[int, int, Offer]] = []
        self.running: dict[int, tuple[tuple[int, int], ...]] = {}
        #: Start and units of an iteration of the jobs that run.
        self._pace: dict[int, tuple[int, int]] = {}
        # Servers on offer by number of GPUs, until the next change.
        self._on_offer: dict[tuple[Kind, bool], tuple[tuple[int, ...], tuple[int, ...]]] = {}
        #: The free GPUs by unit of blocks, and whether blocks of several sizes fit, until then.
        self._in_units: dict[int, FreeServers] = {}
        self._fitting: dict[Blocks, bool] = {}

    @property
    def next_completion(self) -> int | None:
        """When the next running job ends; None if none runs."""
        return self._running[0][0] if self._running else None

    def progress(self, now: int) -> Iterable[tuple[int, int]]:
        """Yield every job that runs, and how many iterations it has done by now.

        What time it has run says so, not its true number: in its last tick it may seem to have
        done more.
        """
        above, below = self._instance.tick_s.as_integer_ratio()
        for job, (start, units) in self._pace.items():
            if units:
                per_s = self._instance.times[self._jobs[job].job_type].units_per_s
                yield job, (now - start) * above * per_s // (self._total * below * units)

    def kind(self, job: int) -> Kind:
        """Return what decides whether a job fits."""
        return self._kinds[self._jobs[job].job_type]

    def fits(self, job: int) -> bool:
        """Return True if a job could start now."""
        return self.has_room(self.kind(job))

    def has_room(self, kind: Kind) -> bool:
        """Return True if a job of a kind could start now."""
        gpus, unit, blocks = kind
        servers = self._free_in(unit)
        if gpus > servers.total or len(blocks) == 1:
            return gpus <= servers.total
        if blocks not in self._fitting:
            self._fitting[blocks] = fit(blocks, servers.free)
        return self._fitting[blocks]

    def _free_in(self, unit: int) -> FreeServers:
        if unit == 1:
            return self.free
        if unit not in self._in_units:
            self._in_units[unit] = self.free.in_blocks(unit)
        return self._in_units[unit]

    def _changed(self) -> None:
        self._on_offer.clear()
        self._in_units.clear()
        self._fitting.clear()

    def is_heavy(self, job: int) -> bool:
        """Return True if a job's speed depends much on where it runs."""
        job_type = self._jobs[job].job_type
        heavy = self._heavy.get(job_type)
        if heavy is None:
            longest = self._instance.times[job_type].longest
            heavy = longest > self._threshold * self.mapper.on_empty_cluster(job_type)
            self._heavy[job_type] = heavy
        return heavy

    def offer(self, job: int) -> Offer:
        """Return what a job that fits would get now."""
        servers, capacities = self._selected(job)
        return Offer(servers, *self.mapper.mapped(self._jobs[job].job_type, capacities))

    def capacities(self, job: int) -> tuple[int, ...]:
        """Return the free GPUs of the servers that a job that fits would get now."""
        return self._selected(job)[1]

    def _selected(self, job: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        key = self.kind(job), self.is_heavy(job)
        found = self._on_offer.get(key)
        if found is None:
            (gpus, unit, blocks), heavy = key
            servers = self._free_in(unit)
            chosen = servers.chosen(gpus, blocks, consolidate=heavy)
            free = servers.free
            found = self._on_offer[key] = tuple(chosen), tuple(free[m] for m in chosen)
        return found

    def start(self, job: int, now: int, offer: Offer) -> int:
        """Start a job on what it was offered; return when it ends, by its true iterations."""
        end = now + self._total * self._instance.ticks(job, offer.units)
        held = gpus_held(self._instance.job_types[self._jobs[job].job_type], offer.placement)
        used = tuple((m, gpus) for m, gpus in zip(offer.servers, held, strict=True) if gpus)
        self.free.take(used)
        self._changed()
        heapq.heappush(self._running, (end, job))
        self.running[job] = used
        self._schedule.append((job, now, offer))
        self._pace[job] = now, offer.units
        return end

    def complete(self) -> int:
        """Free the GPUs of the job that ends next and return it."""
        _, job = heapq.heappop(self._running)
        self.free.release(self.running.pop(job))
        self._changed()
        del self._pace[job]
        return job

    def solution(self, predictor: str | None = None) -> ASrptSolution:
        """Return the schedule; all jobs have been started."""
        return ASrptSolution(
            jobs=tuple(
                ScheduledJob(
                    job=job,
                    start_microtick=start,
                    placement=on_servers(offer.placement, offer.servers),
                )
                for job, start, offer in sorted(self._schedule, key=lambda entry: entry[:2])
            ),
            predictor=predictor,
        )
