r"""Between which ratios the worst case of a seller lies, for games of too many histories.

Below: a sequence that was found, with what the seller earns from it, in rationals. Above: an
adversary that sees more than it may. With :math:`V_t(\sigma, s)` the most that an adversary who
sees the stock s and the summary :math:`\sigma` of the history can get out of the rest,

.. math:: V_t(\sigma, s) = \max\{OPT(\sigma),\ \max_j\ c_{jt}(\sigma, s)\,
    (V_{t+1}(\sigma j, s \oplus j) - \alpha v_j)
    + (1 - c_{jt}(\sigma, s))\,V_{t+1}(\sigma j, s \ominus j)\},

c being the seller's chances, no sequence has a ratio above :math:`\alpha` if
:math:`V_0(\sigma_0, s_0) \le 0`: what the adversary may do, not knowing the draws, it may do
knowing them. The bound is better where sequences are followed from the beginning, draws unseen:

.. math:: OPT(h') - \alpha ALG(h') \le \sum_s q_{hs} V_t(\sigma_h, s) - \alpha ALG(h)
    \quad \text{for all } h' \succeq h

so histories whose right side is not positive are left out, with all that begins with them. If none
is left, :math:`\alpha` is proved; if more are left than may be followed, nothing is. Searches are
in doubles, and what is handed back is checked in integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...instance import AdversarialBundlesInstance
from ...subproblems.summaries import Summaries

#: Doubles, 64-bit integers, or Python's where those are too small.
Numbers = NDArray[Any]

#: Products up to this are exact in 64-bit integers. By definition.
_MOST_IN_64_BITS = 2**62
#: Histories of one length that are followed. Tuned: `benchmarks/constants.py`.
FOLLOWED = 20_000
#: Relative width at which a bisection ends, and rounds of it. By definition.
NARROW, HALVINGS = 2e-4, 20
#: Parts of the bounds that are handed back, where no simpler fraction holds. By definition.
_PARTS = 10_000
#: Rounds of Newton's method; each is exact on one more strategy of the adversary. By definition.
_ROUNDS = 100
#: What doubles may be off. By definition.
_OFF = 1e-9


@dataclass(frozen=True)
class SummarySeller:
    """A seller whose chances depend on round, summary and stock.

    Attributes
    ----------
    parts : sequence of int array
        Chances of a sale in every round, in units of 1/`whole`: by summary, type and stock. An axis
        of length 1 stands for all summaries. If the seller draws one of several rules before the
        first request, the last axis has the stocks of the first rule, then those of the second.
    whole : int
    shares : tuple of int
        How probable each of the rules is, in any unit.
    """

    parts: Sequence[NDArray[Any]]
    whole: int
    shares: tuple[int, ...] = (1,)


@dataclass(frozen=True)
class Interval:
    """Between which ratios a seller's worst case lies.

    Attributes
    ----------
    lower : Fraction or None
        OPT/ALG of `sequence`; None if it is infinite.
    sequence : tuple of int
        The worst that was found.
    upper : Fraction or None
        No sequence has more; None if nothing was proved.
    draws_seen : Fraction or None
        No adversary that sees the draws has more expected OPT for its expected ALG; None as above.
    """

    lower: Fraction | None
    sequence: tuple[int, ...]
    upper: Fraction | None
    draws_seen: Fraction | None

    @property
    def closed(self) -> bool:
        """True if the worst case is known exactly."""
        return self.lower is not None and self.lower == self.upper


def worst_interval(
    instance: AdversarialBundlesInstance,
    summaries: Summaries,
    seller: SummarySeller,
    *,
    followed: int = FOLLOWED,
) -> Interval:
    """Return between which ratios the worst case of a seller over all sequences lies.

    Parameters
    ----------
    instance : AdversarialBundlesInstance
    summaries : Summaries
        Of the instance.
    seller : SummarySeller
    followed : int
        Histories of one length that are followed; with more the interval is no wider, as a rule.
    """
    game = _Game(instance, summaries, seller)
    doubles = game.in_doubles()
    # 1. From the ratio of a sequence to a worse one, as long as one is met.
    sequence: tuple[int, ...] = (0,)
    lower, complete = game.ratio(sequence), False
    while lower is not None:
        found, complete = doubles.follow(float(lower), followed)
        ratio = game.ratio(found) if found else lower
        if ratio is not None and ratio <= lower:
            break
        sequence, lower = found, ratio
    if lower is None:
        return Interval(None, sequence, None, None)
    # 2. The adversary that sees the draws; 3. if all histories could be followed, it is exact.
    high = doubles.draws_seen()
    draws_seen = None if high is None else game.proved(high, 0)
    if complete and game.proves(lower, followed):
        return Interval(lower, sequence, lower, draws_seen)
    if high is None:
        return Interval(lower, sequence, None, None)
    # 4. Else the least ratio for which they can, by halving.
    low = float(lower)
    for _ in range(HALVINGS):
        if high <= low * (1 + NARROW):
            break
        middle = (low + high) / 2
        found, complete = doubles.follow(middle, followed)
        ratio = game.ratio(found) if found else lower
        if ratio is None or ratio > lower:
            sequence, lower = found, ratio
        if lower is None:
            return Interval(None, sequence, None, None)
        low, high = (low, middle) if complete else (middle, high)
        low = max(low, float(lower))
    uppers = [x for x in (game.proved(high, followed), draws_seen) if x is not None]
    return Interval(lower, sequence, min(uppers, default=None), draws_seen)


class _Game:
    """A seller in a game, with stocks numbered on over all rules that may be drawn."""

    def __init__(
        self, instance: AdversarialBundlesInstance, summaries: Summaries, seller: SummarySeller
    ) -> None:
        self.instance, self.summaries, self.seller = instance, summaries, seller
        self.J, self.N = len(instance.types), instance.horizon
        stocks, rules = instance.stocks, len(seller.shares)
        self.kept: list[NDArray[Any]] = []
        self.sold: list[NDArray[Any]] = []  # by type and stock; -1: it does not fit
        for t in range(self.N):
            later = len(stocks.of_round[t + 1])
            kept, sold = np.array(stocks.kept[t]), np.array(stocks.sold[t]).T
            self.kept.append(np.concatenate([kept + k * later for k in range(rules)]))
            moved = [np.where(sold >= 0, sold + k * later, -1) for k in range(rules)]
            self.sold.append(np.concatenate(moved, axis=1))
        self.states: list[int] = [rules * len(of_round) for of_round in stocks.of_round]

    def in_doubles(self) -> _Followed:
        whole = float(self.seller.whole)
        chances = [np.asarray(p, dtype=float) / whole for p in self.seller.parts]
        shares = np.array(self.seller.shares, dtype=float)
        value = [v / self.summaries.money for v in self.summaries.value]
        optimum = [x / self.summaries.money for x in self.summaries.optimum]
        return _Followed(self, chances, 1, shares / shares.sum(), value, optimum)

    def in_integers(self, alpha: Fraction) -> _Followed:
        """Return the game in units that make all numbers whole."""
        whole, shares = self.seller.whole, self.seller.shares
        most = max(int(x.max()) for x in self.summaries.optimum)
        scale = max(alpha.numerator, alpha.denominator)
        large = 4 * whole**self.N * sum(shares) * most * scale * self.N
        number = np.int64 if large <= _MOST_IN_64_BITS else object
        return _Followed(
            self,
            [np.asarray(p).astype(number) for p in self.seller.parts],
            whole,
            np.array(shares).astype(number),
            self.summaries.value,
            [x.astype(number) for x in self.summaries.optimum],
        )

    def ratio(self, sequence: Sequence[int]) -> Fraction | None:
        """Return OPT/ALG of a sequence, exact; None if it is infinite."""
        start = self.states[0] // len(self.seller.shares)
        now = {k * start: share for k, share in enumerate(self.seller.shares)}
        earned, unit, number = 0, sum(self.seller.shares), 0
        for t, j in enumerate(sequence):
            parts = self.seller.parts[t]
            row = parts[number if len(parts) > 1 else 0, j]
            later: dict[int, int] = {}
            earned, unit = earned * self.seller.whole, unit * self.seller.whole
            for s, chance in now.items():
                after, sale = int(self.sold[t][j, s]), 0
                if after >= 0:
                    sale = chance * int(row[s])
                    later[after] = later.get(after, 0) + sale
                    earned += sale * self.summaries.value[j]
                kept = int(self.kept[t][s])
                later[kept] = later.get(kept, 0) + chance * self.seller.whole - sale
            now = later
            number = int(self.summaries.after[t][number, j])
        optimum = int(self.summaries.optimum[len(sequence)][number])
        return Fraction(optimum * unit, earned) if earned else None

    def proves(self, alpha: Fraction, followed: int) -> bool:
        """Return True if no sequence has a ratio above `alpha`, by integers."""
        whole = self.in_integers(alpha)
        return whole.follow_from(alpha.numerator, alpha.denominator, followed)[1]

    def proved(self, alpha: float, followed: int) -> Fraction | None:
        """Return a fraction that is proved, near or just above a double; None if none is."""
        for bound in _above(alpha):
            if self.proves(bound, followed):
                return bound
        return None


class _Followed:
    """Values of the adversary that sees the draws, and histories that are followed against it.

    Chances are in units of 1/`whole`, those of stocks before round t in units of 1/whole^t over the
    sum of `shares`.
    """

    def __init__(
        self,
        game: _Game,
        chances: list[Numbers],
        whole: int,
        shares: Numbers,
        value: Sequence[Any],
        optimum: list[Numbers],
    ) -> None:
        self.game, self.whole, self.shares = game, whole, shares
        self.exact: bool = shares.dtype.kind != "f"
        self.value, self.optimum = value, optimum
        self.chances = [np.where(game.sold[t] >= 0, p, 0 * p) for t, p in enumerate(chances)]

    def values(self, p: Any, q: Any) -> tuple[list[Numbers], list[Numbers]]:
        """Return q OPT - p ALG by round, summary and stock, and the part of ALG in it.

        Both before round t in units of 1/whole^(N - t).
        """
        game = self.game
        after = game.summaries.after
        most = [q * self.optimum[game.N][:, None] + np.zeros((1, game.states[game.N]), dtype=int)]
        earns = [0 * most[0]]
        for t in reversed(range(game.N)):
            unit = self.whole ** (game.N - t - 1)
            stop = q * self.optimum[t][:, None] * unit * self.whole
            best = stop + np.zeros((1, game.states[t]), dtype=int)
            gets = 0 * best
            first = t == 0  # at least one request comes
            for j in range(game.J):
                number, sold = after[t][:, j], game.sold[t][j]
                chance, rest = self.chances[t][:, j], self.whole - self.chances[t][:, j]
                value = self.value[j] * unit
                later, earned = most[-1][number], earns[-1][number]
                goes = chance * (later[:, sold] - p * value) + rest * later[:, game.kept[t]]
                takes = chance * (earned[:, sold] + value) + rest * earned[:, game.kept[t]]
                better = np.ones(best.shape, dtype=bool) if first else goes > best
                best, gets = np.where(better, goes, best), np.where(better, takes, gets)
                first = False
            most.append(best)
            earns.append(gets)
        return most[::-1], earns[::-1]

    def draws_seen(self) -> float | None:
        """Return the least ratio at which the adversary that sees the draws gains nothing.

        Newton's method on a convex function of the ratio, in doubles; None if there is none.
        """
        start = self.game.states[0] // len(self.shares)
        alpha = 1.0
        for _ in range(_ROUNDS):
            most, earns = self.values(alpha, 1.0)
            gain = float((most[0][0, ::start] * self.shares).sum())
            earned = float((earns[0][0, ::start] * self.shares).sum())
            if gain <= _OFF * alpha:
                return alpha
            if not earned:
                return None
            alpha += gain / earned
        return None

    def follow(self, alpha: float, followed: int) -> tuple[tuple[int, ...], bool]:
        """Return a worst sequence of those that are met, and whether nothing was left out."""
        return self.follow_from(alpha, 1.0, followed)

    def follow_from(self, p: Any, q: Any, followed: int) -> tuple[tuple[int, ...], bool]:
        """Follow histories that may have a ratio above p/q.

        Returns
        -------
        tuple of int
            A worst one of those that are met; empty if none is above p/q.
        bool
            True if no sequence is above p/q.
        """
        game = self.game
        most, _ = self.values(p, q)
        slack = 0 if self.exact else _OFF
        held = np.zeros((1, game.states[0]), dtype=self.shares.dtype)
        held[0, :: game.states[0] // len(self.shares)] = self.shares
        if (most[0][0] * held[0]).sum() <= slack:
            return (), True
        if not followed:
            return (), False
        earned = np.zeros(1, dtype=self.shares.dtype)
        number = np.zeros(1, dtype=np.int64)
        past = np.zeros((1, 0), dtype=np.int64)
        worst: tuple[float, tuple[int, ...]] = (0.0, ())
        complete = True
        for t in range(game.N):
            held, earned, number, past = self._longer(t, held, earned, number, past)
            unit = self.whole ** (game.N - t - 1)
            optimum = self.optimum[t + 1][number] * held.sum(axis=1)  # in units of what is earned
            over = q * optimum - p * earned
            k = int(np.argmax(over))
            if over[k] > slack:
                complete = False
                ratio = float(optimum[k]) / float(earned[k]) if earned[k] else np.inf
                if ratio > worst[0]:
                    worst = ratio, tuple(past[k].tolist())
            bound = (held * most[t + 1][number]).sum(axis=1) - p * earned * unit
            rows = np.flatnonzero(bound > slack)
            if len(rows) > followed:
                complete = False
                order = np.argsort(-bound[rows].astype(float), kind="stable")
                rows = rows[order[:followed]]
            held, earned, number, past = held[rows], earned[rows], number[rows], past[rows]
            if not len(rows):
                break
        return worst[1], complete

    def _longer(
        self, t: int, held: Numbers, earned: Numbers, number: NDArray[Any], past: NDArray[Any]
    ) -> tuple[Numbers, Numbers, NDArray[Any], NDArray[Any]]:
        """Return all histories with one more request; of equal ones that which earns least."""
        game = self.game
        parts = []
        for j in range(game.J):
            chances = self.chances[t]
            chance = chances[number if len(chances) > 1 else np.zeros_like(number), j]
            sale = held * chance
            left = held * self.whole - sale
            after = np.zeros((len(held), game.states[t + 1]), dtype=held.dtype)
            for s, (kept, sold) in enumerate(
                zip(game.kept[t].tolist(), game.sold[t][j].tolist(), strict=True)
            ):
                after[:, kept] += left[:, s]
                if sold >= 0:
                    after[:, sold] += sale[:, s]
            more = earned * self.whole + sale.sum(axis=1) * self.value[j]
            came = np.concatenate([past, np.full((len(past), 1), j)], axis=1)
            parts.append((after, more, game.summaries.after[t][number, j], came))
        held, earned, number, past = (np.concatenate(part) for part in zip(*parts, strict=True))
        first: dict[tuple[Any, ...], int] = {}
        keys = held if self.exact else held.round(12)
        for i, key in enumerate(zip(number.tolist(), map(tuple, keys.tolist()), strict=True)):
            known = first.get(key)
            if known is None or earned[i] < earned[known]:
                first[key] = i
        rows = np.array(list(first.values()))
        return held[rows], earned[rows], number[rows], past[rows]


def _above(alpha: float) -> Iterator[Fraction]:
    """Yield fractions near a double or above it, simple ones first."""
    for most in (100, _PARTS):
        simple = Fraction(alpha).limit_denominator(most)
        if abs(float(simple) - alpha) <= _OFF * alpha:
            yield simple
    part = int(alpha * _PARTS)
    for more in (1, 2, 5, 20, 100):
        yield Fraction(part + more, _PARTS)
