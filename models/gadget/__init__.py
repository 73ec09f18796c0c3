"""GADGET: online scheduling of ring-all-reduce jobs on the links and servers of a network."""

from gadgetopt.system.declaration import Citation, Parts, Problem

from . import (
    algorithms,
    baselines,
    bounds,
    exact,
    formulations,
    generate,
    guarantees,
    pictures,
    statements,
)

part: Parts = Parts(__name__)

PROBLEM = Problem(
    name="gadget",
    title="Online scheduling of ring-all-reduce jobs on a network",
    citation=Citation(
        authors="Menglu Yu, Ye Tian, Bo Ji, Chuan Wu, Hridesh Rajan, Jia Liu",
        title="GADGET: Online Resource Optimization for Scheduling Ring-All-Reduce Learning Jobs",
        venue="IEEE INFOCOM",
        year=2022,
        arxiv="2202.01158",
    ),
    sense="max",
    objective="total_utility",
    instance_type=part("instance:GadgetInstance"),
    solution_type=part("instance:GadgetSolution"),
    evaluate=part("evaluate:evaluate"),
    size=part("instance:size"),
    features=part("features:features"),
    certificate_type=part("certificate:GadgetCertificate"),
    check_bound=part("certificate:check_bound"),
    default_method="offline",
    default_methods=("gadget", "fifo", "drf", "tiresias", "offline"),
    generators=generate.GENERATORS,
    formulations=formulations.FORMULATIONS,
    methods=(
        *algorithms.METHODS,
        *baselines.METHODS,
        *exact.METHODS,
        *bounds.METHODS,
        *formulations.METHODS,
    ),
    guarantees=guarantees.GUARANTEES,
    statements=statements.STATEMENTS,
    pictures=pictures.PICTURES,
)
