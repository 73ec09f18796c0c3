"""Combinatorial lower bounds on the makespan, as methods.

The paper has no lower bounds (all reconstructed). `energetic.py` has the formulas;
`class_bound.py` adds the scarcity of large servers.
"""

from __future__ import annotations

from typing import Any

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import method
from gadgetopt.system.result import (
    Limits,
    MethodOutcome,
)

from ...energetic import (
    area,
    energetic_bound,
    longest_job,
)
from ...instance import SjfBcoInstance
from ..certificate.check import (
    SjfBcoCertificate,
)
from .class_bound import class_lp
from .outcome import bound_outcome


@method(kind="relaxation", reference="verified lower bounds (reconstructed)")
def energetic(instance: SjfBcoInstance) -> MethodOutcome:
    """Bound by area and time windows.

    Return the energetic bound as a verified dual bound.
    """
    return bound_outcome(
        instance, energetic_bound(instance), SjfBcoCertificate(formula="energetic")
    )


@method(
    kind="relaxation",
    reference="verified lower bounds (reconstructed)",
    formulation="class_bound",
    backend="highs",
)
def combinatorial(instance: SjfBcoInstance, limits: Limits) -> MethodOutcome:
    """The larger of the energetic and the certified class bound."""
    windows = energetic_bound(instance)
    outcome = energetic(instance)
    notes: dict[str, Any] = {
        "longest_job": longest_job(instance),
        "area": area(instance),
        "energetic": windows,
    }
    try:
        classes = class_lp(instance, limits)
        notes["class_lp"] = classes.dual_bound
        if int(classes.dual_bound or 0) > windows:
            outcome = classes
    except ModelRefused as error:  # numbers too large for the linear program
        notes["class_lp"] = f"refused: {error}"
    outcome.notes = notes
    return outcome
