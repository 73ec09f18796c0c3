"""The theorems, all reconstructed but for the statement of Lemma 1.

- `ratios`: promised ratios of A-SRPT and of the schedule of Lemma 1.
- `guide`: the virtual machine of a run again, and what Lemmas 2 and 3 say of it.
"""

from gadgetopt.system.declaration import Assumption, Guarantee, Parts

part: Parts = Parts(__name__)

_ORACLE = Assumption("predictions are exact", part("ratios:exact_predictions"))
_WSPT = Assumption("the guide is WSPT", part("ratios:guided_by_wspt"))
_EQUAL = Assumption("all jobs have the same weight", part("ratios:equal_weights"))

GUARANTEES = (
    Guarantee(
        name="Lemma 1",
        statement="OPT with every duration at its longest <= rho OPT; rho of durations in ticks",
        reference="Lemma 1",
        standing="proven",
        methods=("scattered",),
        ratio=part("ratios:lemma_1_ratio"),
    ),
    Guarantee(
        name="Lemma 1, not rounded",
        statement="the same with rho of per-iteration times, alpha_max / alpha_min",
        reference="Lemma 1, read for durations that are rounded to ticks",
        standing="claimed",
        methods=("scattered",),
        ratio=part("ratios:lemma_1_unrounded_ratio"),
    ),
    Guarantee(
        name="Theorem 1",
        statement="sum C <= [eta (1 + sigma G') + rho] OPT + (1 + sigma G') sum D",
        reference="Theorem 1, reconstructed",
        standing="proven",
        methods=("a_srpt",),
        ratio=part("ratios:theorem_1_ratio"),
        assumptions=(_ORACLE, _EQUAL),
    ),
    Guarantee(
        name="Theorem 1, weighted",
        statement="sum w C <= [2 eta (1 + sigma G') + rho] OPT + (1 + sigma G') sum w D",
        reference="Theorem 1, reconstructed; Schulz and Skutella 2002",
        standing="proven",
        methods=("a_srpt_weighted",),
        ratio=part("ratios:theorem_1_weighted_ratio"),
        assumptions=(_ORACLE, _WSPT),
    ),
)
