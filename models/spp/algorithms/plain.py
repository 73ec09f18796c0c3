r"""SPP of the paper, step by step: order of the GPUs (RDO), plans (PRM), orders of blocks (PE).

Nothing here is fast: minimum cuts are found by trying all, and the recurrence of PRM is written as
it stands. Times are exact, and are the evaluator's. The paper's abstract says what the parts do;
recurrence, junctions, rounds and ties are (reconstructed).

Letters, as in the paper: layers 0..L-1, GPUs 0..V-1, M microbatches, xi stages, J = 4 xi - 3 blocks
of a microbatch, A the all-reduce of a stage, W the largest load of a stage or channel, T the length
of an iteration.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from ..evaluate import evaluate, machines
from ..instance import SppInstance, SppSolution

#: Layers [first, end) of each stage, and its GPUs.
Plan = list[tuple[tuple[int, int], tuple[int, ...]]]
#: The least largest load, and the plan that has it; None if there is none.
State = tuple[Fraction, Plan] | None


def spp(instance: SppInstance) -> tuple[Fraction, SppSolution]:
    """Return T and the plan with its orders: the best of PRM's plans for every number of stages."""
    order = rdo(instance, list(range(instance.num_gpus)))
    best: tuple[Fraction, SppSolution] | None = None
    for xi in range(1, instance.most_stages + 1):
        state = prm(instance, order, xi)
        if state is None:
            continue
        schedule = pe(instance, state[1])
        T_xi = Fraction(evaluate(instance, schedule).objective or 0)
        if best is None or T_xi < best[0]:  # tie: smaller xi
            best = T_xi, schedule
    assert best is not None, "one stage is a plan"
    return best


def rdo(instance: SppInstance, U: list[int]) -> list[int]:
    """Recursive device ordering: GPUs joined by fast links end up next to each other."""
    if len(U) <= 2:
        return sorted(U)
    X, Y = minimum_cut(instance, sorted(U))
    ox, oy = rdo(instance, X), rdo(instance, Y)
    xo, yo = ox[::-1], oy[::-1]
    # the junction of the largest bandwidth; ties: the first of these
    junctions = [(ox, oy), (ox, yo), (xo, oy), (xo, yo)]
    first, second = max(junctions, key=lambda pair: bandwidth(instance, pair[0][-1], pair[1][0]))
    return first + second


def minimum_cut(instance: SppInstance, U: list[int]) -> tuple[list[int], list[int]]:
    """Return the two sides of a global minimum cut of the complete graph on U.

    The side with the smallest GPU comes first. Ties: the fewest GPUs there, then the first ones.
    """
    best: tuple[Fraction, list[int], list[int]] | None = None
    for others in range(len(U) - 1):
        for beside in combinations(U[1:], others):
            X = [U[0], *beside]
            Y = [v for v in U if v not in X]
            cut = sum((bandwidth(instance, u, v) for u in X for v in Y), Fraction(0))
            if best is None or cut < best[0]:
                best = cut, X, Y
    assert best is not None, "two GPUs can be parted"
    return best[1], best[2]


def bandwidth(instance: SppInstance, u: int, v: int) -> Fraction:
    """Return b_uv in bytes per second."""
    return instance.cluster.bandwidth(u, v)


def prm(instance: SppInstance, order: list[int], xi: int) -> State:
    """Partition, replication and mapping: the plan of xi stages on consecutive GPUs of the order.

    All GPUs are used, unless the instance allows to leave the last ones out.
    """
    L, V = instance.num_layers, len(order)
    table: dict[tuple[int, int, int, int], State] = {}
    finals = [
        W(instance, order, table, L, xi, r, i)
        for i in ([V] if instance.options.use_all_gpus else range(V, 0, -1))
        for r in range(1, i + 1)
    ]
    return min((state for state in finals if state is not None), key=load, default=None)


def W(
    instance: SppInstance,
    order: list[int],
    table: dict[tuple[int, int, int, int], State],
    l: int,  # noqa: E741
    xi: int,
    r: int,
    i: int,
) -> State:
    """Recurrence S7: the first l layers in xi stages on the first i GPUs, the last r for the last.

    W(l, xi, r, i) = min over l', r' of the largest of W(l', xi - 1, r', i - r), the load of the
    channel between the last two stages and the load of the last stage.
    """
    if (l, xi, r, i) in table:
        return table[l, xi, r, i]
    gpus = tuple(order[i - r : i])
    best: State = None
    if xi == 1:
        if r == i:
            best = stage_load(instance, 0, l, gpus), [((0, l), gpus)]
    else:
        for l_ in range(xi - 1, l):  # ties: smallest l', then smallest r'
            for r_ in range(1, i - r + 1):
                if instance.options.uniform_replicas and r_ != r:
                    continue
                before = W(instance, order, table, l_, xi - 1, r_, i - r)
                if before is None:
                    continue
                channel = channel_load(instance, l_, before[1][-1][1], gpus)
                value = max(before[0], channel, stage_load(instance, l_, l, gpus))
                if best is None or value < best[0]:
                    best = value, [*before[1], ((l_, l), gpus)]
    table[l, xi, r, i] = best
    return best


def load(state: tuple[Fraction, Plan]) -> Fraction:
    """Return W of a state."""
    return state[0]


def stage_load(instance: SppInstance, l_: int, l: int, gpus: tuple[int, ...]) -> Fraction:  # noqa: E741
    """Return M (F + B) + A of the layers l'..l-1 on some GPUs."""
    times = machines(instance, solution_of([((l_, l), gpus)], []))
    return instance.num_microbatches * (times.forward[0] + times.backward[0]) + times.allreduce[0]


def channel_load(
    instance: SppInstance, l_: int, before: tuple[int, ...], gpus: tuple[int, ...]
) -> Fraction:
    """Return M (C^f + C^b) between the stage that ends before layer l' and the next."""
    L = instance.num_layers
    times = machines(instance, solution_of([((0, l_), before), ((l_, L), gpus)], []))
    if instance.duplex == "full":  # the two directions have a channel each (reconstructed)
        return instance.num_microbatches * max(times.forward[1], times.backward[1])
    return instance.num_microbatches * (times.forward[1] + times.backward[1])


def pe(instance: SppInstance, plan: Plan) -> SppSolution:
    """Pipeline execution: give each stage and channel its order of blocks, round by round.

    Blocks of a microbatch: f_0 cf_0 f_1 ... and the last stage's two as one, then ... cb_0 b_0. In
    round t block j takes microbatch t - j + 1, later blocks first. Only the orders count: blocks
    start as early as these allow.
    """
    S, M = len(plan), instance.num_microbatches
    J = 4 * S - 3
    orders: list[list[int]] = [[] for _ in range(2 * S - 1)]
    for t in range(1, M + J):
        for j in range(J, 0, -1):
            m = t - j + 1
            if not 1 <= m <= M:
                continue
            if j < 2 * S - 1:
                orders[j - 1].append(m)  # forward on stage or channel j - 1
            elif j == 2 * S - 1:
                orders[j - 1] += [m, -m]  # the last stage, there and back
            else:
                orders[J - j].append(-m)  # backward
    return solution_of(plan, orders)


def solution_of(plan: Plan, orders: list[list[int]]) -> SppSolution:
    """Return a plan with orders as a decision."""
    return SppSolution(
        stage_layers=tuple(layers for layers, _ in plan),
        stage_devices=tuple(tuple(sorted(gpus)) for _, gpus in plan),
        orders=tuple(map(tuple, orders)),
    )
