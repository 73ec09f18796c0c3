r"""F1 as a constraint program for CP-SAT.

Variables x, w, :math:`\mu`, :math:`\chi` and :math:`\rho` as in F1. The slowdown is enforced where
the job is, in whole numbers of the table's common unit,

.. math::
    w_{js} \Rightarrow \sigma_j \ge \sum_{k \ne j} \alpha_{jk} w_{ks} \quad \forall j, s,   \tag{5}

and the objective is the sum of :math:`W_j t_j` in whole numbers, scaled exactly. Servers that are
alike are ordered: one may be used only if the one before it has a job of a number no larger than
its first:

.. math::
    w_{js} \le \sum_{k \le j} w_{k, s-1} \quad \forall j, s \text{ like } s - 1.            \tag{7}
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.exact import common_denominator
from gadgetopt.search.clock import Clock
from gadgetopt.search.watched import solver_watched
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.cpsat import solve_cp
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ....subproblems.cluster import Job
from ...formulations.assignment import MOST_TRIPLES, check_additive, check_plain, most_slowdown
from ...instance import PlacementInstance, PlacementSolution

#: Objectives of more than so many units are refused. By definition.
LARGEST = 2**53


class AssignmentModel:
    """The variables, and one method per family of constraints.

    Parameters
    ----------
    instance : PlacementInstance
    """

    instance: PlacementInstance
    jobs: tuple[Job, ...]
    model: cp_model.CpModel

    def __init__(self, instance: PlacementInstance):
        self.instance, self.jobs = instance, instance.jobs
        self.J, self.S = range(len(instance.jobs)), range(len(instance.servers))
        self.model = m = cp_model.CpModel()
        fit = instance.most_tasks
        self.x: list[list[cp_model.IntVar]] = [
            [m.new_int_var(0, fit(j, s), f"x[{j},{s}]") for s in self.S] for j in self.J
        ]
        self.w: list[list[cp_model.IntVar]] = [
            [m.new_bool_var(f"w[{j},{s}]") for s in self.S] for j in self.J
        ]
        self.rho: list[dict[int, cp_model.IntVar]] = [
            {r: m.new_bool_var(f"rho[{j},{r}]") for r in instance.racks} for j in self.J
        ]
        self.mu: list[cp_model.IntVar] = [m.new_bool_var(f"mu[{j}]") for j in self.J]
        self.chi: list[cp_model.IntVar] = [m.new_bool_var(f"chi[{j}]") for j in self.J]
        self.unit: int = instance.alpha_scale
        self.sigma: list[cp_model.IntVar] = [
            m.new_int_var(0, int(most_slowdown(instance, j) * self.unit), f"sigma[{j}]")
            for j in self.J
        ]

    def all_tasks_are_placed(self) -> None:
        """(1), (2)."""
        for j in self.J:
            self.model.add(sum(self.x[j]) == self.jobs[j].num_tasks)
            for s in self.S:
                self.model.add(self.x[j][s] >= self.w[j][s])
                self.model.add(self.x[j][s] <= self.instance.most_tasks(j, s) * self.w[j][s])

    def servers_hold_their_tasks(self) -> None:
        """(3)."""
        for s, server in enumerate(self.instance.servers):
            of_server = [self.x[j][s] for j in self.J]
            gpus = [job.gpus_per_task for job in self.jobs]
            cpus = [job.cpus_per_task for job in self.jobs]
            self.model.add(cp_model.LinearExpr.weighted_sum(of_server, gpus) <= server.gpus)
            self.model.add(cp_model.LinearExpr.weighted_sum(of_server, cpus) <= server.cpus)

    def spread_is_counted(self) -> None:
        """(4)."""
        for j in self.J:
            for s, server in enumerate(self.instance.servers):
                self.model.add_implication(self.w[j][s], self.rho[j][server.rack])
            self.model.add(sum(self.w[j]) <= 1).only_enforce_if(~self.mu[j])
            self.model.add(sum(self.rho[j].values()) <= 1).only_enforce_if(~self.chi[j])
            self.model.add_implication(self.chi[j], self.mu[j])

    def slowdowns_are_those_of_the_worst_server(self) -> None:
        """(5)."""
        table = self.instance.interference
        for j in self.J:
            row = [int(table[self.jobs[j].type][job.type] * self.unit) for job in self.jobs]
            row[j] = 0
            if not any(row):
                continue
            for s in self.S:
                of_server = self.x if self.instance.per_task else self.w
                disturbed = cp_model.LinearExpr.weighted_sum([of_server[k][s] for k in self.J], row)
                self.model.add(self.sigma[j] >= disturbed).only_enforce_if(self.w[j][s])

    def like_servers_are_ordered(self) -> None:
        """(7)."""
        for alike in self.instance.server_classes.values():
            for before, s in itertools.pairwise(alike):
                for j in self.J:
                    earlier = [self.w[k][before] for k in range(j + 1)]
                    self.model.add_bool_or([*earlier, ~self.w[j][s]])

    def mean_completion_is_least(self) -> Fraction:
        """(F1), (6): set the objective and return how many units make a second of the sum.

        Raises
        ------
        ModelRefused
            If it has too many digits.
        """
        per_sigma = [job.iterations * job.base_iteration_s / self.unit for job in self.jobs]
        per_mu = [job.iterations * job.rack_comm_s for job in self.jobs]
        per_chi = [job.iterations * (job.cross_comm_s - job.rack_comm_s) for job in self.jobs]
        base = [job.iterations * job.base_iteration_s for job in self.jobs]
        scale = common_denominator([*per_sigma, *per_mu, *per_chi, *base])
        worst = sum(
            (
                b + c * int(most_slowdown(self.instance, j) * self.unit) + d + e
                for j, (b, c, d, e) in enumerate(zip(base, per_sigma, per_mu, per_chi, strict=True))
            ),
            Fraction(0),
        )
        if worst * scale >= LARGEST:
            raise ModelRefused("the objective has too many digits for whole numbers of 53 bits")
        self.model.minimize(
            cp_model.LinearExpr.weighted_sum(self.sigma, [int(c * scale) for c in per_sigma])
            + cp_model.LinearExpr.weighted_sum(self.mu, [int(c * scale) for c in per_mu])
            + cp_model.LinearExpr.weighted_sum(self.chi, [int(c * scale) for c in per_chi])
            + int(sum(base, Fraction(0)) * scale)
        )
        return Fraction(scale * len(self.jobs))

    def decode(self, values: Floats) -> PlacementSolution:
        """Return the tasks of every job on the servers."""
        return PlacementSolution.of(
            [{s: round(values[self.x[j][s].index]) for s in self.S} for j in self.J]
        )


@method(
    kind="exact", reference="F1 (1)-(7) (reconstructed)", formulation="assignment", backend="cpsat"
)
def assignment_cp(
    instance: PlacementInstance, limits: Limits, rng: np.random.Generator
) -> MethodOutcome:
    """Tasks of jobs on servers in CP-SAT, like servers ordered.

    Raises
    ------
    ModelRefused
        If there are boards, slowdowns are measured, the model is too large or its numbers have too
        many digits.
    """
    check_plain(instance)
    check_additive(instance)
    if not instance.jobs:
        return MethodOutcome(
            solution=PlacementSolution(tasks=()), claimed_objective=0, dual_bound=0
        )
    pairs = len(instance.jobs) ** 2 * len(instance.servers)
    if pairs > MOST_TRIPLES:
        raise ModelRefused(f"{pairs} pairs of jobs on servers, expected at most {MOST_TRIPLES}")
    clock = Clock(limits)
    with clock.phase("build"):
        model = AssignmentModel(instance)
        model.all_tasks_are_placed()
        model.servers_hold_their_tasks()
        model.spread_is_counted()
        model.slowdowns_are_those_of_the_worst_server()
        model.like_servers_are_ordered()
        scale = model.mean_completion_is_least()
    with solver_watched(scale):
        solved = solve_cp(model.model, clock.limits(), seed_of(rng))
    return MethodOutcome.of(
        solved,
        None if solved.values is None else model.decode(solved.values),
        scale=scale,
        phases_s=clock.phases_s,
        claimed_objective=None if solved.objective is None else Fraction(solved.objective) / scale,
        proved=Status.INFEASIBLE if solved.status is Status.INFEASIBLE else None,
    )
