"""Units as powers of base units, for checks that a formula's terms fit together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Dimension:
    """A product of powers of base units.

    Attributes
    ----------
    powers : mapping of str to int
        Exponent of every base unit; those of 0 are left out.

    Examples
    --------
    >>> second, step = unit("s"), unit("step")
    >>> str(second / (step / second))
    's^2 step^-1'
    """

    powers: Mapping[str, int] = field(default_factory=dict)

    def __mul__(self, other: Dimension) -> Dimension:
        names = {*self.powers, *other.powers}
        both = {n: self.powers.get(n, 0) + other.powers.get(n, 0) for n in names}
        return Dimension({n: both[n] for n in sorted(both) if both[n]})

    def __truediv__(self, other: Dimension) -> Dimension:
        return self * Dimension({n: -power for n, power in other.powers.items()})

    def __str__(self) -> str:
        words = [n if power == 1 else f"{n}^{power}" for n, power in self.powers.items()]
        return " ".join(words) or "1"


#: A number without a unit.
ONE: Dimension = Dimension()


def unit(name: str) -> Dimension:
    """Return a base unit."""
    return Dimension({name: 1})
