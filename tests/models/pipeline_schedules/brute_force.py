"""The optimum of tiny instances by all orders of all devices, with microbatches in order."""

from __future__ import annotations

import itertools

from gadgetopt.models.pipeline_schedules.cells import Operation
from gadgetopt.models.pipeline_schedules.evaluate import evaluate
from gadgetopt.models.pipeline_schedules.instance import PipelineSchedulesSolution


def optimum(instance):
    """Return the best objective of all orders that are feasible; None if none is."""
    choices = [list(_orders(instance, d)) for d in range(instance.num_devices)]
    values = []
    for orders in itertools.product(*choices):
        found = evaluate(instance, PipelineSchedulesSolution.of(orders))
        if found.feasible:
            values.append(found.objective)
    return min(values, default=None)


def _orders(instance, device):
    """Yield the orders of a device in which F is before I before W, within memory."""
    stages = instance.stages_of_device[device]
    capacity = None if instance.memory_bytes is None else instance.memory_bytes[device]
    count = {(s, k): 0 for s in stages for k in "FIW"}

    def extend(order, level):
        if capacity is not None and level > capacity:
            return
        if len(order) == 3 * sum(instance.microbatches[s] for s in stages):
            yield list(order)
            return
        for s in stages:
            stage = instance.stages[s]
            a, g = stage.act_bytes, stage.weight_act_bytes
            limits = {"F": instance.microbatches[s], "I": count[s, "F"], "W": count[s, "I"]}
            for kind, change in (("F", a), ("I", g - a), ("W", -g)):
                j = count[s, kind]
                if j < limits[kind]:
                    count[s, kind] += 1
                    order.append((Operation(s, kind, j),))
                    yield from extend(order, level + change)
                    order.pop()
                    count[s, kind] -= 1

    return extend([], 0)
