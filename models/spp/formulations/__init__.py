"""The models on paper, one file each.

- `load`: P-W, the least largest load.
- `bound`: P-LB, the least head-load-tail bound.
- `joint`: P-T, plan and schedule together.
- `cp_joint`: plan and schedule together in CP-SAT.
- `plan_variables`, `plan_times`, `plan_numbers`, `decoding`: what the first three share.
"""
