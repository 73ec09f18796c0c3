r"""Plan and schedule together as a constraint program, for tiny instances.

For a number of stages S: the cut :math:`c_n` after stage n and the number :math:`g_n` of its device
set are integers. Tables say what times a stage has, :math:`(c_{n-1}, c_n, g_n, F_n, B_n, A_n)`,
what times a channel has, :math:`(c_n, g_n, g_{n+1}, C^f_n, C^b_n)`, and which GPUs a set holds.
The blocks are intervals whose lengths are these variables.

.. math::
    \min\ & \Theta \\
    & (c_{n-1}, c_n, g_n, F_n, B_n, A_n) \in \text{stages}                            \tag{C1} \\
    & (c_n, g_n, g_{n+1}, C^f_n, C^b_n) \in \text{channels}                           \tag{C2} \\
    & \text{every GPU in (at most) one set}                                           \tag{C3} \\
    & \text{blocks follow their route; those of a machine do not overlap}             \tag{C4} \\
    & \text{every kind of block serves the microbatches by index}                     \tag{C5} \\
    & \Theta \ge \text{the last backward block of a stage} + A_n                      \tag{C6}

All numbers of stages are tried, each with the best makespan so far as a limit. Times are whole
ticks, rounded down: a bound in ticks is a bound; the orders found are timed again exactly.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
from ortools.sat.python import cp_model

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.pipeline.communication import transfer_factor
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.pieces.pipeline.shop import shop_of, stage_times
from gadgetopt.pieces.pipeline.simulator import Schedule, simulate
from gadgetopt.search.clock import Clock
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.cpsat import solve_cp, value_of
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ..algorithms.spp import spp
from ..instance import SppInstance, SppSolution

#: Most GPUs and most rows of tables.
MOST_GPUS, MOST_ROWS = 6, 500_000

#: Ticks of the makespan of SPP.
_TICKS = 2**40


class JointModel:
    """The constraint program for one number of stages; one method a family of constraints.

    Parameters
    ----------
    instance : SppInstance
    stages : int
    tick_s : Fraction
    horizon : int
        Only makespans of at most this many ticks are wanted.
    """

    horizon: int
    instance: SppInstance
    tick_s: Fraction
    model: cp_model.CpModel
    Cb: list[cp_model.IntVar]
    Cf: list[cp_model.IntVar]

    def __init__(self, instance: SppInstance, stages: int, tick_s: Fraction, horizon: int):
        self.instance, self.S, self.tick_s, self.horizon = instance, stages, tick_s, horizon
        self.L, self.M = instance.num_layers, instance.num_microbatches
        self.sets: list[tuple[int, ...]] = device_sets(instance.num_gpus)
        self.model = m = cp_model.CpModel()
        N, C = range(stages), range(stages - 1)

        def times(name: str, numbers: range) -> list[cp_model.IntVar]:
            return [m.new_int_var(0, horizon, f"{name}[{n}]") for n in numbers]

        self.cut: list[cp_model.IntVar] = [
            m.new_int_var(n + 1, self.L - stages + n + 1, f"c[{n}]") for n in N
        ]
        self.gpus: list[cp_model.IntVar] = [
            m.new_int_var(0, len(self.sets) - 1, f"g[{n}]") for n in N
        ]
        self.F, self.B, self.A = times("F", N), times("B", N), times("A", N)
        self.Cf, self.Cb = times("Cf", C), times("Cb", C)
        self.f: list[cp_model.IntVar] = [
            self.Cf[q // 2] if q % 2 else self.F[q // 2] for q in range(2 * stages - 1)
        ]
        self.b: list[cp_model.IntVar] = [
            self.Cb[q // 2] if q % 2 else self.B[q // 2] for q in range(2 * stages - 1)
        ]
        self.fwd: list[list[cp_model.IntVar]] = [
            [m.new_int_var(0, horizon, "") for _ in range(self.M)] for _ in self.f
        ]
        self.bwd: list[list[cp_model.IntVar]] = [
            [m.new_int_var(0, horizon, "") for _ in range(self.M)] for _ in self.f
        ]
        self.makespan: cp_model.IntVar = m.new_int_var(0, horizon, "T")
        m.minimize(self.makespan)

    def stages_have_their_times(self) -> None:
        """(C1): times of a stage from its cuts and its devices."""
        rows = [
            (first, end, g, *map(self._ticks, stage_times(self.instance, first, end, devices)))
            for first, end in itertools.combinations(range(self.L + 1), 2)
            for g, devices in enumerate(self.sets)
        ]
        allowed = [row for row in rows if max(row[3:]) <= self.horizon]
        before = [0, *self.cut]
        for n in range(self.S):
            chosen = [before[n], self.cut[n], self.gpus[n], self.F[n], self.B[n], self.A[n]]
            self.model.add_allowed_assignments(chosen, allowed)
        self.model.add(self.cut[-1] == self.L)

    def channels_have_their_times(self) -> None:
        """(C2): times of a channel from its cut and the devices on both sides."""
        latency = decimal_rational(self.instance.options.transfer_latency_s)
        chain = self.instance.chain
        pairs = [
            (g, h, transfer_factor(self.instance, x, y))
            for (g, x), (h, y) in itertools.permutations(enumerate(self.sets), 2)
            if not set(x) & set(y)
        ]
        rows = [
            (
                cut,
                g,
                h,
                self._ticks(chain.act_bytes[cut - 1] * factor + latency),
                self._ticks(chain.grad_bytes[cut - 1] * factor + latency),
            )
            for cut in range(1, self.L)
            for g, h, factor in pairs
        ]
        allowed = [row for row in rows if max(row[3:]) <= self.horizon]
        for n in range(self.S - 1):
            chosen = [self.cut[n], self.gpus[n], self.gpus[n + 1], self.Cf[n], self.Cb[n]]
            self.model.add_allowed_assignments(chosen, allowed)

    def gpus_belong_to_one_stage(self) -> None:
        """(C3): device sets are disjoint and, if asked, hold every GPU."""
        m, V = self.model, self.instance.num_gpus
        holds = [(g, *(int(v in devices) for v in range(V))) for g, devices in enumerate(self.sets)]
        inside = []
        for g in self.gpus:
            row = [m.new_bool_var("") for _ in range(V)]
            m.add_allowed_assignments([g, *row], holds)
            inside.append(row)
        for v in range(V):
            total = sum(row[v] for row in inside)
            m.add(total == 1 if self.instance.options.use_all_gpus else total <= 1)

    def blocks_follow_their_route(self) -> None:
        """(C4): a block starts after the one before it on its route."""
        for k in range(self.M):
            for q in range(1, len(self.f)):
                self.model.add(self.fwd[q][k] >= self.fwd[q - 1][k] + self.f[q - 1])
                self.model.add(self.bwd[q - 1][k] >= self.bwd[q][k] + self.b[q])
            self.model.add(self.bwd[-1][k] >= self.fwd[-1][k] + self.f[-1])

    def machines_serve_one_block_at_a_time(self) -> None:
        """(C4): blocks of a machine, or of one direction of a full duplex channel, are apart."""
        full = self.instance.duplex == "full"
        for q in range(len(self.f)):
            forward = [self._interval(s, self.f[q]) for s in self.fwd[q]]
            backward = [self._interval(s, self.b[q]) for s in self.bwd[q]]
            groups = [forward, backward] if full and q % 2 else [forward + backward]
            for blocks in groups:
                self.model.add_no_overlap(blocks)

    def microbatches_are_served_by_index(self) -> None:
        """(C5): on every kind of block a microbatch follows the one before it."""
        for q in range(len(self.f)):
            for k in range(1, self.M):
                self.model.add(self.fwd[q][k] >= self.fwd[q][k - 1] + self.f[q])
                self.model.add(self.bwd[q][k] >= self.bwd[q][k - 1] + self.b[q])

    def makespan_follows_the_last_blocks(self) -> None:
        """(C6): the iteration ends after the last AllReduce."""
        for n in range(self.S):
            last = self.bwd[2 * n][-1]
            self.model.add(self.makespan >= last + self.B[n] + self.A[n])
            self.model.add(self.makespan >= self.M * (self.F[n] + self.B[n]) + self.A[n])

    def decode(self, values: Floats) -> Schedule:
        """Return the plan's schedule with the orders found; its plan comes from `plan`."""
        shop = shop_of(self.instance, self.plan(values))
        orders = []
        for q in range(len(self.f)):
            blocks = [(value_of(values, x), k, 0) for k, x in enumerate(self.fwd[q], start=1)]
            blocks += [(value_of(values, x), k, 1) for k, x in enumerate(self.bwd[q], start=1)]
            # Of blocks that start together, microbatches go by index and along their route.
            orders.append([-k if back else k for _, k, back in sorted(blocks)])
        return simulate(shop, orders)

    def plan(self, values: Floats) -> Plan:
        """Return the plan of an incumbent."""
        cuts = [0, *(value_of(values, c) for c in self.cut)]
        return Plan(
            stage_layers=tuple(itertools.pairwise(cuts)),
            stage_devices=tuple(self.sets[value_of(values, g)] for g in self.gpus),
        )

    def _interval(self, start: cp_model.IntVar, size: cp_model.IntVar) -> cp_model.IntervalVar:
        end = self.model.new_int_var(0, self.horizon, "")
        return self.model.new_interval_var(start, size, end, "")

    def _ticks(self, seconds: Fraction) -> int:
        return math.floor(seconds / self.tick_s)


