"""One more stage: the partial plans that a partial plan leads to, for checks of proofs.

A partial plan is its layers and a row of whole numbers (`Row`): head, tail and passing in ticks as
in `plans`, how many stages it has if they are limited, else 0, and the number of the state that
its GPUs are in (`devices`).
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.compiled import COMPILED
from gadgetopt.pieces.pipeline.all_plans.proofs.devices import Choice, Kind, State, devices_of
from gadgetopt.pieces.pipeline.all_plans.proofs.plan_loops import extended
from gadgetopt.pieces.pipeline.all_plans.proofs.ticks import (
    MOST_TICKS,
    Table,
    Ticks,
    least_rests,
    most_ends,
)
from gadgetopt.pieces.pipeline.instance import PipelineInstance

#: Stages that are looked at before the loop is compiled: as many take plain Python about as long
#: as compiling. Tuned: `benchmarks/constants.py`.
MOST_PLAIN = 300_000

#: Head, tail and passing, stages, number of the state.
Row = tuple[int, int, int, int, int]


class Steps:
    """What one more stage makes of partial plans of an instance.

    Parameters
    ----------
    instance : PipelineInstance
    bound_s : Fraction
        The largest bound that is asked about, positive.

    Attributes
    ----------
    least : int
        The least bound, in ticks, of what was left out so far.
    """

    start: Row = (0, 0, 0, 0, 0)

    def __init__(self, instance: PipelineInstance, bound_s: Fraction):
        self.instance = instance
        self.devices = devices_of(instance)
        limited = instance.most_stages < min(instance.num_layers, instance.num_gpus)
        self.most_stages: int | None = instance.most_stages if limited else None
        self.states: list[State] = []
        self._numbers: dict[State, int] = {}
        self._choices: dict[int, tuple[list[Choice], Ints]] = {}
        self._number(self.devices.start)
        best = self._best_kinds()
        self.ticks: Ticks = Ticks(instance, self.devices, list(best.values()), bound_s)
        self._stages: Table[Kind] = Table(self.devices.kinds.values, self.ticks.stages)
        self._links: Table[Fraction] = Table(self.devices.links.values, self.ticks.transfers)
        self._most_end: Ints = most_ends(instance)
        self._rests: Ints = least_rests(self.ticks, best)
        self._looked_at = 0
        self.least: int = MOST_TICKS

    @property
    def root(self) -> int:
        """Ticks that every plan takes."""
        return int(self._rests[:2, self.instance.num_gpus, 0, 0].max())

    @property
    def compiled(self) -> bool:
        """Whether loops are compiled by now."""
        return COMPILED and self._looked_at > MOST_PLAIN

    def after(self, layer: int, row: Row, below: int) -> Ints:
        """Return partial plans of one more stage that may end below a number of ticks.

        Returns
        -------
        numpy.ndarray, shape (any, 7)
            The number of the choice among those of the state, layers done, and rows.
        """
        head, tail, passing, stages, state = row
        if stages == self.most_stages:
            return np.zeros((0, 7), dtype=np.int64)
        rows = self.choices_of(state)[1]
        room = len(rows) * (self.instance.num_layers - layer)
        self._looked_at += room
        loop: Any
        found: Any
        tables: tuple[Any, ...]
        if self.compiled:
            found = np.empty((room, 5), dtype=np.int64)
            tables = rows, self._stages.array, self._links.array, self._most_end, self._rests
            loop = extended
        else:
            found = [[0] * 5 for _ in range(room)]
            tables = rows.tolist(), self._stages.lists, self._links.lists, *self._lists
            loop = extended.plain
        sort = self.ticks.count, self.ticks.full_duplex, self.ticks.overlapping
        count, least = loop(layer, head, tail, passing, below, *sort, *tables, found)
        self.least = min(self.least, int(least))
        longer = np.empty((count, 7), dtype=np.int64)
        longer[:, :5] = np.asarray(found[:count], dtype=np.int64).reshape(-1, 5)
        longer[:, 5] = stages + 1 if self.most_stages is not None else 0
        longer[:, 6] = rows[longer[:, 0], 2]
        return longer

    @cached_property
    def _lists(self) -> tuple[list[Any], list[Any]]:
        """Where stages end at the latest, and what the rest costs, as lists."""
        return self._most_end.tolist(), self._rests.tolist()

    def _number(self, state: State) -> int:
        number = self._numbers.setdefault(state, len(self.states))
        if number == len(self.states):
            self.states.append(state)
        return number

    def choices_of(self, state: int) -> tuple[list[Choice], Ints]:
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
        for choice in self.choices_of(0)[0]:
            kind = self.devices.kinds.values[choice.kind]
            r = kind.replicas
            other = best.get(r, kind)
            best[r] = Kind(max(kind.speed, other.speed), min(kind.allreduce, other.allreduce), r)
        return best
