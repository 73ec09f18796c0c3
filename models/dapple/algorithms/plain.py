r"""DAPPLE's planner and schedule of the paper, step by step.

Nothing here is fast: the recursion visits every prefix of stages. Times are exact, and are the
evaluator's.

Letters, as in the paper: layers 0..L-1, M microbatches, S stages; positions 0..2S-2 are stage 0,
link 0, stage 1, ..., with F forward, B backward and AR all-reduce seconds of a position; Q is the
pivot; K_i the forwards of stage i before its first backward, D what memory allows.

D is given as a number; what bytes of memory allow is not computed here.
Policies that run out of GPUs go on as marked (reconstructed); the text does not say.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from ..evaluate import Times, evaluate, plan_times
from ..instance import DappleInstance, DappleSolution

#: Layers [first, end) of a stage, and its GPUs.
Stage = tuple[tuple[int, int], tuple[int, ...]]


def dapple(instance: DappleInstance) -> tuple[Fraction, DappleSolution]:
    """Return the least latency, and its plan with the better of warm-up policies A and B."""
    candidates = list(plan(instance, 0, frozenset(), []))
    lats = [latency(instance, stages) for stages in candidates]
    lat = min(lats)
    best = candidates[lats.index(lat)]  # ties: the first found
    by_policy = [with_warmup(instance, best, policy) for policy in ("A", "B")]
    return lat, min(by_policy, key=lambda solution: length(instance, solution))


def plan(
    instance: DappleInstance, j: int, occ: frozenset[int], stages: list[Stage]
) -> Iterator[list[Stage]]:
    """Equations 3-5: yield every plan that begins with the stages of layers 0..j-1 on GPUs occ.

    The unplanned tail is one stage on all the other GPUs, so that every state is itself a plan;
    the first is pure data parallelism. The paper calls it dynamic programming, but the latency
    depends on the whole prefix: only without a memo is it the least.
    """
    L = instance.num_layers
    rest = tuple(v for v in range(instance.num_gpus) if v not in occ)
    if len(stages) + 1 > instance.most_stages:
        return
    yield [*stages, ((j, L), rest)]
    for j2 in range(j + 1, L):
        for m2 in range(1, len(rest)):
            chosen: list[tuple[int, ...]] = []
            for policy in (fresh_first, append_first, scatter_first):
                g2 = policy(instance, occ, m2)
                if g2 not in chosen:  # duplicate sets are removed
                    chosen.append(g2)
            for g2 in chosen:
                yield from plan(instance, j2, occ | set(g2), [*stages, ((j, j2), g2)])


def machines(instance: DappleInstance) -> list[list[int]]:
    """Return the GPUs of each machine."""
    found, first = [], 0
    for size in instance.cluster.gpus_per_machine:
        found.append(list(range(first, first + size)))
        first += size
    return found


def fresh_first(instance: DappleInstance, occ: frozenset[int], need: int) -> tuple[int, ...]:
    """Take GPUs from machines without an occupied one, then from the others (reconstructed)."""
    fresh = [m for m in machines(instance) if not occ & set(m)]
    used = [m for m in machines(instance) if occ & set(m)]
    free = [v for machine in [*fresh, *used] for v in machine if v not in occ]
    return tuple(sorted(free[:need]))


def append_first(instance: DappleInstance, occ: frozenset[int], need: int) -> tuple[int, ...]:
    """Take GPUs from machines partly occupied, then from fresh ones (reconstructed)."""
    fresh = [m for m in machines(instance) if not occ & set(m)]
    used = [m for m in machines(instance) if occ & set(m)]
    free = [v for machine in [*used, *fresh] for v in machine if v not in occ]
    return tuple(sorted(free[:need]))


def scatter_first(instance: DappleInstance, occ: frozenset[int], need: int) -> tuple[int, ...]:
    """Take one GPU at a time round-robin over the machines already used, or all if none is."""
    used = [m for m in machines(instance) if occ & set(m)] or machines(instance)
    free = [[v for v in machine if v not in occ] for machine in used]
    taken: list[int] = []
    while any(free) and len(taken) < need:
        for machine in free:
            if machine and len(taken) < need:
                taken.append(machine.pop(0))
    # no more there: the other free GPUs in order (reconstructed)
    others = [v for v in range(instance.num_gpus) if v not in occ and v not in taken]
    return tuple(sorted(taken + others[: need - len(taken)]))


def latency(instance: DappleInstance, stages: list[Stage]) -> Fraction:
    """Equation 1: T_w + T_s + T_e around the pivot."""
    times = times_of(instance, stages)
    F, B, AR = times.forward, times.backward, times.allreduce
    M, Q = instance.num_microbatches, pivot(times, instance.num_microbatches)
    T_w = sum(F[: Q + 1], Fraction(0))
    T_s = (M - 1) * (F[Q] + B[Q])
    # E_s: how long after the last backward on Q has begun stage s ends its own last backward. For
    # s > Q the sum runs over what lies between, where the print has Q..s (reconstructed).
    T_e = max(
        AR[s] + (sum(B[s : Q + 1], Fraction(0)) if s <= Q else -sum(B[Q + 1 : s], Fraction(0)))
        for s in range(len(F))
    )
    return T_w + T_s + T_e


def pivot(times: Times, M: int) -> int:
    """Equation 2: the pivot, from the last stage down."""
    F, B = times.forward, times.backward
    T_st = [(M - 1) * (f + b) for f, b in zip(F, B, strict=True)]
    Q = len(F) - 1
    for s in range(len(F) - 2, -1, -1):
        # the print's upper limit is Q - 1, which moves the pivot too eagerly; kept as printed
        if T_st[s] > T_st[Q] + sum(F[a] + B[a] for a in range(s + 1, Q)):
            Q = s
    return Q


def with_warmup(instance: DappleInstance, stages: list[Stage], policy: str) -> DappleSolution:
    """Return a plan with its early-backward schedule: K_i forwards, then one backward, one forward.

    Policy A: K_i = min(S - i, D); policy B: K_i = min(2 (S - i) - 1, D), for transfers comparable
    to the compute. K_i never increases, so that no stage waits for ever.
    """
    S, M = len(stages), instance.num_microbatches
    D = M if instance.options.max_in_flight is None else instance.options.max_in_flight
    K: list[int] = []
    for i in range(S):
        ahead = S - i if policy == "A" else 2 * (S - i) - 1
        K.append(min(ahead, D, M, *K[-1:]))
    return DappleSolution(
        stage_layers=tuple(layers for layers, _ in stages),
        stage_devices=tuple(gpus for _, gpus in stages),
        warmup=tuple(K),
    )


def times_of(instance: DappleInstance, stages: list[Stage]) -> Times:
    """Return F, B and AR of stages and links."""
    return plan_times(instance, with_warmup(instance, stages, "A"))


def length(instance: DappleInstance, solution: DappleSolution) -> Fraction:
    """Return the simulated length of an iteration."""
    objective = evaluate(instance, solution).objective
    assert objective is not None, "warm-ups that never increase do not block each other"
    return Fraction(objective)
