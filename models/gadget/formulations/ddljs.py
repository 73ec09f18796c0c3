r"""The paper's program DDLJS (2)-(9), with one variable per path, job and slot.

Sets: jobs i that may run, servers s, simple paths :math:`p \in \mathcal P_{ss'}` between ordered
pairs. Variables of a slot: :math:`y_{is}` workers, :math:`x_{is}` server used, :math:`n_i` several
servers used, :math:`r^{(p,i)}_{ss'}` path used, with :math:`B^p` the narrowest link of p.

.. math::
    & \textstyle\sum_s y_{is}[t] \le N_i & (2) \\
    & \textstyle\sum_t l_i^r \sum_s y_{is}[t] \le F_i^r & (3) \\
    & \textstyle\sum_i l_i^r y_{is}[t] \le C_s^r & (4) \\
    & x_{is}[t] \le y_{is}[t] \le x_{is}[t] \min\{N_i, C_s^r / l_i^r\} & (5) \\
    & r^{(p,i)}_{ss'}[t] \le x_{is}[t], \quad r^{(p,i)}_{ss'}[t] \le x_{is'}[t] & (7) \\
    & \textstyle\sum_i r^{(p,i)}_{ss'}[t]\, b_i \le B^p & (8) \\
    & 1\{\textstyle\sum_{s'} x_{is'}[t] > 1\}
      \big( \sum_{s'} \sum_p r^{(p,i)}_{ss'}[t] - 2 \big) = 0 \quad \forall s & (9)

(7) is a product of two binaries, linearised exactly. (6) leaves out the slots before the arrival.
(3) is part of :math:`K_i` in `joint.py`. By definition of x a used server has a worker; (5) alone
would let a job use servers without one.

**As printed**, (9) cannot hold at a server that a job on several servers does not use: there the
sum is 0. **Corrected** (reconstructed), a job on several servers has one path out of and one path
into every server it uses, and none elsewhere: two in total, as the paper intends. Two gaps remain:
several cycles are accepted (see the instance of two triangles), and by (8) two paths that share a
link do not add up. So the corrected program, `build`, is a relaxation of the problem; the printed
one, `build_as_printed`, is neither a relaxation nor a restriction.
"""

from __future__ import annotations

from typing import Any

import pyomo.core as pyo

from gadgetopt.numbers.exact import ROUNDING
from gadgetopt.system.declaring import formulation

from ..instance import GadgetInstance
from .joint import (
    SlotModel,
    SlotScope,
    add_capacity,
    joint_model,
)
from .paths import Paths, paths_of


@formulation(
    model_class="ILP", strength="relaxation", equations="(2)-(9)", objective_error=ROUNDING
)
def build(instance: GadgetInstance) -> pyo.ConcreteModel:
    """The paper's program with one variable per path, degrees (9) corrected.

    Raises
    ------
    ModelRefused
        If there are too many paths or variables.
    """
    return _build(instance, corrected=True)


def build_as_printed(instance: GadgetInstance) -> pyo.ConcreteModel:
    """Build DDLJS with (9) as printed, to show its defect.

    Raises
    ------
    ModelRefused
        If there are too many paths or variables.
    """
    return _build(instance, corrected=False)


def _build(instance: GadgetInstance, corrected: bool) -> pyo.ConcreteModel:
    cache: dict[tuple[int, tuple[int, ...]], Paths] = {}

    def add(b: Any, scope: SlotScope) -> None:
        paths = paths_of(scope, cache)
        _add_workers(b, scope)
        _add_paths(b, scope, paths)
        if corrected:
            _add_corrected_degrees(b, scope)
        else:
            _add_printed_degrees(b, scope)

    def num_variables(scope: SlotScope) -> int:
        return sum(
            2 * len(scope.servers(i)) + sum(map(len, paths.values()))
            for i, paths in paths_of(scope, cache).items()
        )

    terms = instance.terms
    # Bounds by embeddable rings would hide what the program accepts.
    return joint_model(
        terms,
        SlotModel("ddljs", add, num_variables),
        largest=[job.max_ring for job in terms.jobs],
    )


