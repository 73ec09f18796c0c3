"""BGL's resource isolation: cores and PCIe shares of the stages of the data path.

Each room declares its own parts:

- `instance`, `evaluate`, `features`, `data`
- `formulations`: products, tables, element constraints
- `algorithms`: the paper's enumeration
- `baselines`: shares without isolation; `heuristics`: proportional shares
- `proving`: the least shares for a time, parametric search, shares that need not be whole
- `pictures`
"""

from gadgetopt.system.declaration import Problem

from .. import CITATION

PROBLEM = Problem(
    package=__name__,
    name="bgl_resources",
    title="BGL: isolation of cores and PCIe",
    citation=CITATION,
    sense="min",
    objective="time of the slowest stage, s a mini-batch",
    default_method="parametric",
    default_methods=("even_split", "proportional", "continuous", "brute_force", "parametric"),
)
