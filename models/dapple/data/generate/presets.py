"""Presets: random chains, and the instance on which the pivot rule misleads the planner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from gadgetopt.errors import InputError
from gadgetopt.system.declaring import generator

if TYPE_CHECKING:
    import numpy as np

    from ...instance import DappleInstance

#: Bytes.
_MB, _GB = 1e6, 1e9


@generator()
def quickstart(
    rng: np.random.Generator, *, layers: int = 8, microbatches: int = 8
) -> DappleInstance:
    """A few layers on two machines of two GPUs.

    Return a small instance that every exact method closes, with transfers of two values.
    """
    return random_chain(
        rng,
        layers=layers,
        machines=2,
        gpus_per_machine=2,
        microbatches=microbatches,
        comm_model="simple",
    )


@generator(name="random")
def random_chain(
    rng: np.random.Generator,
    *,
    layers: int = 12,
    machines: int = 2,
    gpus_per_machine: int = 4,
    microbatches: int = 16,
    intra_gbyte_per_s: float = 12.0,
    inter_gbyte_per_s: float = 1.25,
    comm_model: Literal["planner_code", "simple"] = "planner_code",
    max_stages: int = 0,
) -> DappleInstance:
    """Random chains on machines of equal size.

    Forward times are uniform from 1 to 10 ms, backward times twice that within 10 %. Half of the
    layers have no parameters, the others 1 to 400 MB, log-uniform; 0.5 to 20 MB cross a boundary,
    log-uniform (reconstructed suite of the companion system, transfers a tenth of it). A plan has
    at most `max_stages` stages; 0 is no limit.
    """
    from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
    from gadgetopt.pieces.pipeline.instance import Layer, PipelineOptions

    from ...instance import DappleInstance

    if layers < 1:
        raise InputError(f"layers: {layers}, expected at least 1")
    chain = []
    for _ in range(layers):
        fwd = float(rng.uniform(1e-3, 10e-3))
        bwd = 2 * fwd * (1 + float(rng.uniform(-0.1, 0.1)))
        params = 0.0 if rng.random() < 0.5 else _MB * 400 ** float(rng.random())
        act = 0.5 * _MB * 40 ** float(rng.random())
        chain.append(
            Layer(
                fwd_time_s=round(fwd, 6),
                bwd_time_s=round(bwd, 6),
                param_bytes=float(round(params)),
                act_bytes=float(round(act)),
            )
        )
    cluster = TwoLevelCluster(
        gpus_per_machine=(gpus_per_machine,) * machines,
        intra_bytes_per_s=intra_gbyte_per_s * _GB,
        inter_bytes_per_s=inter_gbyte_per_s * _GB,
    )
    return DappleInstance(
        layers=tuple(chain),
        num_microbatches=microbatches,
        cluster=cluster,
        comm_model=comm_model,
        options=PipelineOptions(max_stages=max_stages or None),
    )


@generator()
def copies(
    rng: np.random.Generator,
    *,
    layers: int = 4,
    machines: int = 2,
    gpus_per_machine: int = 2,
    microbatches: int = 4,
    max_copies: int = 2,
) -> DappleInstance:
    """Random chains that may have copies of the whole pipeline.

    As of `random`, with transfers of two values.
    """
    if max_copies < 1:
        raise InputError(f"max_copies: {max_copies}, expected at least 1")
    chain = random_chain(
        rng,
        layers=layers,
        machines=machines,
        gpus_per_machine=gpus_per_machine,
        microbatches=microbatches,
        comm_model="simple",
    )
    return chain.model_copy(update={"max_copies": max_copies})


@generator()
def misled(rng: np.random.Generator, *, stretch: float = 1.0) -> DappleInstance:
    """The planner's estimate is lowest on a plan 15 % longer than the best.

    Return instance D2, its times and sizes multiplied by a factor that changes no ratio.

    Of its plans the planner estimates 0 | 1 | 2-3 on 1, 1 and 2 GPUs at 48; the bound and the
    optimum of that plan are 56.2. Layers 0-1 and 2-3 on two GPUs each take 49.
    """
    from gadgetopt.pieces.pipeline.cluster import TwoLevelCluster
    from gadgetopt.pieces.pipeline.instance import Layer

    from ...instance import DappleInstance

    if stretch <= 0:
        raise InputError(f"stretch: {stretch}, expected a positive number")
    chain = tuple(
        Layer(
            fwd_time_s=f * stretch,
            bwd_time_s=2 * f * stretch,
            param_bytes=20.0 * stretch,
            act_bytes=act * stretch,
        )
        for f, act in ((4.0, 2.0), (2.0, 2.0), (2.0, 2.0), (4.0, 0.0))
    )
    cluster = TwoLevelCluster(
        gpus_per_machine=(2, 2), intra_bytes_per_s=20.0, inter_bytes_per_s=2.0
    )
    return DappleInstance(layers=chain, num_microbatches=4, cluster=cluster)
