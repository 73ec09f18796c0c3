"""The unit in which time is counted decides nothing: iteration times and bounds scale with it."""

import pytest

from .brute_force import e2, run

METHODS = (
    "spp", "exact_spp", "plan_bound", "least_load", "even_work", "cp_joint",
    "load@highs", "bound@highs", "joint@highs", "joint_disaggregated@highs",
)  # fmt: skip


def in_unit(instance, k):
    """The same with all times and sizes times 10^k; bandwidths stay."""

    def scaled(layer):
        fields = ("fwd_time_s", "bwd_time_s", "param_bytes", "act_bytes")
        return layer.model_copy(
            update={name: float(f"{getattr(layer, name)!r}e{k}") for name in fields}
        )

    return instance.model_copy(update={"layers": tuple(map(scaled, instance.layers))})


@pytest.mark.parametrize("k", [-9, -6, -3, 3, 6])
@pytest.mark.parametrize("method", METHODS)
def test_iteration_times_and_bounds_scale_with_the_unit_of_time(method, k):
    plain, other = run(e2(), method), run(in_unit(e2(), k), method)
    for a, b in ((plain.objective, other.objective), (plain.bound, other.bound)):
        assert (a is None) == (b is None)
        if a is not None:
            assert float(b) == pytest.approx(float(a) * 10.0**k, rel=1e-6)
