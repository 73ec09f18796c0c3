"""SPP: synchronous pipelines on any cluster - stages, replicas, mapping and execution order.

Each room declares its own parts. The paper:

- `instance`, `evaluate`, `features`; `work`: all work, spread evenly
- `formulations`: integer programs of the load, of the bound and of the makespan; CP-SAT
- `algorithms`: RDO, PRM, PE and SPP
- `baselines`: data parallelism, GPipe, PipeDream, DAPPLE, HetPipe
- `guarantees`, `statements`

Ours:

- `heuristics`: SPP with one step changed
- `proving`: certificates; even work, least load and bound; the search of all plans
- `data`: generators and importers
- `pictures`
"""

from gadgetopt.system.declaration import Citation, Problem

PROBLEM = Problem(
    package=__name__,
    name="spp",
    title="Synchronous pipeline planning on clusters of any connectivity",
    citation=Citation(
        authors="Ziyue Luo, Xiaodong Yi, Guoping Long, Shiqing Fan, Chuan Wu, Jun Yang, Wei Lin",
        title="Efficient Pipeline Planning for Expedited Distributed DNN Training",
        venue="IEEE INFOCOM",
        year=2022,
        arxiv="2204.10562",
    ),
    sense="min",
    objective="iteration time, s",
    default_method="exact_spp",
    default_methods=(
        "spp",
        "data_parallel",
        "gpipe",
        "pipedream",
        "dapple",
        "hetpipe",
        "plan_bound",
        "exact_spp",
    ),
    renamed={
        "spp:order=rdo": "spp",
        "spp:order": "spp_order",
        "spp:gpu_order": "spp_order",
        "spp:tie_break=recurrence": "spp",
        "spp:tie_break": "spp_by_bound",
    },
    removed={
        "load_disaggregated@highs": "load@highs",
        "bound_disaggregated@highs": "bound@highs",
    },
)
