"""Statements of the paper, recalled without its text, that were checked (`checks`)."""

from gadgetopt.system.declaration import Parts, Statement

part: Parts = Parts(__name__)

STATEMENTS = (
    Statement(
        "competitive-ratio",
        source="competitive ratio, exact kernel",
        statement="OPT/ALG is at most 2 max(1, ln(U/L)), whatever part of a machine a job takes",
        verdict="refuted",
        grade="refuted",
        check=part("checks:competitive_ratio"),
        repair="the theorem on small demands",
        proof="models/pd_ors/guarantees/ratios.py",
        witness=True,
        command="compare {} --methods pd_ors,portfolio",
        reconstructed=True,
    ),
    Statement(
        "corrected-constant",
        source="an earlier correction of this project",
        statement="with ln(U/L) replaced by alpha-hat, steps at their true size, the ratio holds",
        verdict="refuted",
        grade="refuted",
        check=part("checks:corrected_constant"),
        repair="the theorem on small demands, with prices raised to block what does not fit",
        proof="models/pd_ors/guarantees/ratios.py",
        witness=True,
        command="compare {} --methods pd_ors,portfolio",
        reconstructed=True,
    ),
    Statement(
        "probability",
        source="competitive ratio with roundings, the probability (1 - delta)^(TKE)",
        statement="at the paper's sizes it is above one in a million, for delta = 1/2",
        verdict="refuted",
        grade="refuted",
        check=part("checks:probability"),
        repair="none is known; the notes of a run give the probability",
        proof="T K E is about 10^9 there",
        reconstructed=True,
    ),
    Statement(
        "rounding-lemma",
        source="the rounding lemma, packing, for every width",
        statement="with G_delta as printed a packing row is violated with probability delta/3r "
        "at most",
        verdict="refuted",
        grade="refuted",
        check=part("checks:rounding_lemma"),
        repair="for G_delta of 1/2 and more; below, a smaller factor where the width allows one",
        proof="the tail exp(-eps^2 mu/3) needs eps <= 1; gadgetopt/pieces/rounding.py",
        reconstructed=True,
    ),
    Statement(
        "roundings-are-plans",
        source="Algorithm 4, rounding of a slot",
        statement="some rounding of an optimum of the linear program is a plan for the slot",
        verdict="refuted",
        grade="refuted",
        check=part("checks:roundings"),
        repair="the exact program over machines, the default of the method",
        proof="it is an integer program for the slot itself: models/pd_ors/README.md, algorithms",
        witness=True,
        command="solve {} --method portfolio",
        reconstructed=True,
    ),
)
