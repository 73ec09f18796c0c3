"""Models hold numbers of 3 to 17 digits exactly, and no run of theirs is an error.

`python tests/models/long_decimals.py 2000` does the same with more instances.
"""

from __future__ import annotations

from random import Random

import pytest

from gadgetopt.errors import ModelRefused

from .long_decimals import drawn, exactly, linear_formulations, ran, small_files, systems

#: Drawings of every formulation.
DRAWINGS = 2


def drawings(problem):
    """Instances of long decimals of a system; the files themselves where it has whole numbers."""
    for seed in range(DRAWINGS):
        rng = Random(seed)
        document = drawn(rng.choice(small_files(problem)[:2]), rng)
        if document is not None:
            yield document, rng


@pytest.mark.parametrize("problem", systems(), ids=lambda p: p.name)
def test_no_formulation_ends_in_an_error(problem):
    for document, _ in drawings(problem):
        for formulation in linear_formulations(problem):
            try:
                what = ran(document, formulation, time_s=1.0)
            except ModelRefused:
                continue
            assert "error" not in what, (document.name, formulation.name)
            assert "withdrawn" not in what, (document.name, formulation.name)


def exact_formulations():
    return [
        pytest.param(problem, f, id=f"{problem.name}-{f.name}")
        for problem in systems()
        for f in linear_formulations(problem)
        if f.strength == "exact" and f.decode is not None
    ]


@pytest.mark.parametrize(("problem", "formulation"), exact_formulations())
def test_a_random_decision_is_worth_the_same_in_the_model_and_to_the_evaluator(
    problem, formulation
):
    """`exactly` asserts it: equal or better than the model says, never apart by rounding."""
    for document, rng in drawings(problem):
        try:
            exactly(document, formulation, rng)
        except ModelRefused:
            continue
