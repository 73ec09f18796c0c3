"""Placing one batch of training jobs that disturb each other, for the least mean completion time.

Each room declares its own parts:

- `instance`, `evaluate`, `features`
- `formulations`: F1 on tasks and servers, F2 on contents of servers
- `algorithms`: the learned scheduler at work
- `baselines`: placement rules
- `heuristics`: a rule and searches of ours
- `proving`: certificates, bounds, the search that closes the gap
- `data`: generators, importers, the scheduler's trainings; `pictures`
"""

from gadgetopt.system.declaration import Problem

from .. import CITATION

PROBLEM = Problem(
    package=__name__,
    name="marl_placement",
    title="Interference- and topology-aware placement of a batch of jobs",
    citation=CITATION,
    sense="min",
    objective="mean job completion time, s",
    default_method="price_and_close",
    default_methods=(
        "tetris",
        "pack",
        "lb",
        "lif",
        "greedy_jct",
        "learned",
        "local_search",
        "lns",
        "price_and_close",
    ),
    renamed={
        "learned:order": "learned",
        "learned:samples": "learned_sampled",
        "learned:lookahead": "learned_lookahead",
    },
    removed={"learned_order": "learned"},
)
