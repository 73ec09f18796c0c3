"""PipeDream's public profiles, where they are at hand: optima to the digit (E4)."""

import numpy as np
import pytest

from gadgetopt.models.spp.algorithms.spp import spp
from gadgetopt.models.spp.baselines.straight import data_parallel
from gadgetopt.models.spp.data.importers.profiles import pipedream_profile
from gadgetopt.system.result import Limits, Status

from .brute_force import run

#: Profile, cluster, M; seconds of data parallelism, SPP, LB* and the optimum.
E4 = [
    ("vgg16", "2x2", 4, 0.83225, 0.222256, 0.214856, 0.216199),
    ("vgg16", "2x4", 8, 0.85887, 0.127845, 0.095396, 0.097497),
    ("vgg16", "4x4", 16, 0.87218, 0.049880, 0.048465, 0.049090),
    ("gnmt", "2x2", 4, None, 0.04531, 0.037383, None),
    ("gnmt", "2x4", 8, None, 0.02481, 0.021096, None),
]


@pytest.fixture
def imported(root):
    def read(profile, cluster, microbatches):
        path = root.parent / "shared" / "data" / "pipedream" / f"{profile}.graph.txt"
        if not path.exists():
            pytest.skip(f"{path.name} is not there: see the page for where to get it")
        options = {"cluster": cluster, "microbatches": microbatches}
        return pipedream_profile([path], np.random.default_rng(0), **options).instances[0][1]

    return read


def test_the_chains_have_as_many_layers_as_published(imported):
    for profile, layers in (("vgg16", 36), ("gnmt", 17), ("resnet50", 158)):
        assert imported(profile, "2x2", 4).num_layers == layers


@pytest.mark.parametrize(("profile", "cluster", "M", "dp", "spp_s", "bound", "best"), E4)
def test_iteration_times_of_real_profiles(imported, profile, cluster, M, dp, spp_s, bound, best):
    instance = imported(profile, cluster, M)
    assert float(spp(instance, Limits()).claimed_objective) == pytest.approx(spp_s, rel=2e-4)
    if dp is not None:
        alone = data_parallel(instance, Limits()).claimed_objective
        assert float(alone) == pytest.approx(dp, rel=1e-5)
    assert float(run(instance, "plan_bound").bound) == pytest.approx(bound, rel=2e-5)
    result = run(instance, "exact_spp")
    assert result.status is Status.OPTIMAL
    assert result.bound_voucher == "verified"
    if best is not None:
        # The published optima are CP-SAT's, rounded to some 5e-6.
        assert float(result.objective) == pytest.approx(best, rel=1e-5)
