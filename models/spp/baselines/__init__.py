"""What SPP was compared with; plans and orders are ours where the paper is silent.

- `straight`: data parallelism, GPipe and HetPipe.
- `planners`: PipeDream and DAPPLE.
- `schedules`: orders of stages, with channels first come, first served.
"""

from gadgetopt.system.declaration import Method, Parts

part: Parts = Parts(__name__)

METHODS = (
    Method(
        name="data_parallel",
        kind="baseline",
        summary="one stage on all GPUs",
        reference="synchronous data parallelism",
        run=part("straight:data_parallel"),
    ),
    Method(
        name="gpipe",
        kind="baseline",
        summary="one GPU a stage, all forwards before all backwards",
        reference="Huang et al. 2019",
        run=part("straight:gpipe"),
    ),
    Method(
        name="pipedream",
        kind="baseline",
        summary="least slowest stage by PipeDream's optimiser, synchronous 1F1B",
        reference="Narayanan et al. 2019",
        run=part("planners:pipedream"),
        parameters={"network": "flat"},
        choices={"network": ("flat", "hierarchical")},
    ),
    Method(
        name="dapple",
        kind="baseline",
        summary="least pivot latency by DAPPLE's planner, early backward",
        reference="Fan et al. 2021",
        run=part("planners:dapple"),
        parameters={"max_stages": 2, "warm_up": "B"},
        choices={"warm_up": ("A", "B")},
    ),
    Method(
        name="hetpipe",
        kind="baseline",
        summary="a straight pipeline in every machine, machines as replicas, 1F1B",
        reference="Park et al. 2020",
        run=part("straight:hetpipe"),
        parameters={"groups": 0},
    ),
)
