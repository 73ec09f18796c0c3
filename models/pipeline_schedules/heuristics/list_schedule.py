"""List schedules by rules of ours.

Rules differ in how many microbatches a device may have in flight, how many W's it keeps for later,
and whether it waits for an I that comes soon.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..baselines.list_schedule import ListSchedule
from ..cells import Operation
from ..shop import Shop


@dataclass(frozen=True)
class Rule:
    """How a device chooses.

    Attributes
    ----------
    in_flight : tuple of int, optional
        Of each stage: forwards that it may be ahead of its I's; None: as memory allows.
    kept : tuple of int, optional
        Of each device: W's that it keeps for later while there is anything else; None: all.
    forward_first : bool
        F before I where both are ready; else I before F.
    patience : tuple of int, optional
        Of each device: ticks that it waits for an I or F rather than begin a W that would delay it;
        None: not at all.
    late_stages_first : bool
        Of several stages of a device the later one before the earlier.
    """

    in_flight: tuple[int, ...] | None = None
    kept: tuple[int, ...] | None = None
    forward_first: bool = False
    patience: tuple[int, ...] | None = None
    late_stages_first: bool = True


class ByRule(ListSchedule):
    """The list schedule of a rule."""

    def __init__(self, shop: Shop, rule: Rule):
        super().__init__(shop, rule.in_flight)
        self.rule = rule

    def chosen(self, device: int, now: int) -> Operation | None:
        """Return F or I that is there; else W, if no wait for F or I is worth it."""
        rule = self.rule
        if rule.kept is not None and self.pending[device] > rule.kept[device]:
            return self.oldest_weight(device)
        stages = self.shop.on_device[device]
        soon: int | None = None
        blocked = False
        for kind in "FI" if rule.forward_first else "IF":
            for s in reversed(stages) if rule.late_stages_first else stages:
                time = self.arrival(s, kind)
                if time is None:
                    continue
                if kind == "F" and not self.fits(s):
                    blocked = blocked or time <= now
                    continue
                if time <= now:
                    return self.next(s, kind)
                soon = time if soon is None else min(soon, time)
        weight = self.oldest_weight(device)
        if weight is None:
            return None
        if not blocked and rule.patience is not None and soon is not None:
            gap = soon - now
            if gap < self.shop.w[weight.stage] and gap <= rule.patience[device]:
                return None
        return weight
