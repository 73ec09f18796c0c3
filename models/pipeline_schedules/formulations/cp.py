r"""The constraint program: starts of F, I and W, with what costs nothing to assume.

Variables: starts :math:`t_{k,s,j}` of :math:`k \in \{F, I, W\}`, stage s and microbatch j, in
ticks; for links that serve one transfer at a time, starts of transfers; and Z.

.. math::
    \min\ & Z                                                                        \tag{C1} \\
    & t_{F,s,j} \ge t_{F,s-1,j} + f_{s-1} + c_{s-1}, \quad
      t_{I,s,j} \ge t_{F,s,j} + f_s, \quad t_{I,s,j} \ge t_{I,s+1,j} + i_{s+1} + c_s, \quad
      t_{W,s,j} \ge t_{I,s,j} + i_s                                                  \tag{C2} \\
    & \text{no overlap of the operations of a device, of the transfers of a link}    \tag{C3} \\
    & \text{reservoir: } +a_s \text{ at the start of F}, -(a_s - g_s) \text{ at the end of I},
      -g_s \text{ at the end of W, within } [0, K_d]                                 \tag{C4} \\
    & Z \ge t_{W,s,j} + w_s + A_s, \text{ less the first start of the device, or link, for a period}
                                                                                     \tag{C5} \\
    & t_{k,s,j+1} \ge t_{k,s,j} + p_{k,s}                                            \tag{C6} \\
    & t_{I,S-1,j} = t_{F,S-1,j} + f_{S-1} \text{ if stage } S-1 \text{ is alone}     \tag{C7} \\
    & t_{F,s,j+\kappa} \ge \text{the end of W, or I, of } j,
      \quad \kappa = \lfloor K_d / a_s \rfloor                                       \tag{C8}

(C6) is the order of microbatches: sorting the starts of each kind and stage keeps every other
constraint. (C7): what lies between F and I of the last stage may follow I; F of later microbatches
is awaited on this device only, and W by nobody. (C8) is implied by (C4) and (C6).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping
from fractions import Fraction

from ortools.sat.python import cp_model

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.search.state import Search
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.cpsat import solve_cp
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ..bounding import load_bound
from ..cells import Operation
from ..evaluate import evaluate
from ..instance import Channel, PipelineSchedulesInstance, PipelineSchedulesSolution
from ..shop import MOST_TICKS, MOST_UNITS, Shop, horizon_of, next_below, shop_of
from .cp_tasks import TasksModel, question
from .decoding import duration, operations, solution_of
from .tasks import has_options, tasks_of


class ScheduleModel:
    """The variables, and one method per family of constraints.

    Parameters
    ----------
    shop : Shop
    most : int
        Z is at most this.
    dominance : bool
        False leaves out (C6) to (C8), for comparison.
    devices : collection of int, optional
        Only these execute one operation at a time, and have a memory: a relaxation. None: all.
    """

    def __init__(
        self,
        shop: Shop,
        most: int,
        *,
        dominance: bool = True,
        devices: Collection[int] | None = None,
    ):
        self.shop, self.most, self.dominance = shop, most, dominance
        self.devices = range(len(shop.on_device)) if devices is None else devices
        self.horizon = horizon_of(shop, most)
        if self.horizon >= MOST_TICKS:
            raise ModelRefused(f"routes: times of {self.horizon} ticks together, too many digits")
        if shop.capacity is not None and max(shop.capacity) + sum(shop.a) >= MOST_UNITS:
            raise ModelRefused(f"memory_bytes: {max(shop.capacity)} units, too many digits")
        self.model: cp_model.CpModel = cp_model.CpModel()
        self.operations: list[Operation] = operations(shop)
        self.start: dict[Operation, cp_model.IntVar] = {}
        self.run: dict[Operation, cp_model.IntervalVar] = {}
        self.sent: dict[Operation, cp_model.IntVar] = {}
        self.length: cp_model.IntVar = self.model.new_int_var(0, most, "Z")
        self._starts()
        self.microbatches_follow_their_route()
        self.devices_execute_one_operation_at_a_time()
        self.memory_suffices()
        self.length_spans_every_device()
        if dominance:
            self.microbatches_are_in_order()
            self.last_stage_goes_back_at_once()
            self.forwards_wait_for_room()

    def _starts(self) -> None:
        shop = self.shop
        for op in self.operations:
            p, s = duration(shop, op), op.stage
            head = shop.head[s]
            if op.kind != "F":
                head += shop.f[s] + shop.between[s] + (shop.i[s] if op.kind == "W" else 0)
            head += op.microbatch * p if self.dominance else 0
            latest = max(head, self.horizon - p)
            if head > self.horizon - p:
                self.model.add_bool_or([])
            self.start[op] = self.model.new_int_var(head, latest, str(op))
            self.run[op] = self.model.new_fixed_size_interval_var(self.start[op], p, f"run {op}")

    def end(self, op: Operation) -> cp_model.LinearExpr:
        """Return when an operation ends."""
        return self.start[op] + duration(self.shop, op)

    def microbatches_follow_their_route(self) -> None:
        """(C2), and (C3) of links: what an operation waits for."""
        links: dict[Channel, list[cp_model.IntervalVar]] = {}
        for op in self.operations:
            s, kind, j = op
            if kind == "W":
                self.model.add(self.start[op] >= self.end(Operation(s, "I", j)))
                continue
            if kind == "I":
                self.model.add(self.start[op] >= self.end(Operation(s, "F", j)))
            before = s - 1 if kind == "F" else s + 1
            if before in self.shop.route_of[s]:
                self._receive(op, Operation(before, kind, j), links)
        for transfers in links.values():
            self.model.add_no_overlap(transfers)
        if self.shop.period:
            self._span(links.values())

    def _span(self, links: Iterable[list[cp_model.IntervalVar]]) -> None:
        """(C5) of links: Z is the longest time from the first to the last transfer, too."""
        for transfers in links:
            begin = self.model.new_int_var(0, self.horizon, "begin of a link")
            for run in transfers:
                self.model.add(begin <= run.start_expr())
                self.model.add(self.length >= run.end_expr() - begin)

    def _receive(
        self,
        op: Operation,
        sender: Operation,
        links: dict[Channel, list[cp_model.IntervalVar]],
    ) -> None:
        """Let an operation wait for what its neighbour sends."""
        shop = self.shop
        lag = shop.lag[min(op.stage, sender.stage)]
        source, target = shop.device[sender.stage], shop.device[op.stage]
        if shop.links == "lag" or source == target:
            self.model.add(self.start[op] >= self.end(sender) + lag)
            return
        start = self.model.new_int_var(0, self.horizon, f"sent {sender}")
        self.sent[sender] = start
        self.model.add(start >= self.end(sender))
        self.model.add(self.start[op] >= start + lag)
        pair = (source, target)
        channel = (min(pair), max(pair)) if shop.links == "half" else pair
        run = self.model.new_fixed_size_interval_var(start, lag, f"transfer {sender}")
        links.setdefault(channel, []).append(run)

    def devices_execute_one_operation_at_a_time(self) -> None:
        """(C3): operations of a device do not overlap."""
        for d in self.devices:
            stages = self.shop.on_device[d]
            mine = [self.run[op] for op in self.operations if op.stage in stages]
            self.model.add_no_overlap(mine)

    def memory_suffices(self) -> None:
        """(C4): memory is taken at the start of F and freed at the ends of I and W."""
        shop = self.shop
        if shop.capacity is None:
            return
        for d in self.devices:
            stages = shop.on_device[d]
            times, changes = [], []
            for op in self.operations:
                s = op.stage
                change = {"F": shop.a[s], "I": shop.g[s] - shop.a[s], "W": -shop.g[s]}[op.kind]
                if s in stages and change:
                    times.append(self.start[op] if op.kind == "F" else self.end(op))
                    changes.append(change)
            if any(changes):
                self.model.add_reservoir_constraint(times, changes, 0, shop.capacity[d])

    def length_spans_every_device(self) -> None:
        """(C5): Z is the last end, or the longest time from first to last on a device."""
        shop = self.shop
        for stages in shop.on_device:
            begin: cp_model.LinearExprT = 0
            if shop.period:
                begin = self.model.new_int_var(0, self.horizon, "begin")
                for s in stages:
                    for j in range(1 if self.dominance else shop.microbatches[s]):
                        self.model.add(begin <= self.start[Operation(s, "F", j)])
            for s in stages:
                group = shop.groups[s]
                for r in range(len(shop.device)):
                    if r == s or (group is not None and shop.groups[r] == group):
                        count = shop.microbatches[r]
                        for j in range(count - 1 if self.dominance else 0, count):
                            last = self.end(Operation(r, "W", j)) + shop.allreduce[s]
                            self.model.add(self.length >= last - begin)

    def microbatches_are_in_order(self) -> None:
        """(C6): on every stage microbatch j + 1 follows j in F, I and W, and on links."""
        for op in self.operations:
            if op.microbatch:
                before = op._replace(microbatch=op.microbatch - 1)
                self.model.add(self.start[op] >= self.end(before))
                if op in self.sent:
                    self.model.add(self.sent[op] >= self.sent[before])

    def last_stage_goes_back_at_once(self) -> None:
        """(C7): on a last stage that is alone on its device, I follows F."""
        for route in self.shop.routes:
            last = route[-1]
            if self.shop.on_device[self.shop.device[last]] == (last,):
                for j in range(self.shop.microbatches[last]):
                    forward = Operation(last, "F", j)
                    self.model.add(self.start[Operation(last, "I", j)] == self.end(forward))

    def forwards_wait_for_room(self) -> None:
        """(C8): as many microbatches of a stage are in flight as memory holds."""
        shop = self.shop
        for s, count in enumerate(shop.microbatches):
            if shop.capacity is None or not shop.a[s] or shop.device[s] not in self.devices:
                continue
            most = shop.capacity[shop.device[s]] // shop.a[s]
            if not most:
                self.model.add_bool_or([])
            leaves = "W" if shop.g[s] == shop.a[s] else "I"
            for j in range(most, count if most else 0):
                freed = self.end(Operation(s, leaves, j - most))
                self.model.add(self.start[Operation(s, "F", j)] >= freed)

    def hint(self, starts: dict[Operation, int]) -> None:
        """Suggest starts."""
        for op, value in starts.items():
            self.model.add_hint(self.start[op], value)

    def decode(
        self, values: Floats, instance: PipelineSchedulesInstance
    ) -> PipelineSchedulesSolution:
        """Return the orders of the starts."""
        return solution_of(
            instance,
            {op: values[x.index] for op, x in self.start.items()},
            {op: values[x.index] for op, x in self.sent.items()},
        )


def scaled(shop: Shop, factor: int) -> Shop:
    """Return the shop with ticks that are so many times shorter."""

    def more(ticks: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(factor * x for x in ticks)

    return dataclasses.replace(
        shop,
        f=more(shop.f),
        i=more(shop.i),
        w=more(shop.w),
        lag=more(shop.lag),
        allreduce=more(shop.allreduce),
    )


def ask(
    shop: Shop,
    most: Fraction,
    limits: Limits,
    seed: int,
    hint: Mapping[Operation, Fraction] | None = None,
) -> tuple[ScheduleModel, SolverOutcome]:
    """Ask for a schedule whose makespan or period is at most so many ticks.

    For one length, starts need no other fractions of a tick than the length itself: the model's
    ticks are its denominator's part of a tick, and its answer is exact.
    """
    model = _question(shop, most)
    if hint is not None:
        model.hint({op: int(start * most.denominator) for op, start in hint.items()})
    return model, solve_cp(model.model, limits, seed)


@method(kind="exact", reference="(C1)-(C8), (O1)-(O8)", formulation="cp", backend="cpsat")
def cp(instance: PipelineSchedulesInstance, limits: Limits) -> MethodOutcome:
    """Starts of all operations in CP-SAT, with microbatches in order.

    Where devices may do more than F, I and W, tasks are chosen (`cp_tasks`). A period may be a
    fraction of a tick: after the model's optimum it is asked for less, until there is nothing.

    Raises
    ------
    ModelRefused
        If numbers have too many digits.
    """
    search: Search[PipelineSchedulesSolution] = Search("min", limits, gap=0.0)
    with search.interruptible():
        if has_options(instance):
            tasks = tasks_of(instance)
            shortest(
                instance,
                search,
                lambda most: question(tasks, most),
                tasks.most_denominator,
                0,
                Fraction(tasks.horizon),
            )
        else:
            shop = shop_of(instance)
            least = max(load_bound(shop, d) for d in range(len(shop.on_device)))
            search.prove(Fraction(least, instance.ticks_per_s))
            shortest(
                instance,
                search,
                lambda most: _question(shop, most),
                shop.most_denominator,
                least,
                Fraction(shop.horizon),
            )
    return search.outcome(search.best)


def _question(shop: Shop, most: Fraction) -> ScheduleModel:
    return ScheduleModel(scaled(shop, most.denominator), most.numerator)


def shortest(
    instance: PipelineSchedulesInstance,
    search: Search[PipelineSchedulesSolution],
    question_of: Callable[[Fraction], ScheduleModel | TasksModel],
    most_denominator: int,
    least: int,
    most: Fraction,
) -> None:
    """Look for the shortest schedule of `least` to `most` ticks; what is found goes to a search.

    The first model is in whole ticks; then it is asked for less by a fraction of a tick.
    """
    seed, tick = seed_of(fixed_rng()), Fraction(1, instance.ticks_per_s)
    with search.clock.phase("build"):
        model = question_of(most)
        model.model.add(model.length >= least)
        model.model.minimize(model.length)
    solved = solve_cp(model.model, search.clock.limits(), seed)
    if solved.bound is not None and solved.status is not Status.INFEASIBLE:
        # No period is a whole number of ticks less, and its denominator is at most this.
        search.prove(tick * (Fraction(solved.bound) - 1 + Fraction(1, most_denominator)))
    while solved.values is not None:
        solution = model.decode(solved.values, instance)
        search.offer(Fraction(evaluate(instance, solution).objective or 0), solution)
        if solved.status is not Status.OPTIMAL:
            break
        most = next_below(Fraction(search.value) / tick, most_denominator)
        if search.closed:
            break
        model = question_of(most)
        solved = solve_cp(model.model, search.clock.limits(), seed)
    if solved.status is Status.INFEASIBLE:
        search.infeasible = search.best is None
        search.prove(search.value)
    search.limit_hit = search.limit_hit or solved.limit_hit
