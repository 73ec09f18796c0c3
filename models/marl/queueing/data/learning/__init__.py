"""Trainings of the policy that `learned` uses.

- `actor_critic`: cloning, then advantage actor-critic for several agents (reconstructed)
- `worlds`: random arrivals on one cluster, and what a model of interference makes of it
- `lessons`: plans to clone, and their decisions as arrays
"""
