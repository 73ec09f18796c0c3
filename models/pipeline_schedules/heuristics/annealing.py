"""Local search: annealing of the orders of devices, from the best schedule known."""

from __future__ import annotations

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome

from ..cells import Operation
from ..formulations.decoding import duration, operations
from ..instance import PipelineSchedulesInstance, PipelineSchedulesSolution
from ..shop import MOST_TICKS, MOST_UNITS, Shop, shop_of
from .annealing_loops import Data, anneal, room_for
from .rules import offer, try_rules

#: First and last temperature, as parts of the mean duration of an operation. First ones take turns.
#: Tuned: `benchmarks/pipeline_schedules_search.toml`.
HOT, COLD = (0.1, 0.5), 0.01
#: Moves of the first round, how much longer the next one of the same temperature is, and rounds.
#: Tuned: `benchmarks/pipeline_schedules_search.toml`.
MOVES, GROWTH, ROUNDS = 100_000, 3, 6
#: Moves between two looks at the clock, times operations and origins of paths. By definition.
CHUNK_WORK = 2 * 10**6


@method(kind="heuristic", reference="this project")
def annealing(
    instance: PipelineSchedulesInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """The best of many list schedules, then its orders annealed.

    Raises
    ------
    ModelRefused
        If devices may do more than F, I and W.
    """
    shop = shop_of(instance)
    search: Search[PipelineSchedulesSolution] = Search("min", limits)
    with search.interruptible():
        try_rules(instance, shop, search)
        improve(instance, shop, search, search.clock, rng)
    return search.outcome(search.best)


def improve(
    instance: PipelineSchedulesInstance,
    shop: Shop,
    search: Search[PipelineSchedulesSolution],
    clock: Clock,
    rng: np.random.Generator,
) -> None:
    """Offer annealed schedules to a search that has one, round by round.

    Links and shared weights count only when a schedule is offered.
    """
    if shop.horizon >= MOST_TICKS or max(sum(shop.a), *(shop.capacity or (0,))) >= MOST_UNITS:
        return
    walk = Annealing(instance, shop)
    for n in range(ROUNDS):
        if search.best is None or search.over or clock.expired:
            return
        moves = MOVES * GROWTH ** (n // len(HOT))
        found = walk.anneal(search.best, moves, HOT[n % len(HOT)], clock, rng)
        offer(instance, found, search)


class Annealing:
    """A shop as arrays, and what turns its schedules into them."""

    def __init__(self, instance: PipelineSchedulesInstance, shop: Shop):
        self.instance = instance
        self.operations = operations(shop)
        self.number = {op: n for n, op in enumerate(self.operations)}
        self.data = _data(shop, self.operations, self.number)
        self.room = room_for(self.data)

    def anneal(
        self,
        start: PipelineSchedulesSolution,
        moves: int,
        hot: float,
        clock: Clock,
        rng: np.random.Generator,
    ) -> PipelineSchedulesSolution:
        """Return the best schedule on a walk of so many moves, as far as time allows."""
        orders = self._orders(start)
        best, mean = orders.copy(), float(self.data.duration.mean())
        value = float("inf")
        origins = len(orders) if self.data.period else 1
        chunk = max(1, CHUNK_WORK // (len(self.operations) * origins))
        for begin in range(0, moves, chunk):
            if clock.expired:
                break
            steps = np.arange(begin, min(moves, begin + chunk)) / moves
            temperatures = mean * hot * (COLD / hot) ** steps
            draws = rng.random((len(steps), 4))
            value = anneal(self.data, orders, best, value, temperatures, draws, self.room)
        return self._solution(best)

    def _orders(self, solution: PipelineSchedulesSolution) -> Ints:
        count = self.data.num_operations
        orders = np.full((len(count), int(count.max())), -1, dtype=np.int64)
        for d, cells in enumerate(solution.cells):
            flat = [
                self.number[op._replace(kind=kind)]
                for (op,) in cells
                for kind in ("IW" if op.kind == "B" else op.kind)
            ]
            orders[d, : len(flat)] = flat
        return orders

    def _solution(self, orders: Ints) -> PipelineSchedulesSolution:
        return PipelineSchedulesSolution.of(
            [
                [(self.operations[o],) for o in order[:count]]
                for order, count in zip(
                    orders.tolist(), self.data.num_operations.tolist(), strict=True
                )
            ]
        )


def _data(shop: Shop, ops: list[Operation], number: dict[Operation, int]) -> Data:
    def row(values: list[int]) -> Ints:
        return np.array(values, dtype=np.int64)

    before = np.full((len(ops), 2), -1, dtype=np.int64)
    lag = np.zeros((len(ops), 2), dtype=np.int64)
    for n, (s, kind, j) in enumerate(ops):
        route, own = shop.route_of[s], {"I": "F", "W": "I"}.get(kind)
        if own is not None:
            before[n, 0] = number[Operation(s, own, j)]
        near = {"F": s - 1, "I": s + 1}.get(kind)
        if near is not None and near in route:
            before[n, 1] = number[Operation(near, kind, j)]
            lag[n, 1] = shop.lag[min(s, near)]
    freed = {"F": [0] * len(shop.a), "W": shop.g}
    freed["I"] = [a - g for a, g in zip(shop.a, shop.g, strict=True)]
    devices = range(len(shop.on_device))
    return Data(
        device=row([shop.device[op.stage] for op in ops]),
        duration=row([duration(shop, op) for op in ops]),
        tail=row([shop.allreduce[op.stage] if op.kind == "W" else 0 for op in ops]),
        before=before,
        lag=lag,
        stage=row([op.stage for op in ops]),
        kind=row(["FIW".index(op.kind) for op in ops]),
        microbatch=row([op.microbatch for op in ops]),
        takes=row([shop.a[op.stage] if op.kind == "F" else 0 for op in ops]),
        frees=row([freed[op.kind][op.stage] for op in ops]),
        capacity=row(list(shop.capacity or (-1 for _ in devices))),
        num_operations=row([sum(shop.device[op.stage] == d for op in ops) for d in devices]),
        period=int(shop.period),
    )
