"""What the tests of actors share."""

from __future__ import annotations

from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.trust.run import solve


def solved(instance, method="close_gap", time_s=60.0):
    """Return the judged result of a method."""
    document = Document(problem("oneflow_actors"), "instance", "case", instance)
    return solve(document, method, Limits(time_s=time_s))
