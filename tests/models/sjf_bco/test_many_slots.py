"""No method grows with the number of slots or GPUs; enumeration is refused in one line."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gadgetopt.errors import ModelRefused
from gadgetopt.models.sjf_bco import energetic
from gadgetopt.models.sjf_bco.evaluate import evaluate
from gadgetopt.models.sjf_bco.features import features
from gadgetopt.models.sjf_bco.formulations import load_limit, schedule_selection
from gadgetopt.models.sjf_bco.formulations.schedules import all_schedules, placements
from gadgetopt.models.sjf_bco.instance import SjfBcoInstance, SjfBcoSolution
from gadgetopt.models.sjf_bco.pictures import gantt as plot
from gadgetopt.models.sjf_bco.proving.bounds import combinatorial as bounds
from gadgetopt.system.files import Document, write
from gadgetopt.system.methods import find_method
from gadgetopt.system.registry import problem
from gadgetopt.system.result import Limits, Status
from gadgetopt.trust.run import solve

from .hand_checked import instance, job
from .random_instances import small_instance

MEMORY_BYTES = 2 * 10**9
LONG = 10**9


def long_jobs(*, horizon: int = 10**30) -> SjfBcoInstance:
    """Return four jobs of one iteration per slot, 10^9 slots each, on one GPU."""
    return instance([1], [job(1, LONG, 0.0, 0.99)] * 4, horizon=horizon)


def contended() -> SjfBcoInstance:
    """Return three gangs that must be spread and five small jobs, of 10^8 to 10^9 slots."""
    gangs = [job(3, LONG - k, 1.0, 0.1) for k in range(3)]
    singles = [job(1, LONG - 7 * k, 0.0, 0.99) for k in range(5)]
    return instance([2, 2, 2], gangs + singles, horizon=10**11)


def document(inst: SjfBcoInstance) -> Document:
    return Document(problem("sjf_bco"), "instance", "long", inst, {})


def energetic_slot_by_slot(inst: SjfBcoInstance) -> int:
    """Return the smallest M whose windows all pass, checked slot by slot."""
    rho, gangs = inst.rates.exec_min, np.array(inst.rates.gpus)
    M = max(bounds.longest_job(inst), bounds.area(inst))
    while True:
        t = np.arange((M + 1) // 2)[:, None]
        demand = (gangs * np.minimum(M - 2 * t, np.maximum(0, rho - t))).sum(axis=1)
        if (demand <= inst.total_gpus * (M - 2 * t[:, 0])).all():
            return M
        M += 1


@given(st.integers(0, 2**32 - 1), st.sampled_from([40, 400, 4000]))
@settings(max_examples=120)
def test_energetic_bound_is_that_of_a_look_at_every_slot(seed, most_work):
    inst = small_instance(np.random.default_rng(seed), most_work=most_work, most_jobs=8)
    assert bounds.energetic_bound(inst) == energetic_slot_by_slot(inst)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_64_bit_and_unlimited_integers_give_the_same_bound(seed):
    inst = small_instance(np.random.default_rng(seed), most_work=4000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(energetic, "_INT64_SAFE", 0)
        unlimited = bounds.energetic_bound(inst)
    assert unlimited == bounds.energetic_bound(inst)


@given(st.integers(0, 2**32 - 1), st.integers(10**5, 10**7))
@settings(max_examples=60)
def test_energetic_bound_of_long_jobs_is_a_multiple_of_that_of_short_ones(seed, factor):
    # A job of one iteration a slot takes as many slots as it has iterations.
    rng = np.random.default_rng(seed)
    servers = rng.integers(1, 4, rng.integers(1, 4)).tolist()
    sizes = rng.integers(1, sum(servers) + 1, 5).tolist()
    work = rng.integers(1, 60, 5).tolist()

    def of_length(scale: int) -> SjfBcoInstance:
        jobs = [job(g, f * scale, 0.0, 0.9) for g, f in zip(sizes, work, strict=True)]
        return instance(servers, jobs, horizon=10**12)

    short, long = (bounds.energetic_bound(of_length(scale)) for scale in (1, factor))
    # Rounding up to whole slots is worth less than a short slot.
    assert (short - 1) * factor < long <= short * factor


def test_a_bound_on_10_to_the_9_slots_is_verified_in_little_memory(tmp_path):
    write(document(long_jobs()), tmp_path / "long.json")
    certificate = {
        "gadgetopt": 1, "problem": "sjf_bco", "kind": "certificate", "name": "long",
        "data": {"formula": "energetic"},
    }  # fmt: skip
    (tmp_path / "proof.json").write_text(json.dumps(certificate))

    def limit_memory() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))

    done = subprocess.run(
        [sys.executable, "-m", "gadgetopt", "verify", "long.json", "--bound", "proof.json"],
        cwd=tmp_path, capture_output=True, text=True, check=False, preexec_fn=limit_memory,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, f"dual bound  {4 * LONG} (verified)\n"), (
        done.stderr
    )


@pytest.mark.parametrize(
    "method",
    [
        "sjf_bco", "sjf_bco_sweep", "first_fit:availability=queue", "list_scheduling",
        "random_placement", "lpt_ils", "ladder",
    ],
)  # fmt: skip
def test_methods_find_the_optimum_of_10_to_the_9_slots(method):
    result = solve(document(long_jobs()), method, Limits(time_s=60))
    assert result.objective == 4 * LONG


def test_a_contended_schedule_of_10_to_the_9_slots_is_evaluated():
    inst = contended()
    result = solve(document(inst), "lpt_ils:restarts=5", Limits(time_s=60))
    assert result.objective >= bounds.energetic_bound(inst) > LONG
    bars = plot.bars(inst, result.solution)
    assert bars.end.max() == result.objective


SLOTTED = ["time_indexed@highs", "gdp_bigm@highs", "gdp_hull@highs", "cp_e", "cp_e_l2"]


@pytest.mark.parametrize("method", SLOTTED)
def test_what_is_written_slot_by_slot_is_refused_in_one_line(method):
    result = solve(document(long_jobs()), method, Limits(time_s=60))
    assert (result.status, result.refused) == (Status.NOT_APPLICABLE, True)
    assert "in 4,000,000,000 slots: terms if written slot by slot: " in result.reason
    assert "\n" not in result.reason


def test_the_ladder_does_without_what_is_refused():
    outcome = find_method(problem("sjf_bco"), "ladder").method.run(
        contended(), Limits(time_s=4), np.random.default_rng(0), rung_s=1.0
    )
    assert outcome.solution is not None
    assert outcome.dual_bound > LONG
    # The last rung, which lists slots, is refused, unless an earlier one proves the optimum.
    assert outcome.notes["closed_by"] or outcome.notes["refused"]


def test_a_gpu_that_no_job_can_use_costs_nothing():
    inst = instance([4 * 10**9], [job(1, 100, 0.0, 0.99)] * 4, horizon=1000)
    assert solve(document(inst), "lpt_ils").objective == 100
    climbed = solve(document(inst), "ladder", Limits(time_s=60))
    assert climbed.status is Status.OPTIMAL
    assert climbed.notes["refused"][0].startswith("server_gpus: GPUs to be listed one by one")


@pytest.mark.parametrize(
    ("method", "reason"),
    [
        ("sjf_bco", "server_gpus: GPUs to be listed one by one: 8,000,000,000, expected at most"),
        ("lpt_ils", "4,000,000,000 GPUs of a server for 2 servers: free times: 8,000,000,000, "),
        ("load_limit@highs", "2 jobs on 8,000,000,000 GPUs: variables: 16,000,000,000, expected"),
    ],
)
def test_gpus_that_would_be_listed_one_by_one_are_refused_in_one_line(method, reason):
    inst = instance([4 * 10**9] * 2, [job(5 * 10**9, 100, 1.0, 0.1)] * 2)
    result = solve(document(inst), method)
    assert result.refused
    assert result.reason.startswith(reason)
    with pytest.raises(ModelRefused, match="GPUs to be listed"):
        plot.plot(inst, SjfBcoSolution(start_slot=(0, 0), placement=({0: 1}, {0: 1})))


def test_the_combined_bound_needs_no_linear_program():
    # Gangs of 10^12 GPUs for 10^9 slots are beyond what HiGHS takes.
    inst = instance([10**12] * 2, [job(9 * 10**11, LONG, 1.0, 0.1)] * 3, horizon=10**11)
    outcome = bounds.combinatorial(inst, Limits())
    assert outcome.dual_bound == bounds.energetic_bound(inst)
    assert outcome.notes["class_lp"].startswith("refused: ")


@pytest.mark.parametrize("method", ["class_lp", "combinatorial", "ladder"])
@pytest.mark.parametrize("horizon", [2**53, 2**53 + 1, 10**30])
def test_a_horizon_beyond_doubles_costs_the_class_bound_and_nothing_else(method, horizon):
    # Two gangs of four that only one server holds: the class bound is 4, the energetic one 2.
    inst = instance([4, 1, 1, 1, 1], [job(4, 9, 9.0, 0.05)] * 2, horizon=horizon)
    result = solve(document(inst), method, Limits(time_s=20))
    if method == "class_lp" and horizon != 2**53:
        assert result.refused
        assert "horizon_slots" in result.reason
    else:
        assert result.bound is not None, result.reason


def test_features_of_a_horizon_beyond_doubles():
    assert features(long_jobs(horizon=10**400))["horizon_share"] == 0.0


@pytest.mark.parametrize("gpus", [10**12 + 1, 10**30])
def test_a_gang_larger_than_any_is_an_error_of_its_field(gpus):
    fields = json.loads(instance([1], [job(1, 10)]).model_dump_json())
    fields["jobs"][0]["gpus"] = gpus
    with pytest.raises(ValueError, match=r"jobs\.0\.gpus"):
        SjfBcoInstance.model_validate_json(json.dumps(fields))


# -- enumerated schedules ----------------------------------------------------------------------


def every_schedule(inst: SjfBcoInstance, horizon: int) -> list[tuple[SjfBcoSolution, int]]:
    """Return all feasible combinations of placements and starts, with makespans."""
    short = inst.model_copy(update={"horizon_slots": horizon})
    counts = [range(c + 1) for c in inst.server_gpus]
    ways = [
        [dict(enumerate(y)) for y in product(*counts) if sum(y) == each.gpus] for each in inst.jobs
    ]
    found = []
    for placement in product(*ways):
        plain = tuple({s: k for s, k in y.items() if k} for y in placement)
        for starts in product(range(horizon), repeat=len(ways)):
            decision = SjfBcoSolution(start_slot=starts, placement=plain)
            evaluation = evaluate(short, decision)
            if evaluation.feasible:
                found.append((decision, evaluation.objective))
    return found


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=25)
def test_enumeration_finds_every_schedule_once(seed):
    inst = small_instance(
        np.random.default_rng(seed), most_jobs=2, most_servers=2, largest_server=2, most_work=20
    )
    found = [(y.decision, max(y.completion)) for y in all_schedules(inst, 5)]
    expected = every_schedule(inst, 5)
    assert len(found) == len(expected)
    assert all(entry in expected for entry in found)


@pytest.mark.parametrize(
    ("gang", "servers"), [(10**9, [10**9] * 3), (5, [1] * 1000), (6, [6] * 40)]
)
def test_too_many_placements_are_refused_before_they_are_listed(gang, servers):
    with pytest.raises(ModelRefused, match="placements of job 0: at least: "):
        placements(instance(servers, [job(gang, 10, 0.0, 0.9)]), 0)


def test_too_many_schedules_are_refused_before_they_are_modelled():
    inst = instance([4, 4], [job(2, 10, 1.0, 0.05)] * 2)
    with pytest.raises(ModelRefused, match="horizon 60: schedules, at least: 10,001"):
        schedule_selection.build(inst, 60)


def test_a_model_of_the_load_limit_within_its_size_is_built():
    assert load_limit.build(instance([2], [job(1, 10)] * 2)) is not None
