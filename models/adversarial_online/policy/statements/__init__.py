"""Statements of the standard theory that the reconstruction uses, checked (`checks`)."""

from gadgetopt.system.declaration import Parts, Statement

part: Parts = Parts(__name__)

STATEMENTS = (
    Statement(
        "exponential-few-units",
        source="the exponential price, if the limit of small units is overlooked",
        statement="its table is (1 + ln(U/L))-competitive for every number of units",
        verdict="refuted",
        grade="refuted",
        check=part("checks:few_units"),
        repair="in the limit of small units; for k units the table of `finite_k`, or one seed",
        proof="models/adversarial_online/README.md, policies: each arrival moves the fractional "
        "utilisation by 1/k at most",
        witness=True,
        command="compare {} --methods exponential,exponential_draw,minimax",
        reconstructed=True,
    ),
    Statement(
        "value-on-a-grid",
        source="the value of the game, if values lie on a grid",
        statement="no policy has a ratio below 1 + ln(U/L)",
        verdict="refuted",
        grade="refuted",
        check=part("checks:on_a_grid"),
        repair="1 + the sum of 1 - l_{j-1}/l_j over the levels, which tends to 1 + ln(U/L)",
        proof="(1) in models/adversarial_online/README.md",
        witness=True,
        command="solve {} --method minimax",
        reconstructed=True,
    ),
    Statement(
        "few-buyers",
        source="the value of the game, for any number of buyers",
        statement="the least ratio is that of formula (1)",
        verdict="refuted",
        grade="refuted",
        check=part("checks:few_buyers"),
        repair="it is at most that; equal from N >= kJ buyers on",
        proof="the chain of k copies of each of J levels has kJ buyers",
        witness=True,
        command="compare {} --methods share_policy,minimax",
        reconstructed=True,
    ),
    Statement(
        "shares",
        source="(1), enough buyers",
        statement="keeping shares of the units has the least ratio",
        verdict="holds",
        grade="holds",
        check=part("checks:shares"),
        proof="models/adversarial_online/README.md, (1)",
        witness=True,
        command="compare {} --methods share_policy,minimax",
        reconstructed=True,
    ),
)
