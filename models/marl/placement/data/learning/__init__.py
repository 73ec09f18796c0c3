"""Trainings of the policies that `learned` uses, from exact solutions and from trial.

- `rollouts`: cloning, then improvement by rollouts (ours)
- `actor_critic`: cloning, then advantage actor-critic for several agents (reconstructed)
- `cloning`: the graph network learns optimal placements
- `linear`: a linear score learns them, without torch
- `examples`: batches, their optimal placements, decisions
"""
