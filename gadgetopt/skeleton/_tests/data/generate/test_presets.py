"""Presets draw the same instance for the same seed, and say which parameters they need."""

from __future__ import annotations

import numpy as np
import pytest

import gadgetopt
from gadgetopt.skeleton.system.data.generate.presets import (
    greedy_half,
    paper,
    quickstart,
)


def test_a_seed_draws_one_instance() -> None:
    first, again = (quickstart(np.random.default_rng(5)) for _ in range(2))
    assert first == again
    assert len(first.weight_kg) == 12
    assert first.capacity_kg == sum(first.weight_kg) // 2


def test_a_parameter_that_cannot_be_is_refused() -> None:
    with pytest.raises(gadgetopt.InputError, match="items: 0, expected at least 1"):
        paper(np.random.default_rng(0), items=0)
    with pytest.raises(gadgetopt.InputError, match="item_kg: 1, expected at least 2"):
        greedy_half(np.random.default_rng(0), item_kg=1)
