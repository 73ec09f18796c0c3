"""What is proven, and what the estimate does not promise (`ratios`)."""

from gadgetopt.system.declaration import Assumption, Guarantee, Parts

part: Parts = Parts(__name__)

GUARANTEES = (
    Guarantee(
        name="latency ranks plans",
        statement="the plan of the least latency is optimal (refuted by D2)",
        reference="Fan et al. 2021, implied by planning with it",
        standing="claimed",
        methods=("dapple",),
        ratio=part("ratios:one"),
    ),
    Guarantee(
        name="latency is attained",
        statement="T <= L_lat of its plan, hence T / OPT <= L_lat / LB* (refuted by D1 and D2)",
        reference="Fan et al. 2021, implied by the name",
        standing="claimed",
        methods=("dapple",),
        ratio=part("ratios:latency_ratio"),
    ),
    Guarantee(
        name="least bound in rounds",
        statement="T <= (2 + (4 S - 4) / M) OPT, S the largest number of stages",
        reference="this project",
        standing="proven",
        methods=("least_bound",),
        ratio=part("ratios:rounds_ratio"),
        assumptions=(
            Assumption("links of half duplex", part("ratios:half_duplex")),
            Assumption("no limit of microbatches in flight", part("ratios:unlimited")),
        ),
    ),
    Guarantee(
        name="one stage",
        statement="data parallelism is optimal where there can be only one stage",
        reference="this project",
        standing="proven",
        methods=("data_parallel",),
        ratio=part("ratios:one"),
        assumptions=(Assumption("only one stage is possible", part("ratios:one_stage")),),
    ),
)
