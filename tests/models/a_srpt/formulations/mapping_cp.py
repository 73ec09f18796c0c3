"""Both mapping problems of one job in CP-SAT: (M) with literals for presence, and the cut (4)."""

from __future__ import annotations

from collections.abc import Sequence

from ortools.sat.python import cp_model

from gadgetopt.models.a_srpt.instance import JobType
from gadgetopt.models.a_srpt.iteration_time import MappingTimes
from gadgetopt.models.a_srpt.mapping import Counts
from gadgetopt.solvers.cpsat import solve_cp, value_of
from gadgetopt.solvers.outcome import SolverOutcome
from gadgetopt.system.result import Limits

from .mapping_cut import weights


class MappingModel:
    """Replicas on servers, with (M1), (M2) and (M8)."""

    f: Sequence[int]
    k: Sequence[int]
    model: cp_model.CpModel

    def __init__(
        self,
        replicas: Sequence[int],
        free_gpus: Sequence[int],
        sizes: Sequence[int] | None = None,
    ):
        self.k, self.f = replicas, free_gpus
        of_stage = sizes or (1,) * len(replicas)
        self.model = m = cp_model.CpModel()
        self.x: list[list[cp_model.IntVar]] = [
            [m.new_int_var(0, min(k, f), f"x[{s},{i}]") for i, f in enumerate(free_gpus)]
            for s, k in enumerate(replicas)
        ]
        for row, k in zip(self.x, replicas, strict=True):
            m.add(sum(row) == k)
        held = [
            sum(t * row[i] for t, row in zip(of_stage, self.x, strict=True))
            for i in range(len(free_gpus))
        ]
        for i, f in enumerate(free_gpus):
            m.add(held[i] <= f)
            if i and f == free_gpus[i - 1]:
                m.add(held[i] <= held[i - 1])

    def takes_the_iteration(self, times: MappingTimes) -> None:
        """(M3)-(M7): minimise the time of an iteration, in units."""
        m = self.model
        theta = m.new_int_var(max(times.stage_together), max(times.alone), "theta")
        ring = m.new_int_var(max(times.ring_whole), max(times.ring_split), "ring")
        for s, row in enumerate(self.x):
            on_one = []
            for i, x in enumerate(row):
                present = m.new_bool_var(f"y[{s},{i}]")
                m.add(x >= 1).only_enforce_if(present)
                m.add(x == 0).only_enforce_if(~present)
                left = times.saved_left[s] * self.x[s - 1][i] if s else 0
                right = times.saved_right[s] * self.x[s + 1][i] if s + 1 < len(self.k) else 0
                m.add(theta >= times.alone[s] - left - right).only_enforce_if(present)
                if self.f[i] >= self.k[s]:
                    whole = m.new_bool_var(f"u[{s},{i}]")
                    m.add(x == self.k[s]).only_enforce_if(whole)
                    on_one.append(whole)
            m.add_at_most_one(on_one)
            split = times.ring_split[s] - times.ring_whole[s]
            m.add(ring >= times.ring_split[s] - split * sum(on_one))
        m.minimize(theta + ring)

    def cuts_traffic(self, job_type: JobType) -> None:
        """(4): minimise the traffic between servers, scaled as in `mapping_cut`."""
        m, k = self.model, self.k
        _, within, between = weights(job_type)
        total = sum(w * n * (n - 1) // 2 for w, n in zip(within, k, strict=True))
        total += sum(w * k[s] * k[s + 1] for s, w in enumerate(between))
        kept = []
        for s, row in enumerate(self.x):
            for i, x in enumerate(row):
                pairs = m.new_int_var(0, k[s] * (k[s] - 1) // 2, f"pairs[{s},{i}]")
                m.add_element(x, [n * (n - 1) // 2 for n in range(k[s] + 1)], pairs)
                kept.append(within[s] * pairs)
                if s + 1 < len(k):
                    both = m.new_int_var(0, k[s] * k[s + 1], f"both[{s},{i}]")
                    m.add_multiplication_equality(both, [x, self.x[s + 1][i]])
                    kept.append(between[s] * both)
        m.minimize(total - sum(kept))

    def solve(self, limits: Limits, seed: int = 0) -> tuple[SolverOutcome, Counts | None]:
        """Return CP-SAT's outcome and its mapping."""
        solved = solve_cp(self.model, limits, seed)
        if solved.values is None:
            return solved, None
        values = solved.values
        return solved, tuple(tuple(value_of(values, x) for x in row) for row in self.x)
