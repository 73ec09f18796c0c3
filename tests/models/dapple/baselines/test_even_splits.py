"""Even splits of DAPPLE run 1F1B on a grid."""

import pytest

from ..chains import D1
from ..test_uniform_replicas import run


@pytest.mark.parametrize("method", ["even_layers", "even_decoder_layers", "even_parameters"])
def test_even_splits_are_plans_of_equal_replicas(method):
    result = run(D1, f"{method}:stages=2")
    assert result.solution.stage_devices == ((0, 1), (2, 3))
    assert result.solution.warmup == (2, 1)
    assert result.objective >= run(D1, "exact_plans").objective
    assert run(D1, method).objective <= result.objective
