r"""Search over all plans by labels: the least head-load-tail bound, or every plan below a cutoff.

A label is a plan of the first l layers. What its continuations cost depends on the state of the
devices and on three numbers, all of which only hurt when larger: the largest bound of a machine so
far $L_{max}$, the head $\sum f$, and the tail $Z = \max_s (\sum_{i \ge s} b_i + a_s)$:

- a transfer makes $L_{max} = \max(L_{max}, head + load + Z)$, head += c_f, Z += c_b;
- a stage makes $L_{max} = \max(L_{max}, head + load + \max(Z, A))$, head += F,
  $Z = B + \max(Z, A)$.

With channels of full duplex a fourth number K is the largest bound of a channel so far, to which
the forward and backward times of all later machines are added.

So among labels of one state those that another dominates can be left out when only the least
bound is wanted. Labels that cannot be completed below the cutoff are left out anyway
(`stage_tables.Completions`). All numbers are whole ticks that the times were rounded down to, so
that values are lower bounds, exactly.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.compiled import COMPILED
from gadgetopt.numbers.memory import MOST_CELLS
from gadgetopt.pieces.pipeline.all_plans.device_states import DeviceStates
from gadgetopt.pieces.pipeline.all_plans.found_plans import FoundPlan, LabelOutcome
from gadgetopt.pieces.pipeline.all_plans.labels import Labels, undominated
from gadgetopt.pieces.pipeline.all_plans.plan_walk import PlanWalk
from gadgetopt.pieces.pipeline.all_plans.stage_tables import (
    NEVER,
    REFERENCE_TICKS,
    Completions,
    StageTables,
    least_work_s,
)
from gadgetopt.pieces.pipeline.all_plans.state_rests import StateTables
from gadgetopt.pieces.pipeline.bound import head_load_tail
from gadgetopt.pieces.pipeline.instance import PipelineInstance
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.pieces.pipeline.shop import shop_of
from gadgetopt.search.clock import Clock

#: Elements of the arrays that are computed at a time. Tuned: `benchmarks/constants.py`.
CHUNK = 2**20
#: Labels beyond which a search gives up.
MOST_LABELS = 2 * MOST_CELLS // 5
#: Stages on all numbers of replicas (V^2 L^2) beyond which tables take too long.
#: Tuned: `benchmarks/constants.py`.
MOST_STAGES_ON_GPUS = 2**30
#: Layers times GPUs up to which labels are as fast as walks, whose loops have to be loaded.
#: Tuned: `benchmarks/constants.py`.
FEW_STAGES = 64
#: Cutoffs of successive searches, as multiples of the bound at the root.
#: Tuned: `benchmarks/constants.py`.
LADDER = (1.0005, 1.002, 1.005, 1.01, 1.02, 1.04, 1.08, 1.16, 1.32, 1.64, 2.5, 5.0, 20.0, 1e3, 1e6)


class PlanSpace:
    """All plans of an instance, to be searched several times.

    Parameters
    ----------
    instance : PipelineInstance
    onward : bool
        Whether walks may take bounds of more than heads, loads and tails (`state_rests`): for
        those who ask for schedules.
    """

    def __init__(self, instance: PipelineInstance, *, onward: bool = False):
        work = (instance.num_gpus * instance.num_layers) ** 2
        if work > MOST_STAGES_ON_GPUS:
            raise ModelRefused(
                f"layers: {instance.num_layers} on {instance.num_gpus} GPUs are too many to search "
                f"all plans; layers times GPUs at most {math.isqrt(MOST_STAGES_ON_GPUS)}"
            )
        self.instance, self.onward = instance, onward
        self.states: DeviceStates = DeviceStates(instance)
        self._measure(least_work_s(instance))
        while 8 * REFERENCE_TICKS < self.root_ticks < NEVER:
            self._measure(self.root_ticks * self.tick_s)
        self.layers: int = instance.num_layers
        limited = instance.most_stages < min(instance.num_layers, instance.num_gpus)
        self.most_stages: int | None = instance.most_stages if limited else None
        self._slices: dict[int, tuple[int, int]] = {}
        self._groups: dict[Hashable, int] = {}
        self._rows: list[tuple[int, int, int, int, int]] = []
        self._options = np.zeros((0, 5), dtype=np.int64)
        self._devices: list[tuple[int, ...]] = []
        self._walk: PlanWalk | None = None
        #: Whether walks are still to be tried.
        self._walkable: bool = (
            COMPILED
            and not limited
            and not self.tables.full_duplex
            and instance.num_gpus * instance.num_layers > FEW_STAGES
        )

    def _measure(self, reference_s: Fraction) -> None:
        """Compute all times in ticks that suit a lower bound on the makespan."""
        self.tables: StageTables = StageTables(self.instance, reference_s)
        self.completions: Completions = Completions(self.tables)

    @property
    def tick_s(self) -> Fraction:
        """Seconds of a tick."""
        return self.tables.tick_s

    @property
    def root_ticks(self) -> int:
        """Lower bound on the bound of every plan, without search."""
        free = self.instance.num_gpus
        u, v, w = (x[free, 0, 0] for x in self.completions.bounds)
        return int(min(max(u, v, w), NEVER))

    def ticks_above(self, seconds: Fraction) -> int:
        """Return the least number of ticks that is no less than a time, at most `NEVER`."""
        return int(min(-(-seconds // self.tick_s), NEVER))

    # -- options as arrays ----------------------------------------------------------------------

    def _slice(self, state: int) -> tuple[int, int]:
        """Return where the options of a state begin in the option arrays, and how many they are."""
        if state not in self._slices:
            options = self.states.options(state)
            self._slices[state] = (len(self._rows), len(options))
            for option in options:
                replicas = self.states.kinds[option.kind].replicas
                free = self.states.free(option.state)
                self._rows.append((option.kind, option.link, option.state, replicas, free))
                self._devices.append(option.devices)
        return self._slices[state]

    def option_rows(self) -> Ints:
        """Return kind, link, next state, replicas and free GPUs after of all options so far."""
        if len(self._options) < len(self._rows):
            self._options = np.array(self._rows, dtype=np.int64).reshape(-1, 5)
        return self._options

    # -- search ---------------------------------------------------------------------------------

    def search(
        self,
        cutoff: int,
        clock: Clock,
        *,
        dominance: bool,
        most_labels: int = MOST_LABELS,
        enough: int = NEVER,
    ) -> LabelOutcome:
        """Search the plans whose bound is below a cutoff.

        Parameters
        ----------
        cutoff : int
            In ticks.
        clock : Clock
        dominance : bool
            True to find the least bound and one plan that has it; False to find all plans.
        most_labels : int
        enough : int
            Plans are not of interest of which no schedule takes less than so many ticks; some of
            them may be left out.
        """
        walked = self._walked(cutoff, clock, enough, one=dominance)
        if walked is not None:
            return walked
        buckets: list[list[Labels]] = [[] for _ in range(self.layers + 1)]
        buckets[0] = [self._root()]
        kept: list[Labels] = []
        made = 0
        complete = True
        open_ticks = cutoff
        for layer in range(self.layers):
            labels = self._gathered(buckets[layer], dominance=dominance)
            buckets[layer] = []
            kept.append(labels)
            tables = None
            for part in self._pairs(labels, layer, clock):
                # By now the kinds and links of all options of these labels are known.
                tables = tables or (self._stages_at(layer), self._links_at(layer))
                made += self._expand(labels, layer, part, tables, cutoff, buckets)
                if clock.expired or made > most_labels:
                    break
            if clock.expired or made > most_labels:
                waiting = [labels, *(x for bucket in buckets for x in bucket)]
                bounds = [int(x.bound.min()) for x in waiting if len(x)]
                open_ticks, complete = min([cutoff, *bounds]), not bounds
                break
        if not buckets[self.layers]:
            return LabelOutcome([], open_ticks, complete, made)
        last = Labels.joined(buckets[self.layers])
        order = np.argsort(last.bound, kind="stable")
        few = dominance or not complete
        plans = [self._found(last, int(i), kept) for i in (order[:1] if few else order)]
        ticks = min(open_ticks, plans[0].ticks) if few else cutoff
        return LabelOutcome(plans, ticks, complete, made)

    def _walked(self, cutoff: int, clock: Clock, enough: int, *, one: bool) -> LabelOutcome | None:
        """Return what a walk finds; None if there are no tables for it."""
        if self._walkable and self._walk is None:
            made = StateTables.made(self.states, self.tables, clock)
            self._walk = None if made is None else PlanWalk(made, onward=self.onward)
        rests = None if self._walk is None else self._walk.rests(cutoff, clock)
        if self._walk is None or rests is None:
            self._walkable, self._walk = False, None
            return None
        if one:
            return self._walk.best(rests, cutoff, clock)
        return self._walk.below(rests, cutoff, clock, enough)

    def _root(self) -> Labels:
        zero = np.zeros(1, dtype=np.int64)
        start = zero + self.states.start * self._stage_base
        return Labels(start, zero, zero, zero, zero, zero + self.root_ticks, zero - 1, zero - 1)

    @property
    def _stage_base(self) -> int:
        """State numbers are multiplied by this to count stages, if their number is limited."""
        return 1 if self.most_stages is None else self.most_stages + 1

    def _gathered(self, parts: list[Labels], *, dominance: bool) -> Labels:
        """Return the labels of a number of layers, sorted by state."""
        if not parts:
            return self._root().chosen(np.zeros(0, dtype=np.int64))
        labels = Labels.joined(parts)
        if not dominance:
            return labels.chosen(np.argsort(labels.state, kind="stable"))
        standing = self._standing(labels.state)
        order = np.lexsort((labels.head, labels.largest, standing[:, 0]))
        labels = labels.chosen(order)
        labels = labels.chosen(undominated(labels, standing[order]))
        return labels.chosen(np.argsort(labels.state, kind="stable"))

    def _standing(self, states: Ints) -> Ints:
        """Return group, negated replicas, home and stages of each label's state."""
        distinct, where = np.unique(states, return_inverse=True)
        rows = []
        for state in distinct.tolist():
            number, stages = divmod(state, self._stage_base)
            free, replicas, home = self.states.rules.standing(self.states.states[number])
            group = self._groups.setdefault(free, len(self._groups))
            rows.append((group, -replicas, home, stages))
        return np.array(rows, dtype=np.int64)[where]

    def _pairs(self, labels: Labels, layer: int, clock: Clock) -> Iterator[tuple[Ints, Ints]]:
        """Yield label and option numbers of all expansions, some at a time, while time is left."""
        if not len(labels):
            return
        states, first, size = np.unique(
            labels.state // self._stage_base, return_index=True, return_counts=True
        )
        slices = []
        for state in states.tolist():
            if clock.expired:
                return
            slices.append(self._slice(state))
        most = max(1, CHUNK // (self.layers - layer))
        which: list[Ints] = []
        what: list[Ints] = []
        total = 0
        for (begin, options), start, number in zip(slices, first, size, strict=True):
            if not options:
                continue
            step = max(1, most // options)
            for low in range(start, start + number, step):
                high = min(low + step, start + number)
                which.append(np.repeat(np.arange(low, high), options))
                what.append(np.tile(np.arange(begin, begin + options), high - low))
                total += len(which[-1])
                if total >= most:
                    yield np.concatenate(which), np.concatenate(what)
                    which, what, total = [], [], 0
        if which:
            yield np.concatenate(which), np.concatenate(what)

    def _expand(
        self,
        labels: Labels,
        layer: int,
        pairs: tuple[Ints, Ints],
        tables: tuple[tuple[Ints, ...], tuple[Ints, ...]],
        cutoff: int,
        buckets: list[list[Labels]],
    ) -> int:
        """Put labels of all next stages below the cutoff into their buckets; return how many."""
        which, what = pairs
        rows = self.option_rows()
        stage_of = labels.state[which] % self._stage_base
        if self.most_stages is not None:
            allowed = stage_of < self.most_stages
            which, what, stage_of = which[allowed], what[allowed], stage_of[allowed]
        kind, link, state, replicas, free = rows[what].T
        largest, head, tail = labels.largest[which], labels.head[which], labels.tail[which]
        onward = labels.onward[which]
        (fwd, bwd, reduce, work), (passing_f, passing_b, passing_load) = tables
        # Entry -1, of the first stage's missing link, is the last of each array: zeros.
        load = passing_load[link]
        c_f, c_b = passing_f[link], passing_b[link]
        through = head + load + tail
        if self.tables.full_duplex:
            onward = np.maximum(onward + c_f + c_b, np.where(link < 0, 0, through))
        else:
            largest = np.maximum(largest, np.where(link < 0, 0, through))
        head, tail = head + c_f, tail + c_b
        alive = np.maximum(largest, onward) < cutoff
        if not alive.all():
            which, what, stage_of, kind, state, replicas, free, largest, head, tail, onward = (
                x[alive]
                for x in (
                    which, what, stage_of, kind, state, replicas, free, largest, head, tail, onward,
                )
            )  # fmt: skip
        f, b = fwd[kind], bwd[kind]
        above = np.maximum(tail[:, None], reduce[kind])
        new_largest = np.maximum(largest[:, None], head[:, None] + work[kind] + above)
        new_head = head[:, None] + f
        new_tail = b + above
        u, v, w = (x[free, replicas, layer + 1 :] for x in self.completions.bounds)
        bound = np.maximum(new_largest, np.maximum(new_head + new_tail + u, new_head + v))
        new_onward = onward[:, None] + f + b
        if self.tables.full_duplex:
            bound = np.maximum(bound, new_onward + w)
        pair, column = np.nonzero(bound < cutoff)
        if not len(pair):
            return 0
        number = state * self._stage_base
        if self.most_stages is not None:
            number = number + stage_of + 1
        made = Labels(
            state=number[pair],
            largest=new_largest[pair, column],
            head=new_head[pair, column],
            tail=new_tail[pair, column],
            onward=new_onward[pair, column] * int(self.tables.full_duplex),
            bound=bound[pair, column],
            parent=which[pair] * (self.layers + 1) + layer,
            option=what[pair],
        )
        order = np.argsort(column, kind="stable")
        ends = np.searchsorted(column[order], np.arange(self.layers - layer + 1))
        for k in range(self.layers - layer):
            if ends[k] < ends[k + 1]:
                buckets[layer + 1 + k].append(made.chosen(order[ends[k] : ends[k + 1]]))
        return len(made)

    def _stages_at(self, first: int) -> tuple[Ints, Ints, Ints, Ints]:
        """Return F, B, A and load by kind and end of stages from a layer on."""
        tables = [self.tables.stages(kind) for kind in self.states.kinds]
        after = slice(first + 1, None)
        return (
            np.array([t.fwd[first, after] for t in tables]),
            np.array([t.bwd[first, after] for t in tables]),
            np.array([t.allreduce[first, after] for t in tables]),
            np.array([t.load[first, after] for t in tables]),
        )

    def _links_at(self, layer: int) -> tuple[Ints, Ints, Ints]:
        """Return c_f, c_b and load by link at the boundary before a layer; zeros at the end."""
        tables = [self.tables.links(factor) for factor in self.states.links]
        rows = [(t.fwd[layer], t.bwd[layer], t.load[layer]) for t in tables]
        f, b, load = np.array([*rows, (0, 0, 0)], dtype=np.int64).T
        return f, b, load

    def _found(self, last: Labels, i: int, kept: list[Labels]) -> FoundPlan:
        """Return the plan of a complete label."""
        cuts, devices = [self.layers], []
        labels, k = last, i
        while labels.parent[k] >= 0:
            devices.append(self._devices[int(labels.option[k])])
            k, layer = divmod(int(labels.parent[k]), self.layers + 1)
            labels = kept[layer]
            cuts.append(layer)
        cuts.reverse()
        layers = tuple(itertools.pairwise(cuts))
        plan = Plan(stage_layers=layers, stage_devices=self.states.rules.replay(devices[::-1]))
        ticks = int(last.bound[i])
        return FoundPlan(lambda: plan, ticks, ticks)

    def least_bound(self, clock: Clock, cutoff: int = NEVER) -> LabelOutcome:
        """Return the least bound of all plans, by searches below ever larger cutoffs.

        Parameters
        ----------
        clock : Clock
        cutoff : int
            In ticks; plans that are not below it are of no interest.
        """
        if cutoff < NEVER and self._walkable:
            return self.search(cutoff, clock, dominance=True)
        root = self.root_ticks
        outcome = LabelOutcome([], min(root, cutoff), True, 0)
        for factor in (*LADDER, None):
            rung = cutoff if factor is None else min(cutoff, int(root * factor) + 1)
            if outcome.plans:
                break
            if rung <= outcome.ticks:  # known; all rungs but the last, if the root is 0
                continue
            found = self.search(rung, clock, dominance=True)
            ticks = max(outcome.ticks, found.ticks)
            outcome = LabelOutcome(found.plans, ticks, found.complete, found.labels)
            if not found.complete or rung == cutoff:
                break
        return outcome


def plan_bound_s(instance: PipelineInstance, plan: Plan) -> Fraction:
    """Return the head-load-tail bound of a plan in seconds, exactly."""
    return head_load_tail(shop_of(instance, plan)).value_s
