r"""The evaluator: the iteration time of a plan with its warm-ups or orders, in exact seconds.

Stage n on the r GPUs of a set takes for one microbatch

.. math:: F = \frac1r \sum_l p^f_l, \qquad B = \frac1r \sum_l p^b_l,

and its AllReduce of w bytes :math:`\frac{2 (r - 1)}{r} \frac{w}{B_{ar}}`, where :math:`B_{ar}` is
that inside a machine or across machines. A transfer of d bytes from X to Y takes, in the model
"planner_code", :math:`\frac{d}{|X|} \frac{n_x}{B^x}` if Y lies in one machine and :math:`n_x` GPUs
of X elsewhere, :math:`d / B^{in}` if none does, and :math:`d / B^{xx}` if Y spans machines; in the
model "simple" :math:`d / B^{in}` inside one machine and :math:`d / B^x` otherwise.

Microbatches pass stages and links forward and then back, each of which serves one block at a time
(a link of full duplex one a direction): in the order stated; or stage i with :math:`K_i` forwards
first and then one backward, one forward in turn, and links in order of arrival. The iteration ends
with the last AllReduce.

Of R copies of the pipeline each one has M / R microbatches. Stage n of all of them exchanges its
gradients together, in one ring on all their GPUs. Where the transfers of k copies cross machines
between the same two stages, they share the network: each takes k times as long. The iteration ends
with that of the last copy. (That k = R copies share it is in the authors' planner; k < R is
reconstructed.)

Times, events and violations are computed here in rationals and shared with no other module.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from gadgetopt.numbers.tolerance import Number, decimal_rational
from gadgetopt.pieces.pipeline.pivot_latency import head_load_tail_s, latency_s, pivot_of
from gadgetopt.system.result import Evaluation, Violation

from .instance import Copy, DappleInstance, DappleSolution


@dataclass(frozen=True)
class Times:
    """Seconds of a microbatch on stage 0, link 0, stage 1, ...; AllReduce is 0 on links."""

    forward: list[Fraction]
    backward: list[Fraction]
    allreduce: list[Fraction]


def evaluate(instance: DappleInstance, solution: DappleSolution) -> Evaluation:
    """Recompute the iteration time of a plan with its orders, and which constraints it violates.

    Returns
    -------
    Evaluation
        The objective is None if the plan or the orders are not complete, or blocks wait for each
        other. Components: `latency_paper_s`, an estimate and no bound, with its `pivot_paper`;
        `lower_bound_s`, the largest head, load and tail of a stage or link, and where it is,
        `pivot_max` (half duplex); `largest_idle_share` of a stage; `most_in_flight`; `stages`. Of
        several copies the last one to end is described; bound and `most_in_flight` are of all.
    """
    broken = (*_broken(instance, solution), *_broken_order(instance, solution))
    if broken:
        return Evaluation(None, broken)
    M = instance.num_microbatches // len(solution.pipelines)
    every: list[Times] = []
    ended: list[Fraction] = []
    peaks: list[list[int]] = []
    for c, copy in enumerate(solution.pipelines):
        times, lists = plan_times(instance, solution, c), copy_lists(copy, M)
        ends, stuck = _run(instance.duplex == "full", M, times, lists, _of_copy(solution, c))
        if stuck:
            return Evaluation(None, tuple(stuck))
        stages = range(0, len(times.forward), 2)
        every.append(times)
        ended.append(max(ends[q] + times.allreduce[q] for q in stages))
        peaks.append([_peak(lists[q] or ()) for q in stages])
    makespan = max(ended)
    last = every[ended.index(makespan)]
    bound = max(lower_bound_s(instance, times, M) for times in every)
    return Evaluation(
        makespan,
        tuple(_limits(instance, solution, peaks)),
        {
            **_components(instance, last, makespan, M),
            "lower_bound_s": bound,
            "most_in_flight": max(map(max, peaks)),
        },
    )


def _of_copy(solution: DappleSolution, c: int) -> str:
    """Return how a place in one of several copies is named."""
    return f" of copy {c}" if solution.copies else ""


def _components(
    instance: DappleInstance, times: Times, makespan: Fraction, M: int
) -> dict[str, Number]:
    rows = times.forward, times.backward, times.allreduce
    pivot = pivot_of(*rows, M)
    busiest = max(M * (f + b) for f, b in list(zip(*rows[:2], strict=True))[::2])
    least = min(M * (f + b) for f, b in list(zip(*rows[:2], strict=True))[::2])
    found: dict[str, Number] = {
        "stages": (len(times.forward) + 1) // 2,
        "latency_paper_s": latency_s(*rows, M, pivot),
        "pivot_paper": pivot,
        "largest_idle_share": float(1 - least / makespan) if makespan else 0.0,
        "smallest_idle_share": float(1 - busiest / makespan) if makespan else 0.0,
    }
    if instance.duplex == "half":
        found["pivot_max"] = pivot_of(*rows, M, "max")
    return found


def lower_bound_s(instance: DappleInstance, times: Times, M: int) -> Fraction:
    """Return the largest head, load and tail, one direction at a time where a link has two."""
    f, b, a = times.forward, times.backward, times.allreduce
    bounds = [Fraction(bound) for bound in head_load_tail_s(f, b, a, M)]
    if instance.duplex == "half":
        return max(bounds)
    found = bounds[::2]
    for q in range(1, len(f), 2):
        before = bounds[q] - M * (f[q] + b[q])  # head and tail of the link
        onwards = sum(f[q + 1 :], Fraction(0)) + sum(b[q + 1 :], Fraction(0))
        found += [before + M * f[q] + onwards + b[q], before + f[q] + onwards + M * b[q]]
    return max(found)


# -- times -------------------------------------------------------------------------------------


def plan_times(instance: DappleInstance, solution: DappleSolution, copy: int = 0) -> Times:
    """Return the seconds of every stage and link of a copy of a plan that is complete."""
    found = Times([], [], [])
    every = [c.stage_devices for c in solution.pipelines]
    options = instance.options
    tau = decimal_rational(options.transfer_latency_s)
    for n, ((first, end), gpus) in enumerate(zip(solution.stage_layers, every[copy], strict=True)):
        if n:
            sent = instance.layers[first - 1]
            back = sent.act_bytes if sent.grad_bytes is None else sent.grad_bytes
            rate = _transfer_s_per_byte(instance, every[copy][n - 1], gpus)
            if _crosses(instance, every[copy][n - 1], gpus):
                rate *= sum(_crosses(instance, sets[n - 1], sets[n]) for sets in every)
            found.forward.append(decimal_rational(sent.act_bytes) * rate + tau)
            found.backward.append(decimal_rational(back) * rate + tau)
            found.allreduce.append(Fraction(0))
        speed = sum((_speed(instance, v) for v in gpus), Fraction(0))
        inside = instance.layers[first:end]
        forward = sum((decimal_rational(x.fwd_time_s) for x in inside), Fraction(0)) / speed
        backward = sum((decimal_rational(x.bwd_time_s) for x in inside), Fraction(0)) / speed
        found.forward.append(forward)
        found.backward.append(backward + (forward if options.recompute else 0))
        ring = [v for sets in every for v in sets[n]]
        found.allreduce.append(_allreduce_s(instance, first, end, ring, speed))
    return found


def _crosses(instance: DappleInstance, x: Sequence[int], y: Sequence[int]) -> bool:
    return len({_machine(instance, v) for v in (*x, *y)}) > 1


def _speed(instance: DappleInstance, gpu: int) -> Fraction:
    speeds = instance.cluster.speeds
    return Fraction(1) if speeds is None else decimal_rational(speeds[_machine(instance, gpu)])


def _machine(instance: DappleInstance, gpu: int) -> int:
    return instance.cluster.machine_of[gpu]


def _given(value: float | None, default: float) -> Fraction:
    return decimal_rational(default if value is None else value)


def _transfer_s_per_byte(instance: DappleInstance, x: Sequence[int], y: Sequence[int]) -> Fraction:
    cluster = instance.cluster
    there = {_machine(instance, v) for v in y}
    elsewhere = sum(_machine(instance, u) not in there for u in x)
    across = decimal_rational(cluster.inter_bytes_per_s)
    if instance.comm_model == "simple":
        if len(there) > 1 or elsewhere:
            return 1 / across
    elif len(there) > 1:
        return 1 / _given(cluster.multi_inter_bytes_per_s, cluster.inter_bytes_per_s)
    elif elsewhere:
        return Fraction(elsewhere, len(x)) / across
    return 1 / decimal_rational(cluster.intra_bytes_per_s)


def _allreduce_s(
    instance: DappleInstance, first: int, end: int, gpus: Sequence[int], speed: Fraction
) -> Fraction:
    """Return what is left of AllReduce when the last backward block ends.

    Gradients are exchanged by `gpus`; backward blocks run with `speed`.
    """
    cluster, r = instance.cluster, len(gpus)
    if r == 1:
        return Fraction(0)
    if len({_machine(instance, v) for v in gpus}) > 1:
        bandwidth = _given(cluster.allreduce_inter_bytes_per_s, cluster.inter_bytes_per_s)
    else:
        bandwidth = _given(cluster.allreduce_intra_bytes_per_s, cluster.intra_bytes_per_s)
        bandwidth *= r // 2 if instance.options.nvlink_rings else 1
    rate = Fraction(2 * (r - 1), r) / bandwidth
    done, passed = Fraction(0), Fraction(0)
    for layer in reversed(instance.layers[first:end]):
        passed += decimal_rational(layer.bwd_time_s) / speed
        if instance.options.overlap_allreduce:
            done = max(done, passed)
        done += rate * decimal_rational(layer.param_bytes)
    return done - passed if instance.options.overlap_allreduce else done


# -- events ------------------------------------------------------------------------------------


def block_lists(instance: DappleInstance, solution: DappleSolution) -> list[list[int] | None]:
    """Return the order of every stage and link: +m forward, -m backward, None of arrival."""
    return copy_lists(solution.pipelines[0], instance.num_microbatches)


def copy_lists(copy: Copy, M: int) -> list[list[int] | None]:
    """Return the order of every stage and link of a copy for its microbatches 1..M."""
    if copy.orders is not None:
        return [list(order) for order in copy.orders]
    lists: list[list[int] | None] = []
    for k in copy.warmup or ():
        ahead = min(k, M)
        order = [*range(1, ahead + 1)]
        for m in range(1, M - ahead + 1):
            order += [-m, ahead + m]
        order += range(-(M - ahead) - 1, -M - 1, -1)
        lists += [order, None]
    return lists[:-1]


def _run(
    full: bool, M: int, times: Times, lists: Sequence[list[int] | None], where: str
) -> tuple[list[Fraction], list[Violation]]:
    """Return when every stage and link has ended its last block; what waits for ever, if any."""
    count = len(times.forward)
    # A server is (machine, direction); only links of full duplex have two directions.
    servers = [(q, way) for q in range(count) for way in ((1, -1) if full and q % 2 else (0,))]
    queue = {(q, way): [code for code in lists[q] or () if way * code >= 0] for q, way in servers}
    at = dict.fromkeys(servers, 0)
    busy = dict.fromkeys(servers, False)
    arrived: list[dict[int, Fraction]] = [{} for _ in range(count)]
    arrived[0] = dict.fromkeys(range(1, M + 1), Fraction(0))
    ends = [Fraction(0)] * count
    events: list[tuple[Fraction, int, int, int]] = []

    def choose(q: int, way: int) -> int | None:
        """The next block of a server, if it is there."""
        if lists[q] is None:
            there = [
                (t, code > 0, abs(code), code) for code, t in arrived[q].items() if way * code >= 0
            ]
            return min(there)[3] if there else None
        k = at[q, way]
        return (
            queue[q, way][k] if k < len(queue[q, way]) and queue[q, way][k] in arrived[q] else None
        )

    def serve(now: Fraction) -> None:
        for q, way in servers:
            if busy[q, way]:
                continue
            code = choose(q, way)
            if code is not None:
                busy[q, way] = True
                at[q, way] += 1
                del arrived[q][code]
                time = times.forward[q] if code > 0 else times.backward[q]
                heapq.heappush(events, (now + time, q, way, code))

    serve(Fraction(0))
    while events:
        now = events[0][0]
        while events and events[0][0] == now:  # all that ends now, before anything begins
            _, q, way, code = heapq.heappop(events)
            busy[q, way] = False
            ends[q] = now
            last = q == count - 1
            if code > 0:
                arrived[q if last else q + 1][-code if last else code] = now
            elif q:
                arrived[q - 1][code] = now
        serve(now)
    left = {server: len(queue[server]) - at[server] for server in servers if lists[server[0]]}
    return ends, [
        Violation(
            "blocks_wait_for_each_other",
            f"{_name(q)}{where}, block {queue[q, way][at[q, way]]:+d}",
            n,
        )
        for (q, way), n in left.items()
        if n
    ]


def _name(q: int) -> str:
    return f"link {q // 2}" if q % 2 else f"stage {q // 2}"


def _peak(order: Sequence[int]) -> int:
    """Return the most microbatches whose forward has started and whose backward has not ended."""
    flying = most = 0
    for code in order:
        flying += 1 if code > 0 else -1
        most = max(most, flying)
    return most


# -- violations --------------------------------------------------------------------------------


def _broken(instance: DappleInstance, solution: DappleSolution) -> Iterator[Violation]:
    """Yield what leaves the plan's times undefined."""
    S, L, V = len(solution.stage_layers), instance.num_layers, instance.num_gpus
    for field, copy in _fields(solution):
        if len(copy.stage_devices) != S:
            wrong = abs(len(copy.stage_devices) - S)
            yield Violation("stage_without_devices", f"{field}stage_devices of {S} stages", wrong)
    at = 0
    for n, (first, end) in enumerate(solution.stage_layers):
        if first != at:
            yield Violation("stages_not_consecutive", f"stage_layers[{n}]", abs(first - at))
        if end <= first:
            yield Violation("empty_stage", f"stage_layers[{n}]", first - end + 1)
        at = end
    if at != L:
        yield Violation("layers_not_covered", f"stage_layers of {L} layers", abs(at - L))
    seen: set[int] = set()
    for field, copy in _fields(solution):
        for n, devices in enumerate(copy.stage_devices):
            if not devices:
                yield Violation("stage_without_gpu", f"{field}stage_devices[{n}]", 1)
            for v in devices:
                where = f"{field}stage_devices[{n}], GPU {v}"
                if v >= V:
                    yield Violation("unknown_gpu", where, v - V + 1)
                elif v in seen:
                    yield Violation("gpu_used_twice", where, 1)
                seen.add(v)
        pairs = zip(copy.stage_devices, solution.stage_devices, strict=False)
        for n, (own, others) in enumerate(pairs):
            if len(own) != len(others):
                wrong = abs(len(own) - len(others))
                yield Violation("copies_differ", f"{field}stage_devices[{n}]", wrong)
    left = instance.num_microbatches % len(solution.pipelines)
    if left:
        yield Violation("microbatches_left_over", f"{len(solution.pipelines)} copies", left)


