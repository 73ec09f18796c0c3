"""Laws of every trainer of the library, on its preset `small`."""

import inspect
from functools import cache

import numpy as np
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.marl.placement.data.learning import examples as learning_examples
from gadgetopt.runs.training import checkpoint_of, train
from gadgetopt.system.declaration import resolved
from gadgetopt.system.methods import methods
from gadgetopt.system.registry import problems
from gadgetopt.system.result import Limits

TRAINERS = [pytest.param(p, t, id=f"{p.name}-{t.name}") for p in problems() for t in p.trainers]


@pytest.mark.parametrize(("problem", "trainer"), TRAINERS)
def test_the_parameters_of_a_trainer_are_those_of_its_function(problem, trainer):
    parameters = inspect.signature(resolved(trainer.start)).parameters.values()
    taken = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
    assert taken == dict(trainer.parameters)


@pytest.mark.parametrize(("problem", "trainer"), TRAINERS)
def test_the_methods_of_a_trainer_read_its_policy_from_a_file(problem, trainer):
    by_name = {m.name: m for m in methods(problem)}
    for name in trainer.methods:
        assert by_name[name].files
        assert set(by_name[name].files) <= set(by_name[name].parameters)


@pytest.fixture(scope="module", autouse=True)
def examples():
    """Solve each example once: before the stop, after it and by every trainer it is the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learning_examples, "optimum", cache(learning_examples.optimum))
        yield


def started(trainer, parameters):
    """Start a training; where torch is missing, one that needs it says what to install."""
    try:
        return resolved(trainer.start)(0, **parameters)
    except ModelRefused as refused:
        if "pip install 'gadgetopt[learn]'" in str(refused):
            pytest.importorskip("torch", reason=str(refused))
        raise


@pytest.mark.slow
@pytest.mark.parametrize(("problem", "trainer"), TRAINERS)
def test_a_training_goes_on_as_if_it_had_not_been_stopped(problem, trainer, tmp_path):
    parameters = {**trainer.parameters, **trainer.presets["small"]}
    first, second = (started(trainer, parameters) for _ in range(2))
    rounds = [np.random.default_rng([0, k]) for k in range(3)]
    for k in range(3):
        row = first.round(k, rounds[k])
    out = tmp_path / "policy.npz"
    for _ in range(2):
        train(problem, trainer, parameters, 0, out, Limits(time_s=1e-9))
    with np.load(checkpoint_of(out), allow_pickle=False) as saved:
        second.restore({name: saved[name] for name in saved.files if name != "about"})
    again = second.round(2, np.random.default_rng([0, 2]))
    assert again == row
    for name, array in first.policy().items():
        assert (array == second.policy()[name]).all(), name
