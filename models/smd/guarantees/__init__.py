"""The theorems: their ratios and assumptions.

- `ratios`: statements with proofs, and the assumptions as predicates
"""

from gadgetopt.system.declaration import Assumption, Guarantee, Parts

part: Parts = Parts(__name__)
reserved: Assumption = Assumption("reservations are charged", part("ratios:reservations_charged"))
outer_bounded: Assumption = Assumption(
    "jobs are admitted exactly or by Algorithm 3", part("ratios:outer_bounded")
)

GUARANTEES = (
    Guarantee(
        "Theorem 3",
        statement="OPT / ALG <= (k + R) / k on given utilities",
        reference="Theorem 3, instance form",
        standing="proven",
        methods=("algorithm_3",),
        ratio=part(".algorithms.theorem_values:theorem_3_ratio"),
        assumptions=(reserved,),
    ),
    Guarantee(
        "Theorem 6",
        statement="OPT / ALG <= max mu(tau*) / min mu(tau* (1 + eps) (24 / M + 4) / delta) "
        "(k + R) / k with probability; vacuous, as a sigmoid 28 times too late is practically 0",
        reference="Theorem 6",
        standing="claimed",
        methods=("smd",),
        ratio=part("ratios:theorem_6_ratio"),
        assumptions=(
            reserved,
            outer_bounded,
            Assumption("M is M_delta", part("ratios:scaled_rounding")),
        ),
    ),
    Guarantee(
        "Rounding, job by job",
        statement="OPT / ALG <= (k + R) / k max_i mu_i(tau*) / mu_i(kappa (1 + eps) tau*), "
        "with kappa 4 / M or, rounding down, 2",
        reference="B1, B2 (reconstructed)",
        standing="proven",
        methods=("smd",),
        ratio=part("ratios:rounding_ratio"),
        assumptions=(
            reserved,
            outer_bounded,
            Assumption("the grid is repaired", part("ratios:grid_repaired")),
            Assumption("no job is dropped by rounding", part("ratios:always_rounded")),
        ),
    ),
)
