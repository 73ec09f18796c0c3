"""The models on paper, one file each.

- `retention`: which features to keep, the order being given; its linear relaxation is (5).
- `joint`: order and retention together, (6).
- `joint_cp`: the same with clauses, in CP-SAT.
- `joint_gpus`, `joint_shared`: of several GPUs, with caches apart and shared.
"""
