"""Theorems: guaranteed ratios and their assumptions.

- ratios: the ratios as functions of the parameters, and the theorems behind them.
"""

from gadgetopt.system.declaration import Assumption, Guarantee, Parts

part: Parts = Parts(__name__)

GUARANTEES = (
    Guarantee(
        "T4",
        statement="R* <= R / ((1 - eps)^2 (1 - eta)), or the target gap if that is more",
        reference="T4 (our own numbering; derived here)",
        standing="proven",
        methods=("forest_packing", "packing_to_gap"),
        ratio=part("ratios:packing_ratio"),
        assumptions=(
            Assumption(
                "the number, depth and rates of the trees are not restricted",
                part("ratios:unrestricted"),
            ),
        ),
    ),
    Guarantee(
        "T4, A1 alone",
        statement="R* <= R / (1 - eps)^2",
        reference="T4 (our own numbering; derived here)",
        standing="proven",
        methods=("unpolished_packing",),
        ratio=part("ratios:unpolished_ratio"),
        assumptions=(
            Assumption(
                "the number, depth and rates of the trees are not restricted",
                part("ratios:unrestricted"),
            ),
        ),
    ),
)
