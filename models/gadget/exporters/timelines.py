"""Schedules as tables and traces: the workers of each job on each server, in slots.

Slots are numbered from 1; what runs in slot 3 alone starts at 3 and ends at 4. The detail names the
workers by their places in the ring, and the nodes on the way to the next one where the plan says
them: "worker 0 by 4 7 5; worker 2 by 5 7 4".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from gadgetopt.errors import InputError
from gadgetopt.pieces.exporting import Exported
from gadgetopt.pieces.formats.timelines.files import Timelines
from gadgetopt.pieces.formats.timelines.spans import Span, by_number, joined, number_in, whole_time
from gadgetopt.system.declaring import exporter

from ..evaluate import evaluate
from ..instance import GadgetInstance, GadgetSolution, Ring

_WORKER = re.compile(r"worker (\d{1,9})( by( \d{1,9})*)?", re.ASCII)


def spans(instance: GadgetInstance, solution: GadgetSolution) -> list[Span]:
    """Return the workers of each job on each server, equal slots joined."""
    found = []
    for ring in sorted(solution.rings, key=lambda ring: (ring.slot, ring.job)):
        on = defaultdict(list)
        for k, server in enumerate(ring.servers):
            way = "" if ring.routes is None else _way(ring.routes[k])
            on[server].append(f"worker {k}{way}")
        found += [
            Span(
                f"job {ring.job}",
                ring.slot,
                ring.slot + 1,
                f"server {server}",
                len(workers),
                (),
                "; ".join(workers),
            )
            for server, workers in on.items()
        ]
    return joined(found)


def _way(nodes: Sequence[int]) -> str:
    return " by" + "".join(f" {node}" for node in nodes)


def decision(instance: GadgetInstance, spans: Sequence[Span]) -> GadgetSolution:
    """Return the ring of every job in every slot."""
    rings = []
    for i, found in enumerate(by_number(spans, "job", len(instance.jobs))):
        at: defaultdict[int, dict[int, tuple[int, tuple[int, ...] | None]]] = defaultdict(dict)
        for span in found:
            server = number_in(span.resource, "server", f"job {i}: resource")
            start, end = whole_time(span)
            if start < 1 or end > instance.horizon_slots + 1:
                raise InputError(f"job {i}: runs from {start} to {end}, beyond the slots")
            for k, way in _workers(span, f"job {i}"):
                for slot in range(start, end):
                    if k in at[slot]:
                        raise InputError(f"job {i}: worker {k} of slot {slot} is there twice")
                    at[slot][k] = server, way
        rings += [_ring(slot, i, workers) for slot, workers in sorted(at.items())]
    return GadgetSolution(rings=tuple(rings))


def _workers(span: Span, where: str) -> list[tuple[int, tuple[int, ...] | None]]:
    """Return the places in the ring of a span's workers, and the ways to the next ones."""
    found: list[tuple[int, tuple[int, ...] | None]] = []
    for text in span.detail.split("; "):
        said = _WORKER.fullmatch(text)
        if said is None:
            raise InputError(f"{where}: detail: {text!r}, expected such as 'worker 0'")
        way = said[2]
        nodes = None if way is None else tuple(map(int, way.removeprefix(" by").split()))
        found.append((int(said[1]), nodes))
    if len(found) != span.count:
        raise InputError(f"{where}: {len(found)} workers in the detail, but the count {span.count}")
    return found


def _ring(slot: int, job: int, workers: dict[int, tuple[int, tuple[int, ...] | None]]) -> Ring:
    if sorted(workers) != list(range(len(workers))):
        raise InputError(f"job {job}: workers of slot {slot} are not 0 to {len(workers) - 1}")
    placed = [workers[k] for k in range(len(workers))]
    ways = [way for _, way in placed if way is not None]
    if ways and len(ways) < len(placed):
        raise InputError(f"job {job}: some workers of slot {slot} say no way")
    return Ring(
        slot=slot,
        job=job,
        servers=tuple(server for server, _ in placed),
        routes=tuple(ways) if ways else None,
    )


TIMELINES = Timelines("slot", spans, decision, evaluate)


@exporter(suffixes=(".csv",))
def gantt(instance: GadgetInstance, solution: GadgetSolution) -> Exported:
    """Rings of workers as a table, one line for each span of time."""
    return TIMELINES.gantt(instance, solution)


def read_gantt(instance: GadgetInstance, files: Exported) -> GadgetSolution:
    """Return the solution of a table."""
    return TIMELINES.read_gantt(instance, files)


@exporter(suffixes=(".json",))
def chrome_trace(instance: GadgetInstance, solution: GadgetSolution) -> Exported:
    """Rings of workers as a trace that Perfetto shows."""
    return TIMELINES.trace(instance, solution)


def read_chrome_trace(instance: GadgetInstance, files: Exported) -> GadgetSolution:
    """Return the solution of a trace."""
    return TIMELINES.read_trace(instance, files)
