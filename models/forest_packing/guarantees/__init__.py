"""The theorems: promised ratios and their assumptions."""

from gadgetopt.system.declaration import Assumption, Guarantee, Parts

part = Parts(__name__)

GUARANTEES = (
    Guarantee(
        "T4",
        statement="R* <= R / ((1 - eps)^2 (1 - eta)), or the target gap if that is more",
        reference="T4 (our own numbering; derived here)",
        standing="proven",
        methods=("forest_packing",),
        ratio=part("ratios:packing_ratio"),
        assumptions=(
            Assumption(
                "trees may be as many, as deep and of as different rates as one likes",
                part("ratios:unrestricted"),
            ),
        ),
    ),
)
