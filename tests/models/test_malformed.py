"""A malformed file gives one line that names file and place, and exit code 2."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gadgetopt.system.registry import problem_names

MALFORMED = Path(__file__).parent.parent / "malformed"
FILES = sorted(p for p in MALFORMED.glob("*.json") if p.name != "expected.json")
EXPECTED = json.loads((MALFORMED / "expected.json").read_text())


def test_there_are_at_least_thirty_malformed_files_each_with_its_line():
    assert len(FILES) >= 30
    assert {p.stem for p in FILES} == set(EXPECTED)


#: A good instance and a cheap method of the systems that files are named after.
SYSTEMS = {
    "a_srpt_": ("instances/a_srpt/tiny/rounding_trap.json", "spjf"),
    "adsp_rates_": ("instances/adsp_rates/tiny/a2_window_of_two.json", "adsp"),
    "adsp_training_": ("instances/adsp_training/tiny/first_arrival.json", "ssp"),
    "bgl_cache_": ("instances/bgl_cache/tiny/h2_given_1.json", "fifo"),
    "bgl_resources_": ("instances/bgl_resources/tiny/h3_cache.json", "even_split"),
    "bgl_partition_": ("instances/bgl_partition/tiny/triangles_bridge.json", "random"),
    "adversarial_bundles_": (
        "instances/adversarial_bundles/tiny/e1_bundle_and_parts_2.json",
        "greedy",
    ),
    "adversarial_online_policy_": (
        "instances/adversarial_online_policy/tiny/e1_one_unit.json",
        "greedy",
    ),
    "adversarial_online_run_": ("instances/adversarial_online_run/tiny/e1_one_unit.json", "greedy"),
    "adversarial_online_sequence_": (
        "instances/adversarial_online_sequence/tiny/e4_two_units.json",
        "chain",
    ),
    "dapple_": ("instances/dapple/tiny/d1_latency_below_optimum.json", "data_parallel"),
    "forest_packing_": ("instances/forest_packing/tiny/h2_heterogeneous_triangle.json", "ring"),
    "gadget_": ("instances/gadget/tiny/h2_chain_of_bounds.json", "drf"),
    "oneflow_actors_": ("instances/oneflow_actors/tiny/h3_memory_of_five.json", "one"),
    "marl_placement_": ("instances/marl_placement/tiny/a_together.json", "lif"),
    "marl_queueing_": ("instances/marl_queueing/tiny/shortest_first.json", "lif"),
    "oneflow_sbp_": ("instances/oneflow_sbp/tiny/h1_megatron.json", "compiler_greedy"),
    "parallel_machines_": ("instances/parallel_machines/tiny/two_machines.json", "lpt"),
    "pipeline_schedules_": (
        "instances/pipeline_schedules/tiny/two_devices.json",
        "one_f_one_b",
    ),
    "pd_ors_": ("instances/pd_ors/tiny/d_workload.json", "pd_ors"),
    "knapsack_": ("instances/knapsack/tiny/e6_two_rows.json", "greedy"),
    "spp_": ("instances/spp/tiny/e1_load_is_not_time.json", "spp"),
    "smd_": ("instances/smd/tiny/e2_sync.json", "greedy"),
    "": ("instances/sjf_bco/tiny/e1_co_locate.json", "first_fit"),
}


def command(path):
    """Return the command that reads a malformed file."""
    system = next(s for s in SYSTEMS if path.stem.startswith(s))
    good, method = SYSTEMS[system]
    kind = path.stem.removeprefix(system).split("_")[0]
    return {
        "instance": ("solve", path, "--method", method),
        "solution": ("verify", good, path),
        "certificate": ("verify", good, "--bound", path),
    }[kind]


def assert_its_line(path, answer):
    code, out, err = answer
    expected = EXPECTED[path.stem].replace("{systems}", ", ".join(problem_names()))
    assert code == 2
    assert out == ""
    assert err == f"gadgetopt: {path}: {expected}\n"


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_malformed_file_is_answered_by_its_one_line(
    path, cli, root, monkeypatch, in_this_process
):
    monkeypatch.chdir(root)  # some lines name the good instance
    assert_its_line(path, cli(*command(path)))


@pytest.mark.parametrize("kind", ["solution", "certificate"])
def test_the_line_comes_from_the_watched_process_too(kind, cli, root, monkeypatch):
    monkeypatch.chdir(root)
    for path in [p for p in FILES if f"_{kind}_" in p.stem][::50]:
        assert_its_line(path, cli(*command(path)))


def test_compare_on_a_directory_with_malformed_files_names_them_and_ends_with_an_error(tmp_path):
    # Of the files that are instances only those of one system are solved.
    options = ("--methods", "energetic", "--workers", "0", "--json")
    command = [sys.executable, "-m", "gadgetopt", "compare", str(MALFORMED), *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    rows = [row for row in json.loads(done.stdout) if row["method"] is None]
    assert {row["status"] for row in rows} == {"error"}
    skipped, *told = done.stderr.splitlines()  # what is no file of gadgetopt, and what are bad ones
    assert skipped.startswith(f"{MALFORMED}: skipped, not gadgetopt files: ")
    *named, more, count = (line for line in told if "new store" not in line)
    assert all(line.startswith(f"cannot be used: {MALFORMED}/") for line in named)
    assert more == f"cannot be used: {len(rows) - len(named)} more files"
    assert count == f"gadgetopt: {len(rows)} files cannot be used; the others are done"
    assert "Traceback" not in done.stderr
