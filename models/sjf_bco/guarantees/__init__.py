"""Theorems: the paper's claim, and a corrected guarantee of ours.

ratios: their approximation ratios and assumptions.
"""

from gadgetopt.system.declaration import Assumption, Guarantee, Parts

part: Parts = Parts(__name__)

GUARANTEES = (
    Guarantee(
        "Theorem 5",
        statement="makespan <= n_g phi (u/l) OPT, as printed; refuted by instances e4a and e4b",
        reference="Theorem 5",
        standing="claimed",
        methods=("sjf_bco",),
        ratio=part("ratios:theorem_5_ratio"),
    ),
    Guarantee(
        "corrected",
        statement="makespan <= phi (1 + N/(N - n' + 1) + [some G_j > N/2]) OPT",
        reference="corrected guarantee (reconstructed)",
        standing="proven",
        methods=("sjf_bco",),
        ratio=part("ratios:corrected_ratio"),
        assumptions=(
            Assumption(
                "the run of FA-FFP without load limit is among the compared ones",
                part("ratios:unbounded_run_compared"),
            ),
        ),
    ),
    Guarantee(
        "corrected",
        statement="makespan <= phi (1 + N/(N - n' + 1) + [some G_j > N/2]) OPT",
        reference="corrected guarantee (reconstructed)",
        standing="proven",
        methods=("sjf_bco_sweep",),
        ratio=part("ratios:corrected_ratio"),
        assumptions=(Assumption("only idle GPUs count as available", part("ratios:idle_gpus")),),
    ),
    Guarantee(
        "corrected",
        statement="makespan <= phi (1 + N/(N - n' + 1) + [some G_j > N/2]) OPT",
        reference="corrected guarantee (reconstructed)",
        standing="proven",
        methods=("sjf_bco_unbounded",),
        ratio=part("ratios:corrected_ratio"),
    ),
    Guarantee(
        "corrected",
        statement="makespan <= phi (1 + N/(N - n' + 1) + [some G_j > N/2]) OPT",
        reference="corrected guarantee (reconstructed)",
        standing="proven",
        methods=("list_scheduling",),
        ratio=part("ratios:corrected_ratio"),
        assumptions=(
            Assumption(
                "jobs in size order, and the run without load limit among the compared ones",
                part("ratios:smallest_first_unbounded_compared"),
            ),
        ),
    ),
)
