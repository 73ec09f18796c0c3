"""What all importers of configurations do: read, name, warn, and say where numbers are from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from gadgetopt.errors import InputError
from gadgetopt.pieces.file_imports import errors_of
from gadgetopt.pieces.import_outcome import ImportOutcome
from gadgetopt.system.data import Instance

from .architecture import Transformer
from .config_file import read_config
from .layers import num_params, tied_params
from .options import LayerOptions, ModelOptions, Target

FORMAT = "hf-config"

Options = TypeVar("Options", bound=ModelOptions)

#: Parameters in names, and bytes of warnings, are given in 10^9. By definition.
_GIGA = 10**9
#: Options that are in every name.
_IN_NAME = {"cluster", "device", "machines", "seq", "devices"}

#: Options that say the machines, in words.
MACHINE_HELP = {
    "cluster": "dgx-a100, dgx-h100, dgx-b200, mi300x-8, or one of your file; else by device",
    "device": "a100, h100, h200, b200, mi300x, or one of your file; else the cluster's",
    "machines": "number of boxes",
    "gpus_per_machine": "0: as the box has",
    "devices": "a TOML file with devices and boxes of your own",
    "mfu": "share of the peak that products reach; 0.5 is a guess",
    "weights_factor": "training state by 16-bit parameters; 0: Adam's, from the next two",
    "gradient_bytes": "2 or 4",
    "optimizer_shards": "devices over which a distributed optimiser divides its state",
}
#: Those of every importer of a configuration.
MODEL_HELP = {
    "seq": "tokens of a sequence; 0: the positions that gpt2, bert and vit have",
    **MACHINE_HELP,
}
#: Those of pipelines.
HELP = {
    **MODEL_HELP,
    "microbatch": "sequences of a microbatch",
    "microbatches": "of an iteration, of one replica of the pipeline",
    "tensor_parallel": "GPUs of one device of the instance; divides those of a machine",
    "expert_parallel": "GPUs over which experts are divided",
    "recompute": "none, selective (attention) or full",
    "activation_model": "formula (GPT, Korthikanti et al.), or itemised by the model's own parts",
    "causal": "true: attention computes half",
    "flash_attention": "true: the backward computes scores again",
    "count_activations": "true: passes also move their activations through memory",
    "limit_memory": "false: memory limits nothing",
}


@dataclass(frozen=True)
class Made:
    """What an importer makes of a model: an instance, what is said of it, and warnings."""

    instance: Instance
    details: dict[str, Any]
    warnings: tuple[str, ...] = ()


def import_configs(
    files: Sequence[Path],
    options: Options,
    make: Callable[[Transformer, Options, Target], Made],
) -> ImportOutcome:
    """Make one instance of each configuration.

    Raises
    ------
    InputError
        If there is no file, or one or an option cannot be used.
    """
    if not files:
        raise InputError(f"files: none given, expected at least one config.json for {FORMAT}")
    target = options.target()
    instances: list[tuple[str, Instance]] = []
    details, sources, origin_of = [], [], {}
    for path in map(Path, files):
        config = read_config(path)
        model = config.transformer
        with errors_of(path):
            made = make(model, options, target)
        name = _name(path, model, options, target)
        warnings = [*_warnings(model, options), *made.warnings]
        instances.append((name, made.instance))
        sources.append({"name": path.name, "sha256": config.sha256})
        said = {"name": name, "params": num_params(model), **made.details}
        details.append({**said, "warnings": warnings} if warnings else said)
        origin_of[name] = {
            "params": num_params(model),
            "guesses": {"mfu": f"{options.mfu:g} of the peak, not measured"},
            **target.origin(),
            **({"warnings": warnings} if warnings else {}),
        }
    origin = {"format": FORMAT, "files": sources, "options": options.model_dump(mode="json")}
    return ImportOutcome(instances, {"instances": details}, origin, origin_of)


def _name(path: Path, model: Transformer, options: ModelOptions, target: Target) -> str:
    """Return a name that says the model, the machines, and what is not as by default."""
    stem = path.stem.removeprefix("config")
    named = path.stem if stem else path.parent.name
    named = named or f"{model.family}_{num_params(model) / _GIGA:.3g}b"
    device = "" if target.device_name.lower() == target.box.device else f"_{target.device_name}"
    defaults = type(options)()
    others = "".join(
        f"_{field}={getattr(options, field)}"
        for field in sorted(set(type(options).model_fields) - _IN_NAME)
        if getattr(options, field) != getattr(defaults, field)
    )
    where = f"{target.box_name}{device}x{target.machines}"
    return f"{named}_{where}_s{options.sequence(model)}{others}"


def _warnings(model: Transformer, options: ModelOptions) -> list[str]:
    """Return what the instance does not say of the model."""
    found = list(model.notes)
    tied = tied_params(model)
    if tied:
        found.append(
            f"embedding and head share {tied} parameters, counted in the first layer: if a cut "
            "separates them, both stages hold and AllReduce them, which the instance leaves out"
        )
    sequence = options.sequence(model)
    if model.longest is not None and sequence > model.longest:
        found.append(f"seq: {sequence}, longer than the {model.longest} of the configuration")
    if isinstance(options, LayerOptions) and options.expert_parallel > 1:
        found.append(
            f"expert_parallel: a stage needs a multiple of {options.expert_parallel} replicas, "
            "which the instance does not ask for"
        )
    return found
