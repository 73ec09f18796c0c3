"""Statements of the paper and its technical report (TR) that were checked.

- `checks`: lemmas, algorithms and theorems on witness instances
- `iterations`: simulated iterations of a layered network, for the two lemmas
- `experiments`: parameters and figures of the experiments
"""

from gadgetopt.system.declaration import Parts, Statement

part: Parts = Parts(__name__)

STATEMENTS = (
    Statement(
        "lemma-2",
        source="Lemma 2, layers by priority",
        statement="the iteration time by priority is the printed recursion",
        verdict="refuted",
        grade="refuted",
        check=part("checks:lemma_2"),
        repair="(P): the largest, over layers q, of what must come before q and after it; "
        "e_j = e_1 + Delta_j",
        proof="Delta_j is the backlog of layers 2 to j already; (P) is what an event simulation "
        "gives on 3000 random profiles (tests/models/smd/test_iteration_time.py)",
        witness=True,
    ),
    Statement(
        "grid",
        source="Algorithm 1, the grid of the ratios",
        statement="the printed grid has a feasible point wherever the problem has one",
        verdict="refuted",
        grade="refuted",
        check=part("checks:grid"),
        repair="append the greatest value of every ratio to its grid",
        proof="then the next grid value above each ratio of an optimum is within 1 + epsilon of "
        "it, and the optimum is feasible there",
        witness=True,
        command="solve {} --method smd_as_printed:eps_inner=0.95",
    ),
    Statement(
        "domain-of-workers",
        source="TR, the set Omega with x >= 0",
        statement="every ratio has a positive least and a finite greatest value over Omega",
        verdict="refuted",
        grade="refuted",
        check=part("checks:domain"),
        repair="w, p >= 1",
        proof="Omega is compact then, and all ratios are positive and continuous on it",
        witness=True,
    ),
    Statement(
        "released-resources",
        source="the text beside (2)",
        statement="what a job does not use of its reservation is free for other jobs",
        verdict="refuted",
        grade="contradiction",
        check=part("checks:released"),
        repair="two problems: reservations are charged (F1), or use is (F4)",
        proof="(2) has no w and no p: whatever a job uses, its reservation is charged",
        witness=True,
        command="solve {} --method cg_core",
    ),
    Statement(
        "algorithm-3-line-12",
        source="Algorithm 3, line 12",
        statement="if a set of jobs does not fit, the algorithm returns 'infeasible'",
        verdict="refuted",
        grade="refuted",
        check=part("checks:line_12"),
        repair="go on with the next set",
        proof="models/knapsack/guarantees/ratios.py: Frieze and Clarke's proof uses feasible sets",
        witness=True,
        command="solve {} --method algorithm_3",
    ),
    Statement(
        "theorem-6-probability",
        source="Theorem 6, its probability, beside Lemma 4",
        statement="a rounding fails with probability delta/8 at most",
        verdict="refuted",
        grade="contradiction",
        check=part("experiments:probability"),
        repair="delta/2, so that the theorem has (1 - (delta/2)^F)^I",
        proof="Lemma 4 bounds one row by delta/2r, r = 4; any of the r rows may fail",
    ),
    Statement(
        "theorem-6-ratio",
        source="Theorem 6, its ratio",
        statement="the ratio says something for the sigmoids of the experiments",
        verdict="refuted",
        grade="refuted",
        check=part("checks:vacuous"),
        repair="job by job with factors 4/M or 2 instead of (24/M + 4)/delta",
        proof="B1, B2 in models/smd/guarantees/ratios.py",
        witness=True,
    ),
    Statement(
        "shrink-of-one",
        source="the experiments with M_delta = 1",
        statement="M_delta = 1 is a value of TR(28), so that Theorem 6 covers the experiments",
        verdict="refuted",
        grade="contradiction",
        check=part("experiments:shrink_of_one"),
        repair="B2 covers them if a failed rounding is rounded down",
        proof="with A > 0, 1 + A/2 < sqrt(A^2/4 + A) + 1, as the squares of A/2 and the root show; "
        "B2 in models/smd/guarantees/ratios.py",
    ),
    Statement(
        "sets-of-algorithm-3",
        source="the experiments with epsilon_2 = 0.01 and 50 jobs",
        statement="Algorithm 3 as printed can be run with this precision",
        verdict="refuted",
        grade="not reproducible",
        check=part("experiments:sets"),
        repair="k = 2 or 3, with the ratio that Theorem 3 has for it; or the exact knapsack, which "
        "k = 50 amounts to",
        proof="Theorem 3 in its instance form, k/(k + R)",
    ),
    Statement(
        "figure-8",
        source="Figure 8, 50 synchronous jobs",
        statement="a total utility of 3393 comes from the printed ranges",
        verdict="refuted",
        grade="not reproducible",
        check=part("experiments:figure_8"),
        repair="ratios between methods are compared, not values",
        proof="no job is worth more than its gamma_1; gadgetopt/pieces/uniform_sums.py",
    ),
    Statement(
        "figures-9-10",
        source="Figures 9 and 10, 200 jobs",
        statement="total utilities of 13991 and 16101 come from the printed ranges",
        verdict="refuted",
        grade="not reproducible",
        check=part("experiments:figures_9_10"),
        repair="ratios between methods are compared, not values",
        proof="no job is worth more than its gamma_1; gadgetopt/pieces/uniform_sums.py",
    ),
    Statement(
        "lemma-1",
        source="Lemma 1, layers without waiting",
        statement="the iteration time is the printed recursion",
        verdict="holds",
        grade="holds",
        check=part("checks:lemma_1"),
        proof="what an event simulation gives on 3000 random profiles "
        "(tests/models/smd/test_iteration_time.py)",
        witness=True,
    ),
    Statement(
        "theorem-3",
        source="Theorem 3",
        statement="Algorithm 3 has at least k/(k + R) of the optimum on given utilities",
        verdict="holds",
        grade="holds",
        check=part("checks:theorem_3"),
        proof="models/knapsack/guarantees/ratios.py",
        witness=True,
        command="compare {} --methods algorithm_3,cg_core",
    ),
)
