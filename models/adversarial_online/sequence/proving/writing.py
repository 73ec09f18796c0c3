"""What a proof that no sequence is worse writes down of the tables that were computed."""

from __future__ import annotations

from fractions import Fraction

from ...subproblems.adversary import Worst
from ..instance import AdversarialOnlineSequenceInstance
from .certificate import AdversarialOnlineSequenceCertificate

#: Most integers of a potential that a certificate holds. Tuned: `benchmarks/constants.py`.
MOST_WRITTEN = 50_000


def certificate_of(
    instance: AdversarialOnlineSequenceInstance, bound: Fraction, tables: Worst
) -> AdversarialOnlineSequenceCertificate:
    """Return the certificate of a bound whose tables were computed."""
    found = tables.tables[-1:] if tables.stationary else tables.tables[1:]
    entries = sum(V.size for V in found)
    written = [int(x) for V in found for x in V.ravel()] if entries <= MOST_WRITTEN else []
    return AdversarialOnlineSequenceCertificate(bound=bound, potential=tuple(written))
