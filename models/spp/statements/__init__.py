"""Statements of the paper, reconstructed from its abstract, that were checked (`checks`)."""

from gadgetopt.system.declaration import Parts, Statement

part: Parts = Parts(__name__)

STATEMENTS = (
    Statement(
        "load-is-not-time",
        source="the device order and partition by load",
        statement="the plan of the least largest load is the fastest",
        verdict="refuted",
        grade="refuted",
        check=part("checks:load"),
        repair="all plans below the incumbent, each scheduled: exact_spp",
        witness="spp/tiny/e1_load_is_not_time.json",
        reconstructed=True,
    ),
    Statement(
        "spp",
        source="the approximation ratio, reconstructed",
        statement="SPP is within its proven factor of the optimum",
        verdict="holds",
        grade="holds",
        check=part("checks:spp"),
        witness="spp/tiny/e1_load_is_not_time.json",
        reconstructed=True,
    ),
)
