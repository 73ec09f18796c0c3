"""What each of four processes does: execute the files of plans, and compare with one device.

    python ranks.py WORLD RENDEZVOUS PLAN...

The processes are copies of this one, so that PyTorch is imported once. Rank 0 prints a JSON list:
of each plan the largest relative difference, and in how many operators DTensor, left to itself,
holds the output as the plan says, otherwise, or does not compute it.
"""

import importlib.util
import json
import sys
import warnings

import torch
import torch._dynamo  # what DTensor imports at its first operator
import torch.distributed as dist
import torch.multiprocessing
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor


def module_of(path):
    spec = importlib.util.spec_from_file_location("plan", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def difference(found, expected):
    """Return the largest difference, relative to the largest element above 1."""
    scale = max(1.0, expected.abs().max().item())
    return (found - expected).abs().max().item() / scale


def executed(path):
    """Return what is found of one plan."""
    plan = module_of(path)
    mesh = init_device_mesh("cpu", plan.MESH_SHAPE, mesh_dim_names=plan.MESH_DIM_NAMES)
    generator = torch.Generator().manual_seed(0)
    tensors = {
        name: torch.randn(shape, generator=generator, dtype=torch.float64)
        for name, shape in plan.SHAPES.items()
    }
    counts = {"as_planned": 0, "otherwise": 0, "not_computed": 0, "native_error": 0.0}

    def both(function, placements, *inputs):
        """Compute on shards, and let DTensor compute the same."""
        output = plan.on_shards(function, placements, *inputs)
        try:
            native = function(*inputs)
        except Exception:  # DTensor has no rule for some operators
            counts["not_computed"] += 1
            return output
        if not isinstance(native, DTensor):
            counts["not_computed"] += 1
            return output
        same = tuple(native.placements) == tuple(placements)
        counts["as_planned" if same else "otherwise"] += 1
        error = difference(native.full_tensor(), output.full_tensor())
        counts["native_error"] = max(counts["native_error"], error)
        return output

    expected, found = plan.run(tensors), plan.run(tensors, mesh, compute=both)
    error = max(difference(x.full_tensor(), expected[name]) for name, x in found.items())
    return {"error": error, "outputs": len(found), **counts}


def work(rank, world, rendezvous, paths):
    dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=world)
    found = [executed(path) for path in paths]
    if rank == 0:
        print(json.dumps(found), flush=True)
    dist.destroy_process_group()


def main(world, rendezvous, *paths):
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    given = (int(world), rendezvous, paths)
    torch.multiprocessing.start_processes(work, given, nprocs=int(world), start_method="fork")


if __name__ == "__main__":
    main(*sys.argv[1:])
