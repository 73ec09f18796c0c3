"""The shares (1) where sequences are predicted."""

import numpy as np
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.adversarial_online.policy.algorithms.share_policy import share_policy
from gadgetopt.models.adversarial_online.policy.data.generate.presets import predicted
from gadgetopt.models.adversarial_online.policy.evaluate import evaluate


def test_shares_that_miss_a_prediction_are_refused():
    kept = 0
    for seed in range(60):
        instance = predicted(np.random.default_rng(seed))
        try:
            solution = share_policy(instance).solution
        except ModelRefused:
            continue
        kept += 1
        assert not evaluate(instance, solution).violations
    assert 0 < kept < 60


def test_the_refusal_names_the_prediction_and_what_is_missing():
    instance = predicted(np.random.default_rng(49))
    with pytest.raises(ModelRefused, match=r"predictions\[0\]: the shares earn 6/5 less"):
        share_policy(instance)
