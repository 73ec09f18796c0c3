"""The theorems: promised ratios and their assumptions (`ratios`)."""

from gadgetopt.system.declaration import Guarantee, Parts

part: Parts = Parts(__name__)

GUARANTEES = (
    Guarantee(
        name="Graham 1966",
        statement="makespan <= (2 - 1/m) OPT in any order of the jobs",
        reference="Graham 1966",
        standing="proven",
        methods=("list_scheduling",),
        ratio=part("ratios:list_scheduling_ratio"),
    ),
    Guarantee(
        name="Graham 1969",
        statement="makespan <= (4/3 - 1/(3m)) OPT, longest job first",
        reference="Graham 1969",
        standing="proven",
        methods=("lpt",),
        ratio=part("ratios:lpt_ratio"),
    ),
    Guarantee(
        name="Coffman-Garey-Johnson",
        statement="makespan <= (1.22 + 2^-k) OPT after k steps",
        reference="Coffman, Garey and Johnson 1978",
        standing="proven",
        methods=("multifit",),
        ratio=part("ratios:multifit_first_ratio"),
    ),
    Guarantee(
        name="Yue",
        statement="makespan <= (13/11 + 2^-k) OPT after k steps",
        reference="Yue 1990",
        standing="proven",
        methods=("multifit",),
        ratio=part("ratios:multifit_ratio"),
    ),
    Guarantee(
        name="Michiels et al.",
        statement="makespan <= (4/3 - 1/(3m)) OPT; 7/6 for two machines",
        reference="Michiels, Korst, Aarts and van Leeuwen 2007; Fischetti and Martello 1987",
        standing="proven",
        methods=("differencing",),
        ratio=part("ratios:lpt_ratio"),
    ),
)
