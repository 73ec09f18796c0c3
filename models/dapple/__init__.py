"""DAPPLE: hybrid data and pipeline parallelism on machines with slow links between them.

Each room declares its own parts. The paper:

- `instance`, `evaluate`, `features`
- `formulations`: integer programs of plans with GPUs counted by machine
- `algorithms`: the paper's planner, its early-backward schedule, the authors' public planner, and
  what the slides of the planner's author say
- `baselines`: data parallelism, GPipe, straight pipelines, PipeDream
- `guarantees`, `statements`

Ours:

- `heuristics`: the planner read in other ways
- `proving`: certificates; the least head, load and tail over all plans; all plans by labels
- `data`: generators and importers
- `pictures`
"""

from gadgetopt.system.declaration import Citation, Problem

PROBLEM = Problem(
    package=__name__,
    name="dapple",
    title="Hybrid data and pipeline parallelism on machines, DAPPLE",
    citation=Citation(
        authors="Shiqing Fan, Yi Rong, Chen Meng, Zongyan Cao, Siyu Wang, Zhen Zheng, Chuan Wu, "
        "Guoping Long, Jun Yang, Lixue Xia, Lansong Diao, Xiaoyong Liu, Wei Lin",
        title="DAPPLE: A Pipelined Data Parallel Approach for Training Large Models",
        venue="PPoPP",
        year=2021,
        arxiv="2007.01045",
    ),
    sense="min",
    objective="iteration time, s",
    default_method="exact_plans",
    default_methods=(
        "data_parallel",
        "gpipe",
        "straight",
        "pipedream",
        "dapple",
        "least_bound",
        "exact_plans",
    ),
    renamed={
        "dapple:max_stages": "dapple_all_prefixes",
        "dapple:memo=best_prefix": "dapple",
        "dapple:memo": "dapple_all_prefixes",
        "dapple:pivot=paper": "dapple",
        "dapple:ending=derived": "dapple",
        "dapple:placement=fallback": "dapple",
        **{f"dapple:{name}": "dapple_reading" for name in ("pivot", "ending", "placement")},
        "dapple_code:index_slip=true": "dapple_code",
        "dapple_code:index_slip": "dapple_code_repaired",
    },
)
