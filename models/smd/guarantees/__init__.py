"""The theorems: their ratios and assumptions.

- `ratios`: statements with proofs, and the assumptions as predicates
"""

from gadgetopt.system.declaration import Assumption, Guarantee, Parts

part: Parts = Parts(__name__)
reserved: Assumption = Assumption("reservations are charged", part("ratios:reservations_charged"))
scaled: Assumption = Assumption("M is M_delta", part("ratios:scaled_rounding"))


def _theorem_6(methods: tuple[str, ...], ratio: str) -> Guarantee:
    return Guarantee(
        "Theorem 6",
        statement="OPT / ALG <= max mu(tau*) / min mu(tau* (1 + eps) (24 / M + 4) / delta) "
        "(k + R) / k with probability; vacuous, as a sigmoid 28 times too late is practically 0",
        reference="Theorem 6",
        standing="claimed",
        methods=methods,
        ratio=part(ratio),
        assumptions=(reserved, scaled),
    )


def _job_by_job(methods: tuple[str, ...], ratio: str) -> Guarantee:
    return Guarantee(
        "Rounding, job by job",
        statement="OPT / ALG <= (k + R) / k max_i mu_i(tau*) / mu_i(kappa (1 + eps) tau*), "
        "with kappa 4 / M or, rounding down, 2; without (k + R) / k if jobs are admitted exactly",
        reference="B1, B2 (reconstructed)",
        standing="proven",
        methods=methods,
        ratio=part(ratio),
        assumptions=(reserved,),
    )


GUARANTEES = (
    Guarantee(
        "Theorem 3",
        statement="OPT / ALG <= (k + R) / k on given utilities",
        reference="Theorem 3, instance form",
        standing="proven",
        methods=("algorithm_3", "algorithm_3_complete"),
        ratio=part(".algorithms.theorem_values:theorem_3_ratio"),
        assumptions=(reserved,),
    ),
    _theorem_6(("smd", "smd_as_printed", "smd_actual", "smd_complete"), "ratios:theorem_6_ratio"),
    _theorem_6(("smd_exact",), "ratios:theorem_6_exact_ratio"),
    _job_by_job(("smd", "smd_actual", "smd_complete"), "ratios:rounding_ratio"),
    _job_by_job(("smd_floor", "smd_corners"), "ratios:rounding_down_ratio"),
    _job_by_job(("smd_exact",), "ratios:rounding_exact_ratio"),
)
