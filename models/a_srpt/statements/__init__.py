"""Statements of the paper, reconstructed from its abstract, that were checked (`checks`)."""

from gadgetopt.system.declaration import Parts, Statement

part: Parts = Parts(__name__)

STATEMENTS = (
    Statement(
        "lemma-1-in-seconds",
        source="Lemma 1, read for durations rounded to ticks",
        statement="with every duration at its longest OPT is at most rho OPT, rho of seconds",
        verdict="refuted",
        grade="refuted",
        check=part("checks:in_seconds"),
        repair="rho of durations in ticks: stretch an optimal schedule",
        witness="a_srpt/tiny/rounding_trap.json",
        reconstructed=True,
    ),
    Statement(
        "lemma-1-in-ticks",
        source="Lemma 1",
        statement="with every duration at its longest OPT is at most rho OPT, rho of ticks",
        verdict="holds",
        grade="holds",
        check=part("checks:in_ticks"),
        witness="a_srpt/tiny/rounding_trap.json",
        reconstructed=True,
    ),
    Statement(
        "theorem-1",
        source="Theorem 1, reconstructed",
        statement="the sum of completion times is at most [eta (1 + sigma G') + rho] OPT "
        "+ (1 + sigma G') times the sum of delays",
        verdict="holds",
        grade="holds",
        check=part("checks:theorem_1"),
        witness="a_srpt/tiny/h1_one_stage_a_server.json",
        reconstructed=True,
    ),
)
