"""What DAPPLE was compared with.

- `parallel`: data parallelism, GPipe, straight pipelines.
- `blocks`: balanced blocks of layers.
- `pipedream`: PipeDream's plan, run synchronously.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

_WARMUPS = ("A", "B", "best")

METHODS = (
    Method(
        name="data_parallel",
        kind="baseline",
        summary="one stage on all GPUs, gradients accumulated",
        reference="Fan et al. 2021, comparison",
        run=part("parallel:data_parallel"),
    ),
    Method(
        name="gpipe",
        kind="baseline",
        summary="balanced blocks; all forward blocks before all backward blocks",
        reference="Huang et al. 2019, with the balance of torchgpipe",
        run=part("parallel:gpipe"),
        parameters={"stages": 0},
    ),
    Method(
        name="straight",
        kind="baseline",
        summary="balanced blocks, one stage a GPU; early backward",
        reference="Fan et al. 2021, comparison",
        run=part("parallel:straight"),
        parameters={"stages": 0, "warmup": "best"},
        choices={"warmup": _WARMUPS},
    ),
    Method(
        name="pipedream",
        kind="baseline",
        summary="the plan of the fastest slowest stage, with a flush after every iteration",
        reference="Narayanan et al. 2019",
        run=part("pipedream:pipedream"),
        parameters={"network": "flat", "transfers": True, "warmup": "A"},
        choices={"network": ("flat", "hierarchical"), "warmup": _WARMUPS},
    ),
)
