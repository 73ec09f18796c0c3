r"""Several GPUs: order, and what each cache keeps or which policy all of them run.

In a given order every cache is a problem of its own: prices of each are the proof, and their costs
add up. Else, for few batches:

1. After whole steps, in whatever order, what counts is which batches are done and what each cache
   holds: of nodes that are needed no more only the places that they take under a policy.
2. A step is any D of the other batches, one for each GPU. Of equal states the cheapest is kept, and
   with it the step that led there.
3. With private caches GPUs are alike, so that the first step is ascending if all steps are full.
4. A static cache does not see the order of steps; all ways to fill the steps are tried. Where steps
   wait for the slowest GPU, what one holds depends on what the others do (`static_steps`).
5. Shared caches hold each node once: every way to hold what any GPU had in the step, but for nodes
   that a GPU drops in spite of room, or that go elsewhere in spite of it (`shared_steps`).
6. Where what leaves is free, a state whose cost, and one load of every node that is still needed
   and held nowhere, reach a limit is left out. The limit grows in quarters from a bound to what the
   given order costs, until a plan is below it.

The states give an order; where caches are apart, what is kept on it is what each keeps best alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product

from gadgetopt.errors import ModelRefused
from gadgetopt.search.clock import Clock
from gadgetopt.system.declaring import method
from gadgetopt.system.result import OWN_LIMIT, Limits, MethodOutcome

from ...evaluate import evaluate
from ...gpus import (
    asked,
    cache_of_each,
    partitioned,
    peers_of_each,
    pool_of,
    shared_as_partitioned,
    solution_of_each,
)
from ...heuristics.orders import retained
from ...instance import CacheInstance, CacheSolution, PolicyName
from ...subproblems.gpu_plans import solution_of_held
from ...subproblems.intervals import intervals_of
from ...subproblems.replay import Policy, replay, static
from ..bounds.boundary_prices import kept_and_priced
from ..certificate.check import (
    DYNAMIC,
    BoundaryPrices,
    CacheCertificate,
    Compulsory,
    EachCache,
    EveryPlan,
    best_static,
    check_bound,
)
from ..certificate.gpu_orders import MOST_BATCHES
from ..reload_tables import OutOfTimeError
from .policy_orders import DEAD, Held, after_batch
from .shared_steps import after_step
from .static_steps import best_static_of_steps

#: States of a search, some 0.3 GB. By definition.
_MOST_STATES = 500_000

Caches = tuple[Held, ...]
#: Cost, the caches before the last step, and that step.
Reached = tuple[int, Caches, tuple[int, ...]]


@method(kind="exact", reference="this project", formulation="gpu_orders")
def gpu_orders(instance: CacheInstance, limits: Limits) -> MethodOutcome:
    """All sets of batches with all contents of several GPUs' caches, or each cache of an order.

    Return the optimum: in a given order with prices of every cache where these are apart, of a free
    order for at most 8 batches, with the policy where policies have a cost.

    Raises
    ------
    ModelRefused
        If there is one GPU, sizes differ, or there are too many batches, or too many choices of
        static caches where the slowest GPU counts.
    """
    if instance.gpus is None or not instance.unit_sizes:
        raise ModelRefused("gpus: needs several, and nodes of one size")
    clock = Clock(limits)
    certificate: CacheCertificate | None = None
    given = instance.order == "given" and instance.policy_cost is None
    priced = given and instance.gpus.apart
    if priced:
        solution, certificate = best_of_order(instance)
    elif instance.order == "free" and len(instance.requests) > MOST_BATCHES:
        raise ModelRefused(
            f"requests: {len(instance.requests)} batches, sets of at most {MOST_BATCHES} are listed"
        )
    else:
        try:
            solution = cheapest_plan(instance, clock)
        except OutOfTimeError:
            return MethodOutcome(limit_hit="time_s" if clock.expired else OWN_LIMIT)
    cost = int(evaluate(instance, solution).objective or 0)
    if not priced:
        certificate = CacheCertificate(proof=EveryPlan(cost=cost))
    return MethodOutcome(
        solution=solution, claimed_objective=cost, dual_bound=cost, certificate=certificate
    )


def best_of_order(instance: CacheInstance) -> tuple[CacheSolution, CacheCertificate | None]:
    """Return the best retention of every cache in the given order, and prices of each.

    They prove that it is the best where caches are apart; shared ones are priced as one. The
    certificate is None where a cache is asked too often for prices.
    """
    assert instance.gpus is not None, "there are several GPUs"
    order = range(len(instance.requests))
    solution = on_order(instance, order, None)
    caches = cache_of_each(instance, order)
    if instance.gpus.caches == "shared":
        caches = [pool_of(instance, order)[0]]
    proofs: list[BoundaryPrices] = []
    for cache in filter(None, caches):
        _, priced = kept_and_priced(cache, intervals_of(cache.requests))
        if priced is None or not isinstance(priced.proof, BoundaryPrices):
            return solution, None
        proofs.append(priced.proof)
    return solution, CacheCertificate(proof=EachCache(caches=tuple(proofs)))


def on_order(instance: CacheInstance, order: Sequence[int], policy: Policy | None) -> CacheSolution:
    """Return what a policy does on an order, or with None the best retention of every cache."""
    assert instance.gpus is not None, "there are several GPUs"
    if policy is not None:
        return replay(instance, order, policy)
    if instance.gpus.caches == "shared":
        return shared_as_partitioned(instance, on_order(partitioned(instance), order, None))
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
    ModelRefused
        If there are too many choices of static caches where the slowest GPU counts.
    OutOfTimeError
        If the time is up, or there are too many states.
    """
    assert instance.gpus is not None, "there are several GPUs"
    if instance.policy_cost is not None:
        found = [plan for _, plan in best_of_each_policy(instance, clock)]
        return min(found, key=lambda solution: evaluate(instance, solution).objective or 0)
    best = on_order(instance, range(len(instance.requests)), None)
    cost = int(evaluate(instance, best).objective or 0)
    below = check_bound(instance, CacheCertificate(proof=Compulsory())) or 0
    quarter = max(1, (cost - below + 3) // 4)
    while below < cost:
        below = min(cost, below + quarter)
        plan = _best_plan(instance, None, clock, below)
        if plan is not None:
            order, held = plan
            if instance.gpus.apart:
                return on_order(instance, order, None)
            return solution_of_held(instance, order, held)
    return best


def best_of_each_policy(
    instance: CacheInstance, clock: Clock
) -> Iterator[tuple[PolicyName, CacheSolution]]:
    """Yield the solution of the least cost of every policy, where policies have a cost.

    Raises
    ------
    ModelRefused
        If there are too many choices of static caches where the slowest GPU counts.
    OutOfTimeError
        If the time is up, or there are too many states.
    """
    for policy in DYNAMIC:
        plan = _best_plan(instance, policy, clock, None)
        assert plan is not None, "nothing is left out"
        yield policy, on_order(instance, plan[0], policy)
    assert instance.gpus is not None, "there are several GPUs"
    if instance.gpus.objective == "synchronous":
        yield "static", best_static_of_steps(instance, clock)
        return
    least: tuple[int, CacheSolution] | None = None
    for order in _fillings(instance):
        if clock.expired:
            raise OutOfTimeError
        solution = best_static_on(instance, order)
        cost = int(evaluate(instance, solution).objective or 0)
        if least is None or cost < least[0]:
            least = cost, solution
    assert least is not None, "there is an order"
    yield "static", least[1]


def _best_plan(
    instance: CacheInstance, policy: Policy | None, clock: Clock, below: int | None
) -> tuple[list[int], list[list[set[int]]]] | None:
    """Return an order of the least cost, and what GPUs hold after its steps; None if none is below.

    Steps 1 to 3, 5 and 6.
    """
    assert instance.gpus is not None, "there are several GPUs"
    M, D = len(instance.requests), instance.gpus.count
    # Of shared caches the first GPU that needs a node loads it: alike only in what all pay.
    private, total = instance.gpus.caches == "private", instance.gpus.objective == "total"
    alike = M % D == 0 and (private or (total and instance.gpus.caches == "shared"))
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
                    _advance(instance, policy, caches, cost, step, rest, found, below)
                left -= len(found) - before
        layers.append(after)
    done = (1 << M) - 1
    if not layers[-1][done]:
        return None
    caches = min(layers[-1][done], key=lambda state: layers[-1][done][state][0])
    order: list[int] = []
    contents: list[list[set[int]]] = []
    for layer in reversed(layers[1:]):
        contents = [[{v for v, _ in held} for held in caches], *contents]
        _, caches, step = layer[done][caches]
        order = [*step, *order]
        done &= ~sum(1 << t for t in step)
    return order, contents[:-1]


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
    below: int | None,
) -> None:
    """Add the states that a step leads to, where they are new or cheaper (step 2)."""
    assert instance.gpus is not None, "there are several GPUs"
    later = {v for t in rest if t not in step for v in instance.requests[t]}
    total = instance.gpus.objective == "total"
    all_pay = sum if total else max

    def add(state: Caches, paid: int) -> None:
        if below is not None:
            missing = later.difference(*({v for v, _ in held} for held in state))
            to_come = sum(map(instance.miss_cost, missing))
            if paid + (to_come if total else -(-to_come // len(caches))) >= below:
                return
        if state not in found or paid < found[state][0]:
            found[state] = paid, caches, step

    if instance.gpus.caches == "shared":
        before = [{v for v, _ in held} for held in caches]
        for held_now, costs in after_step(instance, before, step, later):
            shared = tuple(tuple((v, 0) for v in sorted(nodes)) for nodes in held_now)
            add(shared, cost + all_pay(costs))
        return
    ways: list[list[Held]] = []
    costs = peers_of_each(instance, step)
    for d, (held, nodes) in enumerate(zip(caches, asked(instance, step), strict=True)):
        there = {v for v, _ in held}
        missed = [v for v in nodes if v not in there]
        costs[d] += sum(instance.miss_cost(v) for v in missed)
        if policy is None:
            useful = sorted((there | set(nodes)) & later)
            fit = min(instance.capacity, len(useful))
            ways.append([tuple((v, 0) for v in kept) for kept in combinations(useful, fit)])
            continue
        assert instance.policy_cost is not None, "a policy has a cost"
        running = instance.policy_cost.of(policy)
        then, _ = after_batch(policy, held, nodes, instance.capacity)
        costs[d] += running.lookup * len(nodes) + running.hit * (len(nodes) - len(missed))
        left = len(held) + len(missed) - len(then)
        costs[d] += running.admit * len(missed) + running.evict * left
        ways.append([tuple((v if v in later else DEAD, n) for v, n in then)])
    for state in product(*ways):
        add(state, cost + all_pay(costs))


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
