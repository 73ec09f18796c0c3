r"""The evaluator: the iteration time of a plan with its orders, in exact seconds.

With stage n on the GPUs :math:`D_n` of speeds :math:`\sigma_v` (1 where none are given), one
microbatch takes, forward and backward,

.. math::
    F_n = \frac{\sum_l p^f_l}{\sum_{v \in D_n} \sigma_v}, \qquad
    B_n = \frac{\sum_l p^b_l}{\sum_{v \in D_n} \sigma_v},                               \tag{S1}

and the channel to the next stage

.. math::
    C^f_n = \frac{d^f}{r_n r_{n+1} \min_{u \in D_n, v \in D_{n+1}} b_{uv}} + \tau, \qquad
    C^b_n = \frac{d^b}{r_n r_{n+1} \min_{u \in D_n, v \in D_{n+1}} b_{uv}} + \tau,      \tag{S2}

or what `comm_model` says instead. The AllReduce of a stage takes

.. math::
    A_n = \frac{2 (r_n - 1)}{r_n} \frac{\sum_l \alpha_l}{\min_{u \ne v \in D_n} b_{uv}}. \tag{S3}

A microbatch passes the stages and channels forward and then back; each serves one block at a time
in the order of the solution (a channel of full duplex one a direction). The iteration ends with the
last AllReduce. Everything is computed here in rationals, and shared with no other module.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.system.result import Evaluation, Violation

from .instance import SppInstance, SppSolution


@dataclass(frozen=True)
class Machines:
    """Seconds of the blocks of stage 0, channel 0, stage 1, ...; AllReduce is 0 on channels."""

    forward: list[Fraction]
    backward: list[Fraction]
    allreduce: list[Fraction]


def evaluate(instance: SppInstance, solution: SppSolution) -> Evaluation:
    """Recompute the iteration time of a plan with its orders, and which constraints it violates.

    Returns
    -------
    Evaluation
        The objective is None if the plan or the orders are not complete, or blocks wait for each
        other. Components: W, the largest busy time of a stage or channel; the largest idle share
        of a stage; the most microbatches in flight on a stage; the number of stages.
    """
    broken = tuple(_broken(instance, solution))
    if broken:
        return Evaluation(None, broken)
    times = machines(instance, solution)
    ends, stuck = _ends(instance, times, solution.orders)
    if stuck:
        return Evaluation(None, tuple(stuck))
    violations = tuple(_limits(instance, solution))
    stages = range(0, len(times.forward), 2)
    makespan = max(ends[q] + times.allreduce[q] for q in stages)
    busy = [instance.num_microbatches * (times.forward[q] + times.backward[q]) for q in stages]
    idle = max((1 - b / makespan for b in busy), default=Fraction(0)) if makespan else Fraction(0)
    return Evaluation(
        makespan,
        violations,
        {
            "max_load_s": max_load_s(instance, times),
            "largest_idle_share": float(idle),
            "most_in_flight": max(map(_peak, solution.orders[::2])),
            "stages": len(solution.stage_layers),
        },
    )


def max_load_s(instance: SppInstance, times: Machines) -> Fraction:
    """Return W: the largest busy time of a stage, AllReduce included, or of a channel."""
    M, full = instance.num_microbatches, instance.duplex == "full"
    rows = enumerate(zip(times.forward, times.backward, times.allreduce, strict=True))
    return max(M * (max(f, b) if full and q % 2 else f + b) + a for q, (f, b, a) in rows)


# -- times, (S1) to (S3) -----------------------------------------------------------------------


def machines(instance: SppInstance, solution: SppSolution) -> Machines:
    """Return the seconds of every block of a plan that is complete."""
    found = Machines([], [], [])
    latency = decimal_rational(instance.options.transfer_latency_s)
    stages = list(zip(solution.stage_layers, solution.stage_devices, strict=True))
    for n, ((first, end), gpus) in enumerate(stages):
        speed = sum((_speed(instance, v) for v in gpus), Fraction(0))
        inside = [_layer(instance, ell) for ell in range(first, end)]
        forward = sum((pf for pf, _, _ in inside), Fraction(0)) / speed
        backward = sum((pb for _, pb, _ in inside), Fraction(0)) / speed
        per_byte = _allreduce_s_per_byte(instance, gpus)
        exposed, elapsed = Fraction(0), Fraction(0)
        # The last backward passes the layers from the last to the first; each is exchanged then,
        # one after the other, or all of them at the end.
        for _, pb, alpha in reversed(inside):
            elapsed += pb / speed
            begin = max(exposed, elapsed) if instance.options.overlap_allreduce else exposed
            exposed = begin + per_byte * alpha
        found.forward.append(forward)
        found.backward.append(backward + (forward if instance.options.recompute else 0))
        found.allreduce.append(exposed - elapsed if instance.options.overlap_allreduce else exposed)
        if n + 1 < len(stages):
            last = instance.layers[end - 1]
            grad_bytes = last.act_bytes if last.grad_bytes is None else last.grad_bytes
            rate = _transfer_s_per_byte(instance, gpus, stages[n + 1][1])
            found.forward.append(decimal_rational(last.act_bytes) * rate + latency)
            found.backward.append(decimal_rational(grad_bytes) * rate + latency)
            found.allreduce.append(Fraction(0))
    return found


def _layer(instance: SppInstance, ell: int) -> tuple[Fraction, Fraction, Fraction]:
    layer = instance.layers[ell]
    return (
        decimal_rational(layer.fwd_time_s),
        decimal_rational(layer.bwd_time_s),
        decimal_rational(layer.param_bytes),
    )


def _speed(instance: SppInstance, gpu: int) -> Fraction:
    cluster = instance.cluster
    if cluster.speeds is None:
        return Fraction(1)
    owner = cluster.machine_of[gpu] if isinstance(cluster, TwoLevelCluster) else gpu
    return decimal_rational(cluster.speeds[owner])


def _slowest(instance: SppInstance, first: Sequence[int], second: Sequence[int]) -> Fraction:
    cluster = instance.cluster
    if isinstance(cluster, TwoLevelCluster):  # only pairs of machines matter
        one = {cluster.machine_of[u]: u for u in first}.values()
        other = {cluster.machine_of[v]: v for v in second}.values()
        slow = decimal_rational(cluster.inter_bytes_per_s)
        fast = decimal_rational(cluster.intra_bytes_per_s)
        pairs = [cluster.machine_of[u] == cluster.machine_of[v] for u in one for v in other]
        return min(fast if same else slow for same in pairs)
    b = cluster.bandwidth_bytes_per_s
    return decimal_rational(min(b[u][v] for u in first for v in second if u != v))


def _transfer_s_per_byte(instance: SppInstance, x: Sequence[int], y: Sequence[int]) -> Fraction:
    """Return the seconds per byte from the GPUs x of a stage to the GPUs y of the next."""
    cluster = instance.cluster
    if instance.comm_model == "pair_slice":
        return 1 / (len(x) * len(y) * _slowest(instance, x, y))
    if instance.comm_model == "min_end":
        return 1 / (min(len(x), len(y)) * _slowest(instance, x, y))
    assert isinstance(cluster, TwoLevelCluster), "the models of two levels have machines"
    inter = decimal_rational(cluster.inter_bytes_per_s)
    there = {cluster.machine_of[v] for v in y}
    outside = [u for u in x if cluster.machine_of[u] not in there]
    if instance.comm_model == "simple":
        if len(there) > 1 or outside:
            return 1 / inter
    elif len(there) > 1:
        many = cluster.multi_inter_bytes_per_s
        return 1 / (inter if many is None else decimal_rational(many))
    elif outside:
        return len(outside) / (len(x) * inter)
    return 1 / decimal_rational(cluster.intra_bytes_per_s)


def _allreduce_s_per_byte(instance: SppInstance, gpus: Sequence[int]) -> Fraction:
    """Return the seconds per byte of a ring over the slowest link; 0 for a single GPU."""
    r, cluster = len(gpus), instance.cluster
    if r == 1:
        return Fraction(0)
    if not isinstance(cluster, TwoLevelCluster):
        return Fraction(2 * (r - 1), r) / _slowest(instance, gpus, gpus)
    if len({cluster.machine_of[v] for v in gpus}) > 1:
        given, default, rings = cluster.allreduce_inter_bytes_per_s, cluster.inter_bytes_per_s, 1
    else:
        given, default = cluster.allreduce_intra_bytes_per_s, cluster.intra_bytes_per_s
        rings = r // 2 if instance.options.nvlink_rings else 1
    bandwidth = decimal_rational(default if given is None else given)
    return Fraction(2 * (r - 1), r) / (bandwidth * rings)


# -- longest path ------------------------------------------------------------------------------


def _ends(
    instance: SppInstance, times: Machines, orders: Sequence[Sequence[int]]
) -> tuple[list[Fraction], list[Violation]]:
    """Return when every machine has done its last block; what waits for itself, if anything."""
    full, count = instance.duplex == "full", len(times.forward)
    # A block is (machine, code). Each waits for the one before it on its route and on its machine.
    lists: list[list[tuple[int, int]]] = []
    for q, order in enumerate(orders):
        blocks = [(q, code) for code in order]
        if full and q % 2:
            lists += [[x for x in blocks if x[1] > 0], [x for x in blocks if x[1] < 0]]
        else:
            lists.append(blocks)
    following = {a: b for blocks in lists for a, b in pairwise(blocks)}
    waits = {(q, code): int(q > 0 or code < 0) for blocks in lists for q, code in blocks}
    for block in following.values():
        waits[block] += 1
    start = dict.fromkeys(waits, 0)
    ready = [block for block, number in waits.items() if not number]
    # Whole units of 1 / denominator seconds: faster than fractions, and as exact.
    denominator = math.lcm(*(x.denominator for x in (*times.forward, *times.backward)))
    forward = [int(x * denominator) for x in times.forward]
    backward = [int(x * denominator) for x in times.backward]
    ends = [0] * count
    while ready:
        block = ready.pop()
        q, code = block
        end = start[block] + (forward[q] if code > 0 else backward[q])
        ends[q] = max(ends[q], end)
        for after in (_next_on_route(count, block), following.get(block)):
            if after is not None:
                start[after] = max(start[after], end)
                waits[after] -= 1
                if not waits[after]:
                    ready.append(after)
    stuck = [block for block, number in waits.items() if number]
    first: dict[int, int] = {}
    for q, code in stuck:
        first.setdefault(q, code)
    return [Fraction(end, denominator) for end in ends], [
        Violation("blocks_wait_for_each_other", f"{_name(q)}, block {code:+d}", len(stuck))
        for q, code in first.items()
    ]


def _next_on_route(count: int, block: tuple[int, int]) -> tuple[int, int] | None:
    """Return the block after this one of its microbatch."""
    q, code = block
    if code > 0:
        return (q + 1, code) if q + 1 < count else (q, -code)
    return (q - 1, code) if q else None


def _name(q: int) -> str:
    return f"channel {q // 2}" if q % 2 else f"stage {q // 2}"


def _peak(order: Sequence[int]) -> int:
    """Return the most microbatches whose forward has started and whose backward has not ended."""
    flying = most = 0
    for code in order:
        flying += 1 if code > 0 else -1
        most = max(most, flying)
    return most


# -- violations --------------------------------------------------------------------------------


def _broken(instance: SppInstance, solution: SppSolution) -> Iterator[Violation]:
    """Yield what leaves the objective undefined."""
    layers, gpus = solution.stage_layers, solution.stage_devices
    S, L, V, M = len(layers), len(instance.layers), instance.num_gpus, instance.num_microbatches
    if len(gpus) != S:
        yield Violation("stage_without_devices", f"stage_devices of {S} stages", abs(len(gpus) - S))
    at = 0
    for n, (first, end) in enumerate(layers):
        if first != at:
            yield Violation("stages_not_consecutive", f"stage_layers[{n}]", abs(first - at))
        if end <= first:
            yield Violation("empty_stage", f"stage_layers[{n}]", first - end + 1)
        at = end
    if at != L:
        yield Violation("layers_not_covered", f"stage_layers of {L} layers", abs(at - L))
    owner: dict[int, int] = {}
    for n, devices in enumerate(gpus):
        if not devices:
            yield Violation("stage_without_gpu", f"stage_devices[{n}]", 1)
        for v in devices:
            if v >= V:
                yield Violation("unknown_gpu", f"stage_devices[{n}], GPU {v}", v - V + 1)
            elif v in owner:
                yield Violation("gpu_used_twice", f"stage_devices[{n}], GPU {v}", 1)
            owner[v] = n
    if len(solution.orders) != max(0, 2 * S - 1):
        wrong = abs(len(solution.orders) - (2 * S - 1))
        yield Violation("machine_without_order", f"orders of {S} stages", wrong)
    wanted = {*range(1, M + 1), *range(-M, 0)}
    for q, order in enumerate(solution.orders):
        unlike = len(wanted.symmetric_difference(order)) + len(order) - len(set(order))
        if unlike:
            yield Violation("blocks_not_listed_once", f"orders[{q}], {_name(q)}", unlike)


def _limits(instance: SppInstance, solution: SppSolution) -> Iterator[Violation]:
    options = instance.options
    unused = instance.num_gpus - sum(map(len, solution.stage_devices))
    if options.use_all_gpus and unused:
        yield Violation("unused_gpu", "stage_devices", unused)
    stages = len(solution.stage_layers)
    if options.max_stages is not None and stages > options.max_stages:
        yield Violation("too_many_stages", "stage_layers", stages - options.max_stages)
    replicas = [len(gpus) for gpus in solution.stage_devices]
    if options.uniform_replicas and len(set(replicas)) > 1:
        yield Violation("uneven_replicas", "stage_devices", max(replicas) - min(replicas))
    for n, order in enumerate(solution.orders[::2]):
        peak = _peak(order)
        if options.max_in_flight is not None and peak > options.max_in_flight:
            yield Violation("too_many_in_flight", f"stage {n}", peak - options.max_in_flight)
        if options.memory_bytes is not None:
            over = memory_bytes(instance, solution, n, peak) - decimal_rational(
                options.memory_bytes
            )
            if over > 0:
                yield Violation("memory_exceeded", f"stage {n}, bytes", over)


def memory_bytes(instance: SppInstance, solution: SppSolution, n: int, in_flight: int) -> Fraction:
    """Return the bytes on each GPU of a stage with so many microbatches in flight."""
    first, end = solution.stage_layers[n]
    r = len(solution.stage_devices[n])
    inside = instance.layers[first:end]
    stash = sum(
        (decimal_rational(x.act_bytes if x.stash_bytes is None else x.stash_bytes) for x in inside),
        Fraction(0),
    )
    weights = sum((decimal_rational(x.param_bytes) for x in inside), Fraction(0))
    fixed = decimal_rational(instance.options.weights_factor) * weights
    if not instance.options.recompute:
        return fixed + in_flight * stash / r
    entering = decimal_rational(instance.layers[first - 1].act_bytes) if first else Fraction(0)
    return fixed + (stash + in_flight * entering) / r
