"""What rules of device sets are, and those of clusters with any bandwidths."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, Protocol, TypeVar

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.pipeline.communication import allreduce_factor, transfer_factor
from gadgetopt.pieces.pipeline.instance import PipelineInstance

#: GPUs of a cluster of any bandwidths beyond which its subsets are too many.
#: Tuned: `benchmarks/constants.py`.
MOST_GPUS_OF_A_MATRIX = 10


@dataclass(frozen=True, order=True)
class Kind:
    """What the times of a stage depend on besides its layers."""

    speed: Fraction
    allreduce_factor: Fraction
    replicas: int


#: Numbers of kind and link, next state and devices of an option.
Choice = tuple[int, int, Any, tuple[int, ...]]
Value = TypeVar("Value", bound=Hashable)


class Numbered(Generic[Value]):
    """Values numbered as they are met, found by a key that is cheaper to hash than they are."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self._by_key: dict[Hashable, int] = {}
        self._by_value: dict[Value, int] = {}

    def number(self, key: Hashable, value: Callable[[], Value]) -> int:
        """Return the number of the value that belongs to a key."""
        known = self._by_key.get(key)
        if known is None:
            made = value()
            known = self._by_key[key] = self._by_value.setdefault(made, len(self.values))
            if known == len(self.values):
                self.values.append(made)
        return known


class Rules(Protocol):
    """What a sort of clusters knows of states; states are hashable and its own affair."""

    kinds: Numbered[Kind]
    links: Numbered[Fraction]

    def start(self) -> Any:
        """Return the state before the first stage."""

    def free(self, state: Any) -> int:
        """Return the number of free GPUs."""

    def options(self, state: Any) -> Iterator[Choice]:
        """Yield kind, link, next state and devices of all device sets of the next stage."""

    def standing(self, state: Any) -> tuple[Hashable, int, int]:
        """Return what is compared of states: the free GPUs, the last stage's replicas, its home.

        With equal free GPUs, no time that follows is longer if the replicas are not fewer and the
        home is the same, or the other's is 0.
        """

    def replay(self, chosen: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
        """Return the GPUs of the stages whose options had these devices."""


class MaskRules:
    """States of a cluster of any bandwidths: masks of the free GPUs and of the last stage's."""

    def __init__(self, instance: PipelineInstance):
        if instance.num_gpus > MOST_GPUS_OF_A_MATRIX:
            raise ModelRefused(
                f"cluster: {instance.num_gpus} GPUs of arbitrary bandwidths have too many subsets; "
                f"at most {MOST_GPUS_OF_A_MATRIX}, or give a cluster of two levels"
            )
        self.instance = instance
        self.uniform: bool = instance.options.uniform_replicas
        self.kinds: Numbered[Kind] = Numbered()
        self.links: Numbered[Fraction] = Numbered()

    def start(self) -> tuple[int, int]:
        """Return the state before the first stage."""
        return (1 << self.instance.num_gpus) - 1, 0

    def free(self, state: Any) -> int:
        """Return the number of free GPUs."""
        free, _ = state
        return int(free.bit_count())

    def options(self, state: Any) -> Iterator[Choice]:
        """Yield one option for each subset of the free GPUs, of the last stage's size if asked."""
        free, last = state
        mask = free
        while mask:
            if not (self.uniform and last) or mask.bit_count() == last.bit_count():
                link = self._link(last, mask) if last else -1
                rest = free & ~mask
                yield self._kind(mask), link, (rest, mask if rest else 0), (mask,)
            mask = (mask - 1) & free

    def _kind(self, mask: int) -> int:
        def kind() -> Kind:
            devices = _members(mask)
            speed = sum((self.instance.cluster.gpu_speeds[v] for v in devices), Fraction(0))
            return Kind(speed, allreduce_factor(self.instance, devices), len(devices))

        return self.kinds.number(mask, kind)

    def _link(self, last: int, mask: int) -> int:
        def factor() -> Fraction:
            return transfer_factor(self.instance, _members(last), _members(mask))

        return self.links.number((last, mask), factor)

    def standing(self, state: Any) -> tuple[Hashable, int, int]:
        """Return the state itself: only equal states are compared."""
        return state, 0, 0

    def replay(self, chosen: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
        """Return the GPUs of the masks."""
        return tuple(_members(mask) for (mask,) in chosen)


def _members(mask: int) -> tuple[int, ...]:
    return tuple(v for v in range(mask.bit_length()) if mask >> v & 1)
