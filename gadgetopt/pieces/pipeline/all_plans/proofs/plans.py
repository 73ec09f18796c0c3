r"""Proofs that no plan has a bound, or a schedule, below a number of seconds.

All plans are gone through, stage by stage from the first layer. What is known of the plan of the
first layers, besides its state (`devices`), is how long its head and its tail are:

- a transfer makes :math:`head + load + Z` a bound on every schedule, then head += c_f, Z += c_b;
- a stage makes :math:`head + load + \max(Z, A)` one, then head += F, :math:`Z = B + \max(Z, A)`;

where the load is that of M microbatches. (A machine cannot start before the head; after its load,
which ends with a backward block, that microbatch still passes back to a stage that then begins its
AllReduce.) On channels of full duplex, all times that follow are added to the bound: `passing`.

A plan of some layers is left where such a bound, or what the rest costs at least, reaches what is
to be proved; and where an earlier one of as many layers in the same state, with no longer head and
tail, was found to have no continuation below it. Of complete plans that are not left the exact
times are passed on.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.compiled import COMPILED
from gadgetopt.pieces.pipeline.all_plans.proofs.devices import Choice, Kind, State, devices_of
from gadgetopt.pieces.pipeline.all_plans.proofs.orders import Times
from gadgetopt.pieces.pipeline.all_plans.proofs.plan_loops import extended
from gadgetopt.pieces.pipeline.all_plans.proofs.ticks import (
    MOST_TICKS,
    Table,
    Ticks,
    in_flight,
    least_rests,
    most_ends,
)
from gadgetopt.pieces.pipeline.instance import PipelineInstance

#: Partial plans that a check goes through, at about 0.1 ms each, and numbers of the tables of what
#: is left.
MOST_PARTIAL_PLANS, MOST_NUMBERS = 400_000, 2**24
#: The bound may shrink to this part before ticks have to be made for it anew.
COARSE = Fraction(1, 2**10)
#: Stages that are looked at before the loop is compiled.
MOST_PLAIN = 300_000
#: Plans that are bounded exactly although only rounding made them miss the bound. Once there are
#: more of them, those that miss it by so many ticks are left out, and so much less is proved.
MOST_NEAR, NEAR = 1_000, 2**10


#: Stages so far: their choices and where they end.
Path = tuple[tuple[Choice, int], ...]


class Plans:
    """All plans of an instance, and a bound that shrinks to what is proved.

    Parameters
    ----------
    instance : PipelineInstance
    bound_s : Fraction
        What is to be proved, positive.
    proved_of : callable
        Of a plan's times and the bound, which its head, load and tail miss, a number of seconds
        that none of its schedules undercuts.

    Raises
    ------
    ModelRefused
        If there are too many.
    """

    def __init__(
        self,
        instance: PipelineInstance,
        bound_s: Fraction,
        proved_of: Callable[[Times, Fraction], Fraction],
    ):
        if (instance.num_gpus + 1) ** 2 * (instance.num_layers + 1) > MOST_NUMBERS:
            raise ModelRefused(
                f"layers: {instance.num_layers} on {instance.num_gpus} GPUs are too many to go "
                "through all plans"
            )
        self.instance = instance
        self.bound_s = self._claim_s = bound_s
        self.proved_of = proved_of
        self.devices = devices_of(instance)
        limited = instance.most_stages < min(instance.num_layers, instance.num_gpus)
        self.most_stages: int | None = instance.most_stages if limited else None
        self.states: list[State] = []
        self._numbers: dict[State, int] = {}
        self._choices: dict[int, tuple[list[Choice], Ints]] = {}
        self._start: int = self._number(self.devices.start)
        best = self._best_kinds()
        self.ticks: Ticks = Ticks(instance, self.devices, list(best.values()), bound_s)
        self._stages: Table[Kind] = Table(self.devices.kinds.values, self.ticks.stages)
        self._links: Table[Fraction] = Table(self.devices.links.values, self.ticks.transfers)
        self._most_end: Ints = most_ends(instance)
        self._rests: Ints = least_rests(self.ticks, best)
        #: Partial plans without continuation: layers, state and stages; head, tail and passing.
        self._without: dict[tuple[int, int, int], list[tuple[int, int, int]]] = {}
        self._left = MOST_PARTIAL_PLANS
        self._steps = self._near = 0
        self._least: int = MOST_TICKS

    def proved_s(self) -> Fraction | None:
        """Return a number of seconds below which there is no schedule, at most the bound.

        None if the bound shrank to less than ticks tell apart.
        """
        done = self._visit((0, self._start, 0), (0, 0, 0), ())
        if self.coarse:
            return None
        root = int(self._rests[:2, self.instance.num_gpus, 0, 0].max())
        least = min(root, MOST_TICKS) if done is None else self._least  # None: too many plans
        return min(self.bound_s, least * self.ticks.unit_s)

    @property
    def coarse(self) -> bool:
        """True if ticks are too long for what the bound has become."""
        return self.bound_s < COARSE * self._claim_s

    def _visit(
        self, at: tuple[int, int, int], numbers: tuple[int, int, int], path: Path
    ) -> bool | None:
        """Go through the continuations of a partial plan; return if there are none to be proved.

        None stands for having given up.
        """
        known = self._without.setdefault(at, [])
        if any(all(a <= b for a, b in zip(row, numbers, strict=True)) for row in known):
            return True
        if self._left == 0:
            return None
        self._left -= 1
        layer, state, stages = at
        if stages == self.most_stages:
            return True
        choices, rows = self._choices_of(state)
        none = True
        for c, end, head, tail, passing in self._extended(layer, numbers, rows):
            longer = (*path, (choices[c], end))
            if end == self.instance.num_layers:
                self._prove(longer)
                none = False
                if self.coarse:
                    return None
                continue
            counted = stages + 1 if self.most_stages is not None else 0
            found = self._visit((end, int(rows[c, 2]), counted), (head, tail, passing), longer)
            if found is None:
                return None
            none = none and found
        if none:
            known.append(numbers)
        return none

    def _extended(
        self, layer: int, numbers: tuple[int, int, int], rows: Ints
    ) -> list[tuple[int, ...]]:
        """Return choice, layers done, head, tail and passing of plans of one more stage."""
        ticks, below = self.ticks, self._below
        room = len(rows) * (self.instance.num_layers - layer)
        self._steps += room
        loop: Any
        found: Any
        tables: tuple[Any, ...]
        if COMPILED and self._steps > MOST_PLAIN:
            found = np.empty((room, 5), dtype=np.int64)
            tables = rows, self._stages.array, self._links.array, self._most_end, self._rests
            loop = extended
        else:
            found = [[0] * 5 for _ in range(room)]
            tables = rows.tolist(), self._stages.lists, self._links.lists, *self._lists
            loop = getattr(extended, "py_func", extended)
        sort = ticks.full_duplex, ticks.overlapping
        count, least = loop(layer, *numbers, below, *sort, *tables, found)
        self._least = min(self._least, int(least))
        kept = [tuple(map(int, row)) for row in found[:count]]
        return sorted(kept, key=lambda row: row[2] + row[3])

    @property
    def _below(self) -> int:
        """Ticks from which on a bound is high enough."""
        ticks = math.ceil(self.bound_s / self.ticks.unit_s)
        return ticks - NEAR if self._near > MOST_NEAR else ticks

    def _prove(self, path: Path) -> None:
        """Lower the bound to what is proved of a complete plan."""
        times = self._times(path)
        bound_s = times.head_load_tail_s(self.ticks.count, self.ticks.full_duplex)
        if bound_s >= self.bound_s:
            self._near += 1
        else:
            self.bound_s = min(self.bound_s, max(bound_s, self.proved_of(times, self.bound_s)))

    @cached_property
    def _lists(self) -> tuple[list[Any], list[Any]]:
        """Where stages end at the latest, and what the rest costs, as lists."""
        return self._most_end.tolist(), self._rests.tolist()

    # -- choices ------------------------------------------------------------------------------

    def _number(self, state: State) -> int:
        number = self._numbers.setdefault(state, len(self.states))
        if number == len(self.states):
            self.states.append(state)
        return number

    def _choices_of(self, state: int) -> tuple[list[Choice], Ints]:
        """Return the choices in a state, and their rows for the loop."""
        known = self._choices.get(state)
        if known is None:
            choices = list(self.devices.choices(self.states[state]))
            kinds = self.devices.kinds.values
            free = sum(count for _, count, _ in self.states[state].groups)
            rows = [
                (x.kind, x.link, self._number(x.after), r, free - r)
                for x, r in ((x, kinds[x.kind].replicas) for x in choices)
            ]
            known = choices, np.array(rows, dtype=np.int64).reshape(-1, 5)
            self._choices[state] = known
        return known

    def _best_kinds(self) -> dict[int, Kind]:
        """Return for each number of replicas a kind that is as good as any."""
        best: dict[int, Kind] = {}
        for choice in self._choices_of(self._start)[0]:
            kind = self.devices.kinds.values[choice.kind]
            r = kind.replicas
            other = best.get(r, kind)
            best[r] = Kind(max(kind.speed, other.speed), min(kind.allreduce, other.allreduce), r)
        return best

    def _times(self, path: Path) -> Times:
        """Return the exact times of a complete plan."""
        chain, ticks = self.instance.chain, self.ticks
        fwd, bwd, allreduce, limits = [], [], [], []
        first = 0
        for choice, end in path:
            kind = self.devices.kinds.values[choice.kind]
            if choice.link >= 0:
                link = self.devices.links.values[choice.link]
                fwd.append(chain.act_bytes[first - 1] * link + ticks.latency_s)
                bwd.append(chain.grad_bytes[first - 1] * link + ticks.latency_s)
                allreduce.append(Fraction(0))
            fwd.append((chain.fwd_sum_s[end] - chain.fwd_sum_s[first]) / kind.speed)
            bwd.append((ticks.backward[end] - ticks.backward[first]) / kind.speed)
            allreduce.append(self._exchange(kind, first, end))
            limits.append(in_flight(self.instance, first, end, kind.replicas))
            first = end
        return Times(tuple(fwd), tuple(bwd), tuple(allreduce), tuple(limits))

    def _exchange(self, kind: Kind, first: int, end: int) -> Fraction:
        """Return the AllReduce of a stage, or what is left of it after the last backward."""
        params, past = self.instance.chain.param_sum_bytes, self.instance.chain.bwd_sum_s
        if not self.ticks.overlapping:
            return kind.allreduce * (params[end] - params[first])
        return max(
            kind.allreduce * (params[k + 1] - params[first]) - (past[k] - past[first]) / kind.speed
            for k in range(first, end)
        )
