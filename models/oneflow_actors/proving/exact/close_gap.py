"""Bounds and published slots meet, or models with few firings in a window look for better ones."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pyomo.core as pyo

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.solvers import seed_of, solve_model
from gadgetopt.solvers.cpsat import solve_cp
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ...baselines.fixed import most_useful
from ...baselines.improver import improved_slots
from ...evaluate import evaluate
from ...events import event_graph, finite_starts
from ...formulations import cyclic
from ...formulations.cp import FiringModel, throughput_of
from ...formulations.decoding import Event, stream_pairs
from ...heuristics.critical_cycle import grown
from ...instance import OneflowActorsInstance, OneflowActorsSolution
from ...simulator import finite_run
from ...subproblems.dispatch import RULES, dispatched
from ..bounds.best import best_certificate

#: Part of the time that is left for `critical_cycle`.
#: Tuned: `benchmarks/constants.py`.
GROWING = 0.1
#: Firings in a window that are tried where any order may be taken.
#: Tuned: `benchmarks/oneflow_actors_slots.toml`.
WINDOWS = (1, 2, 3)


@method(kind="exact", reference="this project", formulation="close_gap", backend="highs, cpsat")
def close_gap(
    instance: OneflowActorsInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Bounds, published slots under all rules; then a model of few firings, or CP-SAT.

    1. The best bound by load, cycles and ways, with its certificate.
    2. Slots of the baselines and of `critical_cycle` under every rule, until one meets the bound.
    3. For M microbatches CP-SAT, from the best of these on. For the steady state `cyclic`: with the
       instance's window its bound holds, and where every actor has a stream of its own; where any
       order may be taken, windows of 1, 2 and 3 firings are tried, which bound nothing.
    """
    search = ThroughputSearch(instance, limits, seed_of(rng))
    with search.interruptible():
        search.bound_by_proofs()
        search.try_rules()
        if not search.over:
            search.solve_models()
    return search.outcome(search.best, **search.notes)


