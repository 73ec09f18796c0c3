r"""Plan and schedule together as a constraint program, for tiny instances.

For a number of stages S: the cut :math:`c_n` after stage n and the number :math:`g_n` of its set of
GPUs are integers. Tables, which the evaluator fills, say what times a stage has and how many
microbatches may be in flight on it, :math:`(c_{n-1}, c_n, g_n, F_n, B_n, A_n, D_n)`; what times a
channel has, :math:`(c_n, g_n, g_{n+1}, C^f_n, C^b_n)`; and which GPUs a set holds. The blocks are
intervals whose lengths are these variables. On stages and channels q = 0..2S-2 the times of a
block are :math:`f_q` and :math:`b_q`.

.. math::
    \min\ & \Theta \\
    & (c_{n-1}, c_n, g_n, F_n, B_n, A_n, D_n) \in \text{stages}                       \tag{C1} \\
    & (c_n, g_n, g_{n+1}, C^f_n, C^b_n) \in \text{channels}                           \tag{C2} \\
    & \text{every GPU in (at most) one set; of equal GPUs the first is in no later stage}
                                                                                      \tag{C3} \\
    & \text{blocks follow their route; those of a machine do not overlap}             \tag{C4} \\
    & \text{every kind of block serves the microbatches by index}                     \tag{C5} \\
    & \Theta \ge \text{the last backward block of a stage} + A_n                      \tag{C6} \\
    & \text{forward block m of a stage after its backward block } m - D_n             \tag{C7} \\
    & \Theta \ge \textstyle\sum_{i<q} f_i + M (f_q + b_q) + \sum_{i=s}^{q-1} b_i + a_s
      \text{ for even } s \le q                                                       \tag{C8}

(C8) follows from the rest. All numbers of stages are tried, each only for what is shorter than the
best so far. If times are whole ticks, so are bound and iteration time; the evaluator times what is
found again.

Times, memory and iteration times are the evaluator's: nothing of the searches over plans is used.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np

from gadgetopt.errors import SolverError
from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.tolerance import Number
from gadgetopt.pieces.pipeline.all_plans.plan_tables import PlanTables, Rules, plan_tables
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.search.state import Search
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.cpsat import solve_cp, value_of
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.system.result import MethodOutcome, Status


class JointModel:
    """The constraint program for one number of stages; one method a family of constraints.

    Parameters
    ----------
    rules : Rules
    tables : PlanTables
    stages : int
    horizon : int
        Only iterations of at most this many ticks are wanted.
    """

    def __init__(self, rules: Rules, tables: PlanTables, stages: int, horizon: int):
        self.instance, self.tables = rules.instance, tables
        self.S, self.horizon = stages, horizon
        self.M: int = self.instance.num_microbatches
        self.model: cp_model.CpModel = cp_model.CpModel()
        self._variables()
        self.stages_have_their_times()
        self.channels_have_their_times()
        self.gpus_belong_to_one_stage()
        self.blocks_follow_their_route()
        self.machines_serve_one_block_at_a_time()
        self.microbatches_are_served_by_index()
        self.stages_hold_few_microbatches()
        self.makespan_follows_the_last_blocks()
        self.makespan_is_above_head_load_and_tail()

    def _variables(self) -> None:
        m, S, L = self.model, self.S, self.instance.num_layers
        N, C = range(S), range(S - 1)
        self.cut: list[cp_model.IntVar] = [
            m.new_int_var(n + 1, L - S + n + 1, f"c[{n}]") for n in N
        ]
        last_set = len(self.tables.sets) - 1
        self.gpus: list[cp_model.IntVar] = [m.new_int_var(0, last_set, f"g[{n}]") for n in N]
        self.held: list[cp_model.IntVar] = [m.new_int_var(1, self.M, f"D[{n}]") for n in N]
        self.F, self.B, self.A = (self._times(name, N) for name in "FBA")
        self.Cf, self.Cb = self._times("Cf", C), self._times("Cb", C)
        machines = range(2 * S - 1)
        self.f: list[cp_model.IntVar] = [(self.Cf if q % 2 else self.F)[q // 2] for q in machines]
        self.b: list[cp_model.IntVar] = [(self.Cb if q % 2 else self.B)[q // 2] for q in machines]
        self.fwd: list[list[cp_model.IntVar]] = [
            self._times(f"f{q}", range(self.M)) for q in machines
        ]
        self.bwd: list[list[cp_model.IntVar]] = [
            self._times(f"b{q}", range(self.M)) for q in machines
        ]
        self.makespan: cp_model.IntVar = m.new_int_var(0, self.horizon, "T")
        m.minimize(self.makespan)

    def _times(self, name: str, numbers: range) -> list[cp_model.IntVar]:
        return [self.model.new_int_var(0, self.horizon, f"{name}[{n}]") for n in numbers]

    def stages_have_their_times(self) -> None:
        """(C1): times of a stage from its cuts and its devices."""
        allowed = [row for row in self.tables.stages if max(row[3:6]) <= self.horizon]
        for n in range(self.S):
            first = self.cut[n - 1] if n else self.model.new_constant(0)
            chosen = [first, self.cut[n], self.gpus[n], self.F[n], self.B[n], self.A[n]]
            self._choose([*chosen, self.held[n]], allowed)
        self.model.add(self.cut[-1] == self.instance.num_layers)

    def channels_have_their_times(self) -> None:
        """(C2): times of a channel from its cut and the devices on both sides."""
        allowed = [row for row in self.tables.channels if max(row[3:]) <= self.horizon]
        for n in range(self.S - 1):
            chosen = [self.cut[n], self.gpus[n], self.gpus[n + 1], self.Cf[n], self.Cb[n]]
            self._choose(chosen, allowed)

    def gpus_belong_to_one_stage(self) -> None:
        """(C3): device sets are disjoint and, if asked, hold every GPU, and are equally large."""
        m, sets, V = self.model, self.tables.sets, range(self.instance.num_gpus)
        holds = [(g, *(int(v in devices) for v in V)) for g, devices in enumerate(sets)]
        inside: list[list[cp_model.IntVar]] = []
        for g in self.gpus:
            row = [m.new_bool_var("") for _ in V]
            m.add_allowed_assignments([g, *row], holds)
            inside.append(row)
        for v in V:
            total = sum(row[v] for row in inside)
            m.add(total == 1 if self.instance.options.use_all_gpus else total <= 1)
        if self.instance.options.uniform_replicas:
            for row in inside[1:]:
                m.add(sum(row) == sum(inside[0]))
        for u, v in self.tables.alike:
            for n in range(self.S):
                m.add(sum(row[u] for row in inside[: n + 1]) >= inside[n][v])

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
            self.model.add(self.makespan >= self.bwd[2 * n][-1] + self.B[n] + self.A[n])

    def stages_hold_few_microbatches(self) -> None:
        """(C7): a stage has few microbatches between forward start and backward end."""
        for most in sorted({row[6] for row in self.tables.stages if row[6] < self.M}):
            for n, q in enumerate(range(0, len(self.f), 2)):
                limited = self.model.new_bool_var(f"D[{n}] <= {most}")
                self.model.add(self.held[n] > most).only_enforce_if(~limited)
                for k in range(most, self.M):
                    end = self.bwd[q][k - most] + self.b[q]
                    self.model.add(self.fwd[q][k] >= end).only_enforce_if(limited)

    def makespan_is_above_head_load_and_tail(self) -> None:
        """(C8): what comes before a machine's load, the load, and what comes after it."""
        full = self.instance.duplex == "full"
        for q in range(len(self.f)):
            if full and q % 2:
                continue
            load = sum(self.f[:q]) + self.M * (self.f[q] + self.b[q])
            for s in range(0, q + 1, 2):
                self.model.add(self.makespan >= load + sum(self.b[s:q]) + self.A[s // 2])

    def plan(self, values: Floats) -> Plan:
        """Return the plan of an incumbent."""
        cuts = [0, *(value_of(values, c) for c in self.cut)]
        return Plan(
            stage_layers=tuple(itertools.pairwise(cuts)),
            stage_devices=tuple(self.tables.sets[value_of(values, g)] for g in self.gpus),
        )

    def orders(self, values: Floats) -> list[list[int]]:
        """Return the orders of an incumbent.

        Of blocks that start together all but the last take no time. They go by index and along
        their route, so that none waits for another.
        """
        orders = []
        for q in range(len(self.f)):
            blocks = []
            for back, starts, length in ((0, self.fwd[q], self.f[q]), (1, self.bwd[q], self.b[q])):
                takes_time = value_of(values, length) > 0
                for k, start in enumerate(starts, start=1):
                    blocks.append((value_of(values, start), takes_time, k, back))
            orders.append([-k if back else k for _, _, k, back in sorted(blocks)])
        return orders

    def _choose(self, chosen: list[cp_model.IntVar], rows: list[tuple[int, ...]]) -> None:
        if rows:
            self.model.add_allowed_assignments(chosen, rows)
        else:
            self.model.add_bool_or([])

    def _interval(self, start: cp_model.IntVar, size: cp_model.IntVar) -> cp_model.IntervalVar:
        end = self.model.new_int_var(0, self.horizon, "")
        return self.model.new_interval_var(start, size, end, "")


def solve_joint(
    rules: Rules, search: Search[Any], rng: np.random.Generator, start: Any = None
) -> MethodOutcome:
    """Solve (C1)-(C8) with CP-SAT for every number of stages.

    Parameters
    ----------
    rules : Rules
    search : Search
        Keeps the best solution.
    rng : numpy.random.Generator
        For the seeds of CP-SAT.
    start : Solution, optional
        A solution to begin with.

    Raises
    ------
    ModelRefused
        If there are too many GPUs, layers or microbatches for tables.
    """
    if start is not None:
        _offer(rules, search, start)
    with search.clock.phase("tables"):
        tables = plan_tables(rules, search.clock, _exactly(search.value))
    bounds: list[Number] = []
    for stages in range(1, rules.instance.most_stages + 1):
        if tables is None or search.clock.expired:
            bounds.append(Fraction(0))
            break
        with search.clock.phase("solve"):
            bounds.append(_solve_stages(rules, tables, stages, search, seed_of(rng)))
    # What is not shorter than the best was not looked for.
    bound = min([search.value, *bounds])
    search.infeasible = bound == math.inf
    if not search.infeasible:
        search.prove(bound)
    return search.outcome(search.best)


def _solve_stages(
    rules: Rules, tables: PlanTables, stages: int, search: Search[Any], seed: int
) -> Number:
    """Look for solutions of so many stages that are shorter than the best; return their bound."""
    horizon = tables.horizon
    best_s = _exactly(search.value)
    if best_s is not None:
        horizon = min(horizon, math.ceil(best_s / tables.tick_s) - 1)
    if horizon < 0:
        return math.inf
    model = JointModel(rules, tables, stages, horizon)
    solved = solve_cp(model.model, search.clock.limits(), seed)
    if solved.status is Status.ERROR:
        raise SolverError(solved.reason or "CP-SAT failed")
    search.versions = solved.versions
    if solved.status is Status.INFEASIBLE:
        return math.inf
    if solved.values is not None:
        _offer(
            rules, search, rules.solution(model.plan(solved.values), model.orders(solved.values))
        )
    search.limit_hit = search.limit_hit or solved.limit_hit
    return (0 if solved.bound is None else int(solved.bound)) * tables.tick_s


def _offer(rules: Rules, search: Search[Any], solution: Any) -> None:
    """Offer a solution with the evaluator's iteration time, unless it is infeasible."""
    evaluation = rules.evaluate(solution)
    if evaluation.feasible and evaluation.objective is not None:
        search.offer(Fraction(evaluation.objective), solution)


def _exactly(value_s: Number) -> Fraction | None:
    return None if value_s == math.inf else Fraction(value_s)
