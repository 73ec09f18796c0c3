r"""Order and retention together as clauses, (6), in CP-SAT.

Variables as in `joint`, all of them Boolean. A batch needs a node if one of its requests does; a
node stays only if it was needed or has stayed; a hit has stayed and is needed.
"""

from __future__ import annotations

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.tolerance import round_up
from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.search.watched import solver_watched
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.cpsat import solve_cp
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ..instance import CacheInstance, CacheSolution
from .joint import batch_sizes, check_free, is_reversible, kept_solution, repeated_nodes
from .retention import held_at_most


class JointModel:
    """The variables, and one method per family of constraints."""

    model: cp_model.CpModel

    def __init__(self, instance: CacheInstance):
        self.instance = instance
        self.requests_of: dict[int, list[int]] = repeated_nodes(instance)
        self.sizes: list[int] = batch_sizes(instance)
        self.T, self.P = range(len(instance.requests)), range(len(self.sizes))
        self.inner: range = self.P[:-1]
        self.model = m = cp_model.CpModel()
        nodes = sorted(self.requests_of)
        self.in_batch: dict[tuple[int, int], cp_model.IntVar] = {
            (t, p): m.new_bool_var(f"a[{t},{p}]") for t in self.T for p in self.P
        }
        self.need: dict[tuple[int, int], cp_model.IntVar] = {
            (v, p): m.new_bool_var(f"n[{v},{p}]") for v in nodes for p in self.P
        }
        self.kept: dict[tuple[int, int], cp_model.IntVar] = {
            (v, p): m.new_bool_var(f"k[{v},{p}]") for v in nodes for p in self.inner
        }
        self.hit: dict[tuple[int, int], cp_model.IntVar] = {
            (v, p): m.new_bool_var(f"h[{v},{p}]") for v in nodes for p in self.inner
        }
        once = sum(instance.miss_cost(v) for v in instance.frequency if v not in self.requests_of)
        uses = sum(instance.miss_cost(v) * x for (v, _), x in self.need.items())
        hits = sum(instance.miss_cost(v) * x for (v, _), x in self.hit.items())
        m.minimize(once + uses - hits)

    def requests_are_placed(self) -> None:
        """(J2): every request is in one batch, every batch has its number of requests."""
        for t in self.T:
            self.model.add_exactly_one(self.in_batch[t, p] for p in self.P)
        for p in self.P:
            self.model.add(sum(self.in_batch[t, p] for t in self.T) == self.sizes[p])

    def batches_need_what_their_requests_need(self) -> None:
        """(J3)."""
        for (v, p), need in self.need.items():
            here = [self.in_batch[t, p] for t in self.requests_of[v]]
            for x in here:
                self.model.add_implication(x, need)
            self.model.add_bool_or([*here, ~need])

    def hits_have_stayed(self) -> None:
        """(J4), (J5)."""
        for (v, p), kept in self.kept.items():
            before = [self.kept[v, p - 1]] if p else []
            self.model.add_bool_or([~kept, self.need[v, p], *before])
            self.model.add_implication(self.hit[v, p], kept)
            self.model.add_implication(self.hit[v, p], self.need[v, p + 1])

    def caches_are_not_overfull(self) -> None:
        """(J6)."""
        for p in self.inner:
            held = sum(self.instance.size(v) * self.kept[v, p] for v in self.requests_of)
            self.model.add(held <= held_at_most(self.instance)[0])

    def first_uses_miss(self) -> None:
        """(J7)."""
        for v in self.requests_of:
            hits = sum(self.hit[v, p] for p in self.inner)
            self.model.add(hits <= sum(self.need[v, p] for p in self.P) - 1)

    def one_direction(self) -> None:
        """(J8)."""
        if is_reversible(self.instance):
            first, second = (sum(p * self.in_batch[t, p] for p in self.P) for t in (0, 1))
            self.model.add(first <= second)

    def decode(self, values: Floats) -> CacheSolution:
        """Return the order, and what the model keeps."""
        order = [t for p in self.P for t in self.T if values[self.in_batch[t, p].index] > 0.5]
        hit = {key: float(values[x.index]) for key, x in self.hit.items()}
        return kept_solution(self.instance, order, hit)


@method(kind="exact", reference="(6) as clauses", formulation="joint_clauses", backend="cpsat")
def cp_joint(instance: CacheInstance, limits: Limits) -> MethodOutcome:
    """Positions, and clauses for what is needed, kept and hit (native CP-SAT).

    Raises
    ------
    ModelRefused
        If the order is given, there is a second cache, or the model is too large.
    """
    rng = fixed_rng()
    check_free(instance)
    if instance.host_capacity:
        raise ModelRefused("host_capacity: the clauses have one cache")
    clock = Clock(limits)
    with clock.phase("build"):
        model = JointModel(instance)
        model.requests_are_placed()
        model.batches_need_what_their_requests_need()
        model.hits_have_stayed()
        model.caches_are_not_overfull()
        model.first_uses_miss()
        model.one_direction()
    with solver_watched(bound_of=round_up):
        solved = solve_cp(model.model, clock.limits(), seed_of(rng), linearization_level=2)
    return MethodOutcome.of(
        solved,
        None if solved.values is None else model.decode(solved.values),
        bound_of=round_up,
        phases_s=clock.phases_s,
        proved=Status.INFEASIBLE if solved.status is Status.INFEASIBLE else None,
    )
