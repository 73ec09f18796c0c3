"""From config.json to a proved optimum: the eight models of `docs/configs` on one and two boxes.

No study imports a configuration, or measures import and solve together.

A row has the value of SPP's default method for 16 microbatches, the voucher of its bound, the
stages as layers and GPUs, and the seconds from the file to the checked result: of the wall, and of
the processor. Sequences have 4096 tokens, or all positions that a model has. The training state is
Adam's in mixed precision where that fits into the boxes, else the 16-bit weights alone (factor 1),
and blocks of those models are recomputed. DeepSeek-V3 does not fit into two boxes of eight H100; it
is put on boxes of B200, as pairs of tensor-parallel GPUs.

Run `python benchmarks/configured_models.py [--system spp] [--time-limit 60] [--only TEXT]`. Systems
are spp, dapple, oneflow_sbp, whose graphs are the whole models and whose memory limits nothing, and
pipeline_schedules, where every GPU of a box has a stage, and boxes have replicas of them; its even
stages of DeepSeek-V3 do not fit into a box, so memory does not limit that.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gadgetopt

CONFIGS = Path(__file__).resolve().parents[1] / "docs" / "configs"

SYSTEMS = ("spp", "dapple", "oneflow_sbp", "pipeline_schedules")

#: Models whose sequence is their number of positions.
FIXED = ("gpt2", "bert-base", "vit-b-16")
#: What else each model is imported with, by the number of boxes.
WEIGHTS_ALONE = {"weights_factor": 1.0, "recompute": "full"}
ON_PAIRS_OF_B200 = {**WEIGHTS_ALONE, "cluster": "dgx-b200", "tensor_parallel": 2}
SETTINGS: dict[str, dict[int, dict[str, Any]]] = {
    "gpt2": {1: {}, 2: {}},
    "bert-base": {1: {}, 2: {}},
    "vit-b-16": {1: {}, 2: {}},
    "llama-3.2-1b": {1: {}, 2: {}},
    "llama-3-8b": {1: {}, 2: {}},
    "llama-3-70b": {1: WEIGHTS_ALONE, 2: WEIGHTS_ALONE},
    "mixtral-8x7b": {1: WEIGHTS_ALONE, 2: WEIGHTS_ALONE},
    "deepseek-v3": {1: ON_PAIRS_OF_B200, 2: ON_PAIRS_OF_B200},
}


@dataclass(frozen=True)
class Row:
    """One model on some boxes."""

    model: str
    boxes: int
    cluster: str
    status: str
    value: str
    voucher: str
    plan: str
    wall_s: float
    processor_s: float

    def __str__(self) -> str:
        """Return the row of a table."""
        times = f"{self.wall_s:.2f} | {self.processor_s:.2f}"
        return (
            f"| {self.model} | {self.boxes} x {self.cluster} | {self.status} | {self.value} "
            f"| {self.voucher} | {self.plan} | {times} |"
        )


def rows(system: str, time_limit: float, only: str) -> Iterator[Row]:
    """Import and solve every model on every number of boxes."""
    for model, by_boxes in SETTINGS.items():
        for boxes, settings in by_boxes.items():
            if only in model:
                yield row(system, model, boxes, settings, time_limit)


def row(system: str, model: str, boxes: int, settings: dict[str, Any], limit: float) -> Row:
    """Return the row of one model on some boxes."""
    given: dict[str, Any] = {"cluster": "dgx-h100", **settings, "machines": boxes}
    if model not in FIXED:
        given["seq"] = 4096
    if system == "oneflow_sbp":
        given = {k: given[k] for k in ("cluster", "machines", "seq") if k in given}
        given["limit_memory"] = False
    if system == "pipeline_schedules":
        given["data_parallel"] = boxes
        given["limit_memory"] = model != "deepseek-v3"
    gadgetopt.problem(system)  # imports its parts, once
    wall, processor = time.perf_counter(), time.process_time()
    (document,) = gadgetopt.import_("hf-config", CONFIGS / f"{model}.json", system, **given)
    result = gadgetopt.solve(document, time_limit=limit)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    value = "" if result.objective is None else f"{float(result.objective):.6g} s"
    return Row(
        model,
        boxes,
        given["cluster"],
        str(result.status),
        value,
        str(result.bound_voucher or ""),
        plan_of(result.solution),
        wall,
        processor,
    )


def plan_of(solution: Any) -> str:
    """Return the layers and GPUs of the stages, where a solution has some."""
    if not hasattr(solution, "stage_layers"):
        return ""
    layers = "+".join(str(b - a) for a, b in solution.stage_layers)
    return f"{layers} layers on {'+'.join(str(len(d)) for d in solution.stage_devices)}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--system", default="spp", choices=SYSTEMS)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    print("| model | boxes | status | iteration | bound | plan | wall, s | processor, s |")
    print("|---|---|---|---|---|---|---|---|")
    for found in rows(given.system, given.time_limit, given.only):
        print(found, flush=True)


if __name__ == "__main__":
    main()