def device_sets(num_gpus: int) -> list[tuple[int, ...]]:
    """Return all non-empty sets of GPUs."""
    gpus = range(num_gpus)
    return [c for r in range(1, num_gpus + 1) for c in itertools.combinations(gpus, r)]


def cp_joint(instance: SppInstance, limits: Limits, rng: np.random.Generator) -> MethodOutcome:
    """Solve (C1)-(C6) with CP-SAT for every number of stages, from the solution of SPP.

    Raises
    ------
    ModelRefused
        If there are more than six GPUs or too many rows, or microbatches in flight are limited.
    """
    _check(instance)
    clock = Clock(limits)
    first = spp(instance, clock.limits(), rng)
    best, best_s = first.solution, first.claimed_objective
    if best_s is None or clock.expired:
        return MethodOutcome(best, best_s, limit_hit="time_s", phases_s=clock.phases_s)
    tick_s = Fraction(best_s) / _TICKS if best_s else Fraction(1)
    bound_s, limit_hit, versions = Fraction(best_s), None, {}
    for stages in range(1, instance.most_stages + 1):
        with clock.phase("solve"):
            model = _built(instance, stages, tick_s, math.floor(Fraction(best_s) / tick_s))
            solved = solve_cp(model.model, clock.limits(), seed_of(rng))
        versions = solved.versions
        if solved.values is not None:
            schedule = model.decode(solved.values)
            if schedule.makespan_s < best_s:
                best_s = schedule.makespan_s
                best = SppSolution.of(model.plan(solved.values), schedule.orders)
        if solved.status is Status.INFEASIBLE:
            continue
        least = 0 if solved.bound is None else int(solved.bound)
        bound_s = min(bound_s, least * tick_s)
        limit_hit = limit_hit or solved.limit_hit
    return MethodOutcome(
        solution=best,
        claimed_objective=best_s,
        dual_bound=min(bound_s, Fraction(best_s)),
        limit_hit=limit_hit,
        phases_s=clock.phases_s,
        versions=versions,
    )


def _built(instance: SppInstance, stages: int, tick_s: Fraction, horizon: int) -> JointModel:
    model = JointModel(instance, stages, tick_s, horizon)
    model.stages_have_their_times()
    model.channels_have_their_times()
    model.gpus_belong_to_one_stage()
    model.blocks_follow_their_route()
    model.machines_serve_one_block_at_a_time()
    model.microbatches_are_served_by_index()
    model.makespan_follows_the_last_blocks()
    return model


def _check(instance: SppInstance) -> None:
    V, L, options = instance.num_gpus, instance.num_layers, instance.options
    if V > MOST_GPUS:
        raise ModelRefused(f"cluster: {V} GPUs, expected at most {MOST_GPUS}")
    if options.memory_bytes is not None or options.max_in_flight is not None:
        raise ModelRefused("options: limits of microbatches in flight are not in this model")
    if L * (4**V) > MOST_ROWS or L * L * 2**V > MOST_ROWS:
        raise ModelRefused(f"layers: {L} on {V} GPUs are more than {MOST_ROWS} rows of tables")
