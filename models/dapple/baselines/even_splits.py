"""What runtimes do without a planner: even splits, on a grid of stages and replicas."""

from __future__ import annotations

from gadgetopt.numbers.tolerance import Number
from gadgetopt.pieces.pipeline.plan import Plan
from gadgetopt.pieces.runtimes import even_splits
from gadgetopt.system.declaring import method
from gadgetopt.system.result import MethodOutcome

from ..instance import DappleInstance
from .parallel import early_backward_outcome


@method(kind="baseline", reference="torchtitan; DeepSpeed, partition_method uniform")
def even_layers(instance: DappleInstance, *, stages: int = 0) -> MethodOutcome:
    """Equally many layers for every stage, 1F1B.

    The first stages have one layer more. Embedding and head count as one layer each.

    Parameters
    ----------
    instance : DappleInstance
    stages : int, default 0
        A divisor of the number of GPUs, each stage has as many; 0 takes the best of all.
    """
    return _best(instance, stages, even_splits.even_layers)


@method(kind="baseline", reference="Megatron-LM")
def even_decoder_layers(instance: DappleInstance, *, stages: int = 0) -> MethodOutcome:
    """Equally many layers between embedding and head for every stage, 1F1B.

    Megatron's default. The chain's first layer is the embedding, its last the head.

    Parameters
    ----------
    instance : DappleInstance
    stages : int, default 0
        A divisor of the number of GPUs, each stage has as many; 0 takes the best of all.
    """
    return _best(instance, stages, even_splits.even_decoder_layers)


@method(kind="baseline", reference="DeepSpeed, partition_method parameters")
def even_parameters(instance: DappleInstance, *, stages: int = 0) -> MethodOutcome:
    """The largest stage has as few parameters as possible, 1F1B.

    DeepSpeed's default; which of equally good cuts it takes is ours (reconstructed).

    Parameters
    ----------
    instance : DappleInstance
    stages : int, default 0
        A divisor of the number of GPUs, each stage has as many; 0 takes the best of all.
    """
    return _best(instance, stages, even_splits.even_parameters)


def _best(instance: DappleInstance, stages: int, ends_of: even_splits.Ends) -> MethodOutcome:
    """Return the best outcome of cuts into so many stages, or into any number of them."""

    def outcome_of(plan: Plan) -> tuple[Number, MethodOutcome]:
        found = early_backward_outcome(instance, plan, "A")
        assert found.claimed_objective is not None, "a plan that is allowed has a time"
        return found.claimed_objective, found

    return even_splits.best_grid(instance, stages, ends_of, outcome_of)
