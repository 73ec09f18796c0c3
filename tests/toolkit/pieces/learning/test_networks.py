"""Networks by torch: the same numbers from the same state, and one line without torch."""

import sys

import numpy as np
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.pieces.learning.networks import (
    Adam,
    SequenceNetwork,
    initial_weights,
    softmax,
    torch_on_one_core,
)


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


def test_drawn_sequences_have_a_symbol_and_end_once_and_learn_what_pays_least():
    pytest.importorskip("torch")

    def prefix(sequences, t):
        return np.full((len(sequences), 1), t / 3)

    weights = initial_weights(np.random.default_rng(0), 1, 3)
    network = SequenceNetwork(weights, 0.02, 3, prefix)

    def paid(sequences):
        return (sequences == 1).sum(axis=1) / 3.0  # symbol 1 pays, symbol 0 does not

    first = network.drawn(400, np.random.default_rng(1))
    assert first.shape == (400, 3)
    assert set(np.unique(first)) <= {-1, 0, 1}
    assert (first[:, 0] >= 0).all()
    ended = first < 0
    assert (ended[:, :-1] <= ended[:, 1:]).all()
    for k in range(60):
        rng = np.random.default_rng([2, k])
        network.step(network.drawn(40, rng), paid, rng, eta=1.0, pull=0.05)
    after = network.drawn(400, np.random.default_rng(1))
    assert paid(after).mean() < 0.5 * paid(first).mean()


def test_a_softmax_of_large_numbers():
    assert softmax(np.array([1e4, 1e4, -1e4])).tolist() == [0.5, 0.5, 0.0]
