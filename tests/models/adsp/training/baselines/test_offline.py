"""ADSP+ and ADSP++ are no later than what they choose from; baselines take what is offered."""

import numpy as np
import pytest

from gadgetopt.models.adsp.training.data.generate.presets import quickstart
from gadgetopt.models.adsp.training.instance import Choices, Rate
from gadgetopt.models.adsp.training.simulator import simulate
from gadgetopt.system.result import Status

from ..proving.exact.test_enumeration import run


@pytest.fixture(scope="module")
def instance():
    choices = Choices(max_commits=6, momenta=(0.0, 0.3), lr_factors=(1.0, 0.1), local_steps=(1, 8))
    drawn = quickstart(np.random.default_rng(1))
    return drawn.model_copy(update={"choices": choices})


def test_more_to_choose_from_is_never_later(instance):
    single = simulate(instance, Rate(commits=3)).time_s
    plus, both = run(instance, "adsp_plus"), run(instance, "adsp_plus_plus")
    assert both.objective <= plus.objective <= single
    assert run(instance).objective <= both.objective


def test_fixed_adacomm_takes_the_nearest_number_of_steps(instance):
    assert run(instance, "fixed_adacomm").solution.policy.local_steps == 8
    assert run(instance, "fixed_adacomm:local_steps=2").solution.policy.local_steps == 1


def test_what_is_not_offered_is_refused(instance):
    none = instance.model_copy(update={"choices": Choices(slacks=(), local_steps=())})
    for method in ("ssp", "adacomm", "fixed_adacomm"):
        assert run(none, method).refused
    assert run(none, "bsp").status is Status.FEASIBLE
