"""Branch-and-price on the schedule columns (10), for small instances.

Reconstructed. The master has one row for all machines of a class in a slot, so that machines of
equal capacity make no symmetric nodes. At every node the schedule of the largest share of each job
is packed onto the machines, slot by slot. Items that do not fit make a conflict: a few jobs, each
with a number of workers, inside one machine or spread. As capacities are the same in every slot, it
is cut off in all slots in which the relaxation violates it. Duals of cuts are surcharges on options
of a slot, so that the structure of the pricing problem is kept (`branching_constraints.py`,
`branching.py`).
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.tolerance import CLOSED_GAP
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.search.state import Search
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...algorithms.pd_ors import decide
from ...instance import (
    PdOrsInstance,
    PdOrsSolution,
    SlotPlan,
)
from ...subproblems.decoding import slot_plan
from ...subproblems.prices import price_range
from ...subproblems.slot_methods import SlotOptions
from ..bounds.branching_constraints import BranchingConstraint
from ..bounds.class_pricing import JobPricing
from ..bounds.column_generation import (
    generate,
    pricings,
)
from ..bounds.column_lp import first_prices
from ..bounds.restricted_master import (
    Column,
    RestrictedMaster,
)
from .branching import (
    Node,
    by_completion,
    by_constraint,
    root,
)
from .job_placement import Placing
from .price_proof import PriceProof
from .slot_packing import (
    Item,
    Packing,
    pack,
)

Schedule = tuple[SlotPlan, ...]

#: Price spans of the runs of PD-ORS that the search starts from; None is that of the instance.
FIRST_SPANS = (None, 6.0, 10.0)

#: Least violation of a cut that is added. Tuned: `benchmarks/constants.py`.
VIOLATION = 1e-4

#: Nodes after which jobs are again placed one by one at the node's prices.
#: Tuned: `benchmarks/constants.py`.
GREEDY_EVERY = 10


@method(
    kind="exact",
    reference="(10), (11), branching (reconstructed)",
    formulation="schedule_columns",
    backend="highs",
)
def branch_and_price(instance: PdOrsInstance, limits: Limits) -> MethodOutcome:
    """Schedule columns priced by the kernel, in a tree that keeps the kernel.

    Return an optimal decision, or the best one found and a bound.

    The bound has a certificate: prices of the linear relaxation where that is tight, else the tree
    of this search with prices at its leaves. Only where a conflict takes too long to prove again
    does the bound rest on the packing of slots by CP-SAT.

    Parameters
    ----------
    instance : PdOrsInstance
    limits : Limits
        `time_s` is checked before each job that is priced.

    Raises
    ------
    ModelRefused
        If the work of a job is too large to be counted exactly.
    """
    rng = fixed_rng()
    jobs = pricings(instance)
    for job in jobs:
        if not job.exact:
            raise ModelRefused(
                f"job {job.job.index} has {float(job.job.work):.6g} worker-slots of work, too many "
                "to count exactly"
            )
    search = _Search(instance, jobs, limits)
    search.run(rng)
    return search.outcome()


class _Search:
    def __init__(self, instance: PdOrsInstance, jobs: Sequence[JobPricing], limits: Limits):
        self._now: Search[list[Schedule | None]] = Search("max", limits)
        self._clock = self._now.clock
        self._instance, self._jobs = instance, jobs
        self._master = RestrictedMaster(instance)
        self._now.offer(0.0, [None] * len(instance.jobs))
        self._open: list[tuple[float, int, Node]] = []
        self._numbers = itertools.count()
        self._nodes = 0
        self._packed: dict[tuple[Item, ...], Packing] = {}
        #: Bounds of the current node and of nodes that could not be decided.
        self._at_hand, self._undecided = math.inf, -math.inf
        self._relaxation = math.inf
        self._root_price: Floats = np.zeros(self._master.shape)
        self._proof = PriceProof(instance.terms, self._master.cuts)

    def run(self, rng: np.random.Generator) -> None:
        """Search until the bound is met, time is up, or Ctrl-C."""
        with self._now.interruptible():
            self._start(rng)
            self._explore()

    def _start(self, rng: np.random.Generator) -> None:
        """Take the best of a few online runs as the first incumbent."""
        for span in FIRST_SPANS:
            prices = price_range(self._instance, log_price_span=span)
            run = decide(self._instance, self._clock.limits(), prices)
            if isinstance(run.solution, PdOrsSolution):
                self._offer(list(run.solution.schedules))

    def _explore(self) -> None:
        """Explore the nodes, best bound first."""
        start = first_prices(self._instance, self._clock.limits(), self._master)
        self._push(root(len(self._instance.jobs), self._instance.horizon_slots))
        self._at_hand = -math.inf
        while self._open and -self._open[0][0] > self._enough:
            if self._clock.expired:
                return
            # First, so that no node is missing from the bound if Ctrl-C comes in between.
            self._at_hand = -self._open[0][0]
            _, _, node = heapq.heappop(self._open)
            for child in self._branch(node, start if self._nodes == 0 else None):
                self._push(child)
            self._at_hand = -math.inf
            if self._nodes:
                self._now.prove(self.bound)
            if self._now.limit_hit:
                return

    @property
    def _enough(self) -> float:
        """The bound at which a node is closed."""
        value = float(self._now.value)
        return value + CLOSED_GAP * value / 2

    @property
    def bound(self) -> float:
        """Bound on all decisions."""
        left = max((-negative for negative, _, _ in self._open), default=-math.inf)
        return max(left, self._at_hand, self._undecided, float(self._now.value))

    def outcome(self) -> MethodOutcome:
        """Return incumbent and bound with its proof."""
        certificate = self._proof.certificate(self._instance, self._root_price)
        self._now.prove(self.bound)
        outcome = self._now.outcome(
            PdOrsSolution(schedules=tuple(self._now.best or ())),
            nodes=self._nodes,
            columns=len(self._master.columns),
            relaxation=self._relaxation,
            leaves=self._proof.leaves,
        )
        outcome.certificate = certificate
        return outcome

    def _branch(self, node: Node, start: Floats | None) -> list[Node]:
        """Solve the relaxation of a node and return its children; none if it is decided."""
        master = self._master
        accepted = [i in node.accepted for i in range(len(self._instance.jobs))]
        restrictions = node.restrictions(job.job for job in self._jobs)
        while True:
            master.restrict([node.allows(column) for column in master.columns], accepted)
            done = generate(
                master,
                self._jobs,
                self._clock.limits(),
                restrictions=restrictions,
                start=start,
                cutoff=self._enough,
            )
            if start is not None:
                self._root_price, self._relaxation, start = done.price, done.bound, None
            if done.bound < node.bound:
                node = replace(node, bound=done.bound)
                self._proof.price(node, done.price, done.charges)
            if done.limit_hit:
                self._now.limit_hit = done.limit_hit
                return [node]
            if done.status is Status.INFEASIBLE or node.bound <= self._enough:
                return []
            if not self._cut(master.shares):
                break
        self._nodes += 1
        columns, shares = master.columns, master.shares
        if self._nodes % GREEDY_EVERY == 1:
            self._place_one_by_one(columns, shares)
        if node.bound <= self._enough:
            return []
        split = by_completion(node, columns, shares) or by_constraint(node, columns, shares)
        if split is None:
            # The schedule of every job is decided and fits: the incumbent is as good, but for
            # fractions of jobs that were rounded to none.
            if node.bound > self._enough:
                self._undecided = max(self._undecided, node.bound)
            return []
        return list(self._proof.split(node, split))

    def _cut(self, shares: Floats) -> bool:
        """Add cuts that the shares violate, from the largest share of each job in each slot.

        If all of it fits, it is a decision.
        """
        columns = self._master.columns
        parts = np.zeros(len(self._instance.jobs))
        most: dict[int, int] = {}
        for c in np.flatnonzero(shares > 0).tolist():
            i = columns[c].job
            parts[i] += shares[c]
            if i not in most or shares[c] > shares[most[i]]:
                most[i] = c
        chosen = [columns[c] for i, c in most.items() if parts[i] > 0.5]
        cuts: list[tuple[BranchingConstraint, ...]] = []
        schedules: list[list[SlotPlan]] = [[] for _ in self._instance.jobs]
        fits = True
        for t in range(1, self._instance.horizon_slots + 1):
            busy = [(column.job, use) for column in chosen if (use := column.use(t)) is not None]
            items = tuple(sorted(Item(i, use.internal, use.workers) for i, use in busy))
            packed = self._pack(items)
            if packed.fits:
                for item in items:
                    job = self._instance.terms.jobs[item.job]
                    plan = slot_plan(job, t, packed.counts[item.job])
                    if plan is not None:
                        schedules[item.job].append(plan)
            else:
                fits = False
                if packed.fits is False:
                    conflict = self._conflict(items)
                    self._proof.conflict(conflict, self._clock.elapsed_s)
                    cuts += self._violated(conflict, shares)
        if fits:
            self._offer([tuple(schedule) or None for schedule in schedules])
        if cuts:
            self._master.add_cuts(cuts)
        return bool(cuts)

    def _pack(self, items: tuple[Item, ...]) -> Packing:
        if items not in self._packed:
            packed = pack(self._instance.terms, items, self._clock.limits())
            if packed.fits is None:
                return packed
            self._packed[items] = packed
        return self._packed[items]

    def _conflict(self, items: tuple[Item, ...]) -> tuple[Item, ...]:
        """Return items that do not fit together, of few jobs and with few workers."""
        kept = items
        for item in items:
            rest = tuple(other for other in kept if other != item)
            if self._pack(rest).fits is False:
                kept = rest
        for item in kept:
            for n in range(item.workers - 1, 0, -1):
                if not self._instance.terms.jobs[item.job].usable[n]:
                    continue
                fewer = tuple(
                    replace(other, workers=n) if other.job == item.job else other for other in kept
                )
                if self._pack(fewer).fits is not False:
                    break
                kept = fewer
        return kept

    def _violated(
        self, conflict: Sequence[Item], shares: Floats
    ) -> list[tuple[BranchingConstraint, ...]]:
        """Return the cuts of a conflict, which is one in every slot, that the shares violate."""
        columns = self._master.columns
        some = np.flatnonzero(shares > 0).tolist()
        first = max(self._instance.jobs[item.job].arrival_slot for item in conflict)
        cuts = []
        for t in range(first, self._instance.horizon_slots + 1):
            constraints = tuple(
                BranchingConstraint(item.job, t, item.workers, item.inside) for item in conflict
            )
            met = sum(
                shares[c]
                for c in some
                for constraint in constraints
                if constraint.job == columns[c].job and constraint.met(columns[c].use(t))
            )
            if met > len(constraints) - 1 + VIOLATION:
                cuts.append(constraints)
        return cuts

    def _place_one_by_one(self, columns: Sequence[Column], shares: Floats) -> None:
        """Give jobs, the largest shares first, their best plan in the free capacity at node prices.

        Jobs that are not worth their price come after the others.
        """
        instance = self._instance
        price = self._master.price[:, self._master.classes.of_machine]
        weight = np.zeros(len(instance.jobs))
        for column, share in zip(columns, shares.tolist(), strict=True):
            weight[column.job] += share * (1 + column.utility)
        placing = Placing(instance)
        waiting = sorted((job.job for job in self._jobs), key=lambda j: -weight[j.index])
        for least in (0.0, -math.inf):
            for job in waiting:
                if job.index not in placing.placed:
                    placing.place(job, price, least, progress="exact", options=SlotOptions())
        self._offer(list(placing.decision().schedules))

    def _offer(self, schedules: list[Schedule | None]) -> None:
        """Keep a decision if it is better."""
        jobs = self._instance.terms.jobs
        value = math.fsum(
            float(job.utility[schedule[-1].slot])
            for job, schedule in zip(jobs, schedules, strict=True)
            if schedule
        )
        self._now.offer(value, schedules)

    def _push(self, node: Node) -> None:
        # Of equal bounds the youngest first: it has more decided.
        heapq.heappush(self._open, (-node.bound, -next(self._numbers), node))
