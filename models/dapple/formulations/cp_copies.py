r"""Plan, copies and schedules together as a constraint program, for tiny instances.

For R copies and S stages: the cut :math:`c_n` after stage n and its GPUs r_n in a copy are
integers, as are the GPUs of copy k's stage n in machine j, :math:`x_{knj}`. Tables, which the
evaluator fills, say what times a stage and a link have. Blocks are intervals whose lengths are
variables; those of a copy are as in `cp_joint`.

.. math::
    \min\ & \Theta \\
    & \textstyle\sum_j x_{knj} = r_n, \quad \sum_{kn} x_{knj} \le \sigma_j              \tag{K1} \\
    & (c_{n-1}, c_n, r_n, F_n, B_n, D_n) \in \text{stages}                              \tag{K2} \\
    & (c_{n-1}, c_n, r_n, p_n, A_n) \in \text{rings}, \quad
      p_n = 1 \text{ if } x_{\cdot n \cdot} \text{ is in several machines}              \tag{K3} \\
    & (c_n, w_{kn}, C^f_{kn}, C^b_{kn}) \in \text{links}                                \tag{K4} \\
    & \text{blocks follow their route; those of a machine do not overlap}               \tag{K5} \\
    & \Theta \ge \text{the last backward block of a stage of a copy} + A_n              \tag{K6} \\
    & \text{forward block m of a stage after its backward block } m - D_n               \tag{K7}

:math:`w_{kn}` numbers the pairs of where two stages of a copy are, and how many copies cross
there. The model shares no code with the outlines of `proving`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from gadgetopt.errors import ModelRefused, SolverError
from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.exact import common_denominator
from gadgetopt.numbers.tolerance import Number, decimal_rational
from gadgetopt.search.state import Search
from gadgetopt.solvers.cpsat import solve_cp, value_of
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ..evaluate import Times, evaluate, memory_bytes, plan_times
from ..instance import Copy, DappleInstance, DappleSolution
from ..subproblems.copies import Sets, copy_numbers, solution_of_copies

#: Most GPUs, and most blocks of a model. Tuned: `benchmarks/constants.py`.
MOST_GPUS, MOST_BLOCKS = 6, 4_000

#: Most ticks of an iteration. By definition.
MOST_TICKS = 2**40

#: GPUs of each machine that a stage of a copy has.
Counts = tuple[int, ...]


@method(kind="exact", reference="(K1)-(K7)", formulation="cp_copies", backend="cpsat")
def cp_copies(instance: DappleInstance, limits: Limits) -> MethodOutcome:
    """Plan, copies and schedules together in CP-SAT, for at most six GPUs.

    Solve (K1)-(K7) for every number of copies and of stages.

    Raises
    ------
    ModelRefused
        If there are more than six GPUs, too many blocks, or machines of different speeds.
    """
    _check(instance)
    search: Search[DappleSolution] = Search("min", limits)
    with search.interruptible():
        bounds = [
            _solved(instance, copies, stages, search)
            for copies in copy_numbers(instance)
            for stages in range(1, min(instance.most_stages, instance.num_gpus // copies) + 1)
        ]
    if search.limit_hit == "interrupted":
        return search.outcome(search.best)
    found = [Fraction(bound) for bound in bounds if bound != math.inf]
    search.infeasible = search.limit_hit is None and search.best is None and not found
    if search.best is not None and search.limit_hit is None:
        search.prove(min([Fraction(search.value), *found]))
    return search.outcome(search.best)


def _check(instance: DappleInstance) -> None:
    if instance.num_gpus > MOST_GPUS:
        raise ModelRefused(f"cluster: {instance.num_gpus} GPUs, expected at most {MOST_GPUS}")
    if len(set(instance.cluster.machine_speeds)) > 1:
        raise ModelRefused("cluster.speeds: of different machines, expected equal ones")
    blocks = 2 * (2 * instance.most_stages - 1) * instance.num_microbatches
    if blocks > MOST_BLOCKS:
        raise ModelRefused(f"num_microbatches: {blocks} blocks, expected at most {MOST_BLOCKS}")


def _solved(
    instance: DappleInstance, copies: int, stages: int, search: Search[DappleSolution]
) -> Fraction | float:
    """Offer what is shorter than the incumbent; return a bound, infinite if there is nothing."""
    if search.clock.expired:
        search.limit_hit = search.clock.limit_hit
        return Fraction(0)
    model = CopiesModel(instance, copies, stages, search.value)
    solved = solve_cp(model.model, search.clock.limits(), 0)
    if solved.status is Status.ERROR:
        raise SolverError(solved.reason or "CP-SAT failed")
    search.versions = solved.versions
    if solved.status is Status.INFEASIBLE:
        return math.inf
    if solved.values is not None:
        solution = model.solution(solved.values)
        evaluation = evaluate(instance, solution)
        if evaluation.feasible and evaluation.objective is not None:
            search.offer(evaluation.objective, solution)
    if solved.status is not Status.OPTIMAL:
        search.limit_hit = solved.limit_hit or search.clock.limit_hit
    return (0 if solved.bound is None else int(solved.bound)) * model.tick_s


class Tables:
    """Times of stages, rings and links of so many copies, in seconds, from the evaluator."""

    def __init__(self, instance: DappleInstance, copies: int):
        self.instance, self.copies = instance, copies
        self.sizes: tuple[int, ...] = instance.cluster.gpus_per_machine
        g = instance.num_gpus // copies
        L = instance.num_layers
        ranges = list(itertools.combinations(range(L + 1), 2))
        self.counts: list[Counts] = [
            c
            for c in itertools.product(*(range(size + 1) for size in self.sizes))
            if 1 <= sum(c) <= g
        ]
        self.stages: dict[tuple[int, int, int], tuple[Fraction, Fraction, int]] = {}
        self.rings: dict[tuple[int, int, int, int], Fraction] = {}
        for (first, end), r in itertools.product(ranges, range(1, g + 1)):
            held = self._held(first, end, r)
            for spans in (0, 1):
                ring = self._ring(copies * r, spans)
                if held and ring is not None:
                    parts = [ring[k * r : (k + 1) * r] for k in range(copies)]
                    times = self._times(((first, end),), [(part,) for part in parts])
                    self.stages[first, end, r] = times.forward[0], times.backward[0], held
                    self.rings[first, end, r, spans] = times.allreduce[0]
        self.links: dict[tuple[int, Counts, Counts, int], tuple[Fraction, Fraction]] = {}
        for cut, x, y in itertools.product(range(1, L), self.counts, self.counts):
            if all(a + b <= size for a, b, size in zip(x, y, self.sizes, strict=True)):
                crosses = sum(a + b > 0 for a, b in zip(x, y, strict=True)) > 1
                one = self._link(cut, x, y)
                tau = decimal_rational(instance.options.transfer_latency_s)
                for k in range(1, copies + 1) if crosses else (0,):
                    to, back = ((t - tau) * max(1, k) + tau for t in one)
                    self.links[cut, x, y, k] = to, back

    def _ring(self, gpus: int, spans: int) -> tuple[int, ...] | None:
        """Return a ring of so many GPUs inside the largest machine, or across machines."""
        machines = self.instance.cluster.machine_gpus
        if not spans:
            largest = max(machines, key=len)
            return tuple(largest[:gpus]) if gpus <= len(largest) else None
        if len(machines) == 1 or gpus < 2:
            return None
        others = [v for machine in machines[1:] for v in machine]
        ring = (others[0], *machines[0], *others[1:])[:gpus]
        return tuple(ring)

    def _held(self, first: int, end: int, r: int) -> int:
        options, M = self.instance.options, self.instance.num_microbatches // self.copies
        most = M if options.max_in_flight is None else min(M, options.max_in_flight)
        if options.memory_bytes is None:
            return most
        alone = DappleSolution(
            stage_layers=((first, end),), stage_devices=(tuple(range(r)),), warmup=(1,)
        )
        memory = decimal_rational(options.memory_bytes)
        return sum(memory_bytes(self.instance, alone, 0, k) <= memory for k in range(1, most + 1))

    def _link(self, cut: int, x: Counts, y: Counts) -> tuple[Fraction, Fraction]:
        """Return the transfers of one copy, alone on the network."""
        machines = self.instance.cluster.machine_gpus
        source = tuple(v for gpus, a in zip(machines, x, strict=True) for v in gpus[:a])
        to = tuple(v for gpus, a, b in zip(machines, x, y, strict=True) for v in gpus[a : a + b])
        L = self.instance.num_layers
        times = self._times(((0, cut), (cut, L)), [(source, to)])
        return times.forward[1], times.backward[1]

    def _times(self, layers: tuple[tuple[int, int], ...], sets: Sequence[Sets]) -> Times:
        copies = [Copy(stage_devices=own, warmup=(1,)) for own in sets]
        return plan_times(self.instance, solution_of_copies(layers, copies))

    def numbers(self) -> list[Fraction]:
        """Return all times."""
        found = [x for row in self.stages.values() for x in row[:2]]
        found += self.rings.values()
        return found + [x for row in self.links.values() for x in row]


class CopiesModel:
    """The constraint program for one number of copies and of stages."""

    def __init__(self, instance: DappleInstance, copies: int, stages: int, below_s: Number):
        self.instance, self.R, self.S = instance, copies, stages
        self.M: int = instance.num_microbatches // copies
        self.tables: Tables = Tables(instance, copies)
        numbers = self.tables.numbers()
        longest = (2 * stages * self.M + 1) * 2 * max([*numbers, Fraction(1)])
        if not isinstance(below_s, float):
            longest = min(longest, Fraction(below_s))
        exact = Fraction(1, common_denominator(numbers))
        self.tick_s: Fraction = max(exact, longest / MOST_TICKS)
        # Only what is shorter than the incumbent is looked for.
        self.horizon: int = math.ceil(longest / self.tick_s) - (
            0 if isinstance(below_s, float) else 1
        )
        self.model: cp_model.CpModel = cp_model.CpModel()
        self._plan()
        self._links()
        self.makespan: cp_model.IntVar = self._time("T")
        self._starts: list[tuple[Any, Any, Any, Any]] = []
        for k in range(self.R):
            self._blocks(k)
        self.model.minimize(self.makespan)

    def _time(self, name: str) -> cp_model.IntVar:
        return self.model.new_int_var(0, max(0, self.horizon), name)

    def _ticks(self, *times: Fraction) -> tuple[int, ...]:
        return tuple(math.floor(x / self.tick_s) for x in times)

    def _plan(self) -> None:
        """(K1)-(K3): GPUs of machines, times of stages and rings."""
        m, L, N = self.model, self.instance.num_layers, range(self.S)
        if self.horizon < 0:
            m.add_bool_or([])
        g = self.instance.num_gpus // self.R
        cut = [m.new_int_var(n + 1, L - self.S + n + 1, f"c[{n}]") for n in N]
        self.cut: list[cp_model.IntVar] = cut
        m.add(cut[-1] == L)
        self.r: list[cp_model.IntVar] = [m.new_int_var(1, g, f"r[{n}]") for n in N]
        self.F, self.B, self.A = ([self._time(f"{x}[{n}]") for n in N] for x in "FBA")
        self.D: list[cp_model.IntVar] = [m.new_int_var(1, self.M, f"D[{n}]") for n in N]
        sizes = self.tables.sizes
        self.x: list[list[list[cp_model.IntVar]]] = [
            [[m.new_int_var(0, size, "") for size in sizes] for _ in N] for _ in range(self.R)
        ]
        for j, size in enumerate(sizes):
            total = sum(self.x[k][n][j] for k in range(self.R) for n in N)
            m.add(total == size if self.instance.options.use_all_gpus else total <= size)
        if self.instance.options.uniform_replicas:
            for n in N:
                m.add(self.r[n] == self.r[0])
        stages = [(*key, *self._ticks(f, b), d) for key, (f, b, d) in self.tables.stages.items()]
        rings = [(*key, *self._ticks(a)) for key, a in self.tables.rings.items()]
        for n in N:
            first = cut[n - 1] if n else m.new_constant(0)
            spans = m.new_bool_var(f"p[{n}]")
            used = [m.new_bool_var("") for _ in sizes]
            for j in range(len(sizes)):
                total = sum(self.x[k][n][j] for k in range(self.R))
                m.add(total >= 1).only_enforce_if(used[j])
                m.add(total == 0).only_enforce_if(~used[j])
            m.add(sum(used) >= 2).only_enforce_if(spans)
            m.add(sum(used) == 1).only_enforce_if(~spans)
            for k in range(self.R):
                m.add(sum(self.x[k][n]) == self.r[n])
            self._choose([first, cut[n], self.r[n], self.F[n], self.B[n], self.D[n]], stages)
            self._choose([first, cut[n], self.r[n], spans, self.A[n]], rings)

    def _links(self) -> None:
        """(K4): transfers, and how many copies share the network."""
        m, C = self.model, range(self.S - 1)
        self.Cf: list[list[cp_model.IntVar]] = [[self._time("") for _ in C] for _ in range(self.R)]
        self.Cb: list[list[cp_model.IntVar]] = [[self._time("") for _ in C] for _ in range(self.R)]
        for n in C:
            crossing = [m.new_bool_var("") for _ in range(self.R)]
            total = m.new_int_var(0, self.R, "")
            m.add(total == sum(crossing))
            rows = []
            for (cut, x, y, k), times in self.tables.links.items():
                shared = [k] if k else range(self.R)  # how many others cross is no matter inside
                rows += [(cut, *x, *y, int(k > 0), t, *self._ticks(*times)) for t in shared]
            for k in range(self.R):
                places = [*self.x[k][n], *self.x[k][n + 1]]
                transfers = [self.Cf[k][n], self.Cb[k][n]]
                self._choose([self.cut[n], *places, crossing[k], total, *transfers], rows)

    def _blocks(self, k: int) -> None:
        """(K5)-(K7): the blocks of a copy."""
        m, M, machines = self.model, self.M, range(2 * self.S - 1)
        f = [self.Cf[k][q // 2] if q % 2 else self.F[q // 2] for q in machines]
        b = [self.Cb[k][q // 2] if q % 2 else self.B[q // 2] for q in machines]
        fwd, bwd = ([[self._time("") for _ in range(M)] for _ in machines] for _ in range(2))
        self._starts.append((f, b, fwd, bwd))
        for i in range(M):
            for q in machines[1:]:
                m.add(fwd[q][i] >= fwd[q - 1][i] + f[q - 1])
                m.add(bwd[q - 1][i] >= bwd[q][i] + b[q])
            m.add(bwd[-1][i] >= fwd[-1][i] + f[-1])
        full = self.instance.duplex == "full"
        for q in machines:
            kinds = [
                [self._interval(s, size) for s in starts]
                for starts, size in ((fwd[q], f[q]), (bwd[q], b[q]))
            ]
            for group in kinds if full and q % 2 else [kinds[0] + kinds[1]]:
                m.add_no_overlap(group)
            for i in range(1, M):
                m.add(fwd[q][i] >= fwd[q][i - 1] + f[q])
                m.add(bwd[q][i] >= bwd[q][i - 1] + b[q])
        for n in range(self.S):
            m.add(self.makespan >= bwd[2 * n][-1] + b[2 * n] + self.A[n])
            for most in range(1, M):
                limited = m.new_bool_var("")
                m.add(self.D[n] > most).only_enforce_if(~limited)
                for i in range(most, M):
                    end = bwd[2 * n][i - most] + b[2 * n]
                    m.add(fwd[2 * n][i] >= end).only_enforce_if(limited)

    def _interval(self, start: cp_model.IntVar, size: cp_model.IntVar) -> cp_model.IntervalVar:
        end = self.model.new_int_var(0, max(0, self.horizon), "")
        return self.model.new_interval_var(start, size, end, "")

    def _choose(self, chosen: Sequence[cp_model.IntVar], rows: Sequence[tuple[int, ...]]) -> None:
        if rows:
            self.model.add_allowed_assignments(chosen, rows)
        else:
            self.model.add_bool_or([])

    def solution(self, values: Floats) -> DappleSolution:
        """Return the solution of an incumbent."""
        cuts = [0, *(value_of(values, c) for c in self.cut)]
        free = [list(gpus) for gpus in self.instance.cluster.machine_gpus]
        copies = []
        for k in range(self.R):
            sets = []
            for n in range(self.S):
                counts = [value_of(values, x) for x in self.x[k][n]]
                sets.append(
                    tuple(v for gpus, c in zip(free, counts, strict=True) for v in gpus[:c])
                )
                free = [gpus[c:] for gpus, c in zip(free, counts, strict=True)]
            copies.append(Copy(stage_devices=tuple(sets), orders=self._orders(values, k)))
        return solution_of_copies(tuple(itertools.pairwise(cuts)), copies)

    def _orders(self, values: Floats, k: int) -> tuple[tuple[int, ...], ...]:
        """Return the orders of a copy: of what starts together, what takes no time goes first."""
        f, b, fwd, bwd = self._starts[k]
        orders = []
        for q in range(len(f)):
            blocks = []
            for back, starts, length in ((0, fwd[q], f[q]), (1, bwd[q], b[q])):
                takes_time = value_of(values, length) > 0
                for i, start in enumerate(starts, start=1):
                    blocks.append((value_of(values, start), takes_time, i, back))
            orders.append(tuple(-i if back else i for _, _, i, back in sorted(blocks)))
        return tuple(orders)
