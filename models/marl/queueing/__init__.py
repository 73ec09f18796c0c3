"""Jobs that arrive over time and disturb each other: who runs where in every slot.

Each room declares its own parts:

- `instance`, `evaluate`, `features`
- `formulations`: F3, in slots; F3r, with boards and networks
- `algorithms`: the learned scheduler at work
- `baselines`: queue rules with placement rules
- `heuristics`: a rule and a search of ours
- `proving`: certificates; bounds (nobody disturbed; one machine, shortest remaining first); search
  and bounds, then F3 on fewer slots
- `data`: generators, the scheduler's training; `pictures`
"""

from gadgetopt.system.declaration import Problem

from .. import CITATION

PROBLEM = Problem(
    package=__name__,
    name="marl_queueing",
    title="Interference-aware scheduling of jobs that arrive over time",
    citation=CITATION,
    sense="min",
    objective="mean job completion time, s",
    default_method="search_and_close",
    default_methods=(
        "tetris",
        "pack",
        "lb",
        "lif",
        "greedy_jct",
        "learned",
        "order_search",
        "srpt",
        "search_and_close",
    ),
)
