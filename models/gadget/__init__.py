"""GADGET: online scheduling of ring-all-reduce jobs on the links and servers of a network."""

from gadgetopt.system.declaration import Citation, Problem

PROBLEM = Problem(
    package=__name__,
    name="gadget",
    title="Online scheduling of ring-all-reduce jobs on a network",
    citation=Citation(
        authors="Menglu Yu, Ye Tian, Bo Ji, Chuan Wu, Hridesh Rajan, Jia Liu",
        title="GADGET: Online Resource Optimization for Scheduling Ring-All-Reduce Learning Jobs",
        venue="IEEE INFOCOM",
        year=2022,
        arxiv="2202.01158",
    ),
    sense="max",
    objective="total_utility",
    default_method="offline",
    default_methods=("gadget", "fifo", "drf", "tiresias", "offline"),
    renamed={
        "gadget:slot_solver=exact": "gadget_exact",
        "gadget:slot_solver=config_lp": "gadget_config_lp",
        "gadget:slot_solver=greedy": "gadget_greedy",
        "gadget:slot_solver=lp_rs_mde": "gadget",
        "gadget:q_mode=lp_paper": "gadget_relaxed_rings",
        **{
            f"gadget:rounding={rounding}": f"gadget_rounding:rounding={rounding}"
            for rounding in ("vanilla", "min_load", "max_profit", "violation_free", "knapsack")
        },
        "gadget:utility_surrogate=true": "gadget_rounding:rounding=fill:envelopes=false",
        "gadget:idle_tiebreak": "gadget_greedy:idle_tiebreak=true",
        "gadget:selected=false": "gadget_rounding:rounding=fill:all_sizes=true",
        "gadget:program=highs": "gadget_rounding:rounding=fill:program=highs",
        **{
            f"gadget:{name}": "gadget"  # with the values that they had by default
            for name in ("q_mode", "rounding", "utility_surrogate", "selected", "program", "passes")
        },
    },
)
