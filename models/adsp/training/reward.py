r"""The reward of Algorithm 1: how soon a fitted loss curve reaches the target."""

from __future__ import annotations

import math
from typing import NamedTuple

#: Rewards of curves without a fit are so many times their slope, below those of proper fits.
#: Tuned: `benchmarks/constants.py`.
_FALLBACK = 1e-12


class Curve(NamedTuple):
    r"""The curve :math:`\ell(t) = \frac{1}{\alpha t + a_2} + a_3` with :math:`\alpha = a_1^2`."""

    alpha: float
    a2: float
    a3: float


def fit(start_s: float, half_s: float, losses: tuple[float, float, float]) -> Curve | None:
    r"""Return the curve through three losses, `half_s` seconds apart; None if there is none.

    With :math:`d_1 = \ell_0 - \ell_1 > d_2 = \ell_1 - \ell_2 > 0`, :math:`r = d_1 / d_2` and
    :math:`X = \frac{r - 1}{d_1 (r + 1)}`:

    .. math:: \alpha = \frac{X (r - 1)}{2h}, \quad a_2 = X - \alpha t_0, \quad
        a_3 = \ell_0 - \frac1X
    """
    first, second = losses[0] - losses[1], losses[1] - losses[2]
    if not (first > second > 0) or not math.isfinite(first):
        return None
    ratio = first / second
    x = (ratio - 1) / (first * (ratio + 1))
    if not (0 < x < math.inf):
        return None
    alpha = x * (ratio - 1) / (2 * half_s)
    return Curve(alpha, x - alpha * start_s, losses[0] - 1 / x)


def reward(
    start_s: float, half_s: float, losses: tuple[float, float, float], target: float
) -> float:
    r"""Return one over the predicted time until the target is reached.

    .. math:: \frac{a_1^2}{1 / (\ell^* - a_3) - a_2}

    0 if the curve never gets there, infinite if it is there at time 0. Where no curve fits, minus
    infinity if the loss rose, else a tiny multiple of the slope (reconstructed).
    """
    curve = fit(start_s, half_s, losses)
    if curve is None:
        drop = losses[0] - losses[2]
        return _FALLBACK * drop / (2 * half_s) if drop >= 0 else -math.inf
    if target <= curve.a3:
        return 0.0
    missing = 1 / (target - curve.a3) - curve.a2
    return curve.alpha / missing if missing > 0 else math.inf
