r"""A bound by which training nodes are in the same part: a semidefinite relaxation's certificate.

Let :math:`X_{ab} = 1` if training nodes a and b are in the same part, and 0 else. X is positive
semidefinite, as it is a sum of :math:`x x'` over the parts, it is not negative, its diagonal is 1,
and a part holds at most :math:`C_T` training nodes.

**Other nodes.** A node u that is no training node keeps the weight of at most one part. With
:math:`m_i` its weight :math:`b` to the training nodes of part i, for any level c and any g > 0

.. math::
    \max_i m_i \le c + \frac{1}{2g} + \frac g2 \sum_i (m_i - c)^2
    = c + \frac{1}{2g} + \frac g2 \bigl(b' X b - 2 c \, 1'b + k c^2\bigr),

as :math:`x \le 1/(2g) + g x^2 / 2`. Weights may be raised before: more is kept then. The check
raises those to each part of a reference partition but one evenly until they sum to the level, so
that nothing is lost where the reference is right. So all that is kept is at most a constant and
:math:`\frac12 \langle W, X \rangle` with :math:`W = Q_T + \sum_u g_u b_u b_u'`.

**Training nodes.** For any y, :math:`\mu \ge 0`, :math:`\kappa \ge 0`, :math:`Z \ge 0` for which

.. math::
    S = \mathrm{Diag}(y) + \tfrac12 (\mu 1' + 1 \mu') + \sum_A \kappa_A 1_A 1_A' - W - Z

is positive semidefinite, :math:`\langle W, X \rangle \le 1'y + C_T 1'\mu + \sum_A \kappa_A s_A`.
Here :math:`s_A` is the most that :math:`\sum_{a, b \in A} X_{ab}` can be: the sum of the squares of
the numbers of nodes of A in the parts, most uneven. Whether S is semidefinite is seen from a factor
L, which doubles find: :math:`S - LL'` in whole numbers has absolute sums of rows, of which the
largest, times the number of training nodes, is all that rounding can cost.

Everything is in whole numbers of a unit, and of a half of it in S; what is rounded is rounded so
that more is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import Field

from gadgetopt.numbers.arrays import Ints
from gadgetopt.numbers.exact import ceiling
from gadgetopt.numbers.memory import MOST_CELLS as TABLE_CELLS
from gadgetopt.system.data import Data, NonNegativeInt, PositiveInt, Rational

from ...instance import BglPartitionInstance

#: Training nodes of a check. Tuned: `benchmarks/constants.py`.
MOST_TRAINED = 1_000
#: Cells of the table of other nodes, of a check.
MOST_CELLS = 5 * TABLE_CELLS
#: Binary digits of g behind the point. Tuned: `benchmarks/constants.py`.
GAIN_DIGITS = 32
#: Whole numbers stay below this. By definition.
MOST = 2**62


class Group(Data):
    """Training nodes, by their places among them, and the price of being together."""

    nodes: Annotated[tuple[NonNegativeInt, ...], Field(min_length=1)]
    price: NonNegativeInt


class Semidefinite(Data):
    """Levels and gains of the other nodes, and a solution of the dual of the relaxation.

    Attributes
    ----------
    unit : Rational
        Scaled weights that are one unit.
    reference : tuple of int, shape (trained,)
        A part of every training node.
    levels, gains : tuple of int, shape (others,)
        c in units and g times 2^32, of the nodes in ascending order that are no training nodes and
        have weight.
    diagonal : tuple of int, shape (trained,)
        y in units.
    caps : tuple of int, shape (trained,)
        Prices of the caps.
    groups : tuple of Group
    apart : tuple of int
        Z above its diagonal, row by row.
    """

    kind: Literal["semidefinite"] = "semidefinite"
    unit: Annotated[Rational, Field(gt=0)]
    reference: tuple[NonNegativeInt, ...]
    levels: tuple[int, ...]
    gains: tuple[PositiveInt, ...]
    diagonal: tuple[int, ...]
    caps: tuple[NonNegativeInt, ...]
    groups: tuple[Group, ...] = ()
    apart: tuple[NonNegativeInt, ...]


class Kept(NamedTuple):
    """What is kept is at most `constant` and half of <`matrix`, X>, in units."""

    constant: int
    matrix: Ints


class Weights(NamedTuple):
    """Weights in units, rounded up.

    Attributes
    ----------
    trained : ndarray of int, shape (trained, trained)
    others : ndarray of int, shape (others, trained)
    """

    trained: Ints
    others: Ints


def weights_in_units(instance: BglPartitionInstance, unit: Fraction) -> Weights:
    """Return the weights among training nodes, and of the other nodes to them.

    Raises
    ------
    ValueError
        If a pair has no training node, or there are too many.
    """
    number = {v: i for i, v in enumerate(sorted(instance.train_nodes))}
    pairs = instance.pair_weights
    ends = [*zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)]
    if any(a not in number and b not in number for a, b in ends):
        raise ValueError("semidefinite: a pair without a training node")
    others = sorted({v for pair in ends for v in pair if v not in number})
    trained = len(number)
    if trained > MOST_TRAINED or len(others) * trained > MOST_CELLS:
        raise ValueError(f"semidefinite: {trained} training nodes and {len(others)} others")
    row = {v: i for i, v in enumerate(others)}
    made = Weights(np.zeros((trained, trained), np.int64), np.zeros((len(row), trained), np.int64))
    for (a, b), weight in zip(ends, pairs.scaled.tolist(), strict=True):
        units = ceiling(weight / unit)
        if units > MOST:
            raise ValueError(f"unit: {unit} leaves weights of {units} units")
        if a in number and b in number:
            made.trained[number[a], number[b]] = made.trained[number[b], number[a]] = units
        else:
            u, t = (a, b) if b in number else (b, a)
            made.others[row[u], number[t]] = units
    return made


def kept_by_pairs(
    weights: Weights,
    parts: int,
    reference: Sequence[int],
    levels: Sequence[int],
    gains: Sequence[int],
) -> Kept:
    """Return the bound on what is kept by what training nodes are in the same part.

    Raises
    ------
    ValueError
        If lengths differ, or numbers are too large.
    """
    others, trained = weights.others.shape
    if len(reference) != trained or max(reference, default=0) >= parts:
        raise ValueError(f"reference: expected a part of each of {trained} training nodes")
    if len(levels) != others or len(gains) != others:
        raise ValueError(f"levels, gains: expected one for each of {others} other nodes")
    raised = raised_weights(weights.others, np.array(reference, dtype=np.int64), levels)
    most = [int(x) for x in raised.max(axis=1, initial=0)]
    if sum(g * x * x for g, x in zip(gains, most, strict=True)) > MOST:
        raise ValueError("gains: numbers of more than 62 binary digits")
    gain = np.array(gains, dtype=np.int64)
    matrix = (raised * gain[:, None]).T @ raised
    matrix = -(-matrix // 2**GAIN_DIGITS) + weights.trained
    constant, quadratic = 0, 0
    sums = [int(x) for x in raised.sum(axis=1)]
    for c, g, total in zip(levels, gains, sums, strict=True):
        constant += c - (-(2 ** (GAIN_DIGITS - 1)) // g)
        quadratic += g * (parts * c * c - 2 * c * total)
    return Kept(constant - (-quadratic // 2 ** (GAIN_DIGITS + 1)), matrix)


def raised_weights(others: Ints, reference: Ints, levels: Sequence[int]) -> Ints:
    """Return weights raised so that to each part but the heaviest they sum to the level."""
    raised = others.copy()
    if not len(raised) or not len(reference):
        return raised
    level = np.array(levels, dtype=np.int64)
    parts = [np.flatnonzero(reference == i) for i in range(int(reference.max()) + 1)]
    sums = np.stack([others[:, nodes].sum(axis=1) for nodes in parts], axis=1)
    heaviest = sums.argmax(axis=1)
    for i, nodes in enumerate(parts):
        lacks = np.where(heaviest == i, 0, np.maximum(level - sums[:, i], 0))
        if len(nodes):
            raised[:, nodes] += -(-lacks // len(nodes))[:, None]
    return raised


def semidefinite_bound(instance: BglPartitionInstance, proof: Semidefinite) -> Fraction:
    """Return the lower bound on the scaled cost that a certificate proves.

    Raises
    ------
    ValueError
        If the certificate is none, or its check would take too long.
    """
    weights = weights_in_units(instance, proof.unit)
    kept = kept_by_pairs(weights, instance.used_parts, proof.reference, proof.levels, proof.gains)
    trained = len(proof.reference)
    cap = min(instance.train_cap, trained)
    if len(proof.diagonal) != trained or len(proof.caps) != trained:
        raise ValueError(f"diagonal, caps: expected one for each of {trained} training nodes")
    if len(proof.apart) != trained * (trained - 1) // 2:
        raise ValueError("apart: expected one for each pair of training nodes")
    most = sum(proof.diagonal) + cap * sum(proof.caps)
    for group in proof.groups:
        if len(set(group.nodes)) < len(group.nodes) or max(group.nodes) >= trained:
            raise ValueError("groups: expected different training nodes")
        most += group.price * most_together(len(group.nodes), cap)
    doubled = doubled_slack(kept.matrix, proof)
    # Half of it for each training node, as the slack is doubled.
    most += ceiling(Fraction(trained * shortfall(doubled), 2))
    kept_units = kept.constant + Fraction(most, 2)
    return int(instance.pair_weights.scaled.sum()) - kept_units * proof.unit


def most_together(count: int, cap: int) -> int:
    """Return the largest sum of squares of so many nodes in parts of at most so many."""
    full, rest = divmod(count, cap)
    return full * cap * cap + rest * rest


def doubled_slack(matrix: Ints, proof: Semidefinite) -> Ints:
    """Return 2 S."""
    trained = len(matrix)
    largest = [max(map(abs, x), default=0) for x in (proof.diagonal, proof.caps, proof.apart)]
    largest += [int(np.abs(matrix).max(initial=0)), sum(group.price for group in proof.groups)]
    if sum(largest) > MOST // 8:
        raise ValueError("semidefinite: numbers of more than 59 binary digits")
    apart = np.zeros((trained, trained), dtype=np.int64)
    apart[np.triu_indices(trained, 1)] = proof.apart
    caps = np.array(proof.caps, dtype=np.int64)
    slack = 2 * np.diag(np.array(proof.diagonal, dtype=np.int64)) - 2 * matrix
    slack += caps[:, None] + caps[None, :] - 2 * (apart + apart.T)
    for group in proof.groups:
        slack[np.ix_(group.nodes, group.nodes)] += 2 * group.price
    return slack


def shortfall(matrix: Ints) -> int:
    """Return a whole number of times the identity that make a matrix positive semidefinite.

    Raises
    ------
    ValueError
        If doubles find no factor of the matrix.
    """
    if not len(matrix):
        return 0
    try:
        factor = np.linalg.cholesky(matrix.astype(np.float64))
    except np.linalg.LinAlgError:
        raise ValueError("semidefinite: the slack is not positive definite") from None
    largest = int(matrix.diagonal().max())
    digits = max(0, (60 - largest.bit_length()) // 2)
    whole = np.rint(factor * 2.0**digits).astype(np.int64)
    squares = (whole.astype(object) ** 2).sum(axis=1)
    # Then no sum of products, and no difference, is beyond 64 bits.
    if max(squares) > MOST // 2 or int(np.abs(matrix).max()) << (2 * digits) > MOST // 2:
        raise ValueError("semidefinite: numbers of more than 61 binary digits")
    rest = matrix * 2 ** (2 * digits) - whole @ whole.T
    sums = np.abs(rest).astype(object).sum(axis=1)
    return int(-(-max(sums) // 2 ** (2 * digits)))