def _add_workers(b: Any, scope: SlotScope) -> None:
    """Add (2), (4) and (5)."""
    q = scope.largest
    servers = {i: scope.servers(i) for i in q}
    b.I = pyo.Set(initialize=list(q))
    b.IS = pyo.Set(dimen=2, initialize=[(i, s) for i in q for s in servers[i]])
    b.x = pyo.Var(b.IS, domain=pyo.Binary, doc="x_is: server used")
    b.several = pyo.Var(b.I, domain=pyo.Binary, doc="n_i: several servers used")
    b.workers = pyo.Var(
        b.IS,
        domain=pyo.NonNegativeIntegers,
        bounds=lambda b, i, s: (0, scope.most(i, s)),
        doc="y_is",
    )

    @b.Expression(b.I, doc="kappa_i")
    def size(b: Any, i: int) -> Any:
        return sum(b.workers[i, s] for s in servers[i])

    @b.Expression(b.I, doc="servers used")
    def spread(b: Any, i: int) -> Any:
        return sum(b.x[i, s] for s in servers[i])

    @b.Constraint(b.I, doc="(2): the largest ring")
    def largest(b: Any, i: int) -> Any:
        return b.size[i] <= q[i]

    add_capacity(b, scope)  # (4)

    @b.Constraint(b.IS, doc="(5): workers are on servers used")
    def linked(b: Any, i: int, s: int) -> Any:
        return b.workers[i, s] <= scope.most(i, s) * b.x[i, s]

    @b.Constraint(b.IS, doc="a server used has a worker")
    def used(b: Any, i: int, s: int) -> Any:
        return b.x[i, s] <= b.workers[i, s]

    @b.Constraint(b.I, doc="the indicator of (9) is 1 with several servers")
    def several_used(b: Any, i: int) -> Any:
        return b.spread[i] <= 1 + (len(servers[i]) - 1) * b.several[i]

    @b.Constraint(b.I, doc="and only then")
    def several_needed(b: Any, i: int) -> Any:
        return 2 * b.several[i] <= b.spread[i]


def _add_paths(b: Any, scope: SlotScope, paths: dict[int, Paths]) -> None:
    """Add (7), (8), and the numbers of paths that leave and enter a server."""
    mbps = scope.terms.link_mbps.tolist()
    keys: list[tuple[int, int, int, int]] = []
    sharing: dict[tuple[int, ...], list[tuple[int, int, int, int]]] = {}
    leaving: dict[tuple[int, int], list[Any]] = {}
    entering: dict[tuple[int, int], list[Any]] = {}
    for i, of_job in paths.items():
        for (s, other), listed in of_job.items():
            for p, links in enumerate(listed):
                key = (i, s, other, p)
                keys.append(key)
                sharing.setdefault(links, []).append(key)
                leaving.setdefault((i, s), []).append(key)
                entering.setdefault((i, other), []).append(key)
    b.P = pyo.Set(dimen=4, initialize=keys, doc="paths between ordered pairs of servers")
    b.r = pyo.Var(b.P, domain=pyo.Binary, doc="r: path used")

    @b.Constraint(b.P, doc="(7): the path's first server is used")
    def first_used(b: Any, i: int, s: int, other: int, p: int) -> Any:
        return b.r[i, s, other, p] <= b.x[i, s]

    @b.Constraint(b.P, doc="(7): the path's last server is used")
    def last_used(b: Any, i: int, s: int, other: int, p: int) -> Any:
        return b.r[i, s, other, p] <= b.x[i, other]

    b.bottleneck = pyo.ConstraintList(doc="(8): jobs on one path fit its narrowest link")
    for links, users in sharing.items():
        load = [scope.terms.jobs[key[0]].bandwidth * b.r[key] for key in users]
        b.bottleneck.add(sum(load) <= min(mbps[e] for e in links))

    @b.Expression(b.IS, doc="paths that leave server s")
    def out(b: Any, i: int, s: int) -> Any:
        return sum(b.r[key] for key in leaving.get((i, s), ()))

    @b.Expression(b.IS, doc="paths that enter server s")
    def into(b: Any, i: int, s: int) -> Any:
        return sum(b.r[key] for key in entering.get((i, s), ()))


def _add_corrected_degrees(b: Any, scope: SlotScope) -> None:
    """Add (9), corrected: one path out of and one into every used server, if there are several."""

    @b.Constraint(b.IS, doc="(9): at most one path out")
    def one_out(b: Any, i: int, s: int) -> Any:
        return b.out[i, s] <= b.x[i, s]

    @b.Constraint(b.IS, doc="(9): a path out, with several servers")
    def left(b: Any, i: int, s: int) -> Any:
        return b.out[i, s] >= b.x[i, s] + b.several[i] - 1

    @b.Constraint(b.IS, doc="(9): as many in as out")
    def as_many_in(b: Any, i: int, s: int) -> Any:
        return b.into[i, s] == b.out[i, s]


def _add_printed_degrees(b: Any, scope: SlotScope) -> None:
    """Add (9) as printed: with several servers, two paths out of every server, used or not."""
    most = {(i, s): sum(key[:2] == (i, s) for key in b.P) for i, s in b.IS}

    # The constraint holds for every server, also for those that cannot hold a worker.
    everywhere = {i: len(scope.servers(i)) == len(scope.terms.servers) for i in scope.largest}

    @b.Constraint(b.I, doc="(9): no path leaves a server that cannot be used")
    def none_idle(b: Any, i: int) -> Any:
        return pyo.Constraint.Skip if everywhere[i] else b.several[i] == 0

    @b.Constraint(b.IS, doc="(9): at least two paths out")
    def two_out(b: Any, i: int, s: int) -> Any:
        return b.out[i, s] >= 2 * b.several[i]

    @b.Constraint(b.IS, doc="(9): at most two paths out")
    def no_more_out(b: Any, i: int, s: int) -> Any:
        return b.out[i, s] <= 2 + max(0, most[i, s] - 2) * (1 - b.several[i])
