"""The first witness: every schedule of every job, judged by the evaluator."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from gadgetopt.models.pd_ors.evaluate import evaluate
from gadgetopt.models.pd_ors.instance import PdOrsInstance, PdOrsSolution, Placement, SlotPlan

Schedule = tuple[SlotPlan, ...]


def optimum(instance: PdOrsInstance) -> float:
    """The largest total utility of a feasible decision."""
    each = [worthwhile(instance, i) for i in range(len(instance.jobs))]
    # What the jobs from i on can earn at most.
    rest = [sum(max([u for u, _ in of], default=0.0) for of in each[i:]) for i in range(len(each))]
    best = 0.0

    def extend(i: int, value: float, chosen: list[Schedule | None]) -> None:
        nonlocal best
        best = max(best, value)
        if i == len(each) or value + rest[i] <= best:
            return
        for utility, schedule in [*each[i], (0.0, None)]:
            more = [*chosen, schedule]
            padded = (*more, *[None] * (len(each) - len(more)))
            if evaluate(instance, PdOrsSolution(schedules=padded)).feasible:
                extend(i + 1, value + utility, more)

    extend(0, 0.0, [])
    return best


def worthwhile(instance: PdOrsInstance, i: int) -> list[tuple[float, Schedule]]:
    """Schedules of one job that no other beats in utility, workers and servers; best first."""
    found = [
        (evaluation.objective, counts(instance, schedule), schedule)
        for schedule in schedules(instance, i)
        if (evaluation := alone(instance, i, schedule)).feasible and evaluation.objective > 0
    ]
    found.sort(key=lambda entry: (-entry[0], entry[1].sum()))
    kept: list[tuple[float, np.ndarray, Schedule]] = []
    for entry in found:
        if not any((other <= entry[1]).all() for _, other, _ in kept):
            kept.append(entry)
    return [(utility, schedule) for utility, _, schedule in kept]


def schedules(instance: PdOrsInstance, i: int) -> Iterator[Schedule]:
    """All combinations of what the job can have in each slot, among them nothing."""
    slots = range(instance.jobs[i].arrival_slot, instance.horizon_slots + 1)
    plans = [[None, *slot_plans(instance, i, t)] for t in slots]
    for chosen in itertools.product(*plans):
        yield tuple(plan for plan in chosen if plan is not None)


def slot_plans(instance: PdOrsInstance, i: int, t: int) -> list[SlotPlan]:
    """All that the job can have in one slot, up to F workers and F servers on each machine."""
    most, machines = instance.jobs[i].global_batch, range(len(instance.machines))
    pairs = list(itertools.product(range(most + 1), repeat=2))
    plans = []
    for chosen in itertools.product(pairs, repeat=len(machines)):
        placed = [
            Placement(machine=h, workers=w, servers=s)
            for h, (w, s) in zip(machines, chosen, strict=True)
            if w or s
        ]
        workers = sum(p.workers for p in placed)
        if not 0 < workers <= most or sum(p.servers for p in placed) > most:
            continue
        plan = SlotPlan(slot=t, placements=tuple(placed))
        wrong = {v.constraint for v in alone(instance, i, (plan,)).violations}
        if wrong <= {"work"}:
            plans.append(plan)
    return plans


def alone(instance, i, schedule):
    decision = [None] * len(instance.jobs)
    decision[i] = schedule
    return evaluate(instance, PdOrsSolution(schedules=tuple(decision)))


def counts(instance: PdOrsInstance, schedule: Schedule) -> np.ndarray:
    """Workers and servers by slot and machine."""
    out = np.zeros((instance.horizon_slots, len(instance.machines), 2), dtype=int)
    for plan in schedule:
        for p in plan.placements:
            out[plan.slot - 1, p.machine] += p.workers, p.servers
    return out
