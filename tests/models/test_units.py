"""The unit in which a number is counted decides nothing: objectives and bounds scale with it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from gadgetopt.system.files import parse
from gadgetopt.system.methods import methods
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.run import solve

INSTANCES = Path(__file__).parents[2] / "instances"
POWERS = (-12, -9, -6, 6, 9, 12)
UTILITY = {"gamma1", "theta1", "priority", "slope", "scale", "gain", "cost", "values"}
AMOUNTS = {"capacity", "worker_demand", "ps_demand", "reservation_limit"}
LIMITS = Limits(time_s=20)


def times_ten_to(k, fields, data):
    """Multiply the numbers of some fields by 10^k, as decimals: 0.3 by 10^-6 is 3e-07."""

    def scaled(x):
        if isinstance(x, dict):
            return {key: scaled(v) for key, v in x.items()}
        if isinstance(x, list):
            return [scaled(v) for v in x]
        if isinstance(x, int) and k >= 0:
            return x * 10**k
        return float(f"{x!r}e{k}") if isinstance(x, int | float) else x

    if isinstance(data, dict):
        return {
            key: scaled(v) if key in fields else times_ten_to(k, fields, v)
            for key, v in data.items()
        }
    if isinstance(data, list):
        return [times_ten_to(k, fields, v) for v in data]
    return data


def raw(path):
    return json.loads((INSTANCES / path).read_text())


def changed(document, *changes):
    for k, fields in changes:
        document = {**document, "data": times_ten_to(k, fields, document["data"])}
    return parse(json.dumps(document), "x.json")


def exact_and_bounds(system):
    """Names of the exact methods and the relaxations that need no optional solver."""
    return [
        m.name
        for m in methods(problem(system))
        if m.kind in ("exact", "relaxation") and m.backend != "scip"
    ]


def same(plain, other, factor):
    """Return True if a result is another's in a unit: what there is of it, and how much."""
    rounding = plain.notes.get("rounding_of_the_bound", 0.0) * factor  # of bounds by CP-SAT
    for a, b, slack in (
        (plain.objective, other.objective, 0.0),
        (plain.bound, other.bound, rounding),
    ):
        assert (a is None) == (b is None), (plain, other)
        if a is not None:
            assert float(b) == pytest.approx(float(a) * factor, rel=1e-8, abs=slack)


UTILITY_CASES = [
    (path, name)
    for system, path in (
        ("smd", "quickstart/smd.json"),
        ("pd_ors", "pd_ors/tiny/e_two_jobs.json"),
        ("gadget", "gadget/tiny/h5_slot.json"),
    )
    for name in exact_and_bounds(system)
] + [
    ("quickstart/pd_ors.json", "branch_and_price"),
    ("quickstart/pd_ors.json", "column_lp"),
    ("quickstart/gadget.json", "offline"),
]


@pytest.mark.parametrize(("path", "method"), UTILITY_CASES)
def test_objectives_and_bounds_scale_with_the_unit_of_utility(path, method):
    document = raw(path)
    plain = solve(changed(document), method, LIMITS)
    for k in POWERS:
        same(plain, solve(changed(document, (k, UTILITY)), method, LIMITS), 10.0**k)


@pytest.mark.parametrize(
    ("path", "methods_", "fields"),
    [
        ("quickstart/smd.json", ("cg_core", "cpsat", "lagrangian", "continuous"), AMOUNTS),
        ("quickstart/pd_ors.json", ("branch_and_price", "price_bound", "compact@highs"), AMOUNTS),
        ("gadget/tiny/h5_slot.json", ("slot_exact", "config_lp", "embedding@highs"), AMOUNTS),
        (
            "quickstart/knapsack.json",
            ("cg_core", "lagrangian", "surrogate", "direct@highs"),
            {"weights", "capacities"},
        ),
    ],
)
def test_the_unit_of_a_resource_changes_nothing(path, methods_, fields):
    document = raw(path)
    for method in methods_:
        plain = solve(changed(document), method, LIMITS)
        for k in (-9, -6, 6):
            same(plain, solve(changed(document, (k, fields)), method, LIMITS), 1.0)


@pytest.mark.parametrize("method", ["cg_core", "direct@highs", "surrogate"])
def test_profits_of_a_knapsack_scale(method):
    document = raw("quickstart/knapsack.json")
    plain = solve(changed(document), method, LIMITS)
    for k in (-9, -6, 6):
        same(plain, solve(changed(document, (k, {"profit"})), method, LIMITS), 10.0**k)


@pytest.mark.parametrize("method", ["column_generation", "partition", "flow@highs", "cuts@highs"])
def test_rates_of_a_packing_scale_with_the_bandwidths(method):
    document = raw("quickstart/forest_packing.json")
    plain = solve(changed(document), method, LIMITS)
    for k in (-9, -6, 6, 9):
        other = solve(changed(document, (k, {"bandwidth_gbyte_per_s"})), method, LIMITS)
        same(plain, other, 10.0**k)


@pytest.mark.parametrize("k", [-6, 6])
def test_the_unit_of_time_changes_nothing(k):
    times = {
        "fp_time_per_sample_s",
        "bp_time_s",
        "overhead_per_worker_s",
        "overhead_per_ps_s",
        "time_unit_s",
    }
    document = raw("quickstart/smd.json")
    for job in document["data"]["jobs"]:
        job["utility"].setdefault("time_unit_s", 1.0)
    plain = solve(changed(document), "cg_core", LIMITS)
    other = changed(document, (k, times), (-k, {"ps_bandwidth_gbps"}))
    same(plain, solve(other, "cg_core", LIMITS), 1.0)


def test_utilities_of_a_tiny_unit_are_not_nothing():
    # Six jobs of gamma_1 next to 1e-10: cut at 1e-9 the optimum would be 0.
    document = raw("quickstart/smd.json")
    plain = solve(changed(document), "cg_core", LIMITS)
    tiny = solve(changed(document, (-12, UTILITY)), "cg_core", LIMITS)

    assert tiny.status is Status.OPTIMAL
    assert tiny.objective == pytest.approx(plain.objective * 1e-12, rel=1e-9, abs=0.0)
    assert tiny.bound >= tiny.objective


def test_a_sigmoid_in_a_small_unit_is_the_formula():
    document = raw("gadget/tiny/h4_sigmoid_starvation.json")
    small = changed(document, (-6, UTILITY))
    result = solve(small, "offline", LIMITS)
    done = [0] * len(small.data.jobs)
    for ring in result.solution.rings:
        done[ring.job] += len(ring.servers)
    worth = []
    for job, slots in zip(small.data.jobs, done, strict=True):
        u, x = job.utility, job.iterations_per_worker_slot * slots
        worth.append(u.priority / (1 + math.exp(-u.sensitivity * (x - u.target_iterations))))

    assert result.objective == pytest.approx(math.fsum(worth), rel=1e-9, abs=0.0)


@pytest.mark.parametrize("k", [-6, 6])
@pytest.mark.parametrize("system", ["smd", "pd_ors", "gadget"])
def test_features_do_not_know_the_unit_of_utility(system, k):
    document = raw(f"quickstart/{system}.json")
    features = problem(system).features
    plain, other = (features(changed(document, (p, UTILITY)).data) for p in (0, k))

    assert other == pytest.approx(plain, rel=1e-9)
