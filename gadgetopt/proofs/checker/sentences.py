"""What a proof shows, in plain words."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from gadgetopt.proofs.reading.draft import NamedModel

#: Decimals of a bound that is written as no short decimal. By definition.
DECIMALS = 9
#: From here on a number is not written, and from here on the denominator of a ratio. By definition.
LARGEST_WRITTEN, MOST_OF_RATIO = 10**300, 10**40


class Verdict(NamedTuple):
    """What a proof shows.

    Attributes
    ----------
    status : str
        "bound", "optimal", "infeasible" or "unbounded"; "refused" if it does not show what it
        claims.
    bound : Fraction or None
        A bound on the model's own objective; None if there is none.
    sense : str
        "min" or "max".
    sentences : list of str
    """

    status: str
    bound: Fraction | None
    sense: str
    sentences: list[str]

    @property
    def proves(self) -> bool:
        """Return True if it proves what it claims."""
        return self.status != "refused"


def heading(what: str, path: Path | None, about: NamedModel | None, own: str = "") -> str:
    """Return what a proof is, and about which model."""
    if about is None:
        return f"{what}, about the model in the file{own and ': '}{own}"
    model = about.model
    size = f"{len(model.integer)} columns ({sum(model.integer)} integer), {len(model.rows)} rows"
    return f"{what}, about {path}: {size}, {model.sense}"


def bound_sentence(bound: Fraction | None, sense: str) -> str:
    """Say what is proved."""
    if bound is None:
        return "proved: nothing is feasible"
    side = "below" if sense == "min" else "above"
    return f"proved: no feasible point has an objective {side} {plain(bound, sense)}"


def plain(value: Fraction, sense: str = "") -> str:
    """Write a number: exactly, and where it is a ratio also as a decimal.

    The decimal of a bound is on its safe side: below for the sense "min", above for "max".
    """
    if abs(value) >= LARGEST_WRITTEN:
        return "a number of hundreds of digits"
    scaled = value * 10**DECIMALS
    whole = scaled.numerator // scaled.denominator
    if scaled.denominator == 1:
        return _decimal(whole)
    about = {"min": "at least", "max": "at most", "": "about"}[sense]
    ratio = f"{value}, " if value.denominator < MOST_OF_RATIO else ""
    return f"{ratio}{about} {_decimal(whole + (sense == 'max'))}"


def _decimal(scaled: int) -> str:
    """Return an integer over 10 to the power of `DECIMALS`, as a decimal."""
    whole, part = divmod(abs(scaled), 10**DECIMALS)
    text = f"{'-' if scaled < 0 else ''}{whole}"
    return f"{text}.{part:0{DECIMALS}d}".rstrip("0") if part else text
