"""The models on paper, one file each.

- `bound`: D-LB, the least head, load and tail of a plan.
- `joint`: D-T, plan and schedule together.
- `cp_joint`: plan and schedule together in CP-SAT.
- `counts`: plans with GPUs counted by machine, which the first two share.
"""
