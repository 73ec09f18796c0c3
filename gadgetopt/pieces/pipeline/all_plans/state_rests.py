r"""What the rest of a plan costs, exactly, by the state of the GPUs and the layers done.

With head h and tail Z so far, a rest with the numbers u and v of `stage_tables` makes the bound of
the whole plan at least :math:`\max(h + Z + u, h + v)`, and no number of the rest but these two
matters. So of all rests that begin with the same layer in the same state, the pairs (u, v) that no
other pair is as good as say all: a staircase. They follow from the last stage to the first. Pairs
with which no plan is below a number of ticks are left out, so staircases are short: about twenty
pairs for published profiles on sixteen GPUs.

With them the least bound of all plans is known without a search, and a walk through all plans below
a number of ticks (`walk`) takes no step in vain.

If it is asked for, loads are raised by ways: after its M forwards on a machine the last microbatch
still passes all later machines, there and back, and before its M backwards the first one did. For
that the least sum of the times to come is enough, one number for each state and layer. It says
most where one direction takes longer than the other, as for networks that only infer.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.memory import MOST_CELLS
from gadgetopt.pieces.pipeline.all_plans.device_states import DeviceStates
from gadgetopt.pieces.pipeline.all_plans.rest_loops import fronts_of, joined_fronts
from gadgetopt.pieces.pipeline.all_plans.stage_tables import NEVER, StageTables
from gadgetopt.search.clock import Clock

#: States, options of all of them, and numbers of all staircases, beyond which there are no tables.
MOST_STATES, MOST_OPTIONS, MOST_PAIRS = 20_000, 400_000, MOST_CELLS // 8


class StateTables:
    """Options, stages and links of all states that a plan can meet, as arrays.

    Attributes
    ----------
    options : array of int, shape (any, 3)
        Kind, link (-1 for none) and state after.
    option_starts : array of int, shape (states + 1,)
        Where the options of each state begin.
    devices : list of tuple of int
        Of each option.
    stages : array of int, shape (kinds, 4, L + 1, L + 1)
        F, B, A and load.
    links : array of int, shape (links, 3, L + 1)
        c_f, c_b and load.
    """

    def __init__(self, states: DeviceStates, tables: StageTables):
        self.states, self.tables = states, tables
        rows: list[tuple[int, int, int]] = []
        starts = [0]
        self.devices: list[tuple[int, ...]] = []
        for state in range(len(states.states)):
            for option in states.options(state):
                rows.append((option.kind, option.link, option.state))
                self.devices.append(option.devices)
            starts.append(len(rows))
        self.options: Ints = np.array(rows, dtype=np.int64).reshape(-1, 3)
        self.option_starts: Ints = np.array(starts, dtype=np.int64)
        kinds = [tables.stages(kind) for kind in states.kinds]
        self.stages: Ints = np.array([(t.fwd, t.bwd, t.allreduce, t.load) for t in kinds])
        links = [tables.links(factor) for factor in states.links]
        width = tables.instance.num_layers + 1
        self.links: Ints = np.array(
            [(t.fwd, t.bwd, t.load) for t in links] or np.zeros((1, 3, width)), dtype=np.int64
        )

    @staticmethod
    def made(states: DeviceStates, tables: StageTables, clock: Clock) -> StateTables | None:
        """Return the tables; None if states are too many, or time ran out."""
        options, state = 0, 0
        while state < len(states.states):
            options += len(states.options(state))
            state += 1
            if len(states.states) > MOST_STATES or options > MOST_OPTIONS or clock.expired:
                return None
        width = (tables.instance.num_layers + 1) ** 2
        if 4 * width * len(states.kinds) > MOST_CELLS:
            return None
        return StateTables(states, tables)


@dataclass(frozen=True)
class StateRests:
    """Staircases of all rests with which a plan may be below a number of ticks.

    Attributes
    ----------
    below : int
    starts : array of int, shape (states, L + 2)
        Where each staircase begins in `us` and `vs`.
    us, vs : array of int
    least : int
        The least bound of all plans, at most `below`.
    ways : array of int, shape (states, L + 1)
        Least sum of the times, forward and backward, of all machines to come, by state and layers
        done; `NEVER` where there is no rest, and far below 0 if they are not to be taken into
        account.
    """

    below: int
    starts: Ints
    us: Ints
    vs: Ints
    least: int
    ways: Ints


def rests_below(
    of: StateTables, below: int, clock: Clock, *, onward: bool = False
) -> StateRests | None:
    """Return all staircases; None if they are too large, or time ran out.

    Parameters
    ----------
    of : StateTables
    below : int
    clock : Clock
    onward : bool
        Whether bounds take the way of a microbatch to the end and back into account.
    """
    instance, states = of.tables.instance, of.states
    width = instance.num_layers + 2
    least = _least_heads_and_tails(of)
    starts = np.zeros((len(states.states), width), dtype=np.int64)
    us, vs, *front = (np.zeros(MOST_PAIRS, dtype=np.int64) for _ in range(4))
    ways = np.full((len(states.states), instance.num_layers + 1), NEVER, dtype=np.int64)
    fronts: dict[tuple[int, int], tuple[Ints, ...]] = {}
    written = kept = 0
    for state in sorted(range(len(states.states)), key=states.free):
        if clock.expired:
            return None
        options = of.options[of.option_starts[state] : of.option_starts[state + 1]]
        is_end = states.free(state) == 0 or not instance.options.use_all_gpus
        if is_end:
            ways[state, -1] = 0 if onward else -NEVER
        parts = []
        for kind, _, after in options.tolist():
            if (kind, after) not in fronts:
                own = np.zeros(width, dtype=np.int64)
                way = np.zeros(width - 1, dtype=np.int64)
                rest = starts[after], ways[after], us, vs
                filled = own, way, *front
                size = fronts_of(
                    of.stages, kind, instance.num_microbatches, *rest, least, below, *filled
                )
                kept += size
                if size < 0 or kept > MOST_PAIRS:
                    return None
                fronts[kind, after] = own, way, front[0][:size].copy(), front[1][:size].copy()
            parts.append(fronts[kind, after])
        sizes = np.cumsum([0, *(len(part[2]) for part in parts)])
        option_starts = np.array(
            [part[0] + size for part, size in zip(parts, sizes[:-1], strict=True)], dtype=np.int64
        ).reshape(-1, width)
        none = np.zeros(0, dtype=np.int64)
        written = joined_fronts(
            np.ascontiguousarray(options[:, 1]),
            of.links,
            instance.num_microbatches,
            option_starts,
            np.array([part[1] for part in parts], dtype=np.int64).reshape(-1, width - 1),
            np.concatenate([none, *(part[2] for part in parts)]),
            np.concatenate([none, *(part[3] for part in parts)]),
            least,
            below,
            is_end,
            starts[state],
            ways[state],
            us,
            vs,
            written,
        )
        if written < 0:
            return None
    root = vs[starts[states.start, 0] : starts[states.start, 1]]
    least_of_all = int(min(root, default=below))
    return StateRests(below, starts, us[:written].copy(), vs[:written].copy(), least_of_all, ways)


def _least_heads_and_tails(of: StateTables) -> Ints:
    """Return least heads and tails of plans of so many layers: all GPUs share them evenly."""
    instance = of.tables.instance
    return np.array(of.tables.least_times(sum(instance.cluster.gpu_speeds, Fraction(0))))
