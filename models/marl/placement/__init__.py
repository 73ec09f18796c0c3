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

from gadgetopt.system.declaration import Citation, Problem

PROBLEM = Problem(
    package=__name__,
    name="marl_placement",
    title="Interference- and topology-aware placement of a batch of jobs",
    citation=Citation(
        authors="X. Zhao, C. Wu",
        title="Large-Scale Machine Learning Cluster Scheduling via Multi-Agent Graph Reinforcement "
        "Learning",
        venue="IEEE Transactions on Network and Service Management 19(4), 4962-4974",
        year=2022,
        doi="10.1109/TNSM.2021.3139607",
        arxiv="2112.13354",
    ),
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
