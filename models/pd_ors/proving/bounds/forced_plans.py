"""Cheapest plans of a job that is forced to run in given slots, even after its work is done.

The labels of the kernel end when the work is done, and of the options of a slot they keep those
that no option of more progress undercuts. Both are correct as long as a job may stop when it is
done. Where it must run in a later slot, a finished label has to go on (reconstructed).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gadgetopt.numbers.arrays import Floats, Ints

from ...subproblems.kernel import (
    Allow,
    Plan,
    Use,
    allowed_front,
)
from ...subproblems.labels import (
    Front,
    Scale,
)
from ...subproblems.slot_tables import SlotTable
from ...terms import JobTerms


def forced_plans(
    job: JobTerms,
    tables: Sequence[SlotTable],
    scale: Scale,
    allow: Allow,
    forced: Sequence[bool],
) -> dict[int, Plan]:
    """Return the cheapest plan that is done by each slot and runs last in it.

    Slots for which a plan that ends earlier is as cheap are left out.

    Parameters
    ----------
    tables : sequence of SlotTable
        Of the slots from the arrival on.
    scale : Scale
    allow : function of (slot, internal, workers)
        Numbers of workers that are allowed.
    forced : sequence of bool
        Slots in which it has to run.
    """
    fronts = [allowed_front(table, scale, allow, job.arrival + k) for k, table in enumerate(tables)]
    last = max(k for k, must in enumerate(forced) if must)
    units, cost = np.zeros(1, dtype=np.int64), np.zeros(1)
    layers: list[tuple[Ints, Ints]] = []  # of each label: the one before it, the option taken
    out: dict[int, Plan] = {}
    least = np.inf
    for k, (options, must) in enumerate(zip(fronts, forced, strict=True)):
        units, cost, layer = _extended(units, cost, options, scale.level, must)
        layers.append(layer)
        if not len(units):
            break
        # Labels are in order of units, and of these the last has the most and costs the most.
        if k >= last and units[-1] >= scale.level and cost[-1] < least:
            least = float(cost[-1])
            steps = _steps(layers, len(units) - 1)
            uses = tuple(
                Use(job.arrival + j, bool(fronts[j].internal[o]), int(fronts[j].workers[o]))
                for j, o in steps
            )
            out[uses[-1].slot] = Plan(job, least, uses, tuple(tables[j] for j, _ in steps))
    return out


def _extended(
    units: Ints, cost: Floats, options: Front, level: int, must: bool
) -> tuple[Ints, Floats, tuple[Ints, Ints]]:
    """Return the undominated labels after one more slot, and their predecessors."""
    own = np.zeros(0, dtype=np.int64) if must else np.arange(len(units))
    label = np.repeat(np.arange(len(units)), len(options.progress))
    option = np.tile(np.arange(len(options.progress)), len(units))
    before = np.concatenate([own, label])
    taken = np.concatenate([np.full(len(own), -1), option])
    more = np.minimum(level, units[label] + options.progress[option])
    all_units = np.concatenate([units[own], more])
    all_costs = np.concatenate([cost[own], cost[label] + options.cost[option]])
    order = np.lexsort((taken, all_costs, -all_units))
    least = np.minimum.accumulate(np.concatenate([[np.inf], all_costs[order]]))[:-1]
    kept = order[all_costs[order] < least][::-1]
    return all_units[kept], all_costs[kept], (before[kept], taken[kept])


def _steps(layers: Sequence[tuple[Ints, Ints]], at: int) -> list[tuple[int, int]]:
    """Return the slots, by position, in which a label of the last layer runs, and its options."""
    steps = []
    for k in range(len(layers) - 1, -1, -1):
        before, taken = layers[k]
        if taken[at] >= 0:
            steps.append((k, int(taken[at])))
        at = int(before[at])
    return steps[::-1]
