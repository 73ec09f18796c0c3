"""PyTorch executes what we write: order, losses and gradients as without a pipeline.

Four processes on the CPU run one step of each schedule. Needs torch: extra `learn`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gadgetopt
from gadgetopt import Document
from gadgetopt.models.pipeline_schedules.data.generate.presets import equal
from gadgetopt.pieces.runtimes.torch_csv import read_schedule

pytest.importorskip("torch", reason="torch executes the schedules: pip install 'gadgetopt[learn]'")
pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
HOLES = {
    "a forward twice": "0F0,0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n",
    "a backward twice": "0F0,0F1,0B0,0B0,0B1\n1F0,1B0,1F1,1B1\n",
    "microbatches from 1": "0F1,0F2,0B1,0B2\n1F1,1B1,1F2,1B2\n",
    "B beside I and W": "0F0,0F1,0B0,0I0,0W0\n1F0,1B0,1F1,1B1\n",
    "junk": "0F0junk,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n",
}


def instance(**parameters):
    data = equal(np.random.default_rng(0), **parameters)
    return Document(gadgetopt.problem("pipeline_schedules"), "instance", "equal", data)


def chain():
    """Four layers on four GPUs, of which SPP's uniform optimum makes four stages."""
    times = [0.2, 0.3, 0.3, 0.2]
    layers = [
        {"fwd_time_s": t, "bwd_time_s": 2 * t, "param_bytes": 1e9, "act_bytes": 1e6} for t in times
    ]
    cluster = {"type": "two_level", "gpus_per_machine": [4], "intra_bytes_per_s": 1e9,
               "inter_bytes_per_s": 1e9}  # fmt: skip
    return gadgetopt.instance(
        "spp", layers=layers, num_microbatches=6, cluster=cluster,
        options={"uniform_replicas": True},
    )  # fmt: skip


@pytest.fixture(scope="module")
def schedules(tmp_path_factory):
    """Write the schedules of several methods, and return their folder and objectives."""
    folder = tmp_path_factory.mktemp("schedules")
    flat, v = (
        instance(devices=4, microbatches=6),
        instance(devices=4, microbatches=4, chunks=2, placement="v", input_grad_us=2_000_000),
    )
    plans = {
        "one_f_one_b": (flat, "one_f_one_b"),
        "input_and_weights": (flat, "zb_h1"),
        "a_v": (v, "zbv"),
        "our_v": (v, "close_gap"),
        "an_spp_optimum": (chain(), "exact_spp"),
    }
    found = {}
    for name, (document, method) in plans.items():
        result = gadgetopt.solve(document, method, time_limit=60)
        gadgetopt.export(document, result, folder / f"{name}.csv", format="torch-csv")
        found[name] = result
    assert found["our_v"].status == "optimal"
    assert found["our_v"].objective < found["a_v"].objective
    assert len(found["an_spp_optimum"].solution.stage_layers) == 4
    assert found["an_spp_optimum"].status == "optimal"
    return folder


def test_torch_executes_the_cells_and_trains_as_without_a_pipeline(schedules):
    done = subprocess.run(
        [sys.executable, HERE / "torch_ranks.py", schedules],
        capture_output=True, text=True, check=False, timeout=900,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) == 4 * 5  # ranks and schedules
    for step in told:
        where = f"{step['name']}, rank {step['rank']}"
        assert step["executed"] == step["asked"], where
        assert step["loss_error"] < 1e-6, where
        assert step["gradient_error"] < 1e-6, where
        assert step["largest_gradient"] > 1e-4, where
        assert step["losses"] == (4 if "v" in step["name"].split("_") else 6), where


def test_torch_lowers_what_we_write_and_accepts_what_we_refuse(schedules):
    from torch.distributed.pipelining import schedules as torch_schedules

    def validated(text):
        rows = {
            rank: [torch_schedules._Action.from_str(cell) for cell in line.split(",")]
            for rank, line in enumerate(text.splitlines())
        }
        actions = [a for row in rows.values() for a in row]
        stages = 1 + max(a.stage_index for a in actions)
        M = 2 if len(actions) < 12 else 1 + max(a.microbatch_index for a in actions)
        ranks = torch_schedules._validate_schedule(rows, len(rows), stages, M)
        return rows, ranks, stages

    for path in schedules.glob("*.csv"):
        if path.name.endswith(".ranks.csv"):
            continue
        rows, ranks, stages = validated(path.read_text())
        torch_schedules._add_send_recv(rows, lambda s, of=ranks: of[s], stages)
    for name, text in HOLES.items():
        validated(text)
        with pytest.raises(gadgetopt.InputError):
            read_schedule(text)
        assert name
