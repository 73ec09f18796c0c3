"""Which device sets the next stage can have, up to the symmetries that no time depends on.

A state is what is known of the devices between two stages: which GPUs are free, and as much of the
last stage as a transfer to the next depends on. An option of a state is the device set of the next
stage. Its `kind` is all that the times of a stage depend on (speed, AllReduce seconds per byte,
replicas), its `link` the seconds per byte of the transfer from the last stage.

On machines of identical GPUs a device set is a number of GPUs per machine, and machines that look
alike are interchangeable. On any other cluster it is a bit mask.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

from gadgetopt.pieces.pipeline.all_plans.device_rules import Kind, MaskRules, Rules
from gadgetopt.pieces.pipeline.all_plans.machine_rules import MachineRules
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.pieces.pipeline.instance import PipelineInstance


@dataclass(frozen=True)
class Option:
    """A device set of the next stage.

    Attributes
    ----------
    kind, link, state : int
        Numbers of its kind, of its link from the last stage (-1 for the first stage), and of the
        state after it.
    devices : tuple of int
        GPUs per machine of the state, or (bit mask,).
    """

    kind: int
    link: int
    state: int
    devices: tuple[int, ...]


@dataclass
class DeviceStates:
    """States and options, numbered as they are met."""

    instance: PipelineInstance
    states: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._state_ids: dict[Any, int] = {}
        self._options: dict[int, list[Option]] = {}
        self.start: int = self._state(self.rules.start())

    @cached_property
    def rules(self) -> Rules:
        """The rules of the instance's cluster."""
        if isinstance(self.instance.cluster, TwoLevelCluster):
            return MachineRules(self.instance)
        return MaskRules(self.instance)

    def free(self, state: int) -> int:
        """Return the number of free GPUs in a state."""
        return self.rules.free(self.states[state])

    def options(self, state: int) -> list[Option]:
        """Return the device sets that the next stage can have."""
        known = self._options.get(state)
        if known is None:
            known = [
                Option(kind, link, self._state(after), devices)
                for kind, link, after, devices in self.rules.options(self.states[state])
            ]
            self._options[state] = known
        return known

    @property
    def kinds(self) -> list[Kind]:
        """Kinds of the options so far."""
        return self.rules.kinds.values

    @property
    def links(self) -> list[Fraction]:
        """Seconds per byte of the links of the options so far."""
        return self.rules.links.values

    def _state(self, state: Any) -> int:
        if state not in self._state_ids:
            self._state_ids[state] = len(self.states)
            self.states.append(state)
        return self._state_ids[state]
