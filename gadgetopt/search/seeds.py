"""Random numbers of methods that run once, whatever the seed of a comparison."""

from __future__ import annotations

import numpy as np


def fixed_rng() -> np.random.Generator:
    """Return a generator of seed 0, for a method that takes no `rng` but calls what needs one."""
    return np.random.default_rng(0)
