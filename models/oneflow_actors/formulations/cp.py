r"""The constraint program of a fixed number of microbatches: intervals of firings and of items.

Variables: starts :math:`t_{ak}` of firing k of actor a in ticks; slots :math:`R_e`; the makespan C.

.. math::
    \min\ & C                                                                        \tag{P1} \\
    & t_{ck} \ge t_{p,k-\delta} + d_p \quad \forall e,\ c \in C_e                    \tag{P2} \\
    & \text{item } k \text{ of } e \text{ lives from } t_{pk} \text{ to the last end of firing }
      k + \delta \text{ of } c \in C_e; \text{ at most } R_e \text{ at once}         \tag{P3} \\
    & \text{no overlap of the firings of a stream}                                   \tag{P4} \\
    & t_{a,k+1} \ge t_{ak} + d_a                                                     \tag{P5} \\
    & \textstyle\sum_{e \in z} b_e R_e \le K_z                                       \tag{P6} \\
    & C \ge t_{a,M-1} + d_a                                                          \tag{P7}

Initial items live from 0 on; an item that nobody reads within M firings lives to the end.
"""

from __future__ import annotations

from fractions import Fraction

from ortools.sat.python import cp_model

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.exact import common_denominator
from gadgetopt.numbers.tolerance import Number
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.search.state import Search
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.cpsat import solve_cp
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ..evaluate import evaluate
from ..instance import Firing, OneflowActorsInstance, OneflowActorsSolution
from .cyclic import slot_bounds
from .decoding import orders_of
from .disjunctive import microbatches

#: CP-SAT's sums stay far below 64 bits. By definition.
MOST_TICKS = 2**50
MOST_UNITS = 2**50


