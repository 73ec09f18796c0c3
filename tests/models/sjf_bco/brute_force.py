"""Optimum of tiny instances by brute force over placements and integer starts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from gadgetopt.models.sjf_bco.evaluate import evaluate
from gadgetopt.models.sjf_bco.instance import SjfBcoInstance, SjfBcoSolution


def optimal_makespan(instance: SjfBcoInstance, horizon: int) -> int:
    """Return the optimum, known to be at most `horizon`.

    Makespans are tried from the shortest conceivable upwards, so the first feasible schedule found
    is an optimum.
    """
    shortest = instance.rates.exec_min.tolist()
    patterns = [list(_placements(instance.server_gpus, job.gpus)) for job in instance.jobs]
    for makespan in range(max(shortest), horizon + 1):
        limited = instance.model_copy(update={"horizon_slots": makespan})
        starts = [range(makespan - d + 1) for d in shortest]
        for start in product(*starts):
            for placement in product(*patterns):
                solution = SjfBcoSolution(start_slot=start, placement=placement)
                if evaluate(limited, solution).feasible:
                    return makespan
    raise ValueError(f"no schedule with makespan <= {horizon}")


def _placements(capacities: tuple[int, ...], gpus: int) -> Iterator[dict[int, int]]:
    """Return all placements of a gang on the servers."""
    for counts in product(*(range(min(c, gpus) + 1) for c in capacities)):
        if sum(counts) == gpus:
            yield {s: count for s, count in enumerate(counts) if count}
