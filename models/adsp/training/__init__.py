"""Training: which policy of committing updates reaches a loss soonest, in a simulation that learns.

The paper:

- `instance`, `evaluate`, `features`; `simulator` with `policies`, `tasks`, `ticks` and `reward`
- `algorithms`: ADSP with its online search
- `baselines`: BSP, SSP, Fixed ADACOMM, ADACOMM; ADSP+ and ADSP++, which try rates beforehand
- `guarantees`, `statements`

Ours:

- `proving`: certificates and their check, the bound by first arrivals, every policy offered
- `data`: generators
- `pictures`

There are no formulations: what a policy takes is known only by running it.
"""

from gadgetopt.system.declaration import Problem

from .. import CITATION

PROBLEM = Problem(
    package=__name__,
    name="adsp_training",
    title="Time to train by distributed SGD under policies of synchronisation",
    citation=CITATION,
    sense="min",
    objective="time to the target loss, s",
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
)
