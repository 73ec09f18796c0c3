"""PD-ORS: online scheduling of parameter-server jobs with locality."""

from gadgetopt.system.declaration import Citation, Problem

PROBLEM = Problem(
    package=__name__,
    name="pd_ors",
    title="Online scheduling of parameter-server jobs with locality",
    citation=Citation(
        authors="Menglu Yu, Jia Liu, Chuan Wu, Bo Ji, Elizabeth S. Bentley",
        title="Toward Efficient Online Scheduling for Distributed Machine Learning Systems",
        venue="IEEE Transactions on Network Science and Engineering 9(4)",
        year=2022,
        arxiv="2108.02917",
    ),
    sense="max",
    objective="total_utility",
    default_method="portfolio",
    default_methods=(
        "pd_ors",
        "oasis",
        "drf",
        "fifo",
        "dorm",
        "price_bound",
        "column_lp",
        "portfolio",
    ),
    renamed={
        "pd_ors:slot_method=rounding": "pd_ors_rounding",
        "pd_ors:factor": "pd_ors_rounding",
        "pd_ors:attempts": "pd_ors_rounding",
        **{f"pd_ors:{name}": "pd_ors_repaired_rounding" for name in ("keep", "trim", "fallback")},
        **{
            f"pd_ors:{name}": "pd_ors_kernel"
            for name in ("slot_method", "progress", "quanta", "grid")
        },
        "pd_ors:log_price_span": "pd_ors_price_span",
        "pd_ors:normalise_resources": "pd_ors_normalised",
        "pd_ors:constants=history": "pd_ors_history",
        "pd_ors:history": "pd_ors_history",
        **{
            f"pd_ors:{name}": "pd_ors_given_prices"
            for name in ("constants", "given_upper", "given_lower")
        },
    },
)
