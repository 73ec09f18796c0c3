"""Statements of the paper, reconstructed from its abstract, that were checked (`checks`)."""

from gadgetopt.system.declaration import Parts, Statement

part: Parts = Parts(__name__)

STATEMENTS = (
    Statement(
        "load-is-not-time",
        source="the partition by load, PRM",
        statement="the plan of the least largest load is the fastest",
        verdict="refuted",
        grade="refuted",
        check=part("checks:load"),
        repair="all plans below the incumbent, each scheduled: exact_spp",
        proof="a plan whose bound is not below the incumbent cannot improve it",
        witness=True,
        command="compare {} --methods spp,exact_spp",
        reconstructed=True,
    ),
    Statement(
        "channel-order",
        source="the order of the blocks, PE",
        statement="its order is the best of the plan",
        verdict="refuted",
        grade="refuted",
        check=part("checks:order"),
        repair="at most 1 + (4S - 4)/M times the best, plus AllReduce",
        proof="G1, G3: models/spp/guarantees/ratios.py",
        witness=True,
        command="compare {} --methods spp,exact_spp",
        reconstructed=True,
    ),
    Statement(
        "links-order-gpus",
        source="the order of the devices, RDO",
        statement="the bandwidths alone tell in which order GPUs take stages",
        verdict="refuted",
        grade="refuted",
        check=part("checks:devices"),
        repair="the theorem is stated for equal GPUs",
        proof="G5: models/spp/guarantees/ratios.py",
        witness=True,
        command="compare {} --methods spp,exact_spp",
        reconstructed=True,
    ),
    Statement(
        "spp",
        source="the approximation ratio, reconstructed",
        statement="SPP is within (2 + (4S - 4)/M) Phi of the optimum",
        verdict="holds",
        grade="holds",
        check=part("checks:spp"),
        proof="models/spp/guarantees/ratios.py",
        witness=True,
        command="compare {} --methods spp,exact_spp",
        reconstructed=True,
    ),
)
