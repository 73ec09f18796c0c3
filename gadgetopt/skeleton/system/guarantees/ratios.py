"""The proven ratio of greedy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gadgetopt.system.declaring import guarantee

from ..instance import SkeletonInstance


@guarantee(name="half", statement="value >= OPT / 2", reference="folklore", methods=("greedy",))
def half(_instance: SkeletonInstance, _parameters: Mapping[str, Any]) -> int:
    """Return 2: OPT is at most twice the value of greedy's choice."""
    return 2
