"""BGL's partition: which graph-store server stores which node.

Each room declares its own parts. The paper:

- `instance`, `graph`, `requests`: the graph, and the weights of its pairs, exactly
- `evaluate`, `features`
- `formulations`: the integer program (2) in two linearisations, and clauses
- `algorithms`: BGL's blocks and score
- `baselines`: random, hash, LDG, Fennel, METIS, PaGraph
- `statements`

Ours:

- `heuristics`: BGL with one step changed, multi-start, annealing
- `proving`: certificates; stars, isolating cuts, cuts, elimination
- `data`: generators and importers
- `pictures`
"""

from gadgetopt.system.declaration import Problem

from .. import CITATION

PROBLEM = Problem(
    package=__name__,
    name="bgl_partition",
    title="Graph partition for sampling, with balanced training nodes",
    citation=CITATION,
    sense="min",
    objective="expected requests to other servers",
    default_method="elimination",
    default_methods=(
        "bgl",
        "random",
        "ldg",
        "metis_like",
        "pagraph",
        "multi_start",
        "annealing",
        "elimination",
    ),
    renamed={
        "bgl:repair=false": "bgl_order",
        "bgl:refine=true": "bgl_refined",
        "bgl:order=size": "bgl_order",
        "bgl:pops": "bgl_order",
        "bgl:order": "bgl",
        "bgl:repair": "bgl",
        "bgl:refine": "bgl",
    },
    removed={
        "eigenvalue": "cut_bound",
        "semidefinite": "cut_bound",
        "blocks": "annealing",
    },
)
