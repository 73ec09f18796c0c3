"""The theorems: promised ratios, and the bounds of a plan's schedule (`ratios`)."""

from gadgetopt.system.declaration import Assumption, Guarantee, Parts

part: Parts = Parts(__name__)

GUARANTEES = (
    Guarantee(
        name="SPP",
        statement="T <= (2 + (4 S* - 4) / M) Phi OPT, S* at most the largest number of stages",
        reference="Luo et al. 2022; constant and proof ours (reconstructed)",
        standing="proven",
        methods=("spp",),
        ratio=part("ratios:spp_ratio"),
        assumptions=(
            Assumption("channels of half duplex", part("ratios:half_duplex")),
            Assumption("no limit of microbatches in flight", part("ratios:unlimited")),
            Assumption("equal GPUs", part("ratios:equal_gpus")),
            Assumption("times within a factor of the bandwidths", part("ratios:bandwidth_bound")),
        ),
    ),
)
