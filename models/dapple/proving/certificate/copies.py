r"""That no plan of R copies of the pipeline takes less than some seconds.

All *outlines* are gone through: the layers of the stages, the GPUs r of each, and which rings stay
inside a machine. GPUs of a stage, over all copies, form one ring of R r GPUs; it is inside one
machine, with those of the stage before or not, or it spans machines. An outline says what a copy
takes at least:

- compute and AllReduce as the ring has them, with the fastest machine's speed;
- a link between two rings in different machines is crossed by all R copies, which share the
  network; so is a link whose two stages of a copy fit in no machine. If some copy has to cross, but
  not all, one such link is charged for the copy that crosses it; what is not known to cross takes
  the least that a copy can have.

Some copy takes all that at once: charges of only one link are counted. So head, load and tail of
an outline, and bounds and proofs of its orders (`proofs.orders`), hold for every plan that has it.
Prefixes of an outline are left when their bound, or that of the layers that are left on the GPUs
that are left, reaches what is claimed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.pipeline.all_plans.proofs.every_plan import PlanProofs
from gadgetopt.pieces.pipeline.all_plans.proofs.orders import OrderProof, Times

from ...instance import DappleInstance

#: Prefixes of outlines that a check looks at, about 30 microseconds each.
#: Tuned: `benchmarks/constants.py`.
MOST_PREFIXES = 1_000_000


@dataclass(frozen=True)
class Outline:
    """Stages by layers and GPUs of a copy, and times that no copy undercuts.

    Attributes
    ----------
    stage_layers : tuple of (int, int)
    replicas : tuple of int
        GPUs of each stage of a copy.
    times : Times
        In seconds, of the copy that takes longest, at least.
    """

    stage_layers: tuple[tuple[int, int], ...]
    replicas: tuple[int, ...]
    times: Times


@dataclass(frozen=True)
class _Prefix:
    """The first stages of an outline.

    `together` counts the GPUs of the last rings that are in one machine, 0 if the last ring spans
    machines; `charged` is True once a link was charged for a copy that has to cross it.
    """

    layers: int = 0
    gpus: int = 0
    together: int = 0
    charged: bool = False
    ranges: tuple[tuple[int, int], ...] = ()
    replicas: tuple[int, ...] = ()
    fwd: tuple[Fraction, ...] = ()
    bwd: tuple[Fraction, ...] = ()
    allreduce: tuple[Fraction, ...] = ()
    in_flight: tuple[int, ...] = ()
    head: Fraction = Fraction(0)
    tail: Fraction = Fraction(0)
    bound: Fraction = Fraction(0)


class Outlines:
    """The outlines of so many copies of an instance's pipeline."""

    def __init__(self, instance: DappleInstance, copies: int):
        self.instance, self.copies = instance, copies
        self.count: int = instance.num_microbatches // copies
        self.gpus: int = instance.num_gpus // copies
        cluster = instance.cluster
        self.sizes: tuple[int, ...] = cluster.gpus_per_machine
        self.largest: int = max(self.sizes)
        self.fastest: Fraction = max(cluster.machine_speeds)
        self.slowest: Fraction = min(cluster.machine_speeds)
        self._stages: dict[tuple[int, int, int, bool], tuple[Fraction, ...]] = {}
        self._seen = 0

    @property
    def possible(self) -> bool:
        """False if no plan has so many copies."""
        options, instance = self.instance.options, self.instance
        if self.gpus == 0 or instance.num_microbatches % self.copies:
            return False
        return not (options.use_all_gpus and instance.num_gpus % self.copies)

    def below(self, limit_s: list[Fraction]) -> Iterator[Outline]:
        """Yield the outlines whose head, load and tail are below a limit, which may fall meanwhile.

        Raises
        ------
        ValueError
            If there are too many prefixes.
        """
        waiting = [_Prefix()] if self.possible else []
        while waiting:
            prefix = waiting.pop()
            if prefix.bound >= limit_s[0]:
                continue
            if prefix.layers == self.instance.num_layers:
                if not (self.instance.options.use_all_gpus and prefix.gpus < self.gpus):
                    rows = prefix.fwd, prefix.bwd, prefix.allreduce, prefix.in_flight
                    yield Outline(prefix.ranges, prefix.replicas, Times(*rows))
                continue
            for longer in self._longer(prefix):
                self._seen += 1
                if self._seen > MOST_PREFIXES:
                    raise ValueError(f"copies: more than {MOST_PREFIXES} outlines of stages")
                if max(longer.bound, self._rest_s(longer)) < limit_s[0]:
                    waiting.append(longer)

    # -- one more stage ----------------------------------------------------------------------------

    def _longer(self, prefix: _Prefix) -> Iterator[_Prefix]:
        options, L = self.instance.options, self.instance.num_layers
        most = self.instance.most_stages
        if len(prefix.replicas) == most or prefix.gpus == self.gpus:
            return
        uniform = options.uniform_replicas and prefix.replicas
        choices: Sequence[int] = range(1, self.gpus - prefix.gpus + 1)
        for r in prefix.replicas[:1] if uniform else choices:
            if r not in choices:
                continue
            for end in range(prefix.layers + 1, L + 1):
                held = self._in_flight(prefix.layers, end, r)
                if held == 0:
                    break  # longer stages need more
                for together, crossed, charge in self._places(prefix, r):
                    yield self._with(prefix, end, r, held, together, crossed, charge)

    def _places(self, prefix: _Prefix, r: int) -> Iterator[tuple[int, int, bool]]:
        """Yield where the next ring may be: GPUs together, copies that cross, if one is charged.

        The second number is R if all copies cross, 0 if perhaps none does, and else how many cross
        at least, which is charged for one that does.
        """
        ring, R = self.copies * r, self.copies
        first = not prefix.replicas
        if not first and prefix.together and prefix.together + ring <= self.largest:
            yield prefix.together + ring, 0, False
        several = len(self.sizes) > 1
        if ring <= self.largest and (first or several):
            if first or prefix.together:
                yield ring, 0 if first else R, False
            else:
                # If no copy crossed, the ring before would be inside this one's machine.
                yield ring, *self._some(prefix, r, 1)
        if several:
            if first:
                yield 0, 0, False
                return
            # Copies that are inside a machine each; a ring that spans has some outside of one.
            inside = sum(size // (prefix.replicas[-1] + r) for size in self.sizes)
            yield 0, *self._some(prefix, r, max(R - inside, 1 if prefix.together else 0))

    def _some(self, prefix: _Prefix, r: int, least: int) -> tuple[int, bool]:
        """Return how many copies cross, all of them if a copy fits in no machine."""
        if prefix.replicas[-1] + r > self.largest:
            return self.copies, False
        if least >= self.copies:
            return self.copies, False
        if least <= 0 or prefix.charged:
            return 0, False
        return least, True

    def _with(
        self,
        prefix: _Prefix,
        end: int,
        r: int,
        held: int,
        together: int,
        crossed: int,
        charge: bool,
    ) -> _Prefix:
        instance, first = self.instance, prefix.layers
        f, b, a = self._stage_s(first, end, r, bool(together))
        fwd, bwd, reduce = prefix.fwd, prefix.bwd, prefix.allreduce
        head, tail, bound = prefix.head, prefix.tail, prefix.bound
        if first:
            rate = self._rate(prefix, r, together, crossed)
            tau = decimal_rational(instance.options.transfer_latency_s)
            to = instance.chain.act_bytes[first - 1] * rate + tau
            back = instance.chain.grad_bytes[first - 1] * rate + tau
            fwd, bwd, reduce = (*fwd, to), (*bwd, back), (*reduce, Fraction(0))
            load = self.count * (max(to, back) if instance.duplex == "full" else to + back)
            bound = max(bound, head + load + tail)
            head, tail = head + to, tail + back
        tail = max(tail, a)
        bound = max(bound, head + self.count * (f + b) + tail)
        return _Prefix(
            layers=end,
            gpus=prefix.gpus + r,
            together=together,
            charged=prefix.charged or charge,
            ranges=(*prefix.ranges, (first, end)),
            replicas=(*prefix.replicas, r),
            fwd=(*fwd, f),
            bwd=(*bwd, b),
            allreduce=(*reduce, a),
            in_flight=(*prefix.in_flight, held),
            head=head + f,
            tail=tail + b,
            bound=bound,
        )

    # -- times -------------------------------------------------------------------------------------

    def _rest_s(self, prefix: _Prefix) -> Fraction:
        """Return a bound by the layers that are left, on the GPUs of a copy that are left.

        Some stage that follows is busy at least as long as all of them are on average.
        """
        chain, left = self.instance.chain, self.gpus - prefix.gpus
        work = self._work_s[-1] - self._work_s[prefix.layers]
        if prefix.layers == len(chain.fwd_s):
            return prefix.bound
        if left == 0:
            return prefix.bound
        return prefix.head + self.count * work / (left * self.fastest) + prefix.tail

    @cached_property
    def _work_s(self) -> list[Fraction]:
        chain, again = self.instance.chain, self.instance.options.recompute
        rows = zip(chain.fwd_sum_s, chain.bwd_sum_s, strict=True)
        return [(2 if again else 1) * f + b for f, b in rows]

    def _stage_s(self, first: int, end: int, r: int, inside: bool) -> tuple[Fraction, ...]:
        """Return forward, backward and AllReduce of a stage, at least."""
        key = first, end, r, inside
        if key in self._stages:
            return self._stages[key]
        chain, options, ring = self.instance.chain, self.instance.options, self.copies * r
        exact = self.instance.cluster.exact
        bandwidth = exact.allreduce_inter
        if inside:
            rings = ring // 2 if options.nvlink_rings else 1
            bandwidth = exact.allreduce_intra * rings
        forward = (chain.fwd_sum_s[end] - chain.fwd_sum_s[first]) / (r * self.fastest)
        backward = (chain.bwd_sum_s[end] - chain.bwd_sum_s[first]) / (r * self.fastest)
        per_byte = Fraction(2 * (ring - 1), ring) / bandwidth
        params = chain.param_sum_bytes
        reduce = per_byte * (params[end] - params[first])
        if options.overlap_allreduce:  # what is left of it, after the slowest backward block
            reduce = max(
                per_byte * (params[k + 1] - params[first])
                - (chain.bwd_sum_s[k] - chain.bwd_sum_s[first]) / (r * self.slowest)
                for k in range(first, end)
            )
        found = forward, backward + forward if options.recompute else backward, reduce
        self._stages[key] = found
        return found

    def _rate(self, prefix: _Prefix, r: int, together: int, crossed: int) -> Fraction:
        """Return the seconds per byte of a link of a copy, at least."""
        instance, before = self.instance, prefix.replicas[-1]
        exact = instance.cluster.exact
        if crossed == self.copies and prefix.together and together:
            return crossed / exact.inter  # all GPUs of one ring in one machine, of two in two
        if together > self.copies * r:
            return 1 / exact.intra  # both rings in one machine
        across = 1 / exact.inter
        if instance.comm_model == "planner_code":
            # The later stage in one machine, as few as can be of the earlier one elsewhere; or in
            # several machines.
            outside = max(1, before + r - self.largest)
            across = min(Fraction(outside, before), Fraction(1)) / exact.inter
            if r > 1 and not together:
                across = min(across, 1 / exact.multi_inter)
        if crossed:
            return crossed * across
        return min(1 / exact.intra, across)

    def _in_flight(self, first: int, end: int, r: int) -> int:
        """Return how many microbatches a stage may have in flight: 0 if it does not fit."""
        chain, options = self.instance.chain, self.instance.options
        most = self.count
        if options.max_in_flight is not None:
            most = min(most, options.max_in_flight)
        if options.memory_bytes is None:
            return most
        params = chain.param_sum_bytes[end] - chain.param_sum_bytes[first]
        fixed = decimal_rational(options.weights_factor) * params
        each = (chain.stash_sum_bytes[end] - chain.stash_sum_bytes[first]) / r
        if options.recompute:
            fixed += each
            each = chain.act_bytes[first - 1] / r if first else Fraction(0)
        room = decimal_rational(options.memory_bytes) - fixed
        if room < 0:
            return 0
        return min(most, int(room // each)) if each > 0 else most


def proved_of_copies_s(
    instance: DappleInstance, copies: int, claim_s: Fraction, proofs: Sequence[OrderProof] = ()
) -> Fraction:
    """Return seconds that no plan of so many copies undercuts, at most what is claimed.

    Raises
    ------
    ValueError
        If there are too many outlines, or a proof is none.
    """
    least = claim_s
    for _, bound_s in unproved(instance, copies, claim_s, proofs):
        least = min(least, bound_s)
    return least


def unproved(
    instance: DappleInstance, copies: int, claim_s: Fraction, proofs: Sequence[OrderProof] = ()
) -> Iterator[tuple[Outline, Fraction]]:
    """Yield the outlines that are not proved to take as long as is claimed, with their bounds."""
    if not Outlines(instance, copies).possible:
        return
    part = instance.model_copy(update={"num_microbatches": instance.num_microbatches // copies})
    single = PlanProofs(part, claim_s, proofs)
    full = instance.duplex == "full"
    for outline in Outlines(instance, copies).below([claim_s]):
        bound_s = outline.times.head_load_tail_s(part.num_microbatches, full)
        if bound_s < claim_s:
            bound_s = max(bound_s, single.least_s(outline.times, claim_s))
        if bound_s < claim_s:
            yield outline, bound_s