def _fields(solution: DappleSolution) -> Iterator[tuple[str, Copy]]:
    """Yield every copy after the name of the field that it is in."""
    for c, copy in enumerate(solution.pipelines):
        yield f"copies[{c - 1}]." if c else "", copy


def _broken_order(instance: DappleInstance, solution: DappleSolution) -> Iterator[Violation]:
    """Yield what leaves the order of the blocks undefined."""
    S, M = len(solution.stage_layers), instance.num_microbatches // len(solution.pipelines)
    wanted = {*range(1, M + 1), *range(-M, 0)}
    for field, copy in _fields(solution):
        if copy.warmup is not None:
            if len(copy.warmup) != S:
                wrong = abs(len(copy.warmup) - S)
                yield Violation("stage_without_warmup", f"{field}warmup of {S} stages", wrong)
            capped = [min(k, M) for k in copy.warmup]
            for n, (before, k) in enumerate(itertools.pairwise(capped), start=1):
                if k > before:
                    yield Violation("warmup_increases", f"{field}warmup[{n}]", k - before)
        if copy.orders is not None:
            if len(copy.orders) != max(0, 2 * S - 1):
                wrong = abs(len(copy.orders) - (2 * S - 1))
                yield Violation("machine_without_order", f"{field}orders of {S} stages", wrong)
            for q, order in enumerate(copy.orders):
                unlike = len(wanted.symmetric_difference(order)) + len(order) - len(set(order))
                if unlike:
                    where = f"{field}orders[{q}], {_name(q)}"
                    yield Violation("blocks_not_listed_once", where, unlike)


