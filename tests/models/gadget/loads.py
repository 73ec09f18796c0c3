"""The loads of all rings of a slot together."""

from __future__ import annotations

from collections.abc import Iterable

from gadgetopt.models.gadget.subproblems.loads import Loads, loads_of, no_loads
from gadgetopt.models.gadget.subproblems.slot_problem import Mapping
from gadgetopt.models.gadget.terms import Terms


def total_loads(terms: Terms, mappings: Iterable[Mapping]) -> Loads:
    """Return the total loads of all mappings of a slot."""
    out = no_loads(terms)
    for mapping in mappings:
        out.add(loads_of(terms, terms.jobs[mapping.job], mapping))
    return out
