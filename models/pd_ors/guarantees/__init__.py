"""The theorems: claimed and proven ratios with their assumptions (`ratios`)."""

from gadgetopt.system.declaration import Assumption, Guarantee, Parts

part: Parts = Parts(__name__)
exact_kernel: Assumption = Assumption("cheapest schedules are exact", part("ratios:exact_kernel"))
literal: Assumption = Assumption("L is the paper's", part("ratios:lower_price_of_the_paper"))

GUARANTEES = (
    Guarantee(
        "Competitive ratio",
        statement="OPT / ALG <= 2 max_r (1, ln(U^r / L)); takes demands to be small against "
        "capacities",
        reference="competitive ratio, exact kernel (reconstructed: recalled)",
        standing="claimed",
        methods=("pd_ors", "pd_ors_kernel"),
        ratio=part("ratios:competitive_ratio"),
        assumptions=(exact_kernel, literal),
    ),
    Guarantee(
        "Competitive ratio with roundings",
        statement="OPT / ALG <= 6 G / delta max_r (1, ln(U^r / L)) with delta = 1/2, with a "
        "probability that is 0 at the paper's sizes",
        reference="competitive ratio (reconstructed: recalled)",
        standing="claimed",
        methods=("pd_ors_rounding", "pd_ors_repaired_rounding"),
        ratio=part("ratios:rounding_ratio"),
        assumptions=(
            Assumption("G is the rounding lemma's", part("ratios:lemma_factor")),
            literal,
        ),
    ),
    Guarantee(
        "Small demands",
        statement="OPT / ALG <= max(1, kappa a) / (1 - kappa D_0 / V), with prices raised by "
        "kappa to block what does not fit and steps of their true size",
        reference="small demands (reconstructed)",
        standing="proven",
        methods=(
            "pd_ors",
            "pd_ors_kernel",
            "pd_ors_price_span",
            "pd_ors_given_prices",
            "pd_ors_history",
        ),
        ratio=part("ratios:small_demands_ratio"),
        assumptions=(exact_kernel,),
    ),
)