class FiringModel:
    """The variables, and one method per family of constraints.

    Parameters
    ----------
    instance : OneflowActorsInstance
    most : int, optional
        The makespan is at most this, in ticks.
    """

    def __init__(self, instance: OneflowActorsInstance, most: int | None = None):
        self.instance = instance
        self.M: int = microbatches(instance)
        self.ticks: tuple[int, ...] = instance.ticks
        self.horizon: int = most or self.M * sum(self.ticks)
        if self.horizon >= MOST_TICKS:
            raise ModelRefused(f"actors: {self.horizon} ticks together, too many digits")
        self.model: cp_model.CpModel = cp_model.CpModel()
        self.start: dict[Firing, cp_model.IntVar] = {
            (a, k): self.model.new_int_var(
                min(k * d, self.horizon),
                max(min(k * d, self.horizon), self.horizon - d),
                f"{a}.{k}",
            )
            for a, d in enumerate(self.ticks)
            for k in range(self.M)
        }
        bounds = slot_bounds(instance)
        self.slots: list[cp_model.IntVar] = [
            self.model.new_int_var(*bounds(None, e), f"R{e}")
            for e in range(len(instance.registers))
        ]
        self.makespan: cp_model.IntVar = self.model.new_int_var(0, self.horizon, "C")
        self.items_are_there()
        self.items_have_slots()
        self.streams_fire_one_at_a_time()
        self.actors_fire_in_order()
        self.memories_hold_the_slots()
        self.model.minimize(self.makespan)

    def end(self, a: int, k: int) -> cp_model.LinearExpr:
        """Return when a firing ends."""
        return self.start[a, k] + self.ticks[a]

    def items_are_there(self) -> None:
        """(P2): a firing waits for its items."""
        for register in self.instance.registers:
            for c in register.consumers:
                for k in range(register.initial, self.M):
                    item = k - register.initial
                    self.model.add(self.start[c, k] >= self.end(register.producer, item))

    def items_have_slots(self) -> None:
        """(P3): not more items live than there are slots."""
        M, model = self.M, self.model
        for e, register in enumerate(self.instance.registers):
            lives = []
            for k in range(-register.initial, M):
                reads = k + register.initial
                begin: cp_model.LinearExprT = 0 if k < 0 else self.start[register.producer, k]
                last = model.new_int_var(0, self.horizon, "")
                if reads >= M:
                    model.add(last == self.horizon)
                for c in register.consumers if reads < M else ():
                    model.add(last >= self.end(c, reads))
                if k >= 0:
                    model.add(last >= self.end(register.producer, k))
                length = model.new_int_var(0, self.horizon, "")
                lives.append(model.new_interval_var(begin, length, last, ""))
            model.add_cumulative(lives, [1] * len(lives), self.slots[e])

    def streams_fire_one_at_a_time(self) -> None:
        """(P4): firings of a stream do not overlap."""
        for actors in self.instance.actors_of_stream.values():
            self.model.add_no_overlap(
                self.model.new_fixed_size_interval_var(self.start[a, k], self.ticks[a], "")
                for a in actors
                for k in range(self.M)
            )

    def actors_fire_in_order(self) -> None:
        """(P5) and (P7): one firing after the other, all by the makespan."""
        for a in range(len(self.ticks)):
            for k in range(self.M - 1):
                self.model.add(self.start[a, k + 1] >= self.end(a, k))
            self.model.add(self.makespan >= self.end(a, self.M - 1))

    def memories_hold_the_slots(self) -> None:
        """(P6): the slots of a memory."""
        for zone in self.instance.zones:
            mine = self.instance.registers_of_zone[zone.name]
            sizes = [self.instance.registers[e].slot_bytes for e in mine]
            units = common_denominator([*sizes, zone.capacity_bytes])
            if units * max(*sizes, zone.capacity_bytes) * len(mine) >= MOST_UNITS:
                raise ModelRefused(f"zones: {zone.name}: bytes have too many digits")
            used = sum(
                int(units * size) * self.slots[e] for e, size in zip(mine, sizes, strict=True)
            )
            self.model.add(used <= int(units * zone.capacity_bytes))

    def hint(self, slots: tuple[int, ...], starts: list[list[int]]) -> None:
        """Suggest slots and starts."""
        for variable, count in zip(self.slots, slots, strict=True):
            self.model.add_hint(variable, count)
        for a, times in enumerate(starts):
            for k, start in enumerate(times):
                self.model.add_hint(self.start[a, k], start)

    def decode(self, values: Floats) -> OneflowActorsSolution:
        """Return the slots, and the firings of each stream by their starts."""
        starts = {firing: values[x.index] for firing, x in self.start.items()}
        return OneflowActorsSolution(
            slots=tuple(round(values[x.index]) for x in self.slots),
            orders=orders_of(self.instance, starts),
        )


@method(kind="exact", reference="(P1)-(P7)", formulation="cp", backend="cpsat")
def cp(instance: OneflowActorsInstance, limits: Limits) -> MethodOutcome:
    """Starts of all firings of a fixed number of microbatches, and slots, in CP-SAT.

    Raises
    ------
    ModelRefused
        If the instance asks for the steady state, or numbers have too many digits.
    """
    search: Search[OneflowActorsSolution] = Search("max", limits, gap=0.0)
    with search.interruptible():
        with search.clock.phase("build"):
            model = FiringModel(instance)
        solved = solve_cp(model.model, search.clock.limits(), seed_of(fixed_rng()))
        if solved.values is not None:
            solution = model.decode(solved.values)
            search.offer(Fraction(evaluate(instance, solution).objective or 0), solution)
        if solved.status is Status.INFEASIBLE:
            search.infeasible = True
        elif solved.bound is not None:
            search.prove(throughput_of(instance, solved.bound))
        search.limit_hit = solved.limit_hit
    return search.outcome(search.best)


def throughput_of(instance: OneflowActorsInstance, least_ticks: Number) -> Fraction:
    """Return the throughput of M microbatches if no makespan is shorter than so many ticks."""
    ticks = max(Fraction(least_ticks), Fraction(max(instance.ticks)))
    return microbatches(instance) * instance.ticks_per_s / ticks
