"""Training: which policy of committing updates reaches a loss soonest, in a simulation that learns.

Each room declares its own parts:

- `instance`, `evaluate`, `certificate`, `features`; `simulator` with `policies`, `tasks`, `ticks`
  and `reward`
- `algorithms`: ADSP with its online search
- `baselines`: BSP, SSP, Fixed ADACOMM, ADACOMM; ADSP+ and ADSP++, which try rates beforehand
- `bounds`: first arrivals
- `exact`: every policy that is offered
- `guarantees`, `generate`, `pictures`, `statements`

There are no formulations: what a policy takes is known only by running it.
"""

from gadgetopt.system.declaration import Citation, Parts, Problem

from . import algorithms, baselines, bounds, exact, generate, guarantees, pictures, statements

part: Parts = Parts(__name__)

PROBLEM = Problem(
    name="adsp_training",
    title="Time to train by distributed SGD under policies of synchronisation",
    citation=Citation(
        authors="H. Hu, D. Wang, C. Wu",
        title="Distributed Machine Learning through Heterogeneous Edge Systems",
        venue="AAAI 34(05), 7179-7186",
        year=2020,
        arxiv="1911.06949",
    ),
    sense="min",
    objective="time to the target loss, s",
    instance_type=part("instance:AdspTrainingInstance"),
    solution_type=part("instance:AdspTrainingSolution"),
    evaluate=part("evaluate:evaluate"),
    size=part("instance:size"),
    features=part("features:features"),
    certificate_type=part("certificate:AdspTrainingCertificate"),
    check_bound=part("certificate:check_bound"),
    default_method="all_policies",
    default_methods=(
        "adsp",
        "adsp_plus",
        "adsp_plus_plus",
        "bsp",
        "ssp",
        "fixed_adacomm",
        "adacomm",
        "all_policies",
    ),
    generators=generate.GENERATORS,
    methods=(
        *algorithms.METHODS,
        *baselines.METHODS,
        *exact.METHODS,
        *bounds.METHODS,
    ),
    guarantees=guarantees.GUARANTEES,
    pictures=pictures.PICTURES,
    statements=statements.STATEMENTS,
)
