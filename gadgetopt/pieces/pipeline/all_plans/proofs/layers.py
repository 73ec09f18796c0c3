"""Partial plans that no plan below a bound continues, found layer by layer.

All partial plans of as many layers are looked at together, and those that another one is as good as
are left out: whose head, tail, passing and stages are not less, and whose GPUs can do nothing that
the other one's cannot (`devices`: `ground`, `may_replace`, and no more replicas of the last stage).
Every continuation of one that was left out is one of the other plan too, GPU by GPU, and no time of
it is longer; so its bound is not lower. That times are rounded down to ticks changes nothing: the
numbers of the other plan, and its times from there on, in ticks, are at most the exact ones of the
plan that was left out.

What is left is continued by one more stage. Afterwards, from the last layer to the first, a partial
plan is open if one of its continuations is complete, or open, or was left out for one that is open.
All others are closed: no plan below the bound continues them, or what they are as good as.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gadgetopt.numbers.arrays import Bools, Ints
from gadgetopt.numbers.memory import MOST_CELLS
from gadgetopt.pieces.pipeline.all_plans.proofs.plan_loops import first_as_good, first_of_each
from gadgetopt.pieces.pipeline.all_plans.proofs.steps import Row, Steps

#: Numbers of all partial plans at a time: three tables.
MOST_WAITING = 3 * MOST_CELLS
#: Columns of a partial plan that waits: its row, and the layers and place of what it continues.
#: By definition.
COLUMNS = 7


class Grounds:
    """What of the GPUs of partial plans is compared, numbered as it is met."""

    def __init__(self, steps: Steps):
        self._devices, self._states = steps.devices, steps.states
        self.values: list[Any] = []
        #: Of each ground, those that may replace it.
        self.better: list[list[int]] = []
        self._numbers: dict[Hashable, int] = {}
        self._families: dict[Hashable, list[int]] = {}
        self._of_state: dict[int, tuple[int, int]] = {}

    def of(self, state: int) -> tuple[int, int]:
        """Return the ground of a state, and its replicas negated."""
        known = self._of_state.get(state)
        if known is None:
            ground = self._devices.ground(self._states[state])
            number = self._numbers.setdefault(ground, len(self.values))
            if number == len(self.values):
                self._add(ground, number)
            known = self._of_state[state] = number, -self._states[state].last
        return known

    def _add(self, ground: Any, number: int) -> None:
        self.values.append(ground)
        family = self._families.setdefault(self._devices.family(ground), [])
        family.append(number)
        may_replace = self._devices.may_replace
        self.better.append([k for k in family if may_replace(self.values[k], ground)])
        for k in family[:-1]:
            if may_replace(ground, self.values[k]):
                self.better[k].append(number)


@dataclass
class _Layer:
    """All partial plans of as many layers: what they continue, and which stands for each."""

    came_from: Ints
    stands_for_it: Ints
    #: Numbers that are compared, and grounds, of those that are left.
    numbers: Ints
    grounds: Ints
    is_open: Bools


class Closed:
    """Partial plans that no plan below a bound continues.

    Parameters
    ----------
    steps : Steps
    below : int
        The bound, in ticks.
    most : int
        Partial plans that may be continued.
    """

    def __init__(self, steps: Steps, below: int, most: int):
        self._steps = steps
        self._compiled = steps.compiled
        self._grounds = Grounds(steps)
        self._better: dict[int, Any] = {}
        layers = self._layers(below, most)
        #: For each number of layers: first partial plan of each ground, the next, and numbers.
        self._chains: list[tuple[Any, Any, Any]] = []
        if layers is not None:
            _close(layers)
            self._chains = [self._chained(layer) for layer in layers]
        self._met: int = len(self._grounds.values)

    def __contains__(self, plan: tuple[int, Row]) -> bool:
        """Return True if a partial plan, by its layers and row, is closed."""
        layer, row = plan
        if not self._chains:
            return False
        ground, replicas = self._grounds.of(row[4])
        better = self._better.get(ground)
        if better is None:
            better = [k for k in self._grounds.better[ground] if k < self._met]
            self._better[ground] = better = self._rows(np.array(better, dtype=np.int64))
        numbers = self._rows(np.array([*row[:4], replicas], dtype=np.int64))
        return bool(self._loop(first_as_good)(numbers, better, *self._chains[layer]) >= 0)

    def _layers(self, below: int, most: int) -> list[_Layer] | None:
        """Return all layers; None if partial plans are too many."""
        count = self._steps.instance.num_layers
        root = np.array([[*self._steps.start, 0, 0]], dtype=np.int64)
        waiting: list[list[Ints]] = [[root], *([] for _ in range(count - 1))]
        layers: list[_Layer] = []
        numbers = 0
        for layer in range(count):
            plans = np.concatenate([np.zeros((0, COLUMNS), dtype=np.int64), *waiting[layer]])
            waiting[layer] = []
            found, left = self._compared(plans)
            layers.append(found)
            most -= len(left)
            if most < 0:
                return None
            for k, row in enumerate(left.tolist()):
                after = self._steps.after(layer, tuple(row), below)
                ends = after[:, 1]
                found.is_open[k] = bool((ends == count).any())
                numbers += COLUMNS * len(after)
                if numbers > MOST_WAITING:
                    return None
                longer = np.empty((len(after), COLUMNS), dtype=np.int64)
                longer[:, :5] = after[:, 2:]
                longer[:, 5:] = layer, k
                for end in np.unique(ends[ends < count]).tolist():
                    waiting[end].append(longer[ends == end])
        return layers

    def _compared(self, plans: Ints) -> tuple[_Layer, Ints]:
        """Return partial plans of as many layers, and the rows of those that are left."""
        states, which = np.unique(plans[:, 4], return_inverse=True)
        of = np.array([self._grounds.of(state) for state in states.tolist()], dtype=np.int64)
        grounds, replicas = of.reshape(-1, 2)[which].T
        numbers = np.column_stack([plans[:, :4], replicas])
        # Those that may stand for others first. Where all numbers are equal the ground tells.
        ranks = np.empty(len(self._grounds.values), dtype=np.int64)
        ranks[sorted(range(len(ranks)), key=self._grounds.values.__getitem__)] = range(len(ranks))
        order = np.lexsort((ranks[grounds], *numbers.T[::-1]))
        plans, numbers, grounds = plans[order], numbers[order], grounds[order]
        first = self._first_of_each(numbers, grounds)
        is_left = first == np.arange(len(first))
        place = np.cumsum(is_left) - 1
        layer = _Layer(
            came_from=plans[:, 5:],
            stands_for_it=place[first],
            numbers=numbers[is_left],
            grounds=grounds[is_left],
            is_open=np.zeros(int(is_left.sum()), dtype=bool),
        )
        return layer, plans[is_left, :5]

    def _first_of_each(self, numbers: Ints, grounds: Ints) -> Ints:
        """Return for each row the first one that is as good, which may be itself."""
        present = set(np.unique(grounds).tolist())
        better, starts = [], [0]
        for ground, others in enumerate(self._grounds.better):
            better += [k for k in others if k in present] if ground in present else []
            starts.append(len(better))
        tables = numbers, grounds, np.array(starts), np.array(better, dtype=np.int64)
        none = np.full(len(starts), -1), np.full(len(numbers), -1)
        first = self._rows(np.zeros(len(numbers), dtype=np.int64))
        self._loop(first_of_each)(*map(self._rows, (*tables, *none)), first)
        return np.asarray(first, dtype=np.int64)

    def _chained(self, layer: _Layer) -> tuple[Any, Any, Any]:
        """Return the closed partial plans, those of one ground one after the other."""
        first = np.full(len(self._grounds.values), -1)
        after = np.full(len(layer.grounds), -1)
        for k in np.flatnonzero(~layer.is_open)[::-1].tolist():
            ground = layer.grounds[k]
            first[ground], after[k] = k, first[ground]
        return self._rows(first), self._rows(after), self._rows(layer.numbers)

    def _rows(self, rows: Ints) -> Any:
        return rows if self._compiled else rows.tolist()

    def _loop(self, loop: Any) -> Any:
        return loop if self._compiled else loop.plain


def _close(layers: list[_Layer]) -> None:
    """Tell of all partial plans which are open, from the last layer to the first."""
    for layer in reversed(layers[1:]):
        still = layer.is_open[layer.stands_for_it]
        for before, place in layer.came_from[still].tolist():
            layers[before].is_open[place] = True
