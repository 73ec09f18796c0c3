"""Ctrl-C keeps what a default method has found so far."""

from __future__ import annotations

import pytest

from gadgetopt.search.state import Search
from gadgetopt.system.generation import Series, documents_of
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits
from gadgetopt.trust.run import solve

#: A preset of each default method that searches for longer than a moment.
PRESETS = (
    "a_srpt:quickstart",
    "adversarial_online_run:paper",
    "bgl_cache:batches",
    "bgl_partition:planted",
    "dapple:quickstart",
    "gadget:tiny",
    "marl_placement:fat_tree",
    "marl_queueing:quickstart",
    "oneflow_sbp:quickstart",
    "parallel_machines:quickstart",
    "pd_ors:quickstart",
    "pd_ors:desk",
    "spp:quickstart",
)


@pytest.mark.parametrize("spec", PRESETS)
@pytest.mark.parametrize("step", ["offer", "prove"])
def test_an_interrupted_default_keeps_incumbent_and_bound(monkeypatch, spec, step):
    system, preset = spec.split(":")
    (document,) = documents_of(Series(system=system, preset=preset))
    optimum = solve(document, problem(system).default_method, Limits(time_s=20.0))
    kept, known = getattr(Search, step), []

    def then_interrupt(self, *given):
        taken = kept(self, *given)
        known.append((self.value, self.bound))
        if taken and len(known) >= 2:
            raise KeyboardInterrupt
        return taken

    monkeypatch.setattr(Search, step, then_interrupt)
    found = solve(document, problem(system).default_method, Limits(time_s=20.0))
    assert found.status != "error", found.reason
    assert found.objective is not None or step == "prove"
    if found.status != "optimal":
        assert found.limit_hit == "interrupted"
    if optimum.status == "optimal":
        minimise = problem(system).sense == "min"
        if found.objective is not None:
            assert (found.objective >= optimum.objective) == minimise or (
                found.objective == optimum.objective
            )
        if found.bound is not None:
            assert float(found.bound) == pytest.approx(float(optimum.objective), rel=1e-6) or (
                (found.bound <= optimum.objective) == minimise
            )