class ThroughputSearch(Search[OneflowActorsSolution]):
    """The search state, and the steps of the search."""

    def __init__(self, instance: OneflowActorsInstance, limits: Limits, seed: int):
        super().__init__("max", limits, gap=0.0)
        self.instance, self.seed = instance, seed
        self.notes: dict[str, str | int] = {}

    def bound_by_proofs(self) -> None:
        """Step 1."""
        bound, certificate = best_certificate(self.instance, self.clock)
        self.prove(bound, certificate)
        self.notes["formula"] = certificate.proof.kind

    def try_rules(self) -> None:
        """Step 2."""
        for slots in self._slots():
            for rule in RULES:
                if self.over:
                    return
                if self._possible(slots):
                    self._offer(dispatched(self.instance, slots, rule))

    def _slots(self) -> Iterator[tuple[int, ...]]:
        """Yield numbers of slots, the fewest first."""
        registers = self.instance.registers
        fewest = tuple(register.fewest for register in registers)
        yield fewest
        yield tuple(improved_slots(self.instance))
        yield tuple(max(r.fewest, min(r.most, r.published_slots)) for r in registers)
        yield tuple(max(r.fewest, min(2, r.most)) for r in registers)
        if self._possible(fewest):
            steady = self.instance.model_copy(update={"num_microbatches": None, "window": None})
            yield grown(steady, fewest, "fcfs", Clock(self.clock.limits(GROWING)))
        yield tuple(most_useful(self.instance))

    def _possible(self, slots: tuple[int, ...]) -> bool:
        graph = event_graph(self.instance, slots, None)
        return self.instance.fits(slots) and graph.deadlock() is None

    def _offer(self, solution: OneflowActorsSolution) -> None:
        evaluation = evaluate(self.instance, solution)
        if evaluation.feasible and evaluation.objective is not None:
            self.offer(evaluation.objective, solution)

    def solve_models(self) -> None:
        """Step 3."""
        if self.instance.num_microbatches is not None:
            self._ask_cp_sat()
        elif self.instance.window is not None:
            self._solve_cyclic(self.instance, proves=True)
        elif self.instance.own_streams:  # nothing is ordered: windows of one firing are all
            self._solve_cyclic(self.instance.model_copy(update={"window": 1}), proves=True)
        else:
            for n, window in enumerate(WINDOWS):
                if self.over:
                    return
                restricted = self.instance.model_copy(update={"window": window})
                self._solve_cyclic(restricted, proves=False, part=1 / (len(WINDOWS) - n))

    def _solve_cyclic(
        self, instance: OneflowActorsInstance, *, proves: bool, part: float = 1.0
    ) -> None:
        """Solve `cyclic` from the best decision on, if that has its window."""
        try:
            with self.clock.phase("build"):
                model = cyclic.build(instance)
                started = self._start_from_best(model, instance)
        except ModelRefused as error:
            self.notes["refused"] = str(error)
            return
        limits = self.clock.limits(part)
        solved = solve_model(model, "highs", limits, self.seed, warm_start=started)
        self.versions |= solved.versions
        if solved.status in (Status.OPTIMAL, Status.FEASIBLE):
            self._offer(cyclic.decode(model, instance))
            self.notes["window"] = instance.window or 1
        if proves:
            if solved.status is Status.INFEASIBLE:
                self.infeasible = self.best is None
            elif solved.bound is not None:
                self.prove(solved.bound)
        if part == 1:
            self.limit_hit = solved.limit_hit

    def _start_from_best(self, model: pyo.ConcreteModel, instance: OneflowActorsInstance) -> bool:
        """Give the variables of `cyclic` the values of the best decision; False if they have none.

        Starts decide the rounds: b of round n + k is the first after a of round n.
        """
        best, J = self.best, instance.window or 1
        if best is None:
            return False
        if best.dispatch != "orders":
            best = dispatched(instance, best.slots, best.dispatch)
        window = len(best.orders[0]) // len(next(iter(instance.actors_of_stream.values())))
        if window != J:
            return False
        graph = event_graph(instance, best.slots, best.orders, J)
        period = graph.period()[0]
        starts = [start / (period * J) for start in graph.starts(period)]
        u = {Event(*divmod(n, J)): start - starts[0] for n, start in enumerate(starts)}
        model.z.set_value(float(instance.ticks_per_s / period), skip_validation=True)
        for e, count in enumerate(best.slots):
            model.R[e].set_value(count, skip_validation=True)
        for event, start in u.items():
            if event != (0, 0):
                model.u[event].set_value(float(start), skip_validation=True)
        for n, (a, b) in enumerate(stream_pairs(instance, J)):
            length = Fraction(instance.ticks[a.actor]) / (period * J)
            k = -((u[b] - u[a] - length) // 1)
            model.k[n].set_value(int(k), skip_validation=True)
        if J > 1:
            for e, R in model.Y:
                model.y[e, R].set_value(int(best.slots[e] == R), skip_validation=True)
        return True

    def _ask_cp_sat(self) -> None:
        """Look for the shortest makespan."""
        M = self.instance.num_microbatches or 1
        most = None
        if self.best is not None:
            most = int(M * self.instance.ticks_per_s / Fraction(self.value))
        try:
            with self.clock.phase("build"):
                model = FiringModel(self.instance, most)
                starts = self._starts(M)
                if self.best is not None and starts is not None:
                    model.hint(self.best.slots, starts)
        except ModelRefused as error:
            self.notes["refused"] = str(error)
            return
        solved = solve_cp(model.model, self.clock.limits(), self.seed)
        self.versions |= solved.versions
        if solved.values is not None:
            self._offer(model.decode(solved.values))
        if solved.status is Status.INFEASIBLE:
            self.infeasible = self.best is None
        elif solved.bound is not None:
            self.prove(throughput_of(self.instance, solved.bound))
        self.limit_hit = solved.limit_hit

    def _starts(self, M: int) -> list[list[int]] | None:
        """Return the starts of the best decision in ticks."""
        best = self.best
        if best is None:
            return None
        if best.dispatch == "orders":
            return finite_starts(self.instance, best.slots, best.orders, M)
        starts: list[list[int]] = [[] for _ in self.instance.actors]
        for start, a, _ in finite_run(self.instance, best.slots, best.dispatch, M):
            starts[a].append(start)
        return starts
