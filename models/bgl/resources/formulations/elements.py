r"""Resource isolation as a constraint program: element constraints over ranks of times.

All times that a stage can take are known: T / n for every share, and for the cache one for every
pair of shares. Sorted, each has a rank, and the least largest rank is the optimum: whole numbers,
however many digits the times have.
"""

from __future__ import annotations

from fractions import Fraction

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.arrays import Floats
from gadgetopt.numbers.tolerance import Number, round_up
from gadgetopt.search.clock import Clock
from gadgetopt.search.seeds import fixed_rng
from gadgetopt.search.watched import solver_watched
from gadgetopt.solvers import seed_of
from gadgetopt.solvers.cpsat import solve_cp
from gadgetopt.solvers.to_cpsat.cp_model import cp_model
from gadgetopt.system.declaring import method
from gadgetopt.system.result import Limits, MethodOutcome, Status

from ..instance import ResourcesInstance, ResourcesSolution
from .products import solution_of

#: Most pairs of shares of the cache. Tuned: `benchmarks/constants.py`.
_MOST_PAIRS = 200_000


class ElementModel:
    """The variables, and one method per family of constraints."""

    model: cp_model.CpModel

    def __init__(self, instance: ResourcesInstance):
        self.instance = instance
        self.whole: dict[str, int] = {
            "request": instance.store_cores,
            "construct": instance.store_cores,
            "process": instance.worker_cores,
            "cache": instance.worker_cores,
            "subgraph": instance.pcie_units,
            "feature": instance.pcie_units,
        }
        work = {
            "request": instance.request_core_s,
            "construct": instance.construct_core_s,
            "process": instance.process_core_s,
            "subgraph": instance.subgraph_unit_s,
        }
        self.times: dict[str, list[Fraction]] = {
            k: [total / n for n in range(1, self.whole[k])] for k, total in work.items()
        }
        self.pairs: list[Fraction] = [
            instance.cache_s(c, b)
            for c in range(1, instance.worker_cores)
            for b in range(1, instance.pcie_units)
        ]
        values = {instance.fixed_s, *self.pairs}
        values.update(t for times in self.times.values() for t in times)
        self.values: list[Fraction] = sorted(t for t in values if t >= instance.fixed_s)
        self.rank: dict[Fraction, int] = {t: k for k, t in enumerate(self.values)}
        self.model = m = cp_model.CpModel()
        self.share: dict[str, cp_model.IntVar] = {
            k: m.new_int_var(1, whole - 1, k) for k, whole in self.whole.items()
        }
        self.slowest: cp_model.IntVar = m.new_int_var(0, len(self.values) - 1, "slowest")
        m.minimize(self.slowest)

    def shares_fit(self) -> None:
        """Two stages share each resource."""
        for first, second in (
            ("request", "construct"),
            ("process", "cache"),
            ("subgraph", "feature"),
        ):
            self.model.add(self.share[first] + self.share[second] <= self.whole[first])

    def stages_are_no_slower(self) -> None:
        """A table of ranks for each stage with a share of its own."""
        for k, times in self.times.items():
            self._no_slower(self.share[k] - 1, times, k)

    def cache_is_no_slower(self) -> None:
        """A table of ranks for pairs of shares."""
        width = self.instance.pcie_units - 1
        pair = self.model.new_int_var(0, len(self.pairs) - 1, "pair")
        place = width * (self.share["cache"] - 1) + self.share["feature"] - 1
        self.model.add(pair == place)
        self._no_slower(pair, self.pairs, "cache and features")

    def _no_slower(self, index: cp_model.LinearExprT, times: list[Fraction], name: str) -> None:
        ranks = [self.rank.get(t, 0) for t in times]
        rank = self.model.new_int_var(0, len(self.values) - 1, f"rank of {name}")
        self.model.add_element(index, ranks, rank)
        self.model.add(rank <= self.slowest)

    def decode(self, values: Floats) -> ResourcesSolution:
        """Return the shares."""
        return solution_of({k: round(values[x.index]) for k, x in self.share.items()})

    def time_of(self, rank: Number) -> Fraction:
        """Return the time of a bound on the rank, rounded up to a rank."""
        return self.values[min(max(0, round_up(rank)), len(self.values) - 1)]


@method(kind="exact", reference="(9) as elements", formulation="elements", backend="cpsat")
def cp_elements(instance: ResourcesInstance, limits: Limits) -> MethodOutcome:
    """Element constraints over ranks of times (native CP-SAT).

    Raises
    ------
    ModelRefused
        If there are too few or too many cores and units.
    """
    rng = fixed_rng()
    if not instance.has_shares:
        raise ModelRefused("store_cores, worker_cores, pcie_units: fewer than 2 leave no shares")
    pairs = instance.store_cores + instance.worker_cores * instance.pcie_units
    if pairs > _MOST_PAIRS:
        raise ModelRefused(f"worker_cores: tables of {pairs} times are too large")
    clock = Clock(limits)
    with clock.phase("build"):
        model = ElementModel(instance)
        model.shares_fit()
        model.stages_are_no_slower()
        model.cache_is_no_slower()
    with solver_watched(bound_of=model.time_of, incumbents=False):
        solved = solve_cp(model.model, clock.limits(), seed_of(rng))
    solution = None if solved.values is None else model.decode(solved.values)
    bound = None if solved.bound is None else model.time_of(solved.bound)
    return MethodOutcome(
        solution=solution,
        dual_bound=bound,
        proved=Status.INFEASIBLE if solved.status is Status.INFEASIBLE else None,
        limit_hit=solved.limit_hit,
        phases_s={**clock.phases_s, **solved.phases_s},
        versions=solved.versions,
    )
