"""Interleaved 1F1B and ZB1P: several chunks a device in a loop, in rounds of microbatches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..cells import Cell, Operation
from ..instance import PipelineSchedulesInstance
from .layout import loop_of
from .outcome import outcome_of


@dataclass(frozen=True)
class Rounds:
    """The order of forwards and of backwards of a device, as PyTorch's schedules have it.

    Attributes
    ----------
    device, devices, chunks, microbatches : int
        d, P, v and M.
    size : int
        m: microbatches of a round; a chunk has so many, then the next chunk is served.
    """

    device: int
    devices: int
    chunks: int
    microbatches: int
    size: int

    @classmethod
    def of(cls, instance: PipelineSchedulesInstance) -> Iterator[Rounds]:
        """Yield the rounds of each device.

        Raises
        ------
        ModelRefused
            If the stages lie not in a loop, or M is no multiple of the rounds.
        """
        P = instance.num_devices
        v, M = loop_of(instance)
        size, left = divmod(M, max(1, M // P))
        if left:
            raise ModelRefused(
                f"num_microbatches: {M}, expected a multiple of the {max(1, M // P)} rounds"
            )
        for d in range(P):
            yield cls(d, P, v, M, size)

    def forwards(self) -> list[tuple[int, int]]:
        """Return stage and microbatch of each forward, in order."""
        return self._numbered(self._chunk(n) for n in range(self.chunks * self.microbatches))

    def backwards(self) -> list[tuple[int, int]]:
        """Return stage and microbatch of each backward, in order: the last chunk comes first."""
        last = self.chunks - 1
        return self._numbered(last - self._chunk(n) for n in range(self.chunks * self.microbatches))

    def _chunk(self, n: int) -> int:
        return n // self.size % self.chunks

    def _numbered(self, chunks: Iterator[int]) -> list[tuple[int, int]]:
        seen, found = [0] * self.chunks, []
        for c in chunks:
            found.append((c * self.devices + self.device, seen[c]))
            seen[c] += 1
        return found


@method(kind="baseline", reference="Narayanan et al. 2021")
def interleaved(instance: PipelineSchedulesInstance) -> MethodOutcome:
    """1F1B over the chunks of a loop, in rounds of microbatches.

    Device d starts with (v - 1) m + 2 (P - 1 - d) forwards; then forward and backward in turn.
    """
    cells = []
    for rounds in Rounds.of(instance):
        warmup = (rounds.chunks - 1) * rounds.size + 2 * (rounds.devices - 1 - rounds.device)
        forwards, backwards = rounds.forwards(), rounds.backwards()
        warmup = min(warmup, len(forwards))
        order: list[Cell] = [(Operation(s, "F", j),) for s, j in forwards[:warmup]]
        for n, (s, j) in enumerate(backwards):
            order += [(Operation(r, "F", k),) for r, k in forwards[warmup + n : warmup + n + 1]]
            order.append((Operation(s, "B", j),))
        cells.append(order)
    return outcome_of(instance, cells)


@method(kind="baseline", reference="Qi et al. 2024, in PyTorch")
def zb1p(instance: PipelineSchedulesInstance) -> MethodOutcome:
    """Interleaved with split backward: fewer warm-up forwards; device d delays W by d.

    Device d starts with (v - 1) m + P - 1 - d forwards; after the first d I's each I is followed by
    a W, in the order of the I's.
    """
    cells = []
    for rounds in Rounds.of(instance):
        warmup = (rounds.chunks - 1) * rounds.size + rounds.devices - 1 - rounds.device
        forwards, backwards = rounds.forwards(), rounds.backwards()
        warmup = min(warmup, len(forwards))
        order: list[Cell] = [(Operation(s, "F", j),) for s, j in forwards[:warmup]]
        weights: list[Cell] = [(Operation(s, "W", j),) for s, j in backwards]
        for n, (s, j) in enumerate(backwards):
            order += [(Operation(r, "F", k),) for r, k in forwards[warmup + n : warmup + n + 1]]
            order.append((Operation(s, "I", j),))
            order += (
                weights[n - rounds.device : n - rounds.device + 1] if n >= rounds.device else []
            )
        order += weights[max(0, len(backwards) - rounds.device) :]
        cells.append(order)
    return outcome_of(instance, cells)
