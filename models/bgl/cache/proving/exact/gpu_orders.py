r"""Several GPUs: order, and what each cache keeps or which policy all of them run.

In a given order every cache is a problem of its own: prices of each are the proof, and their costs
add up. Else, for few batches:

1. After whole steps, in whatever order, what counts is which batches are done and what each cache
   holds: of nodes that are needed no more only the places that they take under a policy.
2. A step is any D of the other batches, one for each GPU. Of equal states the cheapest is kept, and
   with it the step that led there.
3. With private caches GPUs are alike, so that the first step is ascending if all steps are full.
4. A static cache does not see the order of steps; all ways to fill the steps are tried.

The states give an order; what is kept on it is what each cache keeps best alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import OWN_LIMIT, Limits, MethodOutcome

from ...evaluate import evaluate
from ...gpus import asked, cache_of_each, cost_of_peers, solution_of_each
from ...heuristics.orders import retained
from ...instance import CacheInstance, CacheSolution, PolicyName
from ...subproblems.intervals import intervals_of
from ...subproblems.replay import Policy, replay, static
from ..bounds.boundary_prices import kept_and_priced
from ..certificate.check import (
    DYNAMIC,
    BoundaryPrices,
    CacheCertificate,
    EachCache,
    EveryPlan,
    best_static,
)
from ..certificate.gpu_orders import MOST_BATCHES
from ..reload_tables import OutOfTimeError
from .policy_orders import DEAD, Held, after_batch

#: States of a search, some 0.3 GB. By definition.
_MOST_STATES = 500_000

Caches = tuple[Held, ...]
#: Cost, the caches before the last step, and that step.
Reached = tuple[int, Caches, tuple[int, ...]]


@method(kind="exact", reference="this project", formulation="gpu_orders")
def gpu_orders(instance: CacheInstance, limits: Limits) -> MethodOutcome:
    """All sets of batches with all contents of several GPUs' caches, or each cache of an order.

    Return the optimum: in a given order with prices of every cache, else of at most 8 batches,
    with the policy where policies have a cost.

    Raises
    ------
    ModelRefused
        If there is one GPU, sizes differ, or there are too many batches.
    """
    if instance.gpus is None or not instance.unit_sizes:
        raise ModelRefused("gpus: needs several, and nodes of one size")
    clock = Clock(limits)
    certificate: CacheCertificate | None = None
    given = instance.order == "given" and instance.policy_cost is None
    if given:
        solution, certificate = best_of_order(instance)
    elif len(instance.requests) > MOST_BATCHES:
        raise ModelRefused(
            f"requests: {len(instance.requests)} batches, sets of at most {MOST_BATCHES} are listed"
        )
    else:
        try:
            solution = cheapest_plan(instance, clock)
        except OutOfTimeError:
            return MethodOutcome(limit_hit="time_s" if clock.expired else OWN_LIMIT)
    cost = int(evaluate(instance, solution).objective or 0)
    if not given:
        certificate = CacheCertificate(proof=EveryPlan(cost=cost))
    return MethodOutcome(
        solution=solution, claimed_objective=cost, dual_bound=cost, certificate=certificate
    )


def best_of_order(instance: CacheInstance) -> tuple[CacheSolution, CacheCertificate | None]:
    """Return the best retention of every cache in the given order, and prices that prove it.

    The certificate is None where a cache is asked too often for prices.
    """
    order = range(len(instance.requests))
    found: list[CacheSolution | None] = []
    proofs: list[BoundaryPrices] | None = []
    for cache in cache_of_each(instance, order):
        if cache is None:
            found.append(None)
            continue
        found.append(retained(cache, list(range(len(cache.requests)))))
        _, priced = kept_and_priced(cache, intervals_of(cache.requests))
        if proofs is None or priced is None or not isinstance(priced.proof, BoundaryPrices):
            proofs = None
        else:
            proofs.append(priced.proof)
    certificate = None
    if proofs is not None:
        certificate = CacheCertificate(proof=EachCache(caches=tuple(proofs)))
    return solution_of_each(order, found, None), certificate


def on_order(instance: CacheInstance, order: Sequence[int], policy: Policy | None) -> CacheSolution:
    """Return what a policy does on an order, or with None the best retention of every cache."""
    if policy is not None:
        return replay(instance, order, policy)
    alone = [
        None if cache is None else retained(cache, list(range(len(cache.requests))))
        for cache in cache_of_each(instance, order)
    ]
    return solution_of_each(order, alone, None)


def best_static_on(instance: CacheInstance, order: Sequence[int]) -> CacheSolution:
    """Return the best static cache of every GPU for an order."""
    alone = [
        None if cache is None else static(cache, range(len(cache.requests)), best_static(cache))
        for cache in cache_of_each(instance, order)
    ]
    return solution_of_each(order, alone, "static")


def cheapest_plan(instance: CacheInstance, clock: Clock) -> CacheSolution:
    """Return the solution of the least cost.

    Raises
    ------
    OutOfTimeError
        If the time is up, or there are too many states.
    """
    if instance.policy_cost is None:
        return on_order(instance, _best_order(instance, None, clock), None)
    found = best_of_each_policy(instance, clock).values()
    return min(found, key=lambda solution: evaluate(instance, solution).objective or 0)


def best_of_each_policy(instance: CacheInstance, clock: Clock) -> dict[PolicyName, CacheSolution]:
    """Return the solution of the least cost of every policy, where policies have a cost.

    Raises
    ------
    OutOfTimeError
        If the time is up, or there are too many states.
    """
    found: dict[PolicyName, CacheSolution] = {}
    for policy in DYNAMIC:
        found[policy] = on_order(instance, _best_order(instance, policy, clock), policy)
    least: float | None = None
    for order in _fillings(instance):
        if clock.expired:
            raise OutOfTimeError
        solution = best_static_on(instance, order)
        cost = float(evaluate(instance, solution).objective or 0)
        if least is None or cost < least:
            least, found["static"] = cost, solution
    return found


def _best_order(instance: CacheInstance, policy: Policy | None, clock: Clock) -> list[int]:
    """Return an order of the least cost (steps 1 to 3)."""
    assert instance.gpus is not None, "there are several GPUs"
    M, D = len(instance.requests), instance.gpus.count
    alike = instance.gpus.caches == "private" and M % D == 0
    layers: list[dict[int, dict[Caches, Reached]]] = [{0: {((),) * D: (0, (), ())}}]
    left = _MOST_STATES
    while (1 << M) - 1 not in layers[-1]:
        after: dict[int, dict[Caches, Reached]] = {}
        for done, states in layers[-1].items():
            rest = [t for t in range(M) if not done >> t & 1]
            for step in _steps(instance, rest, alike and not done):
                now = done | sum(1 << t for t in step)
                found = after.setdefault(now, {})
                before = len(found)
                for caches, (cost, _, _) in states.items():
                    if clock.expired or left < 0:
                        raise OutOfTimeError
                    _advance(instance, policy, caches, cost, step, rest, found)
                left -= len(found) - before
        layers.append(after)
    done = (1 << M) - 1
    caches = min(layers[-1][done], key=lambda state: layers[-1][done][state][0])
    order: list[int] = []
    for layer in reversed(layers[1:]):
        _, caches, step = layer[done][caches]
        order = [*step, *order]
        done &= ~sum(1 << t for t in step)
    return order


def _steps(
    instance: CacheInstance, rest: Sequence[int], ascending: bool
) -> Iterator[tuple[int, ...]]:
    assert instance.gpus is not None, "there are several GPUs"
    size = min(instance.gpus.count, len(rest))
    if instance.order == "given":
        return iter([tuple(rest[:size])])
    return combinations(rest, size) if ascending else permutations(rest, size)


def _advance(
    instance: CacheInstance,
    policy: Policy | None,
    caches: Caches,
    cost: int,
    step: tuple[int, ...],
    rest: Sequence[int],
    found: dict[Caches, Reached],
) -> None:
    """Add the states that a step leads to, where they are new or cheaper (step 2)."""
    later = {v for t in rest if t not in step for v in instance.requests[t]}
    paid = cost + cost_of_peers(instance, step)
    ways: list[list[Held]] = []
    for held, nodes in zip(caches, asked(instance, step), strict=True):
        there = {v for v, _ in held}
        missed = [v for v in nodes if v not in there]
        paid += sum(instance.miss_cost(v) for v in missed)
        if policy is None:
            useful = sorted((there | set(nodes)) & later)
            fit = min(instance.capacity, len(useful))
            ways.append([tuple((v, 0) for v in kept) for kept in combinations(useful, fit)])
            continue
        assert instance.policy_cost is not None, "a policy has a cost"
        running = instance.policy_cost.of(policy)
        then, _ = after_batch(policy, held, nodes, instance.capacity)
        paid += running.lookup * len(nodes) + running.hit * (len(nodes) - len(missed))
        left = len(held) + len(missed) - len(then)
        paid += running.admit * len(missed) + running.evict * left
        ways.append([tuple((v if v in later else DEAD, n) for v, n in then)])
    for state in product(*ways):
        if state not in found or paid < found[state][0]:
            found[state] = paid, caches, step


def _fillings(instance: CacheInstance) -> Iterator[list[int]]:
    """Yield an order for every way to fill the steps, whatever the order of the full ones."""
    assert instance.gpus is not None, "there are several GPUs"
    M, D = len(instance.requests), instance.gpus.count
    if instance.order == "given":
        yield list(range(M))
        return

    def fill(rest: list[int], done: list[int]) -> Iterator[list[int]]:
        if len(rest) < D:
            for tail in permutations(rest):
                yield [*done, *tail]
            return
        # Steps are listed by their first batches, ascending.
        for step in permutations(rest, D):
            if not done or step[0] > done[-D]:
                yield from fill([t for t in rest if t not in step], [*done, *step])

    yield from fill(list(range(M)), [])
