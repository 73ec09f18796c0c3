"""BGL's resource isolation: cores and PCIe shares of the stages of the data path.

Each room declares its own parts:

- `instance`, `evaluate`, `features`, `data`
- `formulations`: products, tables, element constraints
- `algorithms`: the paper's enumeration
- `baselines`: shares without isolation; `heuristics`: proportional shares
- `proving`: the least shares for a time, parametric search, shares that need not be whole
- `pictures`
"""

from gadgetopt.system.declaration import Citation, Problem

PROBLEM = Problem(
    package=__name__,
    name="bgl_resources",
    title="BGL: isolation of cores and PCIe",
    citation=Citation(
        authors="T. Liu, Y. Chen, D. Li, C. Wu, Y. Zhu, J. He, Y. Peng, H. Chen, H. Chen, C. Guo",
        title="BGL: GPU-Efficient GNN Training by Optimizing Graph Data I/O and Preprocessing",
        venue="NSDI 2023, 103-118",
        year=2023,
        arxiv="2112.08541",
    ),
    sense="min",
    objective="time of the slowest stage, s a mini-batch",
    default_method="parametric",
    default_methods=("even_split", "proportional", "continuous", "brute_force", "parametric"),
)
