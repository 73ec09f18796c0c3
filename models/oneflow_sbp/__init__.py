"""OneFlow SBP: how every tensor of a network is split, copied or left as partial sums.

Each room declares its own parts. The paper:

- `instance`, `evaluate`, `features`
- `labels`, `operators`, `signatures`, `boxing`, `tables`: what the instance derives
- `formulations`: the quadratic program, its linearisations, and a constraint program
- `algorithms`: the compiler's pass and the auto-parallel search
- `baselines`: strategies chosen by hand
- `statements`

Ours:

- `heuristics`: the auto-parallel search with steps changed
- `proving`: certificates; memory priced in, reparametrisation; elimination, and branch and bound
- `data`: networks in training, and those of ONNX files
- `pictures`: plans, their edges, memory, phases
"""

from gadgetopt.system.declaration import Citation, Problem

PROBLEM = Problem(
    package=__name__,
    name="oneflow_sbp",
    title="OneFlow SBP: how every tensor of a network is split over devices",
    citation=Citation(
        authors="J. Yuan, X. Li, C. Cheng, J. Liu, R. Guo, S. Cai, C. Yao, F. Yang, X. Yi, C. Wu, "
        "H. Zhang, J. Zhao",
        title="OneFlow: Redesign the Distributed Deep Learning Framework from Scratch",
        venue="arXiv preprint",
        year=2021,
        arxiv="2110.15032",
    ),
    sense="min",
    objective="compute and conversions, bytes or s",
    default_method="branch_and_bound",
    default_methods=(
        "compiler_greedy",
        "auto_parallel",
        "data_parallel",
        "megatron",
        "branch_and_bound",
    ),
    renamed={
        "auto_parallel:reduce=true": "auto_parallel",
        "auto_parallel:reduce": "neighbourhoods",
        "auto_parallel:start": "neighbourhoods",
        **{
            f"auto_parallel:{name}": "auto_parallel_tuned"
            for name in ("most_merged", "ring", "reserve")
        },
    },
)
