"""V-Min and V-Half: one building block for each microbatch, so that none keeps memory for long."""

from __future__ import annotations

from dataclasses import dataclass

from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..cells import Cell, Operation
from ..instance import PipelineSchedulesInstance
from .layout import v_of
from .outcome import outcome_of

#: Passes of a block: each one's chunk, kind, and direction over the devices.
PASSES = ((0, "F", 1), (1, "F", -1), (1, "I", 1), (0, "I", -1))
#: Slots from one block to the next: a device does six operations in it. By definition.
INTERVAL = 6


@dataclass(frozen=True)
class Block:
    """The starts of a microbatch's operations, in slots of one operation.

    Attributes
    ----------
    steps : tuple of int
        Slots from device to device of each of `PASSES`.
    """

    steps: tuple[int, int, int, int]

    def starts(self, P: int) -> list[dict[tuple[str, int], int]]:
        """Return for each device the slot of each kind and chunk, W included.

        Every pass begins as early as the one before and the slots that are taken allow: slots of a
        device are those of one block modulo the interval. W takes the first free slots after I.
        """
        found: list[dict[tuple[str, int], int]] = [{} for _ in range(P)]
        begin = 0
        for (chunk, kind, way), step in zip(PASSES, self.steps, strict=True):
            places = list(range(P))[::way]
            while any(self._taken(found[d], begin + step * n) for n, d in enumerate(places)):
                begin += 1
            for n, d in enumerate(places):
                found[d][kind, chunk] = begin + step * n
            begin += step * (P - 1) + 1
        for slots in found:
            for chunk in (1, 0):
                slot = slots["I", chunk] + 1
                while self._taken(slots, slot):
                    slot += 1
                slots["W", chunk] = slot
        return found

    @staticmethod
    def _taken(slots: dict[tuple[str, int], int], slot: int) -> bool:
        return any((slot - other) % INTERVAL == 0 for other in slots.values())


@method(kind="baseline", reference="Qi et al. 2024b (reconstructed)")
def v_min(instance: PipelineSchedulesInstance) -> MethodOutcome:
    """The block of the shortest lifespans: about a third of 1F1B's memory."""
    return _repeated(instance, Block((1, 1, 1, 1)))


@method(kind="baseline", reference="Qi et al. 2024b (reconstructed)")
def v_half(instance: PipelineSchedulesInstance) -> MethodOutcome:
    """A block whose first chunk goes half as fast: about half of 1F1B's memory."""
    return _repeated(instance, Block((2, 1, 2, 1)))


def _repeated(instance: PipelineSchedulesInstance, block: Block) -> MethodOutcome:
    """Return the order of the blocks of all microbatches; each cell starts as early as it can."""
    P = instance.num_devices
    _, M = v_of(instance)
    cells: list[list[Cell]] = []
    for d, slots in enumerate(block.starts(P)):
        placed = sorted(
            (slot + INTERVAL * j, Operation(2 * P - 1 - d if chunk else d, kind, j))
            for (kind, chunk), slot in slots.items()
            for j in range(M)
        )
        cells.append([(op,) for _, op in placed])
    return outcome_of(instance, cells)
