"""What the exact method begins with, and what it falls back to: the plans of all planners."""

from __future__ import annotations

import numpy as np
import pytest

from gadgetopt.errors import ModelRefused
from gadgetopt.models.dapple.algorithms.planner import dapple
from gadgetopt.models.dapple.algorithms.public_planner import dapple_code
from gadgetopt.models.dapple.baselines.parallel import data_parallel, gpipe, straight
from gadgetopt.models.dapple.baselines.pipedream import pipedream
from gadgetopt.models.dapple.data.generate.presets import misled, quickstart, random_chain
from gadgetopt.models.dapple.proving.exact.plans import exact_plans
from gadgetopt.pieces.pipeline.all_plans.exact_plans import ExactPlans
from gadgetopt.system.result import Limits

SIMPLE, PLANNERS = (data_parallel, gpipe, straight, pipedream), (dapple, dapple_code)


@pytest.mark.parametrize("generate", [quickstart, random_chain, misled])
@pytest.mark.parametrize("seed", range(2))
def test_without_its_search_the_exact_method_is_no_worse_than_any_planner(
    generate, seed, monkeypatch
):
    monkeypatch.setattr(ExactPlans, "run", lambda self: None)
    instance = generate(np.random.default_rng(seed))
    found = exact_plans(instance, Limits(), np.random.default_rng(0)).claimed_objective
    for planner in (*SIMPLE, *PLANNERS):
        try:
            limits = () if planner in SIMPLE else (Limits(),)
            other = planner(instance, *limits).claimed_objective
        except ModelRefused:
            continue
        assert found <= other