def _limits(
    instance: DappleInstance, solution: DappleSolution, peaks: Sequence[Sequence[int]]
) -> Iterator[Violation]:
    options, copies = instance.options, len(solution.pipelines)
    if copies > instance.max_copies:
        yield Violation("too_many_copies", "copies", copies - instance.max_copies)
    unused = instance.num_gpus - copies * sum(map(len, solution.stage_devices))
    if options.use_all_gpus and unused:
        yield Violation("unused_gpu", "stage_devices", unused)
    stages = len(solution.stage_layers)
    if options.max_stages is not None and stages > options.max_stages:
        yield Violation("too_many_stages", "stage_layers", stages - options.max_stages)
    replicas = [len(gpus) for gpus in solution.stage_devices]
    if options.uniform_replicas and len(set(replicas)) > 1:
        yield Violation("uneven_replicas", "stage_devices", max(replicas) - min(replicas))
    for c, n in itertools.product(range(copies), range(stages)):
        peak, where = peaks[c][n], f"stage {n}{_of_copy(solution, c)}"
        if options.max_in_flight is not None and peak > options.max_in_flight:
            yield Violation("too_many_in_flight", where, peak - options.max_in_flight)
        if options.memory_bytes is not None:
            needed = memory_bytes(instance, solution, n, peak)
            over = needed - decimal_rational(options.memory_bytes)
            if over > 0:
                yield Violation("memory_exceeded", f"{where}, bytes", over)


def memory_bytes(
    instance: DappleInstance, solution: DappleSolution, n: int, in_flight: int
) -> Fraction:
    """Return the bytes on each GPU of a stage with so many microbatches in flight."""
    (first, end), r = solution.stage_layers[n], len(solution.stage_devices[n])
    inside = instance.layers[first:end]
    weights = sum((decimal_rational(x.param_bytes) for x in inside), Fraction(0))
    stash = sum((_given(x.stash_bytes, x.act_bytes) for x in inside), Fraction(0))
    kept = in_flight * stash
    if instance.options.recompute:
        entering = decimal_rational(instance.layers[first - 1].act_bytes) if first else Fraction(0)
        kept = stash + in_flight * entering
    return decimal_rational(instance.options.weights_factor) * weights + kept / r
