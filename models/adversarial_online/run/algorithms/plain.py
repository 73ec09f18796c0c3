r"""The theory's posted prices, step by step: the exponential price, and the table of k units.

Standard theory, (reconstructed). Letters, as in the paper: values of a unit lie in [L, U], theta =
U/L; k units; phi_u is the price of unit u, phi(y) that of utilisation y; request t is worth v_t and
asks d_tr units of resource r.
"""

from __future__ import annotations

import math
from fractions import Fraction

from gadgetopt.numbers.tolerance import decimal_rational

from ..instance import AdversarialOnlineRunInstance

Table = list[Fraction]


def exponential(instance: AdversarialOnlineRunInstance) -> list[int]:
    """Post phi(u/k) of the exponential price, optimal for infinitesimal units."""
    L, U = instance.value_min, instance.value_max
    alpha = 1 + math.log(U / L)

    def phi(y: float) -> float:
        """Return phi(y) / L: 1 up to 1/alpha, e^(alpha y - 1) above."""
        return 1.0 if y <= 1 / alpha else math.exp(alpha * y - 1)

    return posted(
        instance, [[priced(L, U, phi(u / k)) for u in range(k)] for k in instance.capacity]
    )


def finite_k(instance: AdversarialOnlineRunInstance) -> list[int]:
    """Post the table of the least ratio alpha of k units, by bisection."""
    L, U = instance.value_min, instance.value_max
    return posted(instance, [best_table(k, L, U) for k in instance.capacity])


def best_table(k: int, L: Fraction, U: Fraction) -> Table:
    """Return phi_0 = L, phi_i = max(L, alpha/k sum_{u<i} phi_u) for the least alpha that works."""
    theta = float(U / L)
    low, high = 1.0, theta
    for _ in range(100):
        alpha = (low + high) / 2
        # alpha is achievable if and only if alpha/k sum_{u<k} phi_u >= U
        if alpha / k * sum(multiples(k, alpha)) >= theta:
            high = alpha
        else:
            low = alpha
    return [priced(L, U, multiple) for multiple in multiples(k, high)]


def multiples(k: int, alpha: float) -> list[float]:
    """Return phi_0, ..., phi_{k-1} of a ratio, in multiples of L."""
    phi: list[float] = []
    for _ in range(k):
        phi.append(max(1.0, alpha / k * sum(phi)))
    return phi


def priced(L: Fraction, U: Fraction, multiple: float) -> Fraction:
    """Return a multiple of L as a price from L to U, of twelve digits (reconstructed)."""
    return min(U, max(L, L * decimal_rational(float(f"{multiple:.12g}"))))


def posted(instance: AdversarialOnlineRunInstance, phi: list[Table]) -> list[int]:
    """Return the requests served: those that fit and are worth what their units cost."""
    used = [0 for _ in phi]
    accepted = []
    for t, (v, d) in enumerate(zip(instance.value, instance.demands, strict=True)):
        if any(used[r] + d[r] > len(phi[r]) for r in range(len(phi))):
            continue
        price = sum((d[r] * phi[r][used[r]] for r in range(len(phi)) if d[r]), Fraction(0))
        if decimal_rational(v) >= price:
            accepted.append(t)
            used = [used[r] + d[r] for r in range(len(phi))]
    return accepted
