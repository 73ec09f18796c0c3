"""What the exact method begins with, and what it falls back to: the plans of all planners."""

from __future__ import annotations

import numpy as np
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.spp.algorithms.spp import spp
from gadgetopt.models.spp.baselines.planners import dapple, pipedream
from gadgetopt.models.spp.baselines.straight import data_parallel, gpipe, hetpipe
from gadgetopt.models.spp.data.generate.presets import arbitrary, large_parameters
from gadgetopt.models.spp.heuristics.other_ties import spp_by_bound
from gadgetopt.models.spp.proving.exact.exact_spp import exact_spp
from gadgetopt.pieces.pipeline.all_plans.exact_plans import ExactPlans
from gadgetopt.system.result import Limits

PLANNERS = (spp, spp_by_bound, dapple, pipedream, data_parallel, gpipe, hetpipe)


@pytest.mark.parametrize("generate", [arbitrary, large_parameters])
@pytest.mark.parametrize("seed", range(2))
def test_without_its_search_the_exact_method_is_no_worse_than_any_planner(
    generate, seed, monkeypatch
):
    monkeypatch.setattr(ExactPlans, "run", lambda self: None)
    instance, rng = generate(np.random.default_rng(seed)), np.random.default_rng(0)
    found = exact_spp(instance, Limits(), rng).claimed_objective
    for planner in PLANNERS:
        try:
            other = planner(instance, Limits()).claimed_objective
        except ModelRefused:
            continue
        assert found <= other
