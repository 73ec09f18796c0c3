"""Check that the numbers of a model fit into doubles."""

from __future__ import annotations

from gadgetopt.errors import ModelRefused

from ..instance import ParallelMachinesInstance

#: Whole numbers up to this one are doubles. By definition.
_LARGEST = 2**53


def check_digits(instance: ParallelMachinesInstance) -> None:
    """Refuse an instance whose loads doubles do not hold.

    Raises
    ------
    ModelRefused
        If all processing times together are 2^53 s or more.
    """
    if instance.total_s >= _LARGEST:
        raise ModelRefused(
            f"processing_s: {instance.total_s} s together have too many digits for a solver"
        )
