"""The theorems of online selection: promised ratios and their assumptions (`ratios`)."""

from gadgetopt.system.declaration import Assumption, Guarantee, Parts

part: Parts = Parts(__name__)

UNITS = Assumption("one resource, of which each request demands one unit", part("ratios:of_units"))
GRID = Assumption("the levels of values are known", part("ratios:on_a_grid"))
NO_GRID = Assumption("no levels of values are known", part("ratios:on_no_grid"))

RISING = Assumption("the instance brings prices, and none falls", part("ratios:do_not_fall"))

TABLE = "OPT <= max_i k phi_i / (phi_0 + ... + phi_{i-1}) ALG, over phi_i > L, with phi_k = U"

GUARANTEES = (
    Guarantee(
        name="greedy",
        statement="OPT <= theta ALG",
        reference="section 4 (reconstructed)",
        standing="proven",
        methods=("greedy",),
        ratio=part("ratios:greedy"),
        assumptions=(UNITS,),
    ),
    Guarantee(
        name="exponential table",
        statement=TABLE,
        reference="section 4 (reconstructed)",
        standing="proven",
        methods=("exponential",),
        ratio=part("ratios:exponential_table"),
        assumptions=(UNITS,),
    ),
    Guarantee(
        name="plain table",
        statement=TABLE,
        reference="section 4 (reconstructed)",
        standing="proven",
        methods=("exp_plain",),
        ratio=part("ratios:plain_table"),
        assumptions=(UNITS,),
    ),
    Guarantee(
        name="own table",
        statement=TABLE,
        reference="section 4 (reconstructed)",
        standing="proven",
        methods=("posted",),
        ratio=part("ratios:own_table"),
        assumptions=(UNITS, RISING),
    ),
    Guarantee(
        name="finite k",
        statement="OPT <= alpha_k ALG, the least ratio of a deterministic table of k units",
        reference="section 4 (reconstructed)",
        standing="proven",
        methods=("finite_k",),
        ratio=part("ratios:finite_k"),
        assumptions=(UNITS,),
    ),
    Guarantee(
        name="1 + ln theta",
        statement="OPT <= (1 + ln theta) E[ALG], for every k",
        reference="section 4 (reconstructed)",
        standing="proven",
        methods=("one_seed",),
        ratio=part("ratios:exponential"),
        assumptions=(UNITS,),
    ),
    Guarantee(
        name="random static price",
        statement="OPT <= (1 + ln theta) E[ALG], for every k",
        reference="section 4 (reconstructed)",
        standing="proven",
        methods=("random_static",),
        ratio=part("ratios:exponential"),
        assumptions=(UNITS, NO_GRID),
    ),
    Guarantee(
        name="shares of a grid",
        statement="OPT <= alpha* E[ALG], alpha* = 1 + sum_j (1 - l_{j-1} / l_j), for every k",
        reference="(1) (reconstructed)",
        standing="proven",
        methods=("share", "random_static"),
        ratio=part("ratios:shares"),
        assumptions=(UNITS, GRID),
    ),
)
