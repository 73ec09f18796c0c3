"""The largest and the smallest numbers that a system takes: a result or one line, and in time.

Here each system's default method, or what the paper's algorithm and the bounds need, goes through
every number of the quickstart. With GADGETOPT_EXTREMES=all in the environment all methods of
`compare` do, with values between the extremes and 2 s each, which takes minutes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gadgetopt.system.registry import problem

ROOT = Path(__file__).parents[2]
ALL = os.environ.get("GADGETOPT_EXTREMES") == "all"
METHODS = {
    "adsp_rates": ["exact_rates", "adsp"],
    "adsp_training": ["all_policies", "arrivals"],
    "forest_packing": ["column_generation"],
    "gadget": ["gadget", "offline"],
    "knapsack": ["cg_core", "direct@highs"],
    "pd_ors": ["pd_ors", "price_bound"],
    "smd": ["smd", "lagrangian", "cg_core"],
    "spp": ["spp", "plan_bound", "exact_spp"],
}


@pytest.mark.parametrize("system", METHODS)
def test_extreme_numbers_are_solved_or_refused_in_one_line(system):
    methods = problem(system).default_methods if ALL else METHODS[system]
    limit_s, values, most_s = (2.0, "all", 3000) if ALL else (0.1, "few", 240)
    instance = ROOT / "instances" / "quickstart" / f"{system}.json"
    script = [str(Path(__file__).with_name("extremes.py")), str(instance), ",".join(methods)]
    command = [sys.executable, "-W", "ignore", *script, str(limit_s), values]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=most_s, check=False)
    except subprocess.TimeoutExpired as error:
        last = (error.stdout or b"").decode().splitlines()[-1:]
        pytest.fail(f"{system} hangs: {last}")
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    wrong = [f"{line['tried']}: {what}" for line in lines for what in line.get("wrong", [])]

    assert ended.returncode == 0, ended.stderr[-2000:] + ended.stdout[-200:]
    assert len(lines) > 10
    assert not wrong, "\n".join(wrong)
