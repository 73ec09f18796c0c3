"""Certificates of bounds on the makespan: the name of a formula, which the check evaluates."""

from __future__ import annotations

from typing import Literal

from gadgetopt.data import Certificate

from .bounds import area, energetic_bound, longest_job
from .instance import SjfBcoInstance


class SjfBcoCertificate(Certificate):
    """A combinatorial bound by name; see `bounds.py` for the formulas."""

    formula: Literal["longest_job", "area", "energetic"]


def check_bound(instance: SjfBcoInstance, certificate: SjfBcoCertificate) -> int:
    """Evaluate the formula."""
    formulas = {"longest_job": longest_job, "area": area, "energetic": energetic_bound}
    return formulas[certificate.formula](instance)
