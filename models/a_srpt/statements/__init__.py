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
        repair="rho of durations in ticks",
        proof="stretch an optimal schedule by it: models/a_srpt/guarantees/ratios.py",
        witness=True,
        command="compare {} --methods scattered,decomposition",
        reconstructed=True,
    ),
    Statement(
        "guide-is-a-bound",
        source="the virtual machine with the durations of the heavy-edge mapping",
        statement="its total completion time is a lower bound on the optimum",
        verdict="refuted",
        grade="refuted",
        check=part("checks:guide"),
        repair="at most eta times the optimum, eta the ratio of its durations to the least ones",
        proof="Lemma 2 in models/a_srpt/guarantees/guide.py; with the least durations it is B1",
        witness=True,
        command="compare {} --methods srpt_bound,decomposition",
        reconstructed=True,
    ),
    Statement(
        "heavy-edge",
        source="the heavy-edge mapping",
        statement="keeping the heaviest edges inside servers makes the fastest iterations",
        verdict="refuted",
        grade="refuted",
        check=part("checks:heavy_edge"),
        repair="the exact mapping, or the best of several",
        proof="enumeration of the mappings of a job: models/a_srpt/README.md, formulations",
        witness=True,
        command="compare {} --methods a_srpt,a_srpt:mapping=exact,decomposition",
        reconstructed=True,
    ),
    Statement(
        "lemma-1-in-ticks",
        source="Lemma 1",
        statement="with every duration at its longest OPT is at most rho OPT, rho of ticks",
        verdict="holds",
        grade="holds",
        check=part("checks:in_ticks"),
        proof="models/a_srpt/guarantees/ratios.py",
        witness=True,
        command="compare {} --methods scattered,decomposition",
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
        proof="models/a_srpt/guarantees/guide.py",
        witness=True,
        command="compare {} --methods a_srpt:predictor=oracle,decomposition",
        reconstructed=True,
    ),
)
