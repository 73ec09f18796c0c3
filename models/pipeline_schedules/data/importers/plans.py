"""Instances from plans of SPP and DAPPLE: their stages, with the backward split in two.

A stage on several GPUs is one device. Its backward is split into I and W by a share; the linear
layers of a transformer take as long for either. Transfers take the longer of their two directions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gadgetopt.errors import InputError
from gadgetopt.numbers.tolerance import decimal_rational
from gadgetopt.pieces.pipeline.shop import Shop, shop_of
from gadgetopt.pieces.traces import ImportOutcome
from gadgetopt.system.declaring import importer
from gadgetopt.system.files import read_instance, read_solution

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
    try:
        given = PlanOptions(**options)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"][:1]))
        raise InputError(
            f"options of pipeline-plan: {place}: {first['input']!r}: {first['msg']}"
        ) from error
    if not files or len(files) % 2:
        raise InputError(f"files: {len(files)}, expected pairs of an instance and its solution")
    paths = list(map(Path, files))
    instances, details, origins = [], [], []
    for first_path, second_path in zip(paths[::2], paths[1::2], strict=True):
        source = read_instance(first_path)
        if source.problem.name not in ("spp", "dapple"):
            raise InputError(f"{first_path}: is of {source.problem.name}, expected spp or dapple")
        plan = read_solution(second_path, source).data.plan
        shop = shop_of(source.data, plan)
        name = f"{source.name}_plan"
        instances.append((name, instance_of(shop, given)))
        unequal = sum(f != b for f, b in zip(shop.fwd[1::2], shop.bwd[1::2], strict=True))
        details.append({"name": name, "stages": shop.num_stages, "transfers_unequal": unequal})
        origins += [
            {"name": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
            for path in (first_path, second_path)
        ]
    report = {
        "units": {"act_bytes": "microbatches in flight on a stage"},
        "instances": details,
    }
    origin = {
        "format": "pipeline-plan",
        "files": origins,
        "options": given.model_dump(mode="json"),
    }
    return ImportOutcome(list(instances), report, origin)


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
