"""The theorems on worst ratios, held against the optimal policy (`ratios`)."""

from gadgetopt.system.declaration import Assumption, Guarantee, Parts

part: Parts = Parts(__name__)

RATIO_GAME = Assumption("ratios, without predictions", part("ratios:is_ratio_game"))

GUARANTEES = (
    Guarantee(
        name="Shares (1)",
        statement="ratio at most 1 + sum of 1 - l_{j-1}/l_j, the optimum if N >= kJ",
        reference="(1), reconstructed",
        standing="proven",
        methods=("share_policy",),
        ratio=part("ratios:shares_ratio"),
        assumptions=(RATIO_GAME,),
    ),
    Guarantee(
        name="1 + ln(U/L)",
        statement="ratio at most 1 + ln(U/L) for any number of units",
        reference="standard theory, reconstructed",
        standing="proven",
        methods=("exponential_draw",),
        ratio=part("ratios:exponential_ratio"),
        assumptions=(RATIO_GAME,),
    ),
    Guarantee(
        name="Finite k",
        statement="ratio at most the bisected number of k units",
        reference="standard theory, reconstructed",
        standing="proven",
        methods=("finite_table",),
        ratio=part("ratios:finite_ratio"),
        assumptions=(RATIO_GAME,),
    ),
    Guarantee(
        name="Tables",
        statement="ratio at most that of the table over all values from L to U",
        reference="standard theory, reconstructed",
        standing="proven",
        methods=("exponential",),
        ratio=part("ratios:table_ratio"),
        assumptions=(RATIO_GAME,),
    ),
    Guarantee(
        name="U/L",
        statement="ratio at most U/L",
        reference="standard theory, reconstructed",
        standing="proven",
        methods=("greedy",),
        ratio=part("ratios:greedy_ratio"),
        assumptions=(RATIO_GAME,),
    ),
)
