"""Instances from plans of SPP and DAPPLE: their stages, with the backward split in two.

A stage on several GPUs is one device. Its backward is split into I and W by a share; the linear
layers of a transformer take as long for either. Transfers take the longer of their two directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.file_imports import import_plans, options_of
from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.pieces.pipeline.shop import Shop, shop_of
from gadgetopt.system.declaring import importer
from gadgetopt.system.files import Document

from ...instance import PipelineSchedulesInstance, Route, Stage


class PlanOptions(BaseModel):
    """Options of `pipeline_plan`. Text, as a command line gives it, is converted.

    Attributes
    ----------
    input_grad_share : float
        The part of the backward that is the gradient of the input.
    objective : "makespan" or "period"
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False
    )

    input_grad_share: float = Field(default=0.5, gt=0, le=1)
    objective: Literal["makespan", "period"] = "makespan"


@importer(
    name="pipeline-plan",
    summary="An instance of SPP or DAPPLE and a solution of it: its stages, backward split",
    options=PlanOptions,
    help={
        "input_grad_share": "of the backward; the rest is the gradient of the weights",
        "objective": "makespan or period",
    },
)
def pipeline_plan(files: Sequence[Path], rng: np.random.Generator, **options: Any) -> ImportOutcome:
    """Make an instance of each pair of files, an instance of `spp` or `dapple` and a solution.

    Parameters
    ----------
    files : sequence of Path
        Instance, solution, instance, solution, ...
    rng : numpy.random.Generator
        Not used: nothing is drawn.
    **options
        The fields of `PlanOptions`.

    Raises
    ------
    InputError
        If files are not pairs, cannot be read, are of another system, or an option is wrong.
    """
    given = options_of(PlanOptions, "pipeline-plan", options)

    def make(
        source: Document, solution: Any, _: Path
    ) -> tuple[str, PipelineSchedulesInstance, dict[str, Any]]:
        shop = shop_of(source.data, solution.plan)
        unequal = sum(f != b for f, b in zip(shop.fwd[1::2], shop.bwd[1::2], strict=True))
        told = {"stages": shop.num_stages, "transfers_unequal": unequal}
        return f"{source.name}_plan", instance_of(shop, given), told

    units = {"act_bytes": "microbatches in flight on a stage"}
    return import_plans("pipeline-plan", files, given, ["spp", "dapple"], units, make)


def instance_of(shop: Shop, options: PlanOptions) -> PipelineSchedulesInstance:
    """Return the instance of a plan's times: stage s alone on device s.

    Memory counts microbatches: a stage holds one of them until its W.
    """
    share = decimal_rational(options.input_grad_share)
    stages = []
    for n in range(shop.num_stages):
        q = 2 * n
        backward = shop.bwd[q] * shop.unit
        last = n + 1 == shop.num_stages
        transfer = 0 if last else max(shop.fwd[q + 1], shop.bwd[q + 1])
        stages.append(
            Stage(
                device=n,
                fwd_s=shop.fwd[q] * shop.unit,
                input_grad_s=backward * share,
                weight_grad_s=backward * (1 - share),
                transfer_s=transfer * shop.unit,
                act_bytes=Fraction(1),
                weight_act_bytes=Fraction(1),
                allreduce_s=shop.allreduce[q] * shop.unit,
            )
        )
    return PipelineSchedulesInstance(
        num_devices=shop.num_stages,
        routes=(Route(num_microbatches=shop.num_microbatches, stages=tuple(stages)),),
        objective=options.objective,
        memory_bytes=tuple(map(Fraction, shop.max_in_flight)) if shop.memory_limited else None,
        links="full" if shop.full_duplex else "half",
    )
