r"""Proofs that no plan has a bound, or a schedule, below a number of seconds.

All plans are gone through, stage by stage from the first layer. What is known of the plan of the
first layers, besides its state (`devices`), is how long its head and its tail are:

- a transfer makes :math:`head + load + Z` a bound on every schedule, then head += c_f, Z += c_b;
- a stage makes :math:`head + load + \max(Z, A)` one, then head += F, :math:`Z = B + \max(Z, A)`;

where the load is that of M microbatches. (A machine cannot start before the head; after its load,
which ends with a backward block, that microbatch still passes back to a stage that then begins its
AllReduce.) On channels of full duplex, all times that follow are added to the bound: `passing`.

A plan of some layers is left where such a bound, or what the rest costs at least, reaches what is
to be proved; and where an earlier one of as many layers in the same state, with no longer head and
tail, was found to have no continuation below it. If they are still many, it is looked up layer by
layer first which ones have none, also by others in better states (`layers`). Of complete plans that
are not left the exact times are passed on.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from gadgetopt.errors import ModelRefused
from gadgetopt.numbers.memory import MOST_CELLS
from gadgetopt.pieces.pipeline.all_plans.proofs.devices import Choice, Kind
from gadgetopt.pieces.pipeline.all_plans.proofs.layers import Closed
from gadgetopt.pieces.pipeline.all_plans.proofs.orders import Times
from gadgetopt.pieces.pipeline.all_plans.proofs.steps import Row, Steps
from gadgetopt.pieces.pipeline.all_plans.proofs.ticks import MOST_TICKS, in_flight
from gadgetopt.pieces.pipeline.instance import PipelineInstance

#: Partial plans that a check goes through, at about 0.1 ms each, and before it looks at them layer
#: by layer. Tuned: `benchmarks/constants.py`.
MOST_PARTIAL_PLANS, FIRST_PARTIAL_PLANS = 400_000, 20_000
#: Numbers of the tables of what is left.
MOST_NUMBERS = MOST_CELLS
#: The bound may shrink to this part before ticks have to be made for it anew.
#: Tuned: `benchmarks/constants.py`.
COARSE = Fraction(1, 2**10)
#: Plans that are bounded exactly although only rounding made them miss the bound. Once there are
#: more of them, those that miss it by so many ticks are left out, and so much less is proved.
#: Tuned: `benchmarks/constants.py`.
MOST_NEAR, NEAR = 1_000, 2**10


#: Stages so far: their choices and where they end.
Path = tuple[tuple[Choice, int], ...]


class Plans:
    """All plans of an instance, and a bound that shrinks to what is proved.

    Parameters
    ----------
    instance : PipelineInstance
    bound_s : Fraction
        What is to be proved, positive.
    proved_of : callable
        Of a plan's times and the bound, which its head, load and tail miss, a number of seconds
        that none of its schedules undercuts.

    Raises
    ------
    ModelRefused
        If there are too many.
    """

    def __init__(
        self,
        instance: PipelineInstance,
        bound_s: Fraction,
        proved_of: Callable[[Times, Fraction], Fraction],
    ):
        if (instance.num_gpus + 1) ** 2 * (instance.num_layers + 1) > MOST_NUMBERS:
            raise ModelRefused(
                f"layers: {instance.num_layers} on {instance.num_gpus} GPUs are too many to go "
                "through all plans"
            )
        self.instance = instance
        self.bound_s = self._claim_s = bound_s
        self.proved_of = proved_of
        self.steps = Steps(instance, bound_s)
        #: Partial plans without continuation: layers, state and stages; head, tail and passing.
        self._without: dict[tuple[int, int, int], list[tuple[int, int, int]]] = {}
        self._closed: Closed | None = None
        self._left = FIRST_PARTIAL_PLANS
        self._near = 0

    def proved_s(self) -> Fraction | None:
        """Return a number of seconds below which there is no schedule, at most the bound.

        None if the bound shrank to less than ticks tell apart.
        """
        done = self._visit(0, self.steps.start, ())
        if done is None and not self.coarse:
            self._closed = Closed(self.steps, self._below, MOST_PARTIAL_PLANS)
            self._left = MOST_PARTIAL_PLANS
            done = self._visit(0, self.steps.start, ())
        if self.coarse:
            return None
        least = self.steps.least
        if done is None:  # too many plans
            least = min(self.steps.root, MOST_TICKS)
        return min(self.bound_s, least * self.steps.ticks.unit_s)

    @property
    def coarse(self) -> bool:
        """True if ticks are too long for what the bound has become."""
        return self.bound_s < COARSE * self._claim_s

    def _visit(self, layer: int, row: Row, path: Path) -> bool | None:
        """Go through the continuations of a partial plan; return if there are none to be proved.

        None stands for having given up.
        """
        head, tail, passing, stages, state = row
        known = self._without.setdefault((layer, state, stages), [])
        if any(h <= head and z <= tail and p <= passing for h, z, p in known):
            return True
        if self._closed is not None and (layer, row) in self._closed:
            return True
        if self._left == 0:
            return None
        self._left -= 1
        choices, none = self.steps.choices_of(state)[0], True
        after = self.steps.after(layer, row, self._below).tolist()
        for c, end, *longer in sorted(after, key=lambda x: x[2] + x[3]):
            further = (*path, (choices[c], end))
            if end == self.instance.num_layers:
                self._prove(further)
                none = False
                if self.coarse:
                    return None
                continue
            found = self._visit(end, tuple(longer), further)
            if found is None:
                return None
            none = none and found
        if none:
            known.append((head, tail, passing))
        return none

    @property
    def _below(self) -> int:
        """Ticks from which on a bound is high enough."""
        ticks = math.ceil(self.bound_s / self.steps.ticks.unit_s)
        return ticks - NEAR if self._near > MOST_NEAR else ticks

    def _prove(self, path: Path) -> None:
        """Lower the bound to what is proved of a complete plan."""
        times, ticks = self._times(path), self.steps.ticks
        bound_s = times.head_load_tail_s(ticks.count, ticks.full_duplex)
        if bound_s >= self.bound_s:
            self._near += 1
        else:
            self.bound_s = min(self.bound_s, max(bound_s, self.proved_of(times, self.bound_s)))

    def _times(self, path: Path) -> Times:
        """Return the exact times of a complete plan."""
        chain, ticks = self.instance.chain, self.steps.ticks
        fwd, bwd, allreduce, limits = [], [], [], []
        first = 0
        for choice, end in path:
            kind = self.steps.devices.kinds.values[choice.kind]
            if choice.link >= 0:
                link = self.steps.devices.links.values[choice.link]
                fwd.append(chain.act_bytes[first - 1] * link + ticks.latency_s)
                bwd.append(chain.grad_bytes[first - 1] * link + ticks.latency_s)
                allreduce.append(Fraction(0))
            fwd.append((chain.fwd_sum_s[end] - chain.fwd_sum_s[first]) / kind.speed)
            bwd.append((ticks.backward[end] - ticks.backward[first]) / kind.speed)
            allreduce.append(self._exchange(kind, first, end))
            limits.append(in_flight(self.instance, first, end, kind.replicas))
            first = end
        return Times(tuple(fwd), tuple(bwd), tuple(allreduce), tuple(limits))

    def _exchange(self, kind: Kind, first: int, end: int) -> Fraction:
        """Return the AllReduce of a stage, or what is left of it after the last backward."""
        params, past = self.instance.chain.param_sum_bytes, self.instance.chain.bwd_sum_s
        if not self.steps.ticks.overlapping:
            return kind.allreduce * (params[end] - params[first])
        return max(
            kind.allreduce * (params[k + 1] - params[first]) - (past[k] - past[first]) / kind.speed
            for k in range(first, end)
        )
