"""OneFlow's actors: how many slots each register has, and in which order streams work.

Each room declares its own parts. The paper and its source:

- `instance`, `evaluate`, `features`; `events`: what waits for what; `simulator`: actors that fire
- `formulations`: models of the throughput, in one over the period; constraint program
- `baselines`: the slots of OneFlow's plans, and what they are compared with
- `guarantees`: where two slots suffice; `statements`: claims that were checked

Ours:

- `heuristics`: slots added where the critical cycle waits
- `proving`: certificates by cycles and paths, bounds, the search that closes the gap
- `data`: presets, plans of OneFlow-SBP
- `pictures`: a period of all streams, throughput over memory
"""

from gadgetopt.system.declaration import Citation, Problem

PROBLEM = Problem(
    package=__name__,
    name="oneflow_actors",
    title="OneFlow's actors: slots of registers and the order on streams",
    citation=Citation(
        authors="J. Yuan, X. Li, C. Cheng, J. Liu, R. Guo, S. Cai, C. Yao, F. Yang, X. Yi, C. Wu, "
        "H. Zhang, J. Zhao",
        title="OneFlow: Redesign the Distributed Deep Learning Framework from Scratch",
        venue="arXiv preprint",
        year=2021,
        arxiv="2110.15032",
    ),
    sense="max",
    objective="throughput, microbatches a second",
    default_method="close_gap",
    default_methods=(
        "one",
        "two",
        "published",
        "improver",
        "critical_cycle",
        "bounds",
        "close_gap",
    ),
)
