"""The default method: retention for a given order, order and retention together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gadgetopt.errors import ModelRefused, SolverError
from gadgetopt.numbers.tolerance import round_up
from gadgetopt.search.clock import Clock
from gadgetopt.search.state import Search
from gadgetopt.solvers import seed_of, solve_model
from gadgetopt.system.declaring import method
from gadgetopt.system.result import OWN_LIMIT, Limits, MethodOutcome, Status

from ...evaluate import evaluate
from ...formulations import joint, joint_gpus, joint_shared, retention
from ...heuristics.network import is_interval_matrix
from ...heuristics.orders import best_path, moved, retained, suited
from ...instance import CacheInstance, CacheSolution
from ...subproblems.intervals import solution_of
from ...subproblems.ordering import improve_order
from ...subproblems.replay import Policy, replay, static
from ..bounds.boundary_prices import kept_and_priced, relaxed_prices
from ..bounds.order_tables import (
    MOST_CHECKED,
    least_reloads,
    least_reloads_of_both,
    no_order_below,
)
from ..certificate.check import (
    DYNAMIC,
    CacheCertificate,
    Compulsory,
    EveryPlan,
    RunningPolicies,
    best_static,
    check_bound,
    is_plain,
    is_plain_but_for_host,
    miss_cost,
)
from ..certificate.gpu_orders import MOST_BATCHES as MOST_PLANNED
from ..prefix_search import PrefixSearch
from ..reload_tables import MOST_BATCHES, OutOfTimeError
from .gpu_orders import (
    best_of_each_policy,
    best_of_order,
    best_static_on,
    cheapest_plan,
    on_order,
)
from .order_prefixes import Prefix, cost_beyond, extensions
from .policy_orders import cheapest_policy

#: Times the seconds of a search that its check takes: 4.8 at most on preset `batches`, mostly 3.
#: Tuned: `benchmarks/constants.py`.
CHECK_TIMES = 5.0
#: Seconds to build and pass an entry of the joint model. Pyomo cannot be interrupted meanwhile.
#: Tuned: `benchmarks/constants.py`.
_BUILD_S_PER_ENTRY = 4e-5


@method(kind="exact", reference="this project", formulation="order_search")
def order_search(
    instance: CacheInstance,
    limits: Limits,
    rng: np.random.Generator,
    *,
    width: int = 300,
    rounds: int = 300,
) -> MethodOutcome:
    """Retention by sweep, flow or integer program; orders by prefixes and bounds.

    Given order: unit sizes by the sweep or the flow, with prices as certificate; sizes or a host by
    the integer program `retention` in HiGHS, after LRU and the prices of its relaxation.

    Free order: heavy paths and random moves; for up to 20 fixed batches with misses of one cost,
    tables over all sets of batches and beams of growing width, then one search over prefixes after
    the other, with one reload more than was just excluded, until an order is found or the
    incumbent is met. With a host, the reloads of the device and of both caches as one are bounds,
    and branch and bound goes over what orders begin with. Where policies cost something to run, all
    policies on the orders that suit them, then `policy_orders`. Otherwise the joint model in HiGHS.

    Several GPUs: random moves, then `gpu_orders`, and beyond 8 batches the model `joint_gpus`, or
    `joint_shared`.

    Parameters
    ----------
    instance : CacheInstance
    limits : Limits
    rng : numpy.random.Generator
        Random moves, and the solvers' seeds.
    width : int, default 300
        States of a layer in the first beam; the second has ten times as many.
    rounds : int, default 300
        Random moves of the local search.
    """
    search = _Search(instance, limits, rng)
    with search.interruptible():
        search.prove_certified(CacheCertificate(proof=Compulsory()))
        if instance.gpus is not None:
            search.plan_gpus(rounds)
        elif instance.policy_cost is not None:
            search.choose_policy(rounds)
        elif instance.order == "given":
            search.retain()
        else:
            search.start_from_paths(rounds)
            if not search.over and is_plain(instance) and instance.num_batches <= MOST_BATCHES:
                search.search_prefixes(width)
            elif not search.over and instance.host_capacity:
                search.branch_over_orders()
            elif not search.over:
                search.solve_jointly()
    return search.outcome(search.best, **search.notes)


class _Search(Search[CacheSolution]):
    """The search state, and the steps of the search."""

    def __init__(self, instance: CacheInstance, limits: Limits, rng: np.random.Generator):
        super().__init__("min", limits, gap=0.0)
        self.instance, self.rng = instance, rng
        self.notes: dict[str, str | int] = {}

    def consider(self, solution: CacheSolution) -> None:
        """Keep a solution if it is feasible and the best."""
        found = evaluate(self.instance, solution)
        if found.feasible and found.objective is not None:
            self.offer(found.objective, solution)

    def prove_certified(self, certificate: CacheCertificate) -> None:
        """Take the bound that a certificate proves."""
        bound = check_bound(self.instance, certificate)
        if bound is not None:
            self.prove(bound, certificate)

    def choose_policy(self, rounds: int) -> None:
        """Try all policies on orders that suit them, then close the gap by their states."""
        instance, count = self.instance, len(self.instance.requests)
        self.consider(static(instance, range(count), best_static(instance)))
        for policy in DYNAMIC:
            self.consider(replay(instance, range(count), policy))
            if instance.order == "free" and not self.over:
                order = best_path(instance, self.clock)
                order = suited(instance, order, policy, rounds, self.rng, self.clock)
                self.consider(replay(instance, order, policy))
        reloads = 0
        if instance.num_batches <= MOST_BATCHES:
            with self.clock.phase("tables"):
                reloads = least_reloads(instance, instance.capacity, self.clock)
        self.prove_certified(CacheCertificate(proof=RunningPolicies(reloads=reloads)))
        if not self.over:
            with self.clock.phase("states"):
                try:
                    self.consider(cheapest_policy(instance, self.clock))
                    self.prove(self.value)
                except ModelRefused as refusal:
                    self.notes["refused"] = str(refusal)
                except OutOfTimeError:
                    self.limit_hit = "time_s" if self.clock.expired else OWN_LIMIT

    def plan_gpus(self, rounds: int) -> None:
        """Each cache of a given order, or random moves and all plans of a few batches."""
        instance, count = self.instance, len(self.instance.requests)
        assert instance.gpus is not None, "there are several GPUs"
        given = instance.order == "given"
        if given and instance.policy_cost is None and instance.unit_sizes:
            solution, certificate = best_of_order(instance)
            self.consider(solution)
            if instance.gpus.apart:
                self.prove(self.value, certificate)
                return
            if certificate is not None:
                self.prove_certified(certificate)
        few = instance.unit_sizes and (given or count <= MOST_PLANNED)
        for policy in (None,) if instance.policy_cost is None else DYNAMIC:
            order = list(range(count))
            if instance.order == "free":
                listed = few and instance.gpus.caches != "shared"
                order = self._suited_to_gpus(order, policy, 0 if listed else rounds)
            self.consider(on_order(instance, order, policy))
        if instance.policy_cost is not None:
            self.consider(best_static_on(instance, range(count)))
        if few and not self.over:
            self._list_plans()
        if not self.over and instance.policy_cost is None:
            self.solve_model_of_gpus()

    def _suited_to_gpus(self, order: list[int], policy: Policy | None, rounds: int) -> list[int]:
        """Return an order after random moves on which the caches of several GPUs load less."""

        def cost(tried: list[int]) -> int:
            found = evaluate(self.instance, on_order(self.instance, tried, policy))
            return int(found.objective or 0)

        enough = int(self.bound)
        return improve_order(order, cost, enough, rounds, self.rng, self.clock)[0]

    def _list_plans(self) -> None:
        """Go through all plans of several GPUs, and prove that none is better."""
        with self.clock.phase("plans"):
            try:
                if self.instance.policy_cost is None:
                    self.consider(cheapest_plan(self.instance, self.clock))
                else:
                    for _, plan in best_of_each_policy(self.instance, self.clock):
                        self.consider(plan)
            except ModelRefused as refusal:
                self.notes["refused"], self.limit_hit = str(refusal), OWN_LIMIT
                return
            except OutOfTimeError:
                if self.clock.expired or self.instance.policy_cost is not None:
                    self.limit_hit = "time_s" if self.clock.expired else OWN_LIMIT
                return
        taken_s = self.clock.phases_s["plans"]
        certificate = CacheCertificate(proof=EveryPlan(cost=int(self.value)))
        if CHECK_TIMES * taken_s < self.clock.left_s:
            try:
                self.prove_certified(certificate)
            except ValueError as refused:
                self.notes["not_certified"] = str(refused)
        if not self.closed:
            self.prove(self.value)

    def retain(self) -> None:
        """Solve the retention of the given order."""
        intervals = retention.given_intervals(self.instance)
        order = range(len(self.instance.requests))
        if is_interval_matrix(self.instance):
            with self.clock.phase("retention"):
                kept, certificate = kept_and_priced(self.instance, intervals)
                self.consider(solution_of(self.instance, order, kept, intervals))
                if certificate is not None:
                    self.prove_certified(certificate)
                else:
                    self.prove(self.value)
            return
        self.consider(replay(self.instance, order, "lru"))
        try:
            certificate = relaxed_prices(self.instance, intervals, self.clock)
            if certificate is not None:
                self.prove_certified(certificate)
            if not self.over:
                self._solve(retention)
        except ModelRefused as refusal:  # too large: LRU and the compulsory bound remain
            self.notes["refused"] = str(refusal)

    def start_from_paths(self, rounds: int) -> None:
        """Take the order of the file, a heavy path, and what moves make of it."""
        with self.clock.phase("orders"):
            self.consider(retained(self.instance, list(range(len(self.instance.requests)))))
            try:
                order = best_path(self.instance, self.clock)
            except ModelRefused as refusal:
                self.notes["no path"] = str(refusal)
                return
            self.consider(retained(self.instance, order))
            if not self.over:
                order, _ = moved(self.instance, order, rounds, self.rng, self.clock)
                self.consider(retained(self.instance, order))

    def search_prefixes(self, width: int) -> None:
        """Close the gap between reloads that are excluded and those of the incumbent."""
        batches = [list(nodes) for nodes in self.instance.requests]
        clock = self.clock
        try:
            with self.clock.phase("tables"):
                prefixes = PrefixSearch(batches, self.instance.capacity, self.clock)
                excluded = prefixes.root_bound()
                self._prove_reloads(excluded, certified=True)
            with self.clock.phase("beams"):
                for states in (width, 10 * width):
                    while not self.closed:
                        order = prefixes.order_within(self.reloads - 1, states)
                        if order is None:
                            break
                        self.consider(retained(self.instance, order))
                    self.improve(width)
            with self.clock.phase("prefixes"):
                check_s = 0.0
                while not self.closed:
                    prefixes.clock = clock = Clock(self._limits_before_check(check_s))
                    began_s = self.clock.elapsed_s
                    order = prefixes.order_within(excluded)
                    self.notes["states"] = prefixes.states
                    if order is not None:
                        self.consider(retained(self.instance, order))
                        break
                    excluded += 1
                    checked = prefixes.states <= MOST_CHECKED
                    self._prove_reloads(excluded, checked)
                    check_s = CHECK_TIMES * (self.clock.elapsed_s - began_s) if checked else 0.0
        except OutOfTimeError:
            self.limit_hit = "time_s" if clock.expired else OWN_LIMIT

    def _limits_before_check(self, check_s: float) -> Limits:
        """Return limits that leave time to check the last bound."""
        limits = self.clock.limits()
        if limits.time_s is None:
            return limits
        return replace(limits, time_s=max(0.0, limits.time_s - check_s))

    def improve(self, rounds: int) -> None:
        """Move batches of the incumbent's order."""
        if self.best is not None and not self.over:
            start = list(self.best.order)
            order, _ = moved(self.instance, start, rounds, self.rng, self.clock)
            self.consider(retained(self.instance, order))

    @property
    def reloads(self) -> int:
        """Misses of the incumbent after the first of every node."""
        return int(self.value - self.instance.compulsory_cost) // miss_cost(self.instance)

    def _prove_reloads(self, reloads: int, certified: bool) -> None:
        bound = self.instance.compulsory_cost + miss_cost(self.instance) * reloads
        self.prove(bound, no_order_below(reloads) if certified else None)

    def branch_over_orders(self) -> None:
        """Fix one request after the other, with a host.

        An order costs at least what the best retention of its first batches does, and what
        `cost_beyond` says of the others.
        """
        if is_plain_but_for_host(self.instance) and self.instance.num_batches <= MOST_BATCHES:
            with self.clock.phase("tables"):
                self.prove_certified(least_reloads_of_both(self.instance, self.clock))
        open_prefixes: list[Prefix] = [()]
        with self.clock.phase("prefixes"):
            while open_prefixes:
                prefix = open_prefixes.pop()
                if self._beats_incumbent(prefix):
                    open_prefixes += reversed(extensions(self.instance, prefix))
                elif self.over:
                    return
        if not self.closed:
            self.prove(self.value)

    def _beats_incumbent(self, prefix: Prefix) -> bool:
        """Return True if an order that begins so may be better; offer the order if it is whole."""
        if self.over:
            return False
        whole = len(prefix) == len(self.instance.requests)
        if not whole and len(prefix) % self.instance.batch_size:
            return True
        beyond = cost_beyond(self.instance, prefix)
        first = sum(self.instance.miss_cost(v) for v in self._nodes_of(prefix))
        if first + beyond >= self.value:
            return False
        retained_cost = self._retained_cost(prefix)
        return retained_cost is not None and not whole and retained_cost + beyond < self.value

    def _nodes_of(self, prefix: Prefix) -> set[int]:
        return {v for k in prefix for v in self.instance.requests[k]}

    def _retained_cost(self, prefix: Prefix) -> int | None:
        """Return a bound on the cost of batches in their order; None if the search ends there."""
        if not prefix:
            return 0
        data = {name: getattr(self.instance, name) for name in CacheInstance.model_fields}
        requests = tuple(self.instance.requests[k] for k in prefix)
        given = CacheInstance(**data | {"requests": requests, "order": "given", "graph": None})
        intervals = retention.given_intervals(given)
        build_s = int((intervals.end - intervals.start).sum()) * _BUILD_S_PER_ENTRY
        if build_s > 0.5 * self.clock.left_s:
            self.notes["refused"] = f"building the model of an order takes about {build_s:.0f} s"
            self.limit_hit = "time_s"
            return None
        try:
            model = retention.build(given)
        except ModelRefused as refusal:
            self.notes["refused"] = str(refusal)
            self.limit_hit = OWN_LIMIT
            return None
        solved = solve_model(model, "highs", self.clock.limits(), seed=seed_of(self.rng))
        self.versions.update(solved.versions)
        if solved.status is Status.ERROR:
            raise SolverError(solved.reason)
        if solved.values is not None and len(prefix) == len(self.instance.requests):
            self.consider(retention.decode(model, given).model_copy(update={"order": prefix}))
        if solved.status is not Status.OPTIMAL or solved.bound is None:
            self.limit_hit = solved.limit_hit or "time_s"
            return None
        return int(round_up(solved.bound))

    def solve_model_of_gpus(self) -> None:
        """Solve the model of several GPUs in HiGHS; too large, it leaves what is known."""
        assert self.instance.gpus is not None, "there are several GPUs"
        model = joint_shared if self.instance.gpus.caches == "shared" else joint_gpus
        nodes = len(self.instance.frequency) * self.instance.num_batches
        build_s = (self.instance.num_batches**2 + 3 * nodes) * _BUILD_S_PER_ENTRY
        if build_s > 0.5 * self.clock.left_s:
            self.notes["refused"] = f"building the joint model takes about {build_s:.0f} s"
            self.limit_hit = "time_s"
            return
        try:
            self._solve(model)
        except ModelRefused as refusal:
            self.notes["refused"] = str(refusal)

    def solve_jointly(self) -> None:
        """Solve the joint model in HiGHS; too large, it leaves what is known."""
        try:
            joint.check_free(self.instance)
            build_s = joint.num_entries(self.instance) * _BUILD_S_PER_ENTRY
            if build_s > 0.5 * self.clock.left_s:
                self.notes["refused"] = f"building the joint model takes about {build_s:.0f} s"
                self.limit_hit = "time_s"
            else:
                self._solve(joint)
        except ModelRefused as refusal:
            self.notes["refused"] = str(refusal)

    def _solve(self, formulation: Any) -> None:
        with self.clock.phase("build"):
            model = formulation.build(self.instance)
        solved = solve_model(model, "highs", self.clock.limits(), seed=seed_of(self.rng))
        self.versions.update(solved.versions)
        if solved.status is Status.ERROR:
            raise SolverError(solved.reason)
        if solved.values is not None:
            self.consider(formulation.decode(model, self.instance))
        if solved.bound is not None:
            self.prove(round_up(solved.bound))
        if solved.limit_hit is not None:
            self.limit_hit = solved.limit_hit
