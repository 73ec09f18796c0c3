r"""Time-indexed ILP: an exact linearisation of the paper's program.

The linearisation is (reconstructed). Sets: jobs J, servers S, slots t = 0..H-1 for a horizon H no
smaller than the optimum; R_j the numbers of servers job j can use, P_r its contention levels on r
servers ({0} on one, else 1..P). Jobs J2 are those that can be spread.

Parameters: gang G_j, work F_j, capacity O_s, rate phi_j(r, p) (`rates.py`), N = sum_s O_s.

Variables: y_js GPUs of j on s; u_js uses; n_js shares the network (0 < y < G); R_jr uses r servers;
z_jt starts, w_jt has stopped, x_jt active; g_jst = y_js x_jt; q_jst = n_js x_jt; c_jtrp runs on r
servers at level p; mk the makespan. All integer, so that CP-SAT can take the model too.

.. math::
    \min\ & mk \\
    \text{TI-1}\quad & \sum_s y_{js} = G_j \\
    \text{TI-2}\quad & u_{js} \le y_{js} \le \min(O_s, G_j)\, u_{js} \\
    \text{TI-3}\quad & \sum_r R_{jr} = 1, \qquad \sum_s u_{js} = \sum_r r R_{jr} \\
    \text{TI-4}\quad & n_{js} \ge u_{js} - R_{j1}, \quad n_{js} \le u_{js}, \quad
                       n_{js} \le 1 - R_{j1} \\
    \text{TI-5}\quad & x_{jt} = x_{j,t-1} + z_{jt} - w_{jt}, \quad
                       \sum_t z_{jt} = \sum_t w_{jt} = 1 \\
    \text{TI-6}\quad & g_{jst} \le \min(O_s, G_j) x_{jt}, \quad g_{jst} \le y_{js}, \quad
                       g_{jst} \ge y_{js} - \min(O_s, G_j)(1 - x_{jt}) \\
    \text{TI-7}\quad & \sum_j g_{jst} \le O_s, \qquad \sum_s g_{jst} = G_j x_{jt} \\
    \text{TI-8}\quad & q_{jst} \ge n_{js} + x_{jt} - 1, \quad q_{jst} \le n_{js}, \quad
                       q_{jst} \le x_{jt} \\
    \text{TI-9}\quad & \sum_i q_{ist} \le \sum_{r,p} p\, c_{jtrp} + P_s (1 - q_{jst}) \\
    \text{TI-10}\quad & \sum_{r,p} c_{jtrp} = x_{jt}, \qquad \sum_p c_{jtrp} \le R_{jr} \\
    \text{TI-11}\quad & \sum_{t,r,p} \phi_j(r, p)\, c_{jtrp} \ge F_j \\
    \text{TI-12}\quad & mk \ge (t + 1) x_{jt}, \qquad mk \ge \sum_t t\, w_{jt}

with P_s = min(O_s, |J2|), the largest number of spread jobs on server s. The model is exact for
three reasons. The nonlinearity of (6)-(8) is in phi_j(r, p), a table of integers. TI-9 only forces
the level to be *at least* the true one; the true dynamics from the same decision then finish no job
later, so the optimum is unchanged, and the decoded schedule may even be better than the model's
value. Of several levels with the same rate only the highest is needed.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.system.declaring import formulation

from ..energetic import energetic_bound
from ..instance import SjfBcoInstance, SjfBcoSolution
from ..size_limits import refuse_many_slots
from ..subproblems.greedy import default_horizon
from ..subproblems.symmetry import equal_servers, identical_jobs, neighbours


def distinct_levels(instance: SjfBcoInstance, j: int, r: int) -> list[int]:
    """Return the levels of job j on r servers, only the highest among equal rates."""
    rates = instance.rates
    levels = list(rates.levels(r))
    return [
        p
        for p, higher in zip(levels, [*levels[1:], None], strict=True)
        if higher is None or rates.rate(j, r, p) > rates.rate(j, r, higher)
    ]


def shortest(instance: SjfBcoInstance, j: int, r: int) -> int | None:
    """Return d_j(r, p_min(r)), the shortest duration of job j on r servers; None if infinite."""
    rates = instance.rates
    return rates.duration(j, r, rates.levels(r)[0])


def most_spread(instance: SjfBcoInstance, s: int) -> int:
    """Return P_s, the largest number of spread jobs on server s, one GPU each."""
    rates = instance.rates
    spreadable = sum(rates.server_counts(j)[-1] >= 2 for j in range(len(instance.jobs)))
    return min(instance.server_gpus[s], spreadable)


def add_placement(m: pyo.ConcreteModel, instance: SjfBcoInstance) -> None:
    """Add the sets, variables and constraints TI-1 to TI-4 that describe a placement."""
    O, rates = instance.server_gpus, instance.rates  # noqa: E741
    G = rates.gpus
    jobs = range(len(instance.jobs))
    m.J = pyo.RangeSet(0, len(G) - 1)
    m.S = pyo.RangeSet(0, len(O) - 1)
    m.J2 = pyo.Set(initialize=[j for j in jobs if rates.server_counts(j)[-1] >= 2])
    m.JR = pyo.Set(dimen=2, initialize=[(j, r) for j in jobs for r in rates.server_counts(j)])
    m.JRP = pyo.Set(
        dimen=3, initialize=[(j, r, p) for j, r in m.JR for p in distinct_levels(instance, j, r)]
    )

    m.y = pyo.Var(
        m.J, m.S, domain=pyo.NonNegativeIntegers, bounds=lambda m, j, s: (0, min(O[s], G[j]))
    )
    m.u = pyo.Var(m.J, m.S, domain=pyo.Binary, doc="job j uses server s")
    m.n = pyo.Var(m.J2, m.S, domain=pyo.Binary, doc="job j is on the network at server s")
    m.R = pyo.Var(
        m.JR,
        domain=pyo.Binary,
        bounds=lambda m, j, r: (0, int(shortest(instance, j, r) is not None)),
        doc="job j uses r servers",
    )

    @m.Constraint(m.J, doc="TI-1: the gang is complete")
    def gang(m: Any, j: int) -> Any:
        return sum(m.y[j, s] for s in m.S) == G[j]

    @m.Constraint(m.J, m.S, doc="TI-2: a used server holds a GPU")
    def used_holds(m: Any, j: int, s: int) -> Any:
        return m.u[j, s] <= m.y[j, s]

    @m.Constraint(m.J, m.S, doc="TI-2: GPUs only on used servers")
    def holds_used(m: Any, j: int, s: int) -> Any:
        return m.y[j, s] <= min(O[s], G[j]) * m.u[j, s]

    @m.Constraint(m.J, doc="TI-3: one number of servers")
    def one_count(m: Any, j: int) -> Any:
        return sum(m.R[j, r] for r in rates.server_counts(j)) == 1

    @m.Constraint(m.J, doc="TI-3: it is the number of servers used")
    def count_is_used(m: Any, j: int) -> Any:
        return sum(m.u[j, s] for s in m.S) == sum(r * m.R[j, r] for r in rates.server_counts(j))

    def local(j: int) -> Any:
        return m.R[j, 1] if 1 in rates.server_counts(j) else 0

    @m.Constraint(m.J2, m.S, doc="TI-4: a used server of a spread job is on the network")
    def network_if_spread(m: Any, j: int, s: int) -> Any:
        return m.n[j, s] >= m.u[j, s] - local(j)

    @m.Constraint(m.J2, m.S, doc="TI-4: only a used server")
    def network_if_used(m: Any, j: int, s: int) -> Any:
        return m.n[j, s] <= m.u[j, s]

    @m.Constraint(m.J2, m.S, doc="TI-4: and only of a spread job")
    def local_is_off_network(m: Any, j: int, s: int) -> Any:
        return m.n[j, s] <= 1 - local(j)

    m.server_pairs = pyo.Set(dimen=2, initialize=neighbours(equal_servers(instance)))

    @m.Constraint(m.server_pairs, doc="symmetry: equal servers in order of sum_j (j + 1) y_js")
    def servers_in_order(m: Any, s: int, s_next: int) -> Any:
        return sum((j + 1) * m.y[j, s] for j in m.J) >= sum((j + 1) * m.y[j, s_next] for j in m.J)


def decode_placement(m: pyo.ConcreteModel) -> tuple[dict[int, int], ...]:
    """Return the placement y."""
    counts = [{s: round(pyo.value(m.y[j, s])) for s in m.S} for j in m.J]
    return tuple({s: k for s, k in y.items() if k} for y in counts)


@formulation(
    model_class="ILP", equations="TI-1 to TI-12 (reconstructed)", backends=("highs", "cpsat")
)
def build(instance: SjfBcoInstance, horizon: int | None = None) -> pyo.ConcreteModel:
    """Exact linearisation of the paper's program, slot by slot.

    Build TI-1 to TI-12 and strengthening inequalities on `horizon` slots (reconstructed).

    The default horizon is the makespan of a quick feasible schedule. The model is infeasible if no
    schedule ends within the horizon.
    """
    H = default_horizon(instance) if horizon is None else horizon
    refuse_many_slots(instance, H)
    O, N, rates = instance.server_gpus, instance.total_gpus, instance.rates  # noqa: E741
    G, F = rates.gpus, rates.iterations
    rho = [int(d) for d in rates.exec_min]
    lower = energetic_bound(instance)

    m = pyo.ConcreteModel("time indexed")
    add_placement(m, instance)
    m.T = pyo.RangeSet(0, H - 1)
    m.x = pyo.Var(m.J, m.T, domain=pyo.Binary, doc="active in slot t")
    m.z = pyo.Var(m.J, m.T, domain=pyo.Binary, doc="starts in slot t")
    m.w = pyo.Var(m.J, pyo.RangeSet(1, H), domain=pyo.Binary, doc="has stopped at instant t")
    m.g = pyo.Var(
        m.J,
        m.S,
        m.T,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda m, j, s, t: (0, min(O[s], G[j])),
        doc="GPUs held in slot t",
    )
    m.q = pyo.Var(m.J2, m.S, m.T, domain=pyo.Binary, doc="on the network in slot t")
    m.c = pyo.Var(m.T, m.JRP, domain=pyo.Binary, doc="runs on r servers at level p")
    m.mk = pyo.Var(domain=pyo.NonNegativeIntegers, bounds=(0, H), doc="makespan")

    # Indices (j, r, p) by job, and by job and number of servers.
    modes = {j: [(r, p) for i, r, p in m.JRP if i == j] for j in m.J}
    levels = {(j, r): distinct_levels(instance, j, r) for j, r in m.JR}

    @m.Constraint(m.J, m.T, doc="TI-5: activity changes by starting and stopping")
    def activity(m: Any, j: int, t: int) -> Any:
        before = m.x[j, t - 1] - m.w[j, t] if t else 0
        return m.x[j, t] == before + m.z[j, t]

    @m.Constraint(m.J, doc="TI-5: one start")
    def one_start(m: Any, j: int) -> Any:
        return sum(m.z[j, t] for t in m.T) == 1

    @m.Constraint(m.J, doc="TI-5: one stop")
    def one_stop(m: Any, j: int) -> Any:
        return sum(m.w[j, t + 1] for t in m.T) == 1

    @m.Constraint(m.J, m.S, m.T, doc="TI-6: GPUs are held only while active")
    def held_if_active(m: Any, j: int, s: int, t: int) -> Any:
        return m.g[j, s, t] <= min(O[s], G[j]) * m.x[j, t]

    @m.Constraint(m.J, m.S, m.T, doc="TI-6: no more than placed")
    def held_if_placed(m: Any, j: int, s: int, t: int) -> Any:
        return m.g[j, s, t] <= m.y[j, s]

    @m.Constraint(m.J, m.S, m.T, doc="TI-6: all that is placed while active")
    def placed_is_held(m: Any, j: int, s: int, t: int) -> Any:
        return m.g[j, s, t] >= m.y[j, s] - min(O[s], G[j]) * (1 - m.x[j, t])

    @m.Constraint(m.S, m.T, doc="TI-7: capacity")
    def capacity(m: Any, s: int, t: int) -> Any:
        return sum(m.g[j, s, t] for j in m.J) <= O[s]

    @m.Constraint(m.J, m.T, doc="TI-7: an active job holds its whole gang (a cut)")
    def gang_held(m: Any, j: int, t: int) -> Any:
        return sum(m.g[j, s, t] for s in m.S) == G[j] * m.x[j, t]

    @m.Constraint(m.J2, m.S, m.T, doc="TI-8: spread and active is on the network")
    def on_network(m: Any, j: int, s: int, t: int) -> Any:
        return m.q[j, s, t] >= m.n[j, s] + m.x[j, t] - 1

    @m.Constraint(m.J2, m.S, m.T, doc="TI-8: only if spread")
    def on_network_if_spread(m: Any, j: int, s: int, t: int) -> Any:
        return m.q[j, s, t] <= m.n[j, s]

    @m.Constraint(m.J2, m.S, m.T, doc="TI-8: only if active")
    def on_network_if_active(m: Any, j: int, s: int, t: int) -> Any:
        return m.q[j, s, t] <= m.x[j, t]

    @m.Constraint(m.J2, m.S, m.T, doc="TI-9: the level covers every shared server")
    def level_covers(m: Any, j: int, s: int, t: int) -> Any:
        level = sum(p * m.c[t, j, r, p] for r, p in modes[j])
        sharing = sum(m.q[i, s, t] for i in m.J2)
        return sharing <= level + most_spread(instance, s) * (1 - m.q[j, s, t])

    @m.Constraint(m.J, m.T, doc="TI-10: one level while active")
    def one_level(m: Any, j: int, t: int) -> Any:
        return sum(m.c[t, j, r, p] for r, p in modes[j]) == m.x[j, t]

    @m.Constraint(m.T, m.JR, doc="TI-10: of the number of servers used")
    def level_of_count(m: Any, t: int, j: int, r: int) -> Any:
        return sum(m.c[t, j, r, p] for p in levels[j, r]) <= m.R[j, r]

    @m.Constraint(m.J, doc="TI-11: the work is done")
    def work(m: Any, j: int) -> Any:
        done = sum(rates.rate(j, r, p) * m.c[t, j, r, p] for t in m.T for r, p in modes[j])
        return done >= F[j]

    @m.Constraint(m.J, m.T, doc="TI-12: the makespan follows every active slot")
    def makespan_active(m: Any, j: int, t: int) -> Any:
        return m.mk >= (t + 1) * m.x[j, t]

    @m.Constraint(m.J, doc="TI-12: and every stop")
    def makespan_stop(m: Any, j: int) -> Any:
        return m.mk >= sum((t + 1) * m.w[j, t + 1] for t in m.T)

    # Strengthening: valid for every schedule, or for one representative of each symmetry class.

    @m.Constraint(m.J, doc="a run is no shorter than the best duration on its servers")
    def shortest_run(m: Any, j: int) -> Any:
        d = {r: shortest(instance, j, r) for r in rates.server_counts(j)}
        return sum(m.x[j, t] for t in m.T) >= sum(d[r] * m.R[j, r] for r in d if d[r])

    @m.Constraint(m.J, m.T, doc="a job stays active for its shortest duration after the start")
    def started_is_active(m: Any, j: int, t: int) -> Any:
        return sum(m.z[j, i] for i in range(max(0, t - rho[j] + 1), t + 1)) <= m.x[j, t]

    for j in m.J:
        for t in m.T:
            if t > H - rho[j]:
                m.z[j, t].setub(0)  # too late to finish
            if H - rho[j] <= t < rho[j]:
                m.x[j, t].setlb(1)  # active whenever it starts

    @m.Constraint(doc="the makespan covers the GPU slots held")
    def area(m: Any) -> Any:
        return N * m.mk >= sum(G[j] * m.x[j, t] for j in m.J for t in m.T)

    @m.Constraint(doc="the energetic bound")
    def windows(m: Any) -> Any:
        return m.mk >= lower

    m.job_pairs = pyo.Set(dimen=2, initialize=neighbours(identical_jobs(instance)))

    @m.Constraint(m.job_pairs, doc="symmetry: identical jobs in order of start")
    def jobs_in_order(m: Any, i: int, j: int) -> Any:
        return sum(t * m.z[i, t] for t in m.T) <= sum(t * m.z[j, t] for t in m.T)

    m.makespan = pyo.Objective(expr=m.mk, sense=pyo.minimize)
    return m


def decode(m: pyo.ConcreteModel, instance: SjfBcoInstance) -> SjfBcoSolution:
    """Return starts and placements."""
    starts = tuple(next(t for t in m.T if pyo.value(m.z[j, t]) > 0.5) for j in m.J)
    return SjfBcoSolution(start_slot=starts, placement=decode_placement(m))
