r"""The least largest load of all plans, :math:`W^*`, by dynamic programming over device states.

Of the first l layers on some GPUs the least possible largest load is all that the rest of a plan
needs to know:

.. math::
    W(l, x') = \min_{l' < l,\ x \to x'}
        \max\{W(l', x),\ M (C^f + C^b),\ M (F + B) + A\},

x being a state of the devices (`gadgetopt.pieces.pipeline.all_plans.device_states`). This is (S7)
of PRM over all mappings instead of blocks of one order. Every plan takes at least its largest load.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.pieces.pipeline.all_plans.device_states import DeviceStates
from gadgetopt.pieces.pipeline.all_plans.label_search import MOST_STAGES_ON_GPUS
from gadgetopt.pieces.pipeline.all_plans.stage_tables import NEVER, StageTables
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...algorithms.spp import spp
from ...instance import SppInstance
from ...work import even_work_s
from ..certificate import Plans, SppCertificate


@method(kind="relaxation", reference="(S5)", formulation="least_load")
def least_load(instance: SppInstance, limits: Limits) -> MethodOutcome:
    """W*: the least largest load of all plans, by dynamic programming.

    Return W*, in whole ticks rounded down.

    Raises
    ------
    ModelRefused
        If the GPUs are of no machines and too many.
    """
    clock = Clock(limits)
    known = spp(instance, clock.limits(0.5)).claimed_objective
    ticks, tick_s = least_load_ticks(instance, clock, None if known is None else Fraction(known))
    if ticks is None:
        return MethodOutcome(limit_hit="time_s")
    if ticks >= NEVER:
        return MethodOutcome(proved=Status.INFEASIBLE)
    bound_s = ticks * tick_s
    certificate = None
    if (instance.num_gpus * instance.num_layers) ** 2 <= MOST_STAGES_ON_GPUS:
        # No plan takes less than its largest load: a search of all plans finds none that does.
        certificate = SppCertificate(proof=Plans(bound_s=bound_s))
    return MethodOutcome(dual_bound=bound_s, certificate=certificate)


def least_load_ticks(
    instance: SppInstance, clock: Clock, known_s: Fraction | None = None
) -> tuple[int | None, Fraction]:
    """Return W* in ticks, `NEVER` without a plan, None if time runs out; and the seconds of a tick.

    Loads above a makespan that is known are left out.
    """
    states = DeviceStates(instance)
    tables = StageTables(instance, even_work_s(instance) or Fraction(1))
    cutoff = NEVER if known_s is None else -(-known_s // tables.tick_s)
    L, most = instance.num_layers, instance.most_stages
    counted = most < min(L, instance.num_gpus)
    # Of a state, and of the stages so far if they are limited: W of the first l layers.
    first = np.full(L + 1, NEVER, dtype=np.int64)
    first[0] = 0
    level: dict[tuple[int, int], Ints] = {(states.start, 0): first}
    best = NEVER
    while level:
        after: dict[tuple[int, int], Ints] = {}
        for (state, stages), W in level.items():
            if clock.expired:
                return None, tables.tick_s
            done = states.free(state) == 0 or not instance.options.use_all_gpus
            if done:
                best = min(best, int(W[L]))
            if counted and stages == most:
                continue
            for option in states.options(state):
                found = _extended(states, tables, W, option.kind, option.link)
                found[found > min(cutoff, best)] = NEVER
                if (found < NEVER).any():
                    key = (option.state, stages + 1 if counted else 0)
                    known = after.get(key)
                    after[key] = found if known is None else np.minimum(known, found)
        level = after
    return best, tables.tick_s


def _extended(states: DeviceStates, tables: StageTables, W: Ints, kind: int, link: int) -> Ints:
    """Return W after one more stage on devices of this kind, by its last layer."""
    stage = tables.stages(states.kinds[kind])
    load = np.minimum(stage.load + stage.allreduce, NEVER)
    before = W
    if link >= 0:
        times = tables.links(states.links[link])
        M = tables.count
        channel = np.maximum(times.fwd, times.bwd) if tables.full_duplex else times.fwd + times.bwd
        before = np.maximum(W, M * channel)
    found: Ints = np.maximum(before[:, None], load).min(axis=0)
    return found
