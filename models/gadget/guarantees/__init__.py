"""Theorems of the paper.

ratios: their approximation ratios and assumptions, and bounds on probabilities.
"""

from gadgetopt.system.declaration import Assumption, Guarantee, Parts

part: Parts = Parts(__name__)

GUARANTEES = (
    Guarantee(
        "Theorem 6",
        statement="OPT / ALG <= 2 over all slots",
        reference="Theorem 6, proof repaired",
        standing="proven",
        methods=("gadget_exact",),
        ratio=part("ratios:theorem_6_ratio"),
        assumptions=(Assumption("utilities are concave", part("ratios:concave")),),
    ),
    Guarantee(
        "Theorem 8",
        statement="OPT / ALG <= 3 Gamma in a slot with some probability, capacities exceeded by "
        "beta and gamma; no ratio if capacities are respected",
        reference="Theorem 8",
        standing="claimed",
        methods=("gadget", "gadget_rounding"),
        ratio=part("ratios:theorem_8_ratio"),
        assumptions=(Assumption("there is one slot", part("ratios:one_slot")),),
    ),
    Guarantee(
        "Theorem 10",
        statement="OPT / ALG <= 3 Gamma + 1 over all slots with some probability, capacities "
        "exceeded by beta and gamma; no ratio if capacities are respected",
        reference="Theorem 10",
        standing="claimed",
        methods=("gadget", "gadget_rounding"),
        ratio=part("ratios:theorem_10_ratio"),
        assumptions=(Assumption("utilities are concave", part("ratios:concave")),),
    ),
)
