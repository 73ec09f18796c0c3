"""The shops of copies of a pipeline: what each copy takes for one of its microbatches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.pipeline.communication import transfer_factor
from gadgetopt.pieces.pipeline.plan import most_in_flight
from gadgetopt.pieces.pipeline.shop import Shop, shop_of_times, stage_times

from ..instance import Copy, DappleInstance, DappleSolution
from ..schedule import schedule_of

#: GPUs of each stage of a copy.
Sets = tuple[tuple[int, ...], ...]


def copy_numbers(instance: DappleInstance) -> Iterator[int]:
    """Yield the numbers of copies that an instance allows, from 1 on."""
    most = min(instance.max_copies, instance.num_gpus)
    for copies in range(1, most + 1):
        whole = not (instance.options.use_all_gpus and instance.num_gpus % copies)
        if whole and instance.num_microbatches % copies == 0:
            yield copies


def shops_of_solution(instance: DappleInstance, solution: DappleSolution) -> list[Shop]:
    """Return the shop of every copy of a solution."""
    sets = [copy.stage_devices for copy in solution.pipelines]
    return shops_of_copies(instance, solution.stage_layers, sets)


def longest_copy(instance: DappleInstance, solution: DappleSolution) -> tuple[Shop, Copy]:
    """Return the copy that ends last, the first of such, and its shop."""
    pairs = list(zip(shops_of_solution(instance, solution), solution.pipelines, strict=True))
    return max(pairs, key=lambda pair: schedule_of(*pair).makespan_s)


def shops_of_copies(
    instance: DappleInstance, stage_layers: Sequence[tuple[int, int]], copies: Sequence[Sets]
) -> list[Shop]:
    """Return the shop of every copy; transfers across machines share the network."""
    rings = [tuple(v for sets in copies for v in sets[n]) for n in range(len(stage_layers))]
    crossing = [
        sum(_crosses(instance, sets[n], sets[n + 1]) for sets in copies)
        for n in range(len(stage_layers) - 1)
    ]
    return [_shop(instance, stage_layers, sets, rings, crossing) for sets in copies]


def _shop(
    instance: DappleInstance,
    stage_layers: Sequence[tuple[int, int]],
    sets: Sets,
    rings: Sequence[Sequence[int]],
    crossing: Sequence[int],
) -> Shop:
    chain = instance.chain
    M = instance.num_microbatches // (len(rings[0]) // len(sets[0]))
    latency = decimal_rational(instance.options.transfer_latency_s)
    f: list[Fraction] = []
    b: list[Fraction] = []
    a: list[Fraction] = []
    caps = []
    for n, (first, end) in enumerate(stage_layers):
        if n:
            factor = transfer_factor(instance, sets[n - 1], sets[n])
            if _crosses(instance, sets[n - 1], sets[n]):
                factor *= crossing[n - 1]
            f.append(chain.act_bytes[first - 1] * factor + latency)
            b.append(chain.grad_bytes[first - 1] * factor + latency)
            a.append(Fraction(0))
        for row, x in zip(
            (f, b, a), stage_times(instance, first, end, sets[n], rings[n]), strict=True
        ):
            row.append(x)
        caps.append(most_in_flight(instance, first, end, len(sets[n])))
    full = instance.duplex == "full"
    return shop_of_times(f, b, a, M, full_duplex=full, max_in_flight=caps)


def _crosses(instance: DappleInstance, x: Sequence[int], y: Sequence[int]) -> bool:
    return len({instance.cluster.machine_of[v] for v in (*x, *y)}) > 1


def solution_of_copies(
    stage_layers: Sequence[tuple[int, int]], copies: Sequence[Copy]
) -> DappleSolution:
    """Return the solution of these copies, the first of which is the plan's own pipeline."""
    first, *others = copies
    return DappleSolution(
        stage_layers=tuple(stage_layers),
        stage_devices=first.stage_devices,
        warmup=first.warmup,
        orders=first.orders,
        copies=tuple(others),
    )
