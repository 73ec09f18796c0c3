"""Statements of the paper that were checked (`checks`)."""

from gadgetopt.system.declaration import Parts, Statement

part: Parts = Parts(__name__)

STATEMENTS = (
    Statement(
        "theorem-5",
        source="Theorem 5",
        statement="the makespan of SJF-BCO is at most n_g phi (u/l) times the optimum",
        verdict="refuted",
        grade="refuted",
        check=part("checks:theorem_5"),
        repair="phi (1 + N/(N - n' + 1) + [some G_j > N/2]), proved in guarantees/ratios.py",
        witness="sjf_bco/tiny/e4a_three_jobs.json",
    ),
    Statement(
        "lemma-4",
        source="Lemma 4, the step on the least-loaded GPU",
        statement="placing every job on the GPU of least load minimises the largest load",
        verdict="refuted",
        grade="refuted",
        check=part("checks:lemma_4"),
        repair="a list schedule is within 2 - 1/m of the least load (Graham 1966)",
        witness="sjf_bco/tiny/e4b_five_jobs.json",
    ),
    Statement(
        "corrected-guarantee",
        source="corrected guarantee of this project",
        statement="the makespan is at most phi (1 + N/(N - n' + 1) + [some G_j > N/2]) OPT",
        verdict="holds",
        grade="holds",
        check=part("checks:corrected"),
        witness="sjf_bco/tiny/e4a_three_jobs.json",
        reconstructed=True,
    ),
    Statement(
        "equation-5",
        source="(5), the domain of y",
        statement="an active job has a positive number of GPUs on every server",
        verdict="refuted",
        grade="contradiction",
        check=part("checks:equation_5"),
        repair="y >= 0: the text itself places jobs on one server",
        witness="sjf_bco/tiny/e1_co_locate.json",
    ),
    Statement(
        "equation-9",
        source="(9) with J[t] = {j : a_j <= t <= T_j}",
        statement="a job that needs n slots completes n slots after its start",
        verdict="refuted",
        grade="refuted",
        check=part("checks:equation_9"),
        repair="half-open: a_j <= t < T_j, summed from a_j on",
        witness="sjf_bco/tiny/e4a_three_jobs.json",
    ),
    Statement(
        "degradation",
        source="f(alpha, k) = k + alpha (k - 1) with k = xi_1 p",
        statement="a job that shares its link runs at no more than the link's bandwidth",
        verdict="refuted",
        grade="refuted",
        check=part("checks:degradation"),
        repair="k is at least 1",
        witness="sjf_bco/tiny/e2_contention_pays.json",
    ),
    Statement(
        "figure-5",
        source="Figure 5, size thresholds 8 and 10",
        statement="the makespans for the thresholds 8 and 10 are 535 and 700",
        verdict="refuted",
        grade="contradiction",
        check=part("checks:figure_5"),
        repair="job sizes are powers of two, so both thresholds give one run",
    ),
)
