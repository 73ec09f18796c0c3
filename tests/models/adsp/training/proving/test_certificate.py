"""The bound of arrivals holds for every policy, and is tight where any update suffices."""

from fractions import Fraction
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.models.adsp.training import simulator
from gadgetopt.models.adsp.training.instance import all_policies
from gadgetopt.models.adsp.training.proving.certificate import (
    AdspTrainingCertificate,
    arrivals_before,
    check_bound,
)
from gadgetopt.models.adsp.training.proving.exact.enumeration import all_policies_simulated
from gadgetopt.models.adsp.training.simulator import simulate
from gadgetopt.system.files import read_instance
from gadgetopt.system.result import Limits

from ..test_simulator import (
    random_instance,
    tiny,
)


def test_arrivals_by_hand():
    # 1.3, 2.9, 4.5 s of the fast worker, 3.3 s of the slow one.
    instance = tiny("three_arrivals")
    found = [arrivals_before(instance, Fraction(t, 10)) for t in (13, 14, 29, 30, 33, 34, 45, 46)]
    assert found == [0, 1, 1, 2, 2, 3, 3, 4]
    assert check_bound(instance, AdspTrainingCertificate(time_s=Fraction(33, 10))) == Fraction(
        33, 10
    )
    assert check_bound(instance, AdspTrainingCertificate(time_s=Fraction(34, 10))) is None
    with pytest.raises(ValueError, match="negative"):
        check_bound(instance, AdspTrainingCertificate(time_s=Fraction(-1)))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 30), time=st.fractions(0, 30), data=st.data())
def test_no_run_ends_before_a_proven_bound(seed, time, data):
    instance = random_instance(seed)
    bound = check_bound(instance, AdspTrainingCertificate(time_s=time))
    run = simulate(instance, data.draw(st.sampled_from(all_policies(instance))))
    if bound is not None and run.converged:
        assert run.time_s >= bound


def test_a_check_does_not_simulate_again_what_its_process_has_simulated(monkeypatch):
    instance = read_instance("instances/quickstart/adsp_training.json").data
    found = all_policies_simulated(instance, Limits())

    def simulates(*_, **__):
        raise AssertionError("simulated again")

    monkeypatch.setattr(simulator, "_Simulation", simulates)
    assert check_bound(instance, found.certificate) == found.claimed_objective
    with pytest.raises(AssertionError, match="simulated again"):
        check_bound(instance.model_copy(), found.certificate)


def test_a_simulation_that_was_stopped_shows_nothing(monkeypatch):
    instance = read_instance("instances/quickstart/adsp_training.json").data
    found = all_policies_simulated(instance, Limits())
    fresh = instance.model_copy()
    cut_short = SimpleNamespace(stopped=True, converged=False, losses=[])
    with monkeypatch.context() as patched:
        patched.setattr(simulator._Simulation, "run", lambda *_: cut_short)
        for policy in all_policies(fresh):
            simulator.simulate(fresh, policy)
    later = AdspTrainingCertificate(kind="all_policies", time_s=found.claimed_objective + 1)
    assert check_bound(fresh, later) is None
