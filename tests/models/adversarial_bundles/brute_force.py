"""The first witness: offline optima by all subsets, the game in normal form; and random games."""

from __future__ import annotations

import itertools
import os
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from gadgetopt.models.adversarial_bundles.instance import (
    AdversarialBundlesInstance,
    RequestType,
)
from gadgetopt.system.files import Document
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Result
from gadgetopt.trust.run import solve

#: Random games that all routes play.
GAMES = int(os.environ.get("GADGETOPT_GAMES", "40"))

PARTS = [(1, (1, 0)), (1, (0, 1)), (4, (1, 1))]
EXAMPLE_6 = [(1, (1, 0)), (1, (0, 1)), (3, (1, 1)), (4, (2, 1))]


def game(capacity, types, horizon) -> AdversarialBundlesInstance:
    """A game whose types are (value, demand) or (value, demand, duration)."""
    kinds = [
        RequestType(value=Fraction(value), demand=demand, duration=more[0] if more else None)
        for value, demand, *more in types
    ]
    return AdversarialBundlesInstance(capacity=tuple(capacity), types=tuple(kinds), horizon=horizon)


def random_game(rng: np.random.Generator, *, most: int = 3) -> AdversarialBundlesInstance:
    """At most `most` types and rounds, two resources of one or two units, some given back."""
    capacity = rng.integers(1, 3, size=rng.integers(1, 3)).tolist()
    types = []
    for _ in range(rng.integers(1, most + 1)):
        demand = [int(rng.integers(0, c + 1)) for c in capacity]
        if not any(demand):
            demand[0] = 1
        duration = None if rng.random() < 0.5 else int(rng.integers(1, 4))
        types.append((int(rng.integers(1, 9)), tuple(demand), duration))
    return game(capacity, types, int(rng.integers(1, most + 1)))


def fits(instance, sequence, chosen) -> bool:
    """Whether no round holds more than there is, if these requests are sold to."""
    for t in range(len(sequence)):
        for r, most in enumerate(instance.capacity):
            held = 0
            for i in chosen:
                kind = instance.types[sequence[i]]
                if i <= t and (kind.duration is None or t < i + kind.duration):
                    held += kind.demand[r]
            if held > most:
                return False
    return True


def offline(instance, sequence) -> Fraction:
    """The best of all subsets."""
    places = range(len(sequence))
    return max(
        sum((instance.types[sequence[i]].value for i in chosen), Fraction(0))
        for size in range(len(sequence) + 1)
        for chosen in itertools.combinations(places, size)
        if fits(instance, sequence, chosen)
    )


def histories(instance) -> list[tuple[int, ...]]:
    J = range(len(instance.types))
    return [h for t in range(1, instance.horizon + 1) for h in itertools.product(J, repeat=t)]


def sellers(instance) -> list[dict[tuple[int, ...], bool]]:
    """All sellers that draw nothing: which requests of which histories are sold to."""
    found: list[dict[tuple[int, ...], bool]] = [{}]
    for h in histories(instance):
        longer = []
        for seller in found:
            chosen = [t for t in range(len(h) - 1) if seller[h[: t + 1]]]
            longer.append({**seller, h: False})
            if fits(instance, h, [*chosen, len(h) - 1]):
                longer.append({**seller, h: True})
        found = longer
        assert len(found) <= 70_000
    return found


def welfare(instance, seller, h) -> Fraction:
    sold = [t for t in range(len(h)) if seller[h[: t + 1]]]
    return sum((instance.types[h[t]].value for t in sold), Fraction(0))


def normal_form(instance) -> tuple[float, Fraction | None]:
    """The least ratios of a lottery over sellers that draw nothing, and of one of them."""
    every, sequences = sellers(instance), histories(instance)
    best = [offline(instance, h) for h in sequences]
    shares = [
        [welfare(instance, seller, h) / b for h, b in zip(sequences, best, strict=True)]
        for seller in every
    ]
    n = len(every)
    rows = -np.array(shares, dtype=float).T
    found = linprog(
        [*[0.0] * n, -1.0],
        A_ub=np.hstack([rows, np.ones((len(sequences), 1))]),
        b_ub=np.zeros(len(sequences)),
        A_eq=[[*[1.0] * n, 0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * (n + 1),
        method="highs",
    )
    alone = max(min(row) for row in shares)
    return 1 / float(found.x[n]), 1 / alone if alone else None


def run(instance, method: str = "minimax", time_s: float = 60, **limits) -> Result:
    """What the toolkit makes of a method on an instance."""
    document = Document(problem("adversarial_bundles"), "instance", "test", instance)
    return solve(document, method, Limits(time_s=time_s, **limits))
