"""The models on paper, one file each.

- `disjunctive`: (M1)-(M5), a binary variable for every pair of operations that may be exchanged.
- `time_indexed`: (T1)-(T6), a binary variable for every operation and tick.
- `cp`: intervals in CP-SAT, with dominance.
- `tasks`, `cp_tasks`, `disjunctive_tasks`: where devices may recompute, copy, fuse or pair.
- `decoding`: from starts to orders.
"""
