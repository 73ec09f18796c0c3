"""Networks by torch: the same numbers from the same state, and one line without torch."""

import sys

import numpy as np
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.networks import Adam, torch_on_one_core


def test_without_torch_there_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ModelRefused, match=r"torch is not installed.*gadgetopt\[learn\]"):
        torch_on_one_core()


def test_adam_goes_on_from_its_state_as_if_never_stopped():
    torch = pytest.importorskip("torch")

    def step(adam, k):
        x = torch.tensor(np.random.default_rng(k).normal(size=(8, 3)))
        return adam.step(((x @ adam.tensors["w"] - 1) ** 2).mean())

    start = {"w": np.random.default_rng(0).normal(size=(3, 2))}
    whole = Adam(start, 0.1)
    losses = [step(whole, k) for k in range(20)]
    assert losses[-1] < losses[0]
    parts = Adam(start, 0.1)
    for k in range(20):
        again = Adam(start, 0.1)
        again.restore(parts.state())
        step(again, k)
        parts = again
    assert (parts.arrays()["w"] == whole.arrays()["w"]).all()
