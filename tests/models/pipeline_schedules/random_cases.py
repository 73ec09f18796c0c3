"""Small random instances, and random orders that a device can follow."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gadgetopt.models.pipeline_schedules.cells import Operation
from gadgetopt.models.pipeline_schedules.instance import (
    PipelineSchedulesInstance,
    PipelineSchedulesSolution,
    Route,
    Stage,
)

#: Devices and microbatches of instances that brute force goes through.
SIZES = ((2, 2), (2, 2), (2, 2), (3, 2), (2, 3))


def random_instance(
    rng, sizes=((2, 2), (2, 3), (3, 2), (3, 3)), *, chunks=(1, 1, 2), links=("lag",), allreduce=True
):
    """Return an instance with times from 1 to 4 and some memory, transfers and AllReduces."""
    devices, microbatches = sizes[rng.integers(len(sizes))]
    count = devices * int(rng.choice(chunks))
    v_shaped = rng.random() < 0.5
    lag = int(rng.integers(0, 3))
    reduced = allreduce and rng.random() < 0.3
    stages = []
    for s in range(count):
        turn, place = divmod(s, devices)
        act = int(rng.integers(1, 3))
        stages.append(
            Stage(
                device=devices - 1 - place if v_shaped and turn % 2 else place,
                fwd_s=Fraction(int(rng.integers(1, 5))),
                input_grad_s=Fraction(int(rng.integers(1, 5))),
                weight_grad_s=Fraction(int(rng.integers(0, 5))),
                transfer_s=Fraction(lag if s + 1 < count else 0),
                act_bytes=Fraction(act),
                weight_act_bytes=Fraction(int(rng.integers(0, act + 1))),
                allreduce_s=Fraction(int(rng.integers(0, 4)) if reduced else 0),
            )
        )
    least = [2 * sum(s.device == d for s in stages) for d in range(devices)]
    memory = tuple(Fraction(k + int(rng.integers(0, 4))) for k in least)
    return PipelineSchedulesInstance(
        num_devices=devices,
        routes=(Route(num_microbatches=microbatches, stages=tuple(stages)),),
        objective=("makespan", "period")[int(rng.integers(2))],
        memory_bytes=memory if rng.random() < 0.7 else None,
        links=str(rng.choice(links)),
    )


def random_orders(instance, rng):
    """Return random orders that respect F before I before W on each stage."""
    orders = []
    for stages in instance.stages_of_device:
        left = {(s, k): 0 for s in stages for k in "FIW"}
        order = []
        while True:
            possible = [
                (s, k)
                for (s, k), n in left.items()
                if n < (instance.microbatches[s] if k == "F" else left[s, "F" if k == "I" else "I"])
            ]
            if not possible:
                break
            s, k = possible[int(rng.integers(len(possible)))]
            order.append((Operation(s, k, left[s, k]),))
            left[s, k] += 1
        orders.append(order)
    return PipelineSchedulesSolution.of(orders)


def two_ways(instance):
    """Return the instance with a second route of the same stages, in the opposite direction."""
    (route,) = instance.routes
    last = instance.num_devices - 1
    stages = tuple(s.model_copy(update={"device": last - s.device}) for s in route.stages)
    back = route.model_copy(update={"stages": stages})
    return instance.model_copy(update={"routes": (route, back), "memory_bytes": None})


def one_stage_less(instance):
    """Return the instance without its last stage, so that one device has a stage less."""
    (route,) = instance.routes
    *stages, last = route.stages[:-1]
    last = last.model_copy(update={"transfer_s": Fraction(0)})
    return instance.model_copy(
        update={"routes": (route.model_copy(update={"stages": (*stages, last)}),)}
    )


def drawn(seed):
    """Return a tiny instance: one chunk a device, two on one or both devices, or two routes."""
    rng = np.random.default_rng(seed)
    kind = seed % 5
    if kind == 3 and seed % 2:
        return random_instance(rng, sizes=((2, 1),), chunks=(2,))
    if kind == 3:
        return one_stage_less(random_instance(rng, sizes=((2, 2),), chunks=(2,)))
    if kind == 4:
        return two_ways(random_instance(rng, sizes=((2, 1),), chunks=(1,)))
    return random_instance(rng, sizes=SIZES, chunks=(1,))
