"""One training step for each schedule of a folder, by as many gloo processes on the CPU as rows.

    python torch_ranks.py FOLDER

Each stage is a linear layer and a tanh. Printed is a line of JSON for each schedule and rank: what
it executed, in order, the largest error of a gradient and of a loss against the model without a
pipeline, and the largest entry of its gradients.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import torch
from torch import distributed, multiprocessing, nn
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import _PipelineScheduleRuntime

from gadgetopt.pieces.runtimes.torch_csv import actions_of, read_schedule

#: Numbers of a sample, and samples of a microbatch.
WIDTH, SAMPLES = 8, 2


def main(folder):
    """Run all schedules of a folder."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    ranks = {len(read_schedule(path.read_text()).rows) for path in schedules_in(folder)}
    with tempfile.TemporaryDirectory() as meeting:
        for world in sorted(ranks):
            place = f"file://{meeting}/{world}"
            multiprocessing.spawn(run, (world, folder, place), nprocs=world, join=True)


def run(rank, world, folder, place):
    """Be a rank of all schedules with so many."""
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", init_method=place, rank=rank, world_size=world)
    for path in schedules_in(folder):
        schedule = read_schedule(path.read_text())
        if len(schedule.rows) == world:
            # A line is one write, so that those of other ranks do not cut it.
            sys.stdout.write(json.dumps({"name": path.stem, "rank": rank,
                                         **step(rank, path, schedule)}) + "\n")  # fmt: skip
            sys.stdout.flush()
    distributed.destroy_process_group()


def schedules_in(folder):
    """Return the schedules of a folder, without the rank files beside them."""
    return [path for path in sorted(Path(folder).glob("*.csv")) if ".ranks" not in path.suffixes]


def block(stage):
    """Return the layers of a stage, the same in every process."""
    torch.manual_seed(1000 + stage)
    return nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh())


def loss_of(found, wanted):
    return ((found - wanted) ** 2).mean()


def step(rank, path, schedule):
    """Run one step of a schedule, and compare it with the model without a pipeline."""
    count, M = len(schedule.rank_of_stage), schedule.num_microbatches
    own = [s for s in range(count) if schedule.rank_of_stage[s] == rank]
    blocks = {s: block(s) for s in own}
    stages = [PipelineStage(blocks[s], s, count, torch.device("cpu")) for s in own]
    executed = []
    for stage in stages:
        listen(stage, executed)
    runtime = _PipelineScheduleRuntime(stages, n_microbatches=M, loss_fn=loss_of)
    runtime._load_csv(str(path), format="compute_only")
    torch.manual_seed(3)
    samples, wanted = torch.randn(M * SAMPLES, WIDTH), torch.randn(M * SAMPLES, WIDTH)
    losses = []
    last = count - 1 in own
    runtime.step(*((samples,) if 0 in own else ()), target=wanted if last else None, losses=losses)
    whole = nn.Sequential(*map(block, range(count)))
    true = [
        loss_of(whole(x), y)
        for x, y in zip(samples.split(SAMPLES), wanted.split(SAMPLES), strict=True)
    ]
    (sum(true) / M).backward()
    gradients = [
        (p.grad, q.grad)
        for s in own
        for p, q in zip(blocks[s].parameters(), whole[s].parameters(), strict=True)
    ]
    errors = [abs(a.item() - b.item()) for a, b in zip(losses, true, strict=False)]
    return {
        "executed": executed,
        "asked": [str(a) for cell in schedule.rows[rank] for a in actions_of(cell)],
        "losses": len(losses) if last else M,
        "loss_error": max(errors, default=0.0),
        "gradient_error": max((a - b).abs().max().item() for a, b in gradients),
        "largest_gradient": max(b.abs().max().item() for _, b in gradients),
    }


def listen(stage, executed):
    """Note what a stage executes."""
    for method in ("forward_one_chunk", "backward_one_chunk", "backward_weight_one_chunk"):
        noted(stage, method, executed)


def noted(stage, method, executed):
    call = getattr(stage, method)

    def noting(microbatch, *arguments, **options):
        kind = {"forward_one_chunk": "F", "backward_weight_one_chunk": "W"}.get(method)
        whole = options.get("full_backward", True)
        executed.append(f"{stage.stage_index}{kind or ('B' if whole else 'I')}{microbatch}")
        return call(microbatch, *arguments, **options)

    setattr(stage, method, noting)


if __name__ == "__main__":
    main(sys.argv[1])
