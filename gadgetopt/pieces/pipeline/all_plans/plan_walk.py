"""All plans below a number of ticks, by a walk that takes no step in vain (`state_rests`).

It is for clusters and chains whose states have tables, for channels of half duplex, and for as many
stages as there can be; `label_search` does the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.memory import MOST_CELLS
from gadgetopt.pieces.pipeline.all_plans.found_plans import FoundPlan, LabelOutcome
from gadgetopt.pieces.pipeline.all_plans.rest_loops import one_machine_bounds, walk
from gadgetopt.pieces.pipeline.all_plans.stage_tables import NEVER
from gadgetopt.pieces.pipeline.all_plans.state_rests import StateRests, StateTables, rests_below
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.search.clock import Clock

#: Steps of a walk between two looks at the clock, and plans written at a time.
#: Tuned: `benchmarks/constants.py`.
STEPS, BATCH = 500_000, 4_096
#: Parts of the least bound that a plan may be above it. By definition.
NEAR = (2**60, 1000, 100, 20, 5, 1)
#: Plans that are returned at most. Tuned: `benchmarks/constants.py`.
MOST_PLANS = 100_000


@dataclass(frozen=True)
class Walked:
    """Plans that a walk found.

    Attributes
    ----------
    paths : array of int, shape (plans, most stages, 2)
        Option and end of each stage; options -1 where there is none.
    bounds, least : array of int
        Bounds of the walk, and bounds of one machine, which are no smaller.
    complete : bool
        True if these are all plans that were asked for.
    """

    paths: Ints
    bounds: Ints
    least: Ints
    complete: bool


class PlanWalk:
    """Walks through the plans of an instance.

    Parameters
    ----------
    tables : StateTables
    onward : bool
        As `rests_below` takes it.
    """

    def __init__(self, tables: StateTables, *, onward: bool = False):
        self.tables, self.onward = tables, onward
        instance = tables.tables.instance
        self.most_stages: int = min(instance.num_gpus, instance.num_layers)
        self.count: int = instance.num_microbatches
        self._rests: StateRests | None = None

    def rests(self, below: int, clock: Clock) -> StateRests | None:
        """Return the rests of plans below a number of ticks, or of more; None if too many."""
        if self._rests is None or self._rests.below < below:
            self._rests = rests_below(self.tables, below, clock, onward=self.onward)
        return self._rests

    def best(self, rests: StateRests, cutoff: int, clock: Clock) -> LabelOutcome:
        """Return a plan of the least bound, if that is below a cutoff.

        With ways onward the least bound is one that no plan may have; then the plan is near it.
        """
        least = min(rests.least, cutoff)
        for part in NEAR if self.onward else NEAR[:1]:
            below = min(cutoff, least + 1 + least // part)
            walked = self.plans(rests, below, clock, enough=NEVER, most=1)
            if len(walked.paths) or below == cutoff:
                break
        complete = walked.complete or len(walked.paths) > 0
        return LabelOutcome(self._found(walked)[:1], least, complete, len(rests.us))

    def below(self, rests: StateRests, cutoff: int, clock: Clock, enough: int) -> LabelOutcome:
        """Return all plans below a cutoff but those whose bound of one machine is enough."""
        walked = self.plans(rests, cutoff, clock, enough=enough, most=MOST_PLANS)
        ticks = cutoff if walked.complete else min(rests.least, cutoff)
        return LabelOutcome(self._found(walked), ticks, walked.complete, len(rests.us))

    def _found(self, walked: Walked) -> list[FoundPlan]:
        numbers = zip(walked.paths, walked.bounds.tolist(), walked.least.tolist(), strict=True)
        return [FoundPlan(partial(self._plan, path), *bounds) for path, *bounds in numbers]

    def _plan(self, path: Ints) -> Plan:
        used = [(o, end) for o, end in path.tolist() if o >= 0]
        devices = [self.tables.devices[o] for o, _ in used]
        return Plan(
            stage_layers=tuple(pairwise([0, *(end for _, end in used)])),
            stage_devices=self.tables.states.rules.replay(devices),
        )

    def plans(
        self, rests: StateRests, below: int, clock: Clock, *, enough: int, most: int
    ) -> Walked:
        """Return the plans whose head-load-tail bound is below a number of ticks.

        Parameters
        ----------
        rests : StateRests
            Of at least as many ticks.
        below : int
        clock : Clock
        enough : int
            Plans whose bound of one machine is so large are left out.
        most : int
            Plans after which the walk ends early.
        """
        of = self.tables
        most = min(most, MOST_CELLS // (4 * self.most_stages))
        place = np.zeros((self.most_stages + 1, 8), dtype=np.int64)
        start = of.states.start
        place[0] = start, 0, 0, 0, 0, of.option_starts[start], 0, 0
        depth, total = 0, 0
        kept: list[tuple[Ints, Ints, Ints]] = [self._none()]
        paths, bounds, _ = self._none(BATCH)
        while depth >= 0 and total < most and not clock.expired:
            found, depth, _ = walk(
                of.options,
                of.option_starts,
                of.stages,
                of.links,
                self.count,
                rests.ways,
                rests.starts,
                rests.us,
                rests.vs,
                below,
                place,
                depth,
                STEPS,
                paths,
                bounds,
            )
            least = bounds[:found].copy()
            machines = 2 * paths.shape[1]
            one_machine_bounds(
                of.options,
                of.stages,
                of.links,
                self.count,
                paths[:found],
                least,
                enough,
                np.zeros((3, machines), np.int64),
                np.zeros((4, machines, self.count), np.int64),
            )
            few = np.flatnonzero(least < enough)
            kept.append((paths[few], bounds[few], least[few]))
            total += len(few)
        paths, bounds, least = (np.concatenate(parts) for parts in zip(*kept, strict=True))
        order = np.argsort(least, kind="stable")
        return Walked(paths[order], bounds[order], least[order], complete=depth < 0)

    def _none(self, size: int = 0) -> tuple[Ints, Ints, Ints]:
        return (
            np.zeros((size, self.most_stages, 2), dtype=np.int64),
            np.zeros(size, dtype=np.int64),
            np.zeros(size, dtype=np.int64),
        )
