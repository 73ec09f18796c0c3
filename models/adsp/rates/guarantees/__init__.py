"""What is proven of the rates, and what Theorem 1 can be checked for (`checks`)."""

from gadgetopt.system.declaration import Assumption, Guarantee, Parts

part: Parts = Parts(__name__)

GUARANTEES = (
    Guarantee(
        name="equal window",
        statement="the climb ends at the optimum where the window allows equal rates only",
        reference="this project; the objective is convex in an equal rate",
        standing="proven",
        methods=("adsp", "equal_commits"),
        ratio=part("checks:equal_window_ratio"),
        assumptions=(Assumption("starts at rate 1", part("checks:starts_low")),),
    ),
    Guarantee(
        name="Theorem 1",
        statement="mu = 1 - p is a momentum: terms have no unit in reading R2 only",
        reference="Hu, Wang and Wu 2020, Theorem 1 (recalled); no ratio",
        standing="claimed",
        methods=("adsp",),
        ratio=part("checks:no_ratio"),
        assumptions=(
            Assumption("terms without a unit", part("checks:terms_have_no_unit")),
            Assumption("more than one worker", part("checks:more_than_one_worker")),
        ),
    ),
)
