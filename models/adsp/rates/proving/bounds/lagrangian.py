"""The Lagrangian bound of the momentum cap: prices of momentum terms and of commits."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from gadgetopt.errors import ModelRefused
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ...instance import (
    AdspRatesInstance,
    MomentumCap,
)
from ..certificate.check import (
    AdspRatesCertificate,
    multiplier_bound,
)
from ..certificate.check import Multipliers as Proof
from ..certificate.momentum_labels import window_starts
from .momentum_multipliers import Multipliers, multipliers


@method(kind="relaxation", reference="this project", formulation="lagrangian")
def lagrangian(instance: AdspRatesInstance) -> MethodOutcome:
    r"""Steps lost at least under the momentum cap, by prices of terms and commits.

    Return the Lagrangian bound on the steps lost, of the best multipliers of one window.

    .. math:: \min_c \sum_i \min_{c \le n \le c + \varepsilon}
        \big(w_i n + \lambda g_i(n) + \rho n\big) - \lambda q - \rho N_{cap}

    Raises
    ------
    ModelRefused
        If the model is not the momentum cap.
    """
    if not isinstance(instance.model, MomentumCap):
        raise ModelRefused("model.kind: the Lagrangian bound is that of 'momentum_cap'")
    found = [multipliers(instance, c) for c in window_starts(instance)]
    feasible = [m for m in found if m is not None]
    if not feasible:
        return MethodOutcome()
    bound, certificate = lagrangian_certificate(instance, feasible)
    return MethodOutcome(dual_bound=bound, certificate=certificate)


def lagrangian_certificate(
    instance: AdspRatesInstance, found: Iterable[Multipliers]
) -> tuple[Fraction, AdspRatesCertificate]:
    """Return the best bound of the multipliers of a few windows, with its certificate."""
    # The window that loses least decides; multipliers of the others rarely prove more.
    ordered = sorted(found, key=lambda m: m.bound)[:3]
    proofs = [Proof(momentum=momentum, cap=cap) for momentum, cap in (m.both for m in ordered)]
    best = max(proofs, key=lambda proof: multiplier_bound(instance, proof))
    return multiplier_bound(instance, best), AdspRatesCertificate(proof=best)
