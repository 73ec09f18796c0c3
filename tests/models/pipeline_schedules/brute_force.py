"""The optimum of tiny instances by all orders of all devices.

`optimum` has microbatches in order; `optimum_with_options` has any order and all options.
"""

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
    """Yield the orders of a device in which F is before I before W, within memory.

    Of two stages of a route the earlier one goes forward first, and back last.
    """
    stages = instance.stages_of_device[device]
    routes = instance.stages_of_route
    mates = {s: [r for r in stages if any(s in x and r in x for x in routes)] for s in stages}
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
            ahead = [count[r, "F"] for r in mates[s] if r < s]
            behind = [count[r, "I"] for r in mates[s] if r > s]
            limits = {
                "F": min(ahead, default=instance.microbatches[s]),
                "I": min(behind, default=count[s, "F"]),
                "W": count[s, "I"],
            }
            for kind, change in (("F", a), ("I", g - a), ("W", -g)):
                j = count[s, kind]
                if j < limits[kind]:
                    count[s, kind] += 1
                    order.append((Operation(s, kind, j),))
                    yield from extend(order, level + change)
                    order.pop()
                    count[s, kind] -= 1

    return extend([], 0)


def optimum_with_options(instance):
    """Return the best objective of all orders of all cells; None if none is feasible."""
    choices = [list(_all_cells(instance, d)) for d in range(instance.num_devices)]
    links = [list(itertools.permutations(ops)) for ops in _sent(instance)]
    values = []
    for orders in itertools.product(*choices):
        for link_orders in itertools.product(*links):
            solution = PipelineSchedulesSolution.of(orders, link_orders or None)
            found = evaluate(instance, solution)
            if found.feasible:
                values.append(found.objective)
    return min(values, default=None)


def _sent(instance):
    """Return what each channel carries."""
    found = {channel: [] for channel in instance.channels}
    for s, after in enumerate(instance.next_stage):
        if after is not None and instance.stages[s].device != instance.stages[after].device:
            for j in range(instance.microbatches[s]):
                if instance.channels:
                    found[instance.channel(s, after)].append((Operation(s, "F", j),))
                    found[instance.channel(after, s)].append((Operation(after, "I", j),))
    return list(found.values())


def _all_cells(instance, device):
    """Yield the orders of a device: each backward split or fused, in pairs, with R, O and L."""
    stages = instance.stages_of_device[device]
    mine = [(s, j) for s in stages for j in range(instance.microbatches[s])]
    for modes in itertools.product(*(_modes(instance, s) for s, _ in mine)):
        cells, before = [], []
        for (s, j), (kept, fused) in zip(mine, modes, strict=True):
            back = ["B"] if fused else ["I", "W"]
            chain = ["F", *{"": "", "R": "R", "OL": "OL"}[kept], *back]
            chain = [(Operation(s, kind, j),) for kind in chain]
            cells += chain
            before += itertools.pairwise(chain)
        yield from _sortings(cells, before)
        for pair in instance.overlaps:
            yield from _paired(cells, before, pair)


def _paired(cells, before, pair):
    """Yield orders in which a forward and a fused backward, or more of them, are pairs."""
    forwards = [c for c in cells if c[0].kind == "F" and c[0].stage == pair.forward_stage]
    ends = [c for c in cells if c[0].kind in "BI" and c[0].stage == pair.backward_stage]
    for f, b in itertools.product(forwards, ends):
        if (f[0].stage, f[0].microbatch) == (b[0].stage, b[0].microbatch):
            continue
        gone = {f, b, (b[0]._replace(kind="W"),)}
        if b[0].kind == "I":
            continue  # its pair is that of B
        both = (f[0], b[0])
        merged = [c for c in cells if c not in gone] + [both]
        waits = [(both if x in gone else x, both if y in gone else y) for x, y in before]
        waits = [(x, y) for x, y in waits if x != y]
        yield from _sortings(merged, waits)
        yield from _paired(merged, waits, pair)


def _modes(instance, s):
    stage = instance.stages[s]
    kept = ["", *(["R"] if stage.recompute_act_bytes is not None else [])]
    kept += ["OL"] if stage.offload_s is not None else []
    # A backward that is fused without saving is worth it in a pair only.
    paired = any(pair.backward_stage == s for pair in instance.overlaps)
    return list(
        itertools.product(kept, (False, True) if stage.fused_saving_s or paired else (False,))
    )


def _sortings(cells, before):
    """Yield all orders of cells in which the first of each pair of `before` is earlier."""
    if not cells:
        yield []
        return
    for cell in cells:
        if all(y != cell for _, y in before):
            rest = [c for c in cells if c != cell]
            for order in _sortings(rest, [(x, y) for x, y in before if x != cell]):
                yield [cell, *order]
