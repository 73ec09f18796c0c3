r"""CP-SAT models of SJF-BCO with interval variables.

All models are (reconstructed). Each has the start a_j, duration d_j and end e_j of every job as one
interval, its GPUs y_js, and u_js (uses server s), R_jr (uses r servers), n_js (on the network at s:
0 < y_js < G_j) as in `time_indexed.py`. They differ in the constraints on durations:

* CP-E, exact: c_jtrp = 1 if job j runs on r servers at level p in slot t;
* CP-L, a relaxation: no contention, d_j = d_j(r, p_min(r));
* CP-U, a restriction: CP-L, with at most one spread job on a server at a time;
* CP-L2, a stronger relaxation without slots. With o_ij the slots for which i and j overlap,

  .. math::
      X_j \ge \sum_{i \ne j} n_{is}\, o_{ij} \quad \forall s: n_{js} = 1

  under-estimates :math:`\sum_t (p_j[t] - 1)`, and on every segment :math:`(A - B (p - 1)) / D` of
  the upper concave hull of the rates over p - 1,

  .. math::
      A\, d_j - B X_j \ge D F_j \quad \text{if } R_{jr},

  since the work done is at most :math:`\sum_t (A - B (p_j[t] - 1)) / D` and B >= 0. It is exact
  when no more than two jobs can be spread.

All data are integers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import pairwise

from gadgetopt.numbers.arrays import Floats
from gadgetopt.search.clock import Clock
from gadgetopt.solvers.to_cpsat.cp_model import cp_model

from ..instance import SjfBcoInstance, SjfBcoSolution
from ..rates import RateTable
from ..size_limits import refuse_many_slots
from ..subproblems.symmetry import (
    equal_servers,
    identical_jobs,
    neighbours,
    representative,
)
from .time_indexed import distinct_levels, shortest


def concave_hull(rates: list[int]) -> list[tuple[int, int, int]]:
    """Return (A, B, D) of each segment (A - B x) / D of the upper concave hull of (x, rates[x])."""
    hull: list[tuple[int, int]] = []
    for x, rate in enumerate(rates):
        while len(hull) > 1:
            (x0, f0), (x1, f1) = hull[-2:]
            if Fraction(f1 - f0, x1 - x0) > Fraction(rate - f1, x - x1):
                break
            hull.pop()
        hull.append((x, rate))
    return [
        (f0 * (x1 - x0) + (f0 - f1) * x0, f0 - f1, x1 - x0) for (x0, f0), (x1, f1) in pairwise(hull)
    ]


class ScheduleModel:
    """Variables of all the models, and one method per family of constraints.

    Parameters
    ----------
    instance : SjfBcoInstance
    horizon : int
        Largest makespan considered, at least the shortest duration of every job.
    clock : Clock, optional
        Building raises `TimeoutError` when time is up; on a large instance this may be before the
        model is complete.
    """

    horizon: int
    instance: SjfBcoInstance
    model: cp_model.CpModel

    def __init__(self, instance: SjfBcoInstance, horizon: int, clock: Clock | None = None):
        self.instance, self.horizon = instance, horizon
        self.clock = clock
        self.rates: RateTable = instance.rates
        self.J, self.S = range(len(instance.jobs)), range(len(instance.server_gpus))
        self.J2 = [j for j in self.J if self.rates.server_counts(j)[-1] >= 2]
        self.model = m = cp_model.CpModel()
        rho = [int(d) for d in self.rates.exec_min]
        self.start: list[cp_model.IntVar] = [
            m.new_int_var(0, horizon - rho[j], f"a[{j}]") for j in self.J
        ]
        self.duration: list[cp_model.IntVar] = [
            m.new_int_var(rho[j], horizon, f"d[{j}]") for j in self.J
        ]
        self.end: list[cp_model.IntVar] = [
            m.new_int_var(rho[j], horizon, f"e[{j}]") for j in self.J
        ]
        self.interval: list[cp_model.IntervalVar] = [
            m.new_interval_var(self.start[j], self.duration[j], self.end[j], f"run[{j}]")
            for j in self.J
        ]
        self.y: dict[tuple[int, int], cp_model.IntVar] = {
            (j, s): m.new_int_var(
                0, min(instance.server_gpus[s], self.rates.gpus[j]), f"y[{j},{s}]"
            )
            for j in self._in_time(self.J)
            for s in self.S
        }
        self.uses: dict[tuple[int, int], cp_model.IntVar] = {
            (j, s): m.new_bool_var(f"u[{j}, {s}]") for j in self._in_time(self.J) for s in self.S
        }
        self.count: dict[tuple[int, int], cp_model.IntVar] = {
            (j, r): m.new_bool_var(f"R[{j},{r}]")
            for j in self.J
            for r in self.rates.server_counts(j)
        }
        self.network: dict[tuple[int, int], cp_model.IntVar] = {
            (j, s): m.new_bool_var(f"n[{j},{s}]") for j in self._in_time(self.J2) for s in self.S
        }
        self.makespan: cp_model.IntVar = m.new_int_var(0, horizon, "makespan")
        m.minimize(self.makespan)

    def _check_time(self) -> None:
        if self.clock is not None and self.clock.expired:
            raise TimeoutError

    def _in_time(self, jobs: Iterable[int]) -> Iterator[int]:
        for j in jobs:
            self._check_time()
            yield j

    # -- every model ---------------------------------------------------------------------------

    def gang_is_complete(self) -> None:
        """Each job holds its gang, on the servers it uses and on no other."""
        for j in self.J:
            self._check_time()
            self.model.add(sum(self.y[j, s] for s in self.S) == self.rates.gpus[j])
            for s in self.S:
                self.model.add(self.y[j, s] >= 1).only_enforce_if(self.uses[j, s])
                self.model.add(self.y[j, s] == 0).only_enforce_if(~self.uses[j, s])

    def servers_are_counted(self) -> None:
        """Each job uses a number of servers on which it makes progress."""
        for j in self.J:
            self._check_time()
            counts = self.rates.server_counts(j)
            self.model.add_exactly_one(self.count[j, r] for r in counts)
            used = sum(self.uses[j, s] for s in self.S)
            self.model.add(used == sum(r * self.count[j, r] for r in counts))
            for r in counts:
                if shortest(self.instance, j, r) is None:
                    self.model.add(self.count[j, r] == 0)

    def spread_jobs_are_on_the_network(self) -> None:
        """A job is on the network at the servers it uses, unless it uses only one."""
        for (j, s), n in self.network.items():
            self._check_time()
            local = [self.count[j, 1]] if (j, 1) in self.count else []
            self.model.add_implication(n, self.uses[j, s])
            for is_local in local:
                self.model.add_implication(n, ~is_local)
            self.model.add_bool_or(n, ~self.uses[j, s], *local)

    def servers_have_capacity(self) -> None:
        """Neither a server nor the cluster holds more GPUs than it has."""
        gangs = self.rates.gpus
        for s, capacity in enumerate(self.instance.server_gpus):
            self._check_time()
            held = [self.y[j, s] for j in self.J]
            self.model.add_cumulative(self.interval, held, capacity)
        if len(self.S) > 1:
            self.model.add_cumulative(self.interval, gangs, self.instance.total_gpus)

    def makespan_spans_jobs(self) -> None:
        """The makespan is no earlier than any end."""
        for end in self.end:
            self.model.add(end <= self.makespan)

    def makespan_is_at_least(self, bound: int) -> None:
        """The makespan is no less than a proven bound."""
        self.model.add(self.makespan >= bound)

    def exchangeable_jobs_and_servers_are_ordered(self) -> None:
        """Identical jobs start in order of index; equal servers are ordered by load."""
        for i, j in neighbours(identical_jobs(self.instance)):
            self.model.add(self.start[i] <= self.start[j])
        for s, t in neighbours(equal_servers(self.instance)):
            self._check_time()
            rank = [sum((j + 1) * self.y[j, k] for j in self.J) for k in (s, t)]
            self.model.add(rank[0] >= rank[1])

    # -- durations ---------------------------------------------------------------------------

    def durations_ignore_contention(self) -> None:
        """CP-L: a job on r servers takes d_j(r, p_min(r)) slots."""
        for j, r in self.count:
            d = shortest(self.instance, j, r)
            if d is not None:
                self.model.add(self.duration[j] == d).only_enforce_if(self.count[j, r])

    def spread_jobs_never_share_a_server(self) -> None:
        """CP-U: at most one spread job on a server at a time, so all levels are 1."""
        for s in self.S:
            runs = [self.interval[j] for j in self.J2]
            self.model.add_cumulative(runs, [self.network[j, s] for j in self.J2], 1)

    def durations_are_long_enough_alone(self) -> None:
        """CP-L2: a job on r servers takes at least d_j(r, p_min(r)) slots."""
        for j, r in self.count:
            d = shortest(self.instance, j, r)
            if d is not None:
                self.model.add(self.duration[j] >= d).only_enforce_if(self.count[j, r])

    def shared_slots_slow_jobs_down(self) -> None:
        """CP-L2: slots shared with other spread jobs cost work, along the hull of the rates."""
        m, H = self.model, self.horizon
        shared: defaultdict[tuple[int, int], list[cp_model.IntVar]] = defaultdict(list)
        for k, i in enumerate(self.J2):
            for j in self.J2[k + 1 :]:
                self._check_time()
                overlap = self._overlap(i, j)
                for s in self.S:
                    b = m.new_int_var(0, H, f"b[{i},{j},{s}]")
                    m.add(b >= overlap).only_enforce_if(self.network[i, s], self.network[j, s])
                    shared[i, s].append(b)
                    shared[j, s].append(b)
        for j in self.J2:
            X = m.new_int_var(0, H * len(self.J2), f"X[{j}]")
            for s in self.S:
                m.add(sum(shared[j, s]) <= X).only_enforce_if(self.network[j, s])
            for r in self.rates.server_counts(j):
                if r < 2:
                    continue
                table = [self.rates.rate(j, r, p) for p in self.rates.levels(r)]
                for A, B, D in concave_hull(table):
                    work = D * self.rates.iterations[j]
                    m.add(A * self.duration[j] - B * X >= work).only_enforce_if(self.count[j, r])

    def _overlap(self, i: int, j: int) -> cp_model.IntVar:
        """Return o_ij, at least the number of slots in which both jobs run."""
        m, H = self.model, self.horizon
        first_end, last_start = m.new_int_var(0, H, ""), m.new_int_var(0, H, "")
        m.add_min_equality(first_end, [self.end[i], self.end[j]])
        m.add_max_equality(last_start, [self.start[i], self.start[j]])
        overlap = m.new_int_var(0, H, f"o[{i},{j}]")
        m.add(overlap >= first_end - last_start)
        return overlap

    def levels_follow_the_slots(self) -> None:
        """CP-E: in each slot a job runs at a level that covers its servers."""
        m, H = self.model, self.horizon
        refuse_many_slots(self.instance, H)
        active = {}
        for j in self.J:
            self._check_time()
            active.update({(j, t): self._active(j, t) for t in range(H)})
        on_network = {}
        for (j, s), n in self.network.items():
            self._check_time()
            for t in range(H):
                q = on_network[j, s, t] = m.new_bool_var(f"q[{j},{s},{t}]")
                m.add_implication(q, n)
                m.add_implication(q, active[j, t])
                m.add_bool_or(q, ~n, ~active[j, t])
        for j in self.J:
            modes = [
                (r, p)
                for r in self.rates.server_counts(j)
                for p in distinct_levels(self.instance, j, r)
            ]
            done = []
            for t in range(H):
                self._check_time()
                c = {rp: m.new_bool_var(f"c[{j},{t},{rp}]") for rp in modes}
                m.add_exactly_one(*c.values(), ~active[j, t])
                for (r, _), runs in c.items():
                    m.add_implication(runs, self.count[j, r])
                level = sum(p * runs for (_, p), runs in c.items())
                for s in self.S if j in self.J2 else ():
                    sharing = sum(on_network[i, s, t] for i in self.J2)
                    m.add(sharing <= level).only_enforce_if(on_network[j, s, t])
                done += [self.rates.rate(j, r, p) * runs for (r, p), runs in c.items()]
            m.add(sum(done) >= self.rates.iterations[j])
            m.add(sum(active[j, t] for t in range(H)) == self.duration[j])

    def _active(self, j: int, t: int) -> cp_model.IntVar:
        """Return x_jt, 1 if job j has started by slot t and has not ended."""
        m = self.model
        started, unfinished, active = (m.new_bool_var(f"{n}[{j},{t}]") for n in ("by", "on", "x"))
        m.add(self.start[j] <= t).only_enforce_if(started)
        m.add(self.start[j] > t).only_enforce_if(~started)
        m.add(self.end[j] > t).only_enforce_if(unfinished)
        m.add(self.end[j] <= t).only_enforce_if(~unfinished)
        m.add_implication(active, started)
        m.add_implication(active, unfinished)
        m.add_bool_or(active, ~started, ~unfinished)
        return active

    # -- in and out ----------------------------------------------------------------------------

    def hint(self, incumbent: SjfBcoSolution) -> None:
        """Add a known schedule as hint, reordered to satisfy the symmetry breaking."""
        known = representative(self.instance, incumbent)
        for j in self.J:
            placement = known.placement[j]
            self.model.add_hint(self.start[j], known.start_slot[j])
            for r in self.rates.server_counts(j):
                self.model.add_hint(self.count[j, r], r == len(placement))
            for s in self.S:
                self.model.add_hint(self.y[j, s], placement.get(s, 0))
                self.model.add_hint(self.uses[j, s], s in placement)
                if (j, s) in self.network:
                    self.model.add_hint(self.network[j, s], s in placement and len(placement) > 1)

    def decode(self, values: Floats) -> SjfBcoSolution:
        """Return starts and placements from values by variable index."""
        counts = [{s: round(values[self.y[j, s].index]) for s in self.S} for j in self.J]
        return SjfBcoSolution(
            start_slot=tuple(round(values[a.index]) for a in self.start),
            placement=tuple({s: k for s, k in y.items() if k} for y in counts),
        )
