"""Instances from profiles: what the importers of all systems on pipelines share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from gadgetopt.errors import InputError
from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.pieces.pipeline.chain_conversion import ConvertedChain, chain_of
from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
from gadgetopt.pieces.pipeline.instance import CommModel, Duplex, Layer, PipelineInstance
from gadgetopt.pieces.pipeline.profiles import Profile

#: Bytes; options give bandwidths in GB/s. By definition.
_GBYTE = 1e9
_CLUSTER = re.compile(r"[1-9]\d{0,3}x[1-9]\d{0,3}|[1-9]\d{0,3}(,[1-9]\d{0,3})*")

#: Options that every name says: M is a quotient of batches.
_IN_NAME = {"cluster", "microbatches", "global_batch"}

AnyInstance = TypeVar("AnyInstance", bound=PipelineInstance)
AnyOptions = TypeVar("AnyOptions", bound=BaseModel)


class ProfileOptions(BaseModel):
    """Options of importers of profiles. Text, as a command line gives it, is converted.

    Attributes
    ----------
    cluster : str
        Machines and GPUs of each, "4x4", or the GPUs of each machine, "8,8".
    intra_gbyte_per_s, inter_gbyte_per_s : float
        Bandwidth of a pair of GPUs inside a machine, and across machines.
    allreduce_intra_gbyte_per_s, allreduce_inter_gbyte_per_s, multi_inter_gbyte_per_s : float
        0: that of pairs.
    microbatches : int
        M: the profiled minibatch is split into so many.
    profile_batch, global_batch, microbatch : int
        Samples of the profiled minibatch, of an iteration and of a microbatch. If all are given, M
        is their quotient rounded up, and times are those of a microbatch; 0: `microbatches` counts.
    comm_model, duplex : str
        Those of the instance.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False
    )

    cluster: str = "4x4"
    intra_gbyte_per_s: float = Field(default=12.0, gt=0, le=1e6)
    inter_gbyte_per_s: float = Field(default=1.25, gt=0, le=1e6)
    allreduce_intra_gbyte_per_s: float = Field(default=0.0, ge=0, le=1e6)
    allreduce_inter_gbyte_per_s: float = Field(default=0.0, ge=0, le=1e6)
    multi_inter_gbyte_per_s: float = Field(default=0.0, ge=0, le=1e6)
    microbatches: int = Field(default=16, ge=1)
    profile_batch: int = Field(default=0, ge=0)
    global_batch: int = Field(default=0, ge=0)
    microbatch: int = Field(default=0, ge=0)
    comm_model: CommModel = "pair_slice"
    duplex: Duplex = "half"

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if not _CLUSTER.fullmatch(self.cluster):
            raise ValueError(f"cluster: {self.cluster!r}, expected '4x4' or '8,8'")
        batches = self.profile_batch, self.global_batch, self.microbatch
        if any(batches) and not all(batches):
            raise ValueError(
                f"profile_batch, global_batch, microbatch: {batches}, expected all three or none"
            )
        return self

    @property
    def sizes(self) -> tuple[int, ...]:
        """GPUs of each machine."""
        machines, _, gpus = self.cluster.partition("x")
        if gpus:
            return (int(gpus),) * int(machines)
        return tuple(map(int, self.cluster.split(",")))


def import_profiles(
    format_: str,
    files: Sequence[Path],
    read: Callable[[Path], Profile],
    kind: type[AnyInstance],
    options: ProfileOptions,
) -> ImportOutcome:
    """Make one instance of each profile.

    Parameters
    ----------
    format_ : str
        Name of the importer.
    files : sequence of Path
    read : callable
    kind : type
        The system's instance type.
    options : ProfileOptions

    Raises
    ------
    InputError
        If there is no file, or one cannot be used.
    """
    if not files:
        raise InputError(f"files: none given, expected at least one profile for {format_}")
    instances: list[tuple[str, Any]] = []
    details, origins = [], []
    for path in map(Path, files):
        profile = read(path)
        chain = chain_of(profile)
        microbatches, scaled = _split(chain, options)
        name = (
            f"{profile.name}_{options.cluster.replace(',', '_')}_m{microbatches}{_others(options)}"
        )
        try:
            instance = kind(
                layers=_layers(scaled),
                num_microbatches=microbatches,
                cluster=_cluster(options),
                comm_model=options.comm_model,
                duplex=options.duplex,
            )
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise InputError(f"{path.name}: {place}: {first['msg']}") from error
        instances.append((name, instance))
        origins.append({"name": path.name, "sha256": profile.sha256})
        details.append({"name": name, **chain.report(), **dict(profile.notes), **_batches(options)})
    return ImportOutcome(
        instances,
        {
            "units": {"times": "ms of a minibatch to s of a microbatch", "sizes": "bytes"},
            "instances": details,
        },
        {"format": format_, "files": origins, "options": options.model_dump(mode="json")},
    )


def _others(options: ProfileOptions) -> str:
    """Return the options besides cluster and M that are not the defaults, for the name."""
    defaults = type(options)()
    given = {
        field: getattr(options, field)
        for field in sorted(set(type(options).model_fields) - _IN_NAME)
        if getattr(options, field) != getattr(defaults, field)
    }
    return "".join(f"_{field}={value}" for field, value in given.items())


def options_of(kind: type[AnyOptions], given: Mapping[str, Any]) -> AnyOptions:
    """Return the options of an importer.

    Raises
    ------
    InputError
        The line names the option.
    """
    try:
        return kind(**given)
    except ValidationError as error:
        first = error.errors()[0]
        if not first["loc"]:
            raise InputError(first["msg"].removeprefix("Value error, ")) from error
        value = f" ({first['input']!r})" if first["type"] != "extra_forbidden" else ""
        raise InputError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}{value}") from error


def _split(chain: ConvertedChain, options: ProfileOptions) -> tuple[int, ConvertedChain]:
    """Return M and the chain of one microbatch."""
    if not options.profile_batch:
        return options.microbatches, chain.scaled(1, options.microbatches)
    microbatches = -(-options.global_batch // options.microbatch)
    return microbatches, chain.scaled(options.microbatch, options.profile_batch)


def _batches(options: ProfileOptions) -> dict[str, Any]:
    """Return what is to be known of the batches."""
    if not options.profile_batch:
        return {}
    rounded = options.global_batch % options.microbatch != 0
    few = options.microbatch < sum(options.sizes)
    said = {
        "microbatches_rounded_up": rounded,
        "microbatch_smaller_than_gpus": few,
    }
    return {key: True for key, holds in said.items() if holds}


def _layers(chain: ConvertedChain) -> tuple[Layer, ...]:
    rows = zip(chain.fwd_time_s, chain.bwd_time_s, chain.param_bytes, chain.act_bytes, strict=True)
    return tuple(
        Layer(fwd_time_s=f, bwd_time_s=b, param_bytes=w, act_bytes=d) for f, b, w, d in rows
    )


def _cluster(options: ProfileOptions) -> TwoLevelCluster:
    def bandwidth(gbyte_per_s: float) -> float | None:
        return gbyte_per_s * _GBYTE or None

    return TwoLevelCluster(
        gpus_per_machine=options.sizes,
        intra_bytes_per_s=options.intra_gbyte_per_s * _GBYTE,
        inter_bytes_per_s=options.inter_gbyte_per_s * _GBYTE,
        allreduce_intra_bytes_per_s=bandwidth(options.allreduce_intra_gbyte_per_s),
        allreduce_inter_bytes_per_s=bandwidth(options.allreduce_inter_gbyte_per_s),
        multi_inter_bytes_per_s=bandwidth(options.multi_inter_gbyte_per_s),
    )
