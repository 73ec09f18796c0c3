"""Trainings of the policies that `learned` uses, from exact solutions and from trial.

- `rollouts`: cloning, then improvement by rollouts (ours)
- `actor_critic`: cloning, then advantage actor-critic for several agents (reconstructed)
- `cloning`: the graph network learns optimal placements
- `linear`: a linear score learns them, without torch
- `examples`: batches, their optimal placements, decisions
"""

from gadgetopt.system.declaration import Parts, Trainer

part: Parts = Parts(__name__)

_BATCHES = {
    "agents": 2,
    "order": "big",
    "racks": 2,
    "servers_per_rack": 4,
    "example_servers_per_rack": 3,
    "examples": 100,
    "examples_per_round": 10,
}
_CLONING = {
    **_BATCHES,
    "epochs": 12,
    "batch": 64,
    "learning_rate": 1e-3,
    "held_out": 40,
    "check_every": 4,
}

TRAINERS = (
    Trainer(
        "rollouts",
        summary="clones optimal placements, then learns what its choices lead to (ours)",
        start=part("rollouts:rollouts"),
        methods=("learned",),
        parameters={
            **_CLONING,
            "updates": 12,
            "batches": 8,
            "decisions": 6,
            "choices": 4,
            "steps": 4,
            "rate_after": 3e-4,
            "entropy": 0.01,
            "explore": 0.05,
        },
        presets={"small": {}, "large": {"examples": 500, "epochs": 40, "updates": 200}},
    ),
    Trainer(
        "actor_critic",
        summary="clones optimal placements, then advantage actor-critic (reconstructed)",
        start=part("actor_critic:actor_critic"),
        methods=("learned",),
        parameters={
            **_CLONING,
            "updates": 24,
            "episodes": 16,
            "discount": 0.9,
            "cooperation": 0.5,
            "entropy": 0.01,
            "explore": 0.3,
            "explore_last": 0.01,
        },
        presets={
            "small": {},
            "scratch": {"epochs": 0, "updates": 200},
            "large": {"examples": 500, "epochs": 40, "updates": 200},
        },
    ),
    Trainer(
        "clone",
        summary="the graph network learns the decisions of optimal placements",
        start=part("cloning:clone"),
        methods=("learned",),
        parameters=_CLONING,
        presets={"small": {}, "large": {"examples": 500, "epochs": 40}},
    ),
    Trainer(
        "linear",
        summary="a linear score learns the decisions of optimal placements, without torch",
        start=part("linear:linear"),
        methods=("learned",),
        parameters={
            **_BATCHES,
            "epochs": 20,
            "steps": 50,
            "learning_rate": 0.3,
            "held_out": 40,
            "check_every": 4,
        },
        presets={"small": {}},
    ),
)
