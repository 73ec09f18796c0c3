"""Regression of slowdowns: exact on what it can express, and its error is measured."""

import numpy as np
import pytest

from gadgetopt.pieces.learning.interference_model import (
    Perceptron,
    additive,
    drawn,
    left_out_error,
    ridge,
    saturating,
)

TABLE = np.array([[0.1, 0.5, 0.2], [0.3, 0.4, 0.05], [0.6, 0.1, 0.2]])


def test_the_ridge_finds_the_table_of_an_additive_law():
    samples = drawn(np.random.default_rng(0), additive(TABLE), 3, 400, 3, 0.0)
    assert ridge(samples) == pytest.approx(TABLE, abs=1e-4)


def test_its_error_on_samples_left_out_is_about_the_noise():
    samples = drawn(np.random.default_rng(1), additive(TABLE + 0.3), 3, 600, 3, 0.05)
    error = left_out_error(samples, lambda s: additive(ridge(s)), np.random.default_rng(0))
    assert 0.04 < error < 0.06


def test_a_network_fits_a_law_that_saturates_better():
    pytest.importorskip("torch")
    samples = drawn(np.random.default_rng(2), saturating(TABLE, 0.5), 3, 400, 4, 0.0)
    split = np.arange(len(samples)) % 4 == 0
    train, test = samples.of(~split), samples.of(split)

    def error(model):
        return np.sqrt(np.mean((model(test.victim, test.neighbours) - test.slowdown) ** 2))

    assert error(Perceptron(train)) < 0.6 * error(additive(ridge(train)))
